#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "shm/parking.h"
#include "shm/session_slot.h"
#include "txn/isolation.h"
#include "txn/running_set.h"
#include "txn/session_locks.h"
#include "txn/snapshot_store.h"
#include "txn/transaction_manager.h"
#include "txn/transaction_record.h"

namespace pinwheel::txn {

struct TransactionOptions {
  Isolation isolation = Isolation::kReadCommitted;
  bool read_only = false;
  bool deferrable = false;
  /// now(), as microseconds since 2000-01-01; 0 = read the clock.
  std::int64_t start_time_us = 0;
};

struct CommitOptions {
  /// Whether commit() returns only when the commit is on disk (synchronous_commit other than off).
  bool durable = true;
  /// Nothing else runs in this process: it may sync by itself.
  bool alone_in_process = false;
};

class Transaction;

/// What the transaction's owner does at its turns (catalog caches, settings, portals, temporary things). All
/// calls come from the transaction's session. A level is a nest level: 1 is the transaction itself.
class TransactionHooks {
 public:
  virtual ~TransactionHooks() = default;
  /// Last work inside the transaction (deferred checks); may throw: the transaction then aborts.
  virtual void before_commit(Transaction&) {}
  /// Bytes to put in the commit record (catalog invalidations); asked once, after before_commit.
  virtual std::span<const std::byte> commit_payload() { return {}; }
  /// Others see the transaction as complete; its locks are still held: publish invalidations here.
  virtual void after_commit() noexcept {}
  virtual void after_abort() noexcept {}
  virtual void begin_subtransaction(int /*level*/) {}
  /// What belongs to `level` now belongs to level - 1.
  virtual void commit_subtransaction(int /*level*/) noexcept {}
  virtual void abort_subtransaction(int /*level*/) noexcept {}
};

/// The transaction of one session: one object for the session's life, begun and ended many times. The block
/// machine (idle, in block, failed) belongs to sql/session.
///
/// Order at commit: record in the log and durable, status set, left the running set (waiters wake), hooks,
/// locks released. Nothing shared is written for a transaction that never got an xid, except its own slot.
class Transaction {
 public:
  Transaction(TransactionManager& manager, LockManager& locks, shm::SessionIndex session,
              shm::Parker& parker);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void add_hooks(TransactionHooks& hooks) { hooks_.push_back(&hooks); }

  // ---- Life ----
  void begin(const TransactionOptions& options);
  bool active() const noexcept { return level_ > 0; }
  /// May park. If it throws (before_commit), the transaction is still active and the caller aborts it. After
  /// the record is in the log it does not throw.
  void commit(const CommitOptions& options);
  /// Idempotent.
  void abort() noexcept;

  const TransactionOptions& options() const noexcept { return options_; }
  /// SET TRANSACTION; the session checks that it is allowed now.
  void set_isolation(Isolation isolation) noexcept { options_.isolation = isolation; }
  void set_read_only(bool read_only) noexcept { options_.read_only = read_only; }
  void set_deferrable(bool deferrable) noexcept { options_.deferrable = deferrable; }
  std::int64_t start_time_us() const noexcept { return start_time_us_; }

  // ---- Ids ----
  /// The current (sub)transaction's xid, given now if it has none (parents first).
  Xid assign_xid();
  /// kInvalidXid when none was given yet.
  Xid current_xid() const noexcept {
    return active() ? levels_[static_cast<std::size_t>(level_ - 1)].xid : Xid{};
  }
  Xid top_xid() const noexcept { return top_xid_; }
  /// `xid` is this transaction's or that of a subtransaction that has not been rolled back. Cheap for others.
  bool is_own(Xid xid) const noexcept {
    if (top_xid_ == kInvalidXid || xid < top_xid_) return false;
    return xid == top_xid_ || is_own_subxid(xid);
  }
  VirtualXid virtual_xid() const noexcept { return {session_.value + 1, local_id_}; }

