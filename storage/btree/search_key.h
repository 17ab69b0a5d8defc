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

  /// Set by prepare(): the first column is an integer of so many bytes, and not null in the key; 0 = it is
  /// not. Integers xor `first_flip` order as unsigned words, whatever sign and DESC say.
  std::uint8_t first_width = 0;
  std::uint64_t first_flip = 0;
  std::uint64_t first = 0;

  /// Call when columns, values and column_count are set.
  void prepare() noexcept {
    first_width = 0;
    if (column_count == 0 || nulls[0] || columns[0].order == KeyOrder::kFunction) return;
    const AttributeLayout& attribute = index->layout.attribute(0);
    if (!attribute.by_value || (attribute.length != 4 && attribute.length != 8)) return;
    first_width = static_cast<std::uint8_t>(attribute.length);
    first_flip = columns[0].order == KeyOrder::kSigned ? std::uint64_t{1} << 63 : 0;
    if (columns[0].descending) first_flip = ~first_flip;
    first = values[0] ^ first_flip;
  }
};

}  // namespace pinwheel::storage
