#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sql/catalog/relation.h"
#include "sql/execute/index_handle.h"
#include "sql/execute/slot.h"
#include "sql/statistics/activity_log.h"
#include "storage/heap/heap.h"

namespace pinwheel::sql {

/// A relation opened by a running plan: storage's handles on it and on its indexes. One per range, made with
/// the executor state and kept with it.
struct TableState {
  TableState(storage::Storage& storage, const Relation& r) : relation{r}, heap{storage, r.heap} {}

  const Relation& relation;
  storage::Heap heap;
  storage::InsertState insert_state;
  /// Use since the last report.
  TableActivity activity;

  /// Tells what was done since the last report.
  void report_activity(TransactionActivity& to) {
    const bool used = (activity.sequential_scans | activity.index_scans | activity.inserted |
                       activity.updated | activity.deleted) != 0;
    if (!used) return;
    const Oid database = relation.shared ? kInvalidOid : relation.file.database;
    to.table({database, relation.oid}).add(activity);
    activity = {};
    for (const auto& index : indexes_) {
      if (index->scans == 0) continue;
      TableActivity& counts = to.index({database, index->info.oid});
      counts.index_scans += std::exchange(index->scans, 0);
      counts.index_tuples += std::exchange(index->tuples, 0);
    }
  }

  IndexHandle& index(const IndexInfo& info) {
    for (const auto& known : indexes_) {
      if (known->info.oid == info.oid) return *known;
    }
    indexes_.push_back(std::make_unique<IndexHandle>(heap.storage(), info));
    return *indexes_.back();
  }

 private:
  std::vector<std::unique_ptr<IndexHandle>> indexes_;
};

/// Makes a slot show a heap tuple, nothing deformed yet.
inline void show_tuple(Slot& slot, const storage::HeapTupleView& tuple) {
  slot.tuple = tuple.bytes();
  slot.tuple_size = tuple.length();
  slot.tid = tuple.id();
  slot.valid = 0;
  slot.deform_offset = 0;
}

/// The whole tuple as a view, for storage's functions.
inline storage::HeapTupleView tuple_view(const Slot& slot) {
  return {slot.tuple, static_cast<std::uint16_t>(slot.tuple_size), slot.tid};
}

constexpr std::uint64_t pack_identity(TupleId id) {
  return (static_cast<std::uint64_t>(id.page.value) << 16) | id.slot;
}
constexpr TupleId unpack_identity(std::uint64_t bits) {
  return {PageNumber{static_cast<std::uint32_t>(bits >> 16)}, static_cast<std::uint16_t>(bits & 0xFFFF)};
}

}  // namespace pinwheel::sql
