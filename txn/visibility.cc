#include "txn/visibility.h"

namespace pinwheel::txn {

namespace {
using storage::HeapTupleView;
using State = TransactionManager::State;

/// Who deleted or updated the tuple, kInvalidXid if nobody tried.
Xid deleter_of(TransactionManager& manager, const TupleMarks& marks) {
  if (marks.only_locked()) return kInvalidXid;
  return marks.has(storage::kTupleXmaxIsMulti) ? updater_of_multixact(manager, marks.xmax) : marks.xmax;
}

/// Outcome of an inserter that does not run, remembered on the tuple.
bool inserter_committed(TransactionManager& manager, const HeapTupleView& tuple, Xid xmin) {
  bool durable;
  if (manager.outcome(xmin, durable) == State::kCommitted) {
    // A hint for a commit that a crash could still undo would outlive it.
    if (durable) tuple.set_hint(storage::kTupleXminCommitted);
    return true;
  }
  tuple.set_hint(storage::kTupleXminAborted);
  return false;
}

/// Likewise for a deleter, who is `marks.xmax` itself or its multixact's updater (then nothing is
/// remembered).
bool deleter_committed(TransactionManager& manager, const HeapTupleView& tuple, const TupleMarks& marks,
                       Xid deleter) {
  bool durable;
  const bool committed = manager.outcome(deleter, durable) == State::kCommitted;
  if (marks.has(storage::kTupleXmaxIsMulti)) return committed;
  if (!committed) {
    tuple.set_hint(storage::kTupleXmaxInvalid);
  } else if (durable) {
    tuple.set_hint(storage::kTupleXmaxCommitted);
  }
  return committed;
}
}  // namespace

Xid updater_of_multixact(TransactionManager& manager, Xid multixact) {
  std::vector<clog::MultiXactMember> members;
  manager.clog().multixacts.read(clog::MultiXactId{multixact.value}, members);
  for (const clog::MultiXactMember& member : members) {
    if (clog::is_update(member.status)) return member.xid;
  }
  return kInvalidXid;
}

// ---- MVCC ----

bool MvccPredicate::runs_for_snapshot(Xid xid) const {
  return !transaction_->manager().is_complete(*snapshot_, xid);
}

bool MvccPredicate::inserted(const HeapTupleView& tuple, const TupleMarks& marks) const {
  if (marks.has(storage::kTupleXminAborted)) return false;
  if (!is_normal(marks.xmin)) return is_valid(marks.xmin);
  if (marks.has(storage::kTupleXminCommitted)) return !runs_for_snapshot(marks.xmin);
  if (transaction_->is_own(marks.xmin)) return tuple.header().cmin < snapshot_->command.value;
  if (runs_for_snapshot(marks.xmin)) return false;
  return inserter_committed(transaction_->manager(), tuple, marks.xmin);
}

bool MvccPredicate::deleted(const HeapTupleView& tuple, const TupleMarks& marks) const {
  TransactionManager& manager = transaction_->manager();
  const Xid deleter = deleter_of(manager, marks);
  if (!is_valid(deleter)) return false;
  // By a command before the statement's own; what the statement itself deletes it still sees.
  if (transaction_->is_own(deleter)) return tuple.header().cmax < snapshot_->command.value;
  if (runs_for_snapshot(deleter)) return false;
  if (marks.has(storage::kTupleXmaxCommitted)) return true;
  return deleter_committed(manager, tuple, marks, deleter);
}

// ---- Current state ----

bool SelfPredicate::operator()(const HeapTupleView& tuple) const {
  const TupleMarks marks{tuple};
  TransactionManager& manager = transaction_->manager();
  if (marks.has(storage::kTupleXminAborted)) return false;
  if (!marks.has(storage::kTupleXminCommitted) && is_normal(marks.xmin) &&
      !transaction_->is_own(marks.xmin)) {
    if (manager.state(marks.xmin) == State::kRunning) return false;
    if (!inserter_committed(manager, tuple, marks.xmin)) return false;
  }
  const Xid deleter = deleter_of(manager, marks);
  if (!is_valid(deleter)) return true;
  if (transaction_->is_own(deleter)) return false;
  if (marks.has(storage::kTupleXmaxCommitted)) return false;
  if (manager.state(deleter) == State::kRunning) return true;
  return !deleter_committed(manager, tuple, marks, deleter);
}

bool DirtyPredicate::operator()(const HeapTupleView& tuple) {
  inserter_ = deleter_ = kInvalidXid;
  const TupleMarks marks{tuple};
  TransactionManager& manager = transaction_->manager();
  if (marks.has(storage::kTupleXminAborted)) return false;
  if (!marks.has(storage::kTupleXminCommitted) && is_normal(marks.xmin) &&
      !transaction_->is_own(marks.xmin)) {
    if (manager.state(marks.xmin) == State::kRunning) {
      inserter_ = marks.xmin;
      return true;
    }
    if (!inserter_committed(manager, tuple, marks.xmin)) return false;
  }
  const Xid deleter = deleter_of(manager, marks);
  if (!is_valid(deleter)) return true;
  if (transaction_->is_own(deleter) || marks.has(storage::kTupleXmaxCommitted)) return false;
  if (manager.state(deleter) == State::kRunning) {
    deleter_ = deleter;
    return true;
  }
  return !deleter_committed(manager, tuple, marks, deleter);
}

}  // namespace pinwheel::txn
