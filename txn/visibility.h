#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "storage/heap/tuple.h"
#include "txn/snapshot.h"
#include "txn/transaction.h"

namespace pinwheel::txn {

/// The fields of a tuple header that say who may see it, read once: hint bits come and go under a shared
/// latch.
struct TupleMarks {
  Xid xmin, xmax;
  std::uint16_t infomask;

  explicit TupleMarks(const storage::HeapTupleView& tuple) noexcept
      : xmin{tuple.header().xmin},
        xmax{tuple.header().xmax},
        infomask{__atomic_load_n(&tuple.header().infomask, __ATOMIC_RELAXED)} {}

  bool has(std::uint16_t bits) const noexcept { return (infomask & bits) != 0; }
  /// Nobody deleted or updated it: no xmax, or one that only locks.
  bool only_locked() const noexcept {
    return has(storage::kTupleXmaxInvalid | storage::kTupleXmaxLockOnly) || !is_valid(xmax);
  }
};

/// What a statement sees: PostgreSQL's MVCC visibility. The predicate of heap scans; called under the page
/// latch (hint bits). Cheap to copy; the snapshot and the transaction outlive it. Errors: those of reading
/// the commit log.
class MvccPredicate {
 public:
  MvccPredicate(Transaction& transaction, const Snapshot& snapshot) noexcept
      : transaction_{&transaction}, snapshot_{&snapshot} {}

  bool operator()(const storage::HeapTupleView& tuple) const {
    const TupleMarks marks{tuple};
    // The common case without a call: inserted by somebody who was done, never deleted.
    if (marks.has(storage::kTupleXminCommitted) && marks.xmin < snapshot_->xmin && marks.only_locked())
        [[likely]]
      return true;
    return inserted(tuple, marks) && !deleted(tuple, marks);
  }

  const Snapshot& snapshot() const noexcept { return *snapshot_; }

 private:
  bool inserted(const storage::HeapTupleView& tuple, const TupleMarks& marks) const;
  bool deleted(const storage::HeapTupleView& tuple, const TupleMarks& marks) const;
  bool runs_for_snapshot(Xid xid) const;

  Transaction* transaction_;
  const Snapshot* snapshot_;
};

/// What is committed now, and every own change so far, the current command's included: constraint checks.
class SelfPredicate {
 public:
  explicit SelfPredicate(Transaction& transaction) noexcept : transaction_{&transaction} {}
  bool operator()(const storage::HeapTupleView& tuple) const;

 private:
  Transaction* transaction_;
};

/// Like SelfPredicate, but changes of running transactions count as if they had been committed; it then says
/// who must be waited for. Unique checks.
class DirtyPredicate {
 public:
  explicit DirtyPredicate(Transaction& transaction) noexcept : transaction_{&transaction} {}
  bool operator()(const storage::HeapTupleView& tuple);

  /// Of the last accepted tuple: who is inserting it, or deleting it, and has not ended. kInvalidXid =
  /// nobody.
  Xid inserter() const noexcept { return inserter_; }
  Xid deleter() const noexcept { return deleter_; }

 private:
  Transaction* transaction_;
  Xid inserter_, deleter_;
};

/// Everything, dead or alive.
struct AnyPredicate {
  bool operator()(const storage::HeapTupleView&) const noexcept { return true; }
};

/// The xid among a multixact's members that updated or deleted the row; kInvalidXid when all only lock.
Xid updater_of_multixact(TransactionManager& manager, Xid multixact);

}  // namespace pinwheel::txn
