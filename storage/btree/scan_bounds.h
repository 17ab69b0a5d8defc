#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/btree/index_item.h"
#include "storage/btree/scan.h"

namespace pinwheel::storage::btree_detail {

/// The conditions of a scan, as a range of the index's order and filters for what the range does not say. Its
/// search keys point into it: it does not move while in use.
class ScanBounds {
 public:
  ScanBounds() = default;
  ScanBounds(const ScanBounds&) = delete;
  ScanBounds& operator=(const ScanBounds&) = delete;

  void set(const BTreeIndex& index, std::span<const BTreeScanKey> keys);

  /// Nothing can match: a comparison with null.
  bool is_empty() const noexcept { return is_empty_; }
  /// Leads to the first entry of the range, and to the first one behind it.
  const SearchKey& low() const noexcept { return low_; }
  const SearchKey& high() const noexcept { return high_; }
  bool has_filters() const noexcept { return !filters_.empty(); }
  /// Whether an entry within the range satisfies the other conditions.
  bool passes_filters(IndexItem item) const noexcept;

 private:
  /// One end of the range: shared equal columns, then one bound.
  struct End {
    std::array<KeyColumn, kMaxIndexColumns> columns;
    std::array<std::uint64_t, kMaxIndexColumns> values;
    std::array<bool, kMaxIndexColumns> nulls;
  };
  struct Filter {
    BTreeScanKey key;
    KeyColumn column;  // as the type orders, without DESC
  };

  void put(End& end, SearchKey& key, std::size_t position, const BTreeScanKey* bound) noexcept;
  void add_filter(const BTreeScanKey& key);

  const BTreeIndex* index_ = nullptr;
  bool is_empty_ = false;
  SearchKey low_, high_;
  End low_end_, high_end_;
  std::uint16_t filter_columns_ = 0;  // columns to unpack
  std::vector<Filter> filters_;
};

}  // namespace pinwheel::storage::btree_detail