  // ---- Commands ----
  CommandId command() const noexcept { return command_; }
  /// For a change: the current command must be told apart from the next.
  CommandId use_command() noexcept {
    command_used_ = true;
    return command_;
  }
  /// Makes own changes visible to what follows. Errors: 54000 after 2^32 - 2 commands.
  void advance_command();

  // ---- Snapshots ----
  /// For a statement: a new one, or the transaction's own in REPEATABLE READ and above.
  SnapshotHandle take_snapshot();
  /// What is complete now, whatever the isolation level: catalog lookups, uniqueness and key checks.
  SnapshotHandle take_latest_snapshot();
  /// The transaction has taken its first statement snapshot (SET TRANSACTION ISOLATION is refused then).
  bool has_snapshot() const noexcept { return first_snapshot_taken_; }
  SnapshotStore& snapshots() noexcept { return snapshots_; }

  // ---- Savepoints ----
  int nest_level() const noexcept { return level_; }
  void define_savepoint(std::string_view name);
  /// Errors: 3B001 savepoint "x" does not exist.
  void release_savepoint(std::string_view name);
  /// Errors as above. Leaves a fresh subtransaction of the same name.
  void rollback_to_savepoint(std::string_view name);
  bool has_savepoint(std::string_view name) const noexcept;
  /// Unnamed, for code that must be able to take back its work.
  void begin_subtransaction();
  void commit_subtransaction();
  void abort_subtransaction() noexcept;
  /// After an error inside a savepoint: takes the innermost level's work back now, keeping the level for
  /// ROLLBACK TO. Idempotent.
  void fail_subtransaction() noexcept;

  // ---- Files ----
  /// Removes the files once the transaction has committed (DROP, the old file of a rewrite).
  void drop_file_at_commit(FileId file);
  /// Removes them if this level is rolled back (files it has made). Call before the file is made.
  void drop_file_at_abort(FileId file);

  SessionLocks& locks() noexcept { return locks_; }
  const SessionLocks& locks() const noexcept { return locks_; }
  TransactionManager& manager() const noexcept { return manager_; }
  shm::SessionIndex session() const noexcept { return session_; }
  shm::Parker& parker() const noexcept { return parker_; }

 private:
  struct Level {
    Xid xid;
    std::string name;                // empty = unnamed
    std::uint32_t first_subxid = 0;  // subxids_ below belong to outer levels
    bool failed = false;
  };
  struct PendingFile {
    FileId file;
    bool at_commit;
    int level;
  };

  bool is_own_subxid(Xid xid) const noexcept;
  int find_savepoint(std::string_view name) const;
  Level& level_at(int level) noexcept { return levels_[static_cast<std::size_t>(level - 1)]; }
  void push_level(std::string_view name);
  void undo_innermost() noexcept;
  Lsn insert_end_record(EndKind kind, Xid xid, std::span<const Xid> subxids) noexcept;
  void collect_files(bool at_commit, int from_level) noexcept;
  void drop_collected_files() noexcept;
  void reset() noexcept;

  TransactionManager& manager_;
  shm::SessionIndex session_;
  shm::Parker& parker_;
  SessionLocks locks_;
  SnapshotStore snapshots_;
  SnapshotHandle kept_snapshot_;
  std::vector<TransactionHooks*> hooks_;
  TransactionOptions options_;
  Xid top_xid_;
  std::uint64_t local_id_ = 0;
  std::int64_t start_time_us_ = 0;
  CommandId command_;
  bool command_used_ = false;
  bool first_snapshot_taken_ = false;
  int level_ = 0;              // 0 = no transaction
  std::vector<Level> levels_;  // level_ of them are in use; the rest keep their memory
  std::vector<Xid> subxids_;   // of live subtransactions, committed into their parents or open; rising
  std::vector<PendingFile> files_;
  // Filled while the transaction or a level ends.
  std::vector<FileId> ending_files_;
  std::vector<std::byte> payload_;
};

}  // namespace pinwheel::txn
