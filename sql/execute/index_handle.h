#pragma once

#include "sql/catalog/relation.h"
#include "sql/types/compare.h"
#include "storage/btree/btree.h"

namespace pinwheel::sql {

/// Adapts a comparison of datums to what storage's B-trees call: the context of a scan key whose value is of
/// another type than the column.
struct KeyComparison {
  CompareFn compare = nullptr;
  CompareContext context;
};
int compare_keys(std::uint64_t a, std::uint64_t b, const void* comparison);

/// How the values of a key type are ordered, by their bits where that works.
storage::KeyOrder key_order_of(Oid type);

/// An index opened by a running plan. Stays where it is made.
struct IndexHandle {
  IndexHandle(storage::Storage& storage, const IndexInfo& i) : info{i}, tree{storage, i.btree} {}
  const IndexInfo& info;
  /// Use since the last report (TableState::report_activity).
  std::int64_t scans = 0, tuples = 0;
  storage::BTree tree;
};

}  // namespace pinwheel::sql
