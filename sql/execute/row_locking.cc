#include "sql/execute/row_locking.h"

#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

RowChanger::RowChanger(RunState& run, TableState& table) : run_{run}, table_{table} {}

storage::WriteContext RowChanger::write_context() {
  txn::Transaction& transaction = run_.context->transaction;
  return {transaction.assign_xid(), transaction.use_command(), *run_.oracle};
}

void RowChanger::refuse_if_serializable(bool deleted) const {
  if (!run_.context->repeatable_read) return;
  throw SqlError{sqlstate::kTRSerializationFailure,
                 deleted ? "could not serialize access due to concurrent delete"
                         : "could not serialize access due to concurrent update"};
}

bool RowChanger::wait_for(TupleId id, Xid blocker, LockWait wait) {
  txn::SessionLocks& locks = run_.context->transaction.locks();
  const auto how = wait == LockWait::kBlock ? txn::LockWait::kBlock : txn::LockWait::kTry;
  const auto refused = [&] {
    if (wait == LockWait::kNoWait) {
      throw SqlError{sqlstate::kLockNotAvailable,
                     "could not obtain lock on row in relation \"" + table_.relation.name + "\""};
    }
    return false;
  };
  // A place in the row's queue, held until the row is ours: latecomers do not overtake.
  if (!queued_ || queued_id_ != id) {
    leave_queue();
    if (locks.lock_tuple(table_.relation.file.database, table_.relation.oid, id, txn::LockMode::kExclusive,
                         how) == txn::LockResult::kNotAvailable) {
      return refused();
    }
    queued_ = true;
    queued_id_ = id;
    if (wait == LockWait::kBlock) {
      // the blocker may be over by now; looking again is cheap
      locks.wait_for_transaction(blocker);
      return true;
    }
  }
  if (locks.wait_for_transaction(blocker, how) == txn::LockResult::kNotAvailable) return refused();
  return true;
}

void RowChanger::leave_queue() noexcept {
  if (!queued_) return;
  queued_ = false;
  run_.context->transaction.locks().unlock(
      txn::LockTag::tuple(table_.relation.file.database, table_.relation.oid, queued_id_),
      txn::LockMode::kExclusive);
}

bool RowChanger::follow(TupleId& id, const storage::ModifyOutcome& outcome) {
  if (outcome.next == id || !outcome.next.valid()) return false;
  storage::Pin pin;
  const storage::HeapTupleView tuple = table_.heap.fetch_version(outcome.next, pin);
  // Vacuum may have freed the place and somebody else's row may stand there now.
  if (!tuple.valid()) return false;
  if (is_valid(outcome.xmax) && tuple.xmin() != outcome.xmax) return false;
  id = outcome.next;
  return true;
}

LockedRow RowChanger::lock_newest(TupleId id, storage::RowLock strength, LockWait wait) {
  const TupleId first = id;
  for (;;) {
    const storage::ModifyOutcome outcome = table_.heap.lock_row(id, strength, write_context());
    switch (outcome.result) {
      case storage::ModifyResult::kOk:
        leave_queue();
        return {id == first ? LockOutcome::kLocked : LockOutcome::kMoved, id};
      case storage::ModifyResult::kSelfModified:
        leave_queue();
        return {LockOutcome::kOwn, id};
      case storage::ModifyResult::kBeingModified:
        if (!wait_for(id, outcome.blocker, wait)) {
          leave_queue();
          return {LockOutcome::kSkipped, id};
        }
        break;
      case storage::ModifyResult::kUpdated:
        refuse_if_serializable(false);
        if (!follow(id, outcome)) {
          leave_queue();
          return {LockOutcome::kDeleted, id};
        }
        break;
      case storage::ModifyResult::kDeleted:
        refuse_if_serializable(true);
        leave_queue();
        return {LockOutcome::kDeleted, id};
      case storage::ModifyResult::kInvisible:
        leave_queue();
        return {LockOutcome::kDeleted, id};
    }
  }
}

}  // namespace pinwheel::sql
