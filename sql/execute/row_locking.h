#pragma once

#include "sql/execute/run_state.h"
#include "sql/execute/table_state.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

enum class LockOutcome : std::uint8_t {
  kLocked,   // the version asked for
  kMoved,    // a newer version was locked instead: `id`
  kDeleted,  // the row is gone
  kSkipped,  // SKIP LOCKED, and somebody has it
  kOwn,      // a later command of our own transaction changed it
};
struct LockedRow {
  LockOutcome outcome;
  TupleId id;
};

/// Everything a change of rows does around storage's calls: xid, command, waits.
class RowChanger {
 public:
  RowChanger(RunState& run, TableState& table);

  storage::WriteContext write_context();

  /// Waits for the transaction that is in the way of `id`, in the row's queue so that waiters go in order.
  /// False when `wait` says not to.
  bool wait_for(TupleId id, Xid blocker, LockWait wait);
  /// Leaves the row's queue, if wait_for() entered it.
  void leave_queue() noexcept;

  /// Locks the row that `id` is a version of, following updates. In REPEATABLE READ a change by others is
  /// 40001; NOWAIT is 55P03.
  LockedRow lock_newest(TupleId id, storage::RowLock strength, LockWait wait);
  /// Where the next version of a row is, or kDeleted: checks that the version there continues the chain.
  bool follow(TupleId& id, const storage::ModifyOutcome& outcome);

  /// 40001 in REPEATABLE READ and above, for a row that somebody else changed.
  void refuse_if_serializable(bool deleted) const;

  TableState& table() { return table_; }

 private:
  RunState& run_;
  TableState& table_;
  bool queued_ = false;
  TupleId queued_id_;
};

}  // namespace pinwheel::sql
