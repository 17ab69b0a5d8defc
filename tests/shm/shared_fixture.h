#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "shm/parking.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/session_slot.h"

namespace pinwheel::test {

/// A segment with process and session slots and `scratch_bytes` of zeroes; forks children that are attached
/// to it.
class SharedFixture {
 public:
  explicit SharedFixture(std::size_t scratch_bytes = 4096, std::size_t processes = 16,
                         std::size_t sessions = 64)
      : segment_{make_builder(scratch_bytes, processes, sessions),
                 {shm::MemoryType::kMmap, shm::HugePages::kOff}} {
    processes_table.create_event_fds();
  }
  ~SharedFixture() {
    for (std::size_t i = 0; i < processes_table.capacity(); ++i) {
      ::close(processes_table.slot(shm::ProcessIndex{static_cast<std::uint16_t>(i)}).event_fd);
    }
    shm::detach_self();
  }

  template <class T>
  T* scratch() const {
    return segment_.as<T>("Scratch");
  }

  /// Runs `main` in a forked child that has a process slot; its result is the exit status.
  shm::ProcessIndex start(const std::function<int(shm::ProcessIndex)>& main) {
    const shm::ProcessIndex index = processes_table.reserve(shm::ProcessKind::kBackend);
    const pid_t child = ::fork();
    if (child == 0) {
      processes_table.attach(index);
      int status = 99;
      try {
        status = main(index);
      } catch (...) {
      }
      ::_exit(status);
    }
    children_.push_back(child);
    return index;
  }

  /// Number of children that did not exit with 0.
  int join() {
    int failed = 0;
    for (const pid_t child : children_) {
      int status = 0;
      if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed;
    }
    children_.clear();
    return failed;
  }

  /// Makes the test process itself one of the server's.
  shm::ProcessIndex attach_here() {
    const shm::ProcessIndex index = processes_table.reserve(shm::ProcessKind::kBackend);
    processes_table.attach(index);
    return index;
  }

 private:
  static shm::RegionBuilder make_builder(std::size_t scratch_bytes, std::size_t processes,
                                         std::size_t sessions) {
    shm::RegionBuilder builder;
    shm::ProcessTable::declare(builder, processes);
    shm::SessionTable::declare(builder, sessions, 4);
    builder.add_region("Scratch", scratch_bytes);
    return builder;
  }
  shm::Segment segment_;
  std::vector<pid_t> children_;

 public:
  shm::ProcessTable processes_table{segment_};
  shm::SessionTable sessions_table{segment_};
};

}  // namespace pinwheel::test
