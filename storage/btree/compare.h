#pragma once

#include <algorithm>

#include "storage/btree/index_item.h"
#include "storage/btree/search_key.h"

namespace pinwheel::storage {

/// <0, 0, >0 for two values that are not null, in the index's order (DESC applied). `a` is of the column's
/// type.
inline int compare_not_null(const KeyColumn& column, std::uint64_t a, std::uint64_t b) noexcept {
  int result;
  switch (column.order) {
    case KeyOrder::kSigned: {
      const auto x = static_cast<std::int64_t>(a), y = static_cast<std::int64_t>(b);
      result = (x > y) - (x < y);
      break;
    }
    case KeyOrder::kUnsigned:
      result = (a > b) - (a < b);
      break;
    default: {
      const int order = column.compare(a, b, column.context);
      result = (order > 0) - (order < 0);
      break;
    }
  }
  return column.descending ? -result : result;
}

/// The same with nulls: equal to each other, first or last.
inline int compare_column(const KeyColumn& column, std::uint64_t a, bool a_null, std::uint64_t b,
                          bool b_null) noexcept {
  if (a_null || b_null) [[unlikely]] {
    if (a_null && b_null) return 0;
    return a_null == column.nulls_first ? -1 : 1;
  }
  return compare_not_null(column, a, b);
}

constexpr int compare_ids(TupleId a, TupleId b) noexcept { return a < b ? -1 : (a == b ? 0 : 1); }

namespace btree_detail {

inline std::uint64_t fetch_by_value(const std::byte* from, int length) noexcept {
  switch (length) {
    case 4:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(from)});
    case 8:
      return load<std::uint64_t>(from);
    case 2:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int16_t>(from)});
    default:
      return static_cast<std::uint64_t>(std::int64_t{load<std::int8_t>(from)});
  }
}

/// What decides when the first min(key's, item's) columns are equal.
inline int compare_tails(const SearchKey& key, IndexItem item, unsigned item_columns) noexcept {
  const unsigned n = key.column_count;
  if (n > item_columns) return 1;  // the item's missing columns are below anything
  if (item.is_pivot()) {
    if (key.is_pivot) {
      if (n < item_columns) return -1;
      if (!key.has_id || !item.has_id()) return int{key.has_id} - int{item.has_id()};
    } else if (n == item_columns && !item.has_id()) {
      return 1;  // every entry that begins like this lies right of the pivot
    }
  }
  return key.has_id ? compare_ids(key.id, item.id()) : 0;
}

inline int compare_unpacked(const SearchKey& key, IndexItem item, unsigned item_columns) noexcept {
  const unsigned shared = std::min<unsigned>(key.column_count, item_columns);
  std::uint64_t values[kMaxIndexColumns];
  bool nulls[kMaxIndexColumns];
  unpack_item(*key.index, item, shared, values, nulls);
  for (unsigned i = 0; i < shared; ++i) {
    const int order = compare_column(key.columns[i], values[i], nulls[i], key.values[i], key.nulls[i]);
    if (order != 0) return -order;
  }
  return compare_tails(key, item, item_columns);
}

}  // namespace btree_detail

/// Where the key stands to an item: <0 left of it, >0 right, 0 neither. The first item of an inner page is
/// below everything and must not be asked about.
inline int compare_key(const SearchKey& key, IndexItem item) noexcept {
  const std::uint16_t info = item.info();
  const unsigned item_columns = (info & kItemIsPivot) != 0 ? info & kItemAttributeMask : kMaxIndexColumns;
  const unsigned shared = std::min<unsigned>(key.column_count, item_columns);
  const TupleLayout& layout = key.index->layout;
  // Columns at fixed offsets are read one by one; most keys differ in the first, which is always at offset 0.
  if ((info & kItemHasNulls) == 0 && (shared <= 1 || shared <= layout.offset_count())) [[likely]] {
    const std::byte* data = item.bytes() + kItemHeaderBytes;
    for (unsigned i = 0; i < shared; ++i) {
      const AttributeLayout& attribute = layout.attribute(i);
      const std::byte* at = i == 0 ? data : data + layout.fixed_offset(i);
      const std::uint64_t value = attribute.by_value ? btree_detail::fetch_by_value(at, attribute.length)
                                                     : reinterpret_cast<std::uintptr_t>(at);
      const int order = compare_column(key.columns[i], value, false, key.values[i], key.nulls[i]);
      if (order != 0) return -order;
    }
    return btree_detail::compare_tails(key, item, item_columns);
  }
  return btree_detail::compare_unpacked(key, item, item_columns);
}

/// Order of two entries: key columns, then ids.
int compare_entries(const BTreeIndex& index, IndexItem a, IndexItem b) noexcept;

}  // namespace pinwheel::storage
