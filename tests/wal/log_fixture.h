#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>

#include "base/file.h"
#include "shm/interrupts.h"
#include "shm/parking.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "wal/log.h"

namespace pinwheel::wal::test {

/// A directory that goes away with its guard.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "pinwheel-wal-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline LogOptions small_options(const std::string& directory) {
  LogOptions options;
  options.data_directory = directory;
  options.system_identifier = 4711;
  options.segment_bytes = 64u << 10;
  options.buffer_pages = 4;
  options.process_capacity = 8;
  options.session_capacity = 16;
  return options;
}

/// Shared memory and tables of a small server over one directory; make() may be called again for a restart.
struct Cluster {
  explicit Cluster(LogOptions log_options) : options{std::move(log_options)} {
    std::filesystem::create_directories(options.data_directory + "/pg_wal");
    std::filesystem::create_directories(options.data_directory + "/global");
    restart();
  }

  void restart() {
    shm::RegionBuilder builder;
    shm::ProcessTable::declare(builder, options.process_capacity);
    shm::SessionTable::declare(builder, options.session_capacity - 2, 2);
    Log::declare(builder, options);
    segment = std::make_unique<shm::Segment>(std::move(builder),
                                             shm::MapOptions{shm::MemoryType::kMmap, shm::HugePages::kOff});
    processes = std::make_unique<shm::ProcessTable>(*segment);
    processes->create_event_fds();
    processes->reserve(shm::ProcessKind::kLauncher);  // slot 0, which an unattached process uses
    sessions = std::make_unique<shm::SessionTable>(*segment);
  }

  /// A handle for the calling process, which keeps slot 0's place (it is not attached).
  std::unique_ptr<Log> attach() {
    return std::make_unique<Log>(*segment, options, processes.get(), sessions.get());
  }

  /// Runs `body(Log&)` in a forked process of its own slot; returns its pid. Failures are a nonzero exit.
  template <class Body>
  pid_t spawn(shm::ProcessKind kind, Body body) {
    const shm::ProcessIndex index = processes->reserve(kind);
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    int status = 1;
    try {
      processes->attach(index);
      const std::unique_ptr<Log> log = attach();
      status = body(*log) ? 0 : 2;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    ::_exit(status);
  }

  LogOptions options;
  std::unique_ptr<shm::Segment> segment;
  std::unique_ptr<shm::ProcessTable> processes;
  std::unique_ptr<shm::SessionTable> sessions;
};

/// True when the process ended by itself with status 0.
inline bool ended_well(pid_t pid) {
  int status = 0;
  return ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace pinwheel::wal::test
