#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "clog/clog.h"
#include "shm/interrupts.h"
#include "shm/parking.h"
#include "shm/process.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "tests/base/test_directory.h"
#include "txn/lock_manager.h"
#include "txn/transaction_manager.h"
#include "wal/log.h"

namespace pinwheel::test {

struct ClusterOptions {
  std::uint32_t clog_buffers = 16;
  std::uint32_t clog_banks = 2;
  ClogUpdate clog_update = ClogUpdate::kAtomic;
  SnapshotMethod snapshot_method = SnapshotMethod::kCached;
  std::size_t csn_slots = 4096;
  std::uint32_t max_locks_per_transaction = 64;
  std::uint32_t sessions = 32;
};

/// What one process of a small server holds: a session, its parker, and handles to everything shared.
struct Member {
  Member(const shm::Segment& segment, const wal::LogOptions& log_options,
         const clog::TransactionStatusOptions& clog_options,
         const txn::TransactionManagerOptions& transaction_options, shm::ProcessTable& processes,
         shm::SessionTable& sessions)
      : sessions_table{sessions},
        session{sessions.acquire(shm::ProcessKind::kBackend)},
        parker{sessions, session},
        log{segment, log_options, &processes, &sessions},
        clog{segment, clog_options, log},
        transactions{segment, transaction_options, log, clog, processes, sessions},
        locks{segment, processes, sessions, transactions.running()} {
    shm::set_current_session(&sessions.slot(session), &parker, session);
  }

  const shm::SessionTable& sessions_table;
  shm::SessionIndex session;
  shm::PlainParker parker;
  wal::Log log;
  clog::Clog clog;
  txn::TransactionManager transactions;
  txn::LockManager locks;
};

/// Files and shared memory of a small server without tables.
class Cluster {
 public:
  explicit Cluster(ClusterOptions options = {}) : options_{options} {
    make_directory(directory_ / "pg_wal");
    make_directory(directory_ / "global");
    clog::Clog::create_directories(directory_.path());
    log_options.data_directory = directory_.path();
    log_options.system_identifier = 4711;
    log_options.segment_bytes = 1u << 20;
    log_options.buffer_pages = 64;
    log_options.process_capacity = kProcesses;
    log_options.session_capacity = options.sessions + 2;
    clog_options.data_directory = directory_.path();
    clog_options.buffers = options.clog_buffers;
    clog_options.banks = options.clog_banks;
    clog_options.update = options.clog_update;
    clog_options.process_count = kProcesses;
    map();
    attach_here();
    here->log.start_new();
    log_start = here->log.begin_checkpoint();
    here->clog.begin_recovery(first_checkpoint());
    here->clog.finish_recovery();
  }

  ~Cluster() {
    here.reset();
    close_event_fds();
    shm::detach_self();
  }

  static wal::CheckpointData first_checkpoint() {
    wal::CheckpointData data{};
    data.next_xid = kFirstNormalXid.value;
    data.next_oid = kFirstNormalOid.value;
    data.next_multixact = 1;
    return data;
  }

  /// Throws the segment away, as after a crash: what was not written is lost.
  void crash() {
    here.reset();
    close_event_fds();
    shm::detach_self();
    map();
    attach_here();
  }

  std::unique_ptr<Member> attach() {
    return std::make_unique<Member>(*segment_, log_options, clog_options, transaction_options(), *processes_,
                                    *sessions_);
  }

  /// Runs `body(Member&)` in a forked process; join() counts those that did not return true.
  void start(const std::function<bool(Member&)>& body) {
    const shm::ProcessIndex index = processes_->reserve(shm::ProcessKind::kBackend);
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child != 0) {
      children_.push_back(child);
      return;
    }
    int status = 1;
    try {
      processes_->attach(index);
      const std::unique_ptr<Member> member = attach();
      status = body(*member) ? 0 : 2;
      if (status != 0) std::fprintf(stderr, "child %d: condition failed\n", index.value);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::fflush(nullptr);
    ::_exit(status);
  }

  int join() {
    int failed = 0;
    for (const pid_t child : children_) {
      int status = 0;
      if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) ++failed;
    }
    children_.clear();
    return failed;
  }

  template <class T>
  T* scratch() const {
    return segment_->as<T>("Scratch");
  }
  const std::string& path() const { return directory_.path(); }
  const shm::ProcessTable& processes() const { return *processes_; }
  shm::SessionTable& sessions() const { return *sessions_; }

  wal::LogOptions log_options;
  clog::TransactionStatusOptions clog_options;
  std::unique_ptr<Member> here;
  /// Where replay of all that happened starts.
  Lsn log_start;

 private:
  static constexpr std::size_t kProcesses = 12;

  txn::TransactionManagerOptions transaction_options() const {
    return {.snapshot_method = options_.snapshot_method,
            .commit_sequence = {.slots = options_.csn_slots, .data_directory = directory_.path()}};
  }

  void map() {
    shm::RegionBuilder builder;
    shm::ProcessTable::declare(builder, kProcesses);
    shm::SessionTable::declare(builder, options_.sessions, 2);
    wal::Log::declare(builder, log_options);
    clog::Clog::declare(builder, clog_options);
    txn::TransactionManager::declare(builder, options_.sessions + 2, transaction_options());
    txn::LockManager::declare(builder, {options_.sessions + 2, options_.max_locks_per_transaction});
    builder.add_region("Scratch", 65536);
    segment_ = std::make_unique<shm::Segment>(std::move(builder),
                                              shm::MapOptions{shm::MemoryType::kMmap, shm::HugePages::kOff});
    processes_ = std::make_unique<shm::ProcessTable>(*segment_);
    processes_->create_event_fds();
    sessions_ = std::make_unique<shm::SessionTable>(*segment_);
  }
  void attach_here() {
    processes_->attach(processes_->reserve(shm::ProcessKind::kBackend));
    here = attach();
  }
  void close_event_fds() {
    for (std::size_t i = 0; i < kProcesses; ++i) {
      ::close(processes_->slot(shm::ProcessIndex{static_cast<std::uint16_t>(i)}).event_fd);
    }
  }

  ClusterOptions options_;
  TestDirectory directory_;
  std::unique_ptr<shm::Segment> segment_;
  std::unique_ptr<shm::ProcessTable> processes_;
  std::unique_ptr<shm::SessionTable> sessions_;
  std::vector<pid_t> children_;
};

/// Rendezvous of `count` processes in shared scratch memory.
struct Barrier {
  std::atomic<std::uint32_t> arrived{0};
  void wait(std::uint32_t count) {
    const std::uint32_t mine = arrived.fetch_add(1);
    const std::uint32_t target = (mine / count + 1) * count;
    while (arrived.load() < target) ::usleep(50);
  }
};

}  // namespace pinwheel::test
