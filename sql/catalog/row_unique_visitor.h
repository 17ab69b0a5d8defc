#pragma once

#include "sql/catalog/catalog.h"
#include "storage/btree/btree.h"
#include "storage/heap/heap_fetch.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"
#include "txn/visibility.h"

namespace pinwheel::sql {

/// Decides for one table whether the row behind an equal index entry forbids another with the key.
class RowUniqueVisitor final : public storage::UniqueVisitor {
 public:
  RowUniqueVisitor(Catalog& catalog, const storage::HeapRelation& heap)
      : heap_{catalog.services().storage, heap},
        oracle_{catalog.transaction()},
        predicate_{catalog.transaction()} {}

  storage::UniqueCandidate examine(TupleId id) override {
    using Fate = storage::UniqueCandidate::Fate;
    storage::Pin pin;
    const storage::ChainResult found = storage::fetch_visible(heap_, id, predicate_, pin, &oracle_);
    if (!found.tuple.valid()) return {found.all_dead ? Fate::kDead : Fate::kNoConflict, {}};
    const Xid blocker = is_valid(predicate_.inserter()) ? predicate_.inserter() : predicate_.deleter();
    if (is_valid(blocker)) return {Fate::kRunning, blocker};
    return {Fate::kLive, {}};
  }

 private:
  storage::Heap heap_;
  txn::HeapOracle oracle_;
  txn::DirtyPredicate predicate_;
};

}  // namespace pinwheel::sql
