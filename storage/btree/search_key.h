#pragma once

#include <cstdint>

#include "storage/btree/key.h"

namespace pinwheel::storage {

/// A place in the order of entries, to search for. Refers to the caller's arrays.
///
/// With `column_count` columns it stands for all entries that begin with them: a search leads to the first
/// such entry, or with `after` to the first entry behind them. With `id` it stands for one entry exactly.
struct SearchKey {
  const BTreeIndex* index = nullptr;
  /// How to compare: index->keys, or others for values of other types. compare(entry's value, key's value).
  const KeyColumn* columns = nullptr;
  const std::uint64_t* values = nullptr;
  const bool* nulls = nullptr;
  std::uint16_t column_count = 0;
  bool after = false;
  bool has_id = false;
  /// The key is itself a pivot (a high key): it stands left of what equals it.
  bool is_pivot = false;
  TupleId id;
};

}  // namespace pinwheel::storage
