#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/parameter_enums.h"
#include "clog/clog.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "txn/commit_sequence.h"
#include "txn/outcome_cache.h"
#include "txn/running_set.h"

namespace pinwheel::wal {
class Log;
}

namespace pinwheel::txn {

/// Removes the files of relations that a commit dropped or an abort takes back; storage's part, joined by
/// server. Must not fail: a file left over is garbage, not damage. Idempotent (redo calls it again).
class FileDropper {
 public:
  virtual ~FileDropper() = default;
  virtual void drop_files(std::span<const FileId> files) noexcept = 0;
};

struct TransactionManagerOptions {
  SnapshotMethod snapshot_method = SnapshotMethod::kCached;
  /// Used with the method csn only.
  CommitSequenceOptions commit_sequence;
  /// Outcomes that each process remembers.
  std::size_t outcome_cache_size = 1024;
};

/// What transactions of one process need: logs, statuses, ids, the running set. One per process.
class TransactionManager {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t session_capacity,
                      const TransactionManagerOptions& options);
  TransactionManager(const shm::Segment& segment, const TransactionManagerOptions& options, wal::Log& log,
                     clog::Clog& clog, const shm::ProcessTable& processes, const shm::SessionTable& sessions);
  TransactionManager(const TransactionManager&) = delete;
  TransactionManager& operator=(const TransactionManager&) = delete;

  wal::Log& log() const noexcept { return log_; }
  clog::Clog& clog() const noexcept { return clog_; }
  RunningSet& running() noexcept { return running_; }
  const TransactionManagerOptions& options() const noexcept { return options_; }

  /// Null until server joins it.
  void set_file_dropper(FileDropper* dropper) noexcept { dropper_ = dropper; }
  FileDropper* file_dropper() const noexcept { return dropper_; }

  /// How a transaction stands, for those who are not in it. Running is tested before the status; a
  /// transaction without a status that does not run was cut off by a crash: aborted.
  enum class State : std::uint8_t { kRunning, kCommitted, kAborted };
  State state(Xid xid);
  /// kCommitted or kAborted for an xid known not to run; `durable` says whether a hint may be set: for an
  /// abort always, for a commit when its record is on disk.
  State outcome(Xid xid, bool& durable);

  /// The effects of `xid`, which is not the asker's own, are in the snapshot if it committed; outcome() says
  /// whether it did. Errors: those of reading pg_subtrans or pg_csn.
  bool is_complete(const Snapshot& snapshot, Xid xid) {
    const Snapshot::Answer answer = snapshot.find(xid);
    if (answer <= Snapshot::Answer::kRunning) [[likely]]
      return answer == Snapshot::Answer::kComplete;
    return is_complete_unlisted(snapshot, xid, answer);
  }

  /// Every xid below is over for every live snapshot: versions they deleted may be pruned. Cheap.
  Xid horizon() noexcept { return running_.horizon(); }
  /// Exact, for VACUUM.
  Xid compute_horizon() noexcept { return running_.compute_horizon(); }

 private:
  bool is_complete_unlisted(const Snapshot& snapshot, Xid xid, Snapshot::Answer answer);

  TransactionManagerOptions options_;
  wal::Log& log_;
  clog::Clog& clog_;
  std::unique_ptr<CommitSequence> sequence_;  // null unless snapshot_method = csn
  RunningSet running_;
  FileDropper* dropper_ = nullptr;
  OutcomeCache outcomes_;
};

}  // namespace pinwheel::txn
