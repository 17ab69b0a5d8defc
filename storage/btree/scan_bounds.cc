#include "storage/btree/scan_bounds.h"

#include <algorithm>

#include "storage/btree/compare.h"

namespace pinwheel::storage::btree_detail {

namespace {

KeyColumn column_for(const BTreeIndex& index, const BTreeScanKey& key) noexcept {
  KeyColumn column = index.keys[key.column];
  if (key.compare != nullptr) {
    column.order = KeyOrder::kFunction;
    column.compare = key.compare;
    column.context = key.context;
  }
  return column;
}

bool is_below(BTreeTest test) noexcept { return test == BTreeTest::kLess || test == BTreeTest::kLessEqual; }
bool is_above(BTreeTest test) noexcept {
  return test == BTreeTest::kGreater || test == BTreeTest::kGreaterEqual;
}
bool is_strict(BTreeTest test) noexcept { return test == BTreeTest::kLess || test == BTreeTest::kGreater; }

}  // namespace

void ScanBounds::put(End& end, SearchKey& key, std::size_t position, const BTreeScanKey* bound) noexcept {
  end.nulls[position] = bound == nullptr || bound->test == BTreeTest::kIsNull;
  end.values[position] = end.nulls[position] ? 0 : bound->value;
  end.columns[position] = bound == nullptr ? index_->keys[position] : column_for(*index_, *bound);
  key.column_count = static_cast<std::uint16_t>(position + 1);
}

void ScanBounds::add_filter(const BTreeScanKey& key) {
  Filter& filter = filters_.emplace_back();
  filter.key = key;
  filter.column = column_for(*index_, key);
  filter.column.descending = false;
  filter_columns_ = std::max<std::uint16_t>(filter_columns_, static_cast<std::uint16_t>(key.column + 1));
}

void ScanBounds::set(const BTreeIndex& index, std::span<const BTreeScanKey> keys) {
  index_ = &index;
  is_empty_ = false;
  filters_.clear();
  filter_columns_ = 0;
  const auto reset = [&index](SearchKey& key, End& end, bool after) {
    key = {};
    key.index = &index;
    key.columns = end.columns.data();
    key.values = end.values.data();
    key.nulls = end.nulls.data();
    key.after = after;
  };
  reset(low_, low_end_, false);
  reset(high_, high_end_, true);

  bool is_prefix = true;  // all columns before this one are fixed
  for (std::size_t position = 0; position < index.keys.size(); ++position) {
    const BTreeScanKey* equal = nullptr;
    const BTreeScanKey* low = nullptr;  // in the index's order
    const BTreeScanKey* high = nullptr;
    bool not_null = false;
    const bool descending = index.keys[position].descending;
    for (const BTreeScanKey& key : keys) {
      if (key.column != position) continue;
      if (key.is_null && key.test != BTreeTest::kIsNull && key.test != BTreeTest::kNotNull) is_empty_ = true;
      not_null |= key.test != BTreeTest::kIsNull;
      const BTreeScanKey** place = &equal;
      if (key.test == BTreeTest::kNotNull) {
        if (is_prefix) continue;  // the range says it
      } else if (key.test != BTreeTest::kEqual && key.test != BTreeTest::kIsNull) {
        place = is_above(key.test) != descending ? &low : &high;
      }
      // The range has room for one; a second is a filter.
      if (is_prefix && *place == nullptr) {
        *place = &key;
      } else {
        add_filter(key);
      }
    }
    if (!is_prefix) continue;
    if (equal != nullptr) {
      put(low_end_, low_, position, equal);
      put(high_end_, high_, position, equal);
      if (low != nullptr) add_filter(*low);
      if (high != nullptr) add_filter(*high);
      // IS NULL and a comparison on one column: the filter finds nothing.
      if (not_null && equal->test == BTreeTest::kIsNull) is_empty_ = true;
      continue;
    }
    is_prefix = false;
    if (!not_null) continue;
    // A missing end is where the nulls begin.
    const bool nulls_first = index.keys[position].nulls_first;
    if (low != nullptr || nulls_first) {
      put(low_end_, low_, position, low);
      low_.after = low == nullptr || is_strict(low->test);
    }
    if (high != nullptr || !nulls_first) {
      put(high_end_, high_, position, high);
      high_.after = high != nullptr && !is_strict(high->test);
    }
  }
  low_.prepare();
  high_.prepare();
}

bool ScanBounds::passes_filters(IndexItem item) const noexcept {
  std::uint64_t values[kMaxIndexColumns];
  bool nulls[kMaxIndexColumns];
  unpack_item(*index_, item, filter_columns_, values, nulls);
  for (const Filter& filter : filters_) {
    const BTreeScanKey& key = filter.key;
    const bool is_null = nulls[key.column];
    if (key.test == BTreeTest::kIsNull || key.test == BTreeTest::kNotNull) {
      if (is_null != (key.test == BTreeTest::kIsNull)) return false;
      continue;
    }
    if (is_null) return false;
    const int order = compare_not_null(filter.column, values[key.column], key.value);
    const bool passes = is_below(key.test)   ? order < 0 || (order == 0 && !is_strict(key.test))
                        : is_above(key.test) ? order > 0 || (order == 0 && !is_strict(key.test))
                                             : order == 0;
    if (!passes) return false;
  }
  return true;
}

}  // namespace pinwheel::storage::btree_detail
