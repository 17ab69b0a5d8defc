#include "storage/btree/index_item.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "storage/btree/compare.h"

namespace pinwheel::storage {

namespace {

bool any_null(const bool* nulls, std::size_t count) noexcept {
  return std::any_of(nulls, nulls + count, [](bool is_null) { return is_null; });
}

/// Header, bitmap and values of columns [0, count). `info` without kItemHasNulls.
std::size_t form(const BTreeIndex& index, std::size_t count, const std::uint64_t* values, const bool* nulls,
                 std::uint16_t info, std::byte* to) noexcept {
  const bool has_nulls = any_null(nulls, count);
  const std::size_t data_offset = kItemHeaderBytes + (has_nulls ? 8 : 0);
  if (has_nulls) {
    std::uint64_t bitmap = 0;
    for (std::size_t i = 0; i < count; ++i) bitmap |= std::uint64_t{!nulls[i]} << i;
    store(to + kItemHeaderBytes, bitmap);
    info |= kItemHasNulls;
  }
  store(to, IndexItemHeader{0, 0, info});
  pack_values(index.layout, count, values, nulls, to + data_offset);
  return data_offset + packed_size(index.layout, count, values, nulls);
}

}  // namespace

std::size_t entry_size(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls) noexcept {
  const std::size_t count = index.layout.attribute_count();
  return kItemHeaderBytes + (any_null(nulls, count) ? 8 : 0) +
         packed_size(index.layout, count, values, nulls);
}

void form_entry(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls, TupleId id,
                std::byte* to) noexcept {
  form(index, index.layout.attribute_count(), values, nulls, 0, to);
  store(to, id.page.value);
  store(to + 4, id.slot);
}

void form_entry_checked(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls, TupleId id,
                        ItemBuffer& to) {
  const std::size_t size = entry_size(index, values, nulls);
  if (size > kMaxEntrySize) {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   fmt::format("index row size {} exceeds btree version 4 maximum {} for index \"{}\"",
                               align_item(size), kMaxEntrySize, index.name)}
        .hint(
            "Values larger than 1/3 of a buffer page cannot be indexed.\n"
            "Consider a function index of an MD5 hash of the value, or use full text indexing.");
  }
  form_entry(index, values, nulls, id, to.bytes);
  to.length = static_cast<std::uint16_t>(size);
}

unsigned separator_columns(const BTreeIndex& index, IndexItem last_left, IndexItem first_right) noexcept {
  const std::size_t count = index.keys.size();
  std::uint64_t left[kMaxIndexColumns], right[kMaxIndexColumns];
  bool left_null[kMaxIndexColumns], right_null[kMaxIndexColumns];
  unpack_item(index, last_left, count, left, left_null);
  unpack_item(index, first_right, count, right, right_null);
  for (std::size_t i = 0; i < count; ++i) {
    if (compare_column(index.keys[i], left[i], left_null[i], right[i], right_null[i]) != 0) {
      return static_cast<unsigned>(i + 1);
    }
  }
  return static_cast<unsigned>(count + 1);
}

void make_separator(const BTreeIndex& index, IndexItem last_left, IndexItem first_right,
                    ItemBuffer& to) noexcept {
  const unsigned wanted = separator_columns(index, last_left, first_right);
  const auto count = std::min<std::size_t>(wanted, index.keys.size());
  const bool with_id = wanted > count;
  std::uint64_t values[kMaxIndexColumns];
  bool nulls[kMaxIndexColumns];
  unpack_item(index, first_right, count, values, nulls);
  const auto info = static_cast<std::uint16_t>(kItemIsPivot | (with_id ? kItemHasId : 0) | count);
  std::size_t length = form(index, count, values, nulls, info, to.bytes);
  if (with_id) {
    const std::size_t at = align_item(length);
    std::memset(to.bytes + length, 0, at - length);
    const TupleId id = last_left.id();
    store(to.bytes + at, id.page.value);
    store(to.bytes + at + 4, std::uint32_t{id.slot});
    length = at + kItemIdBytes;
  }
  to.length = static_cast<std::uint16_t>(length);
}

void copy_pivot(IndexItem pivot, PageNumber child, ItemBuffer& to) noexcept {
  std::memcpy(to.bytes, pivot.bytes(), pivot.length());
  store(to.bytes, child.value);
  to.length = pivot.length();
}

void make_least_pivot(PageNumber child, ItemBuffer& to) noexcept {
  store(to.bytes, IndexItemHeader{child.value, 0, kItemIsPivot});
  to.length = kItemHeaderBytes;
}

void unpack_item(const BTreeIndex& index, IndexItem item, std::size_t count, std::uint64_t* values,
                 bool* nulls) noexcept {
  unpack_values(index.layout, count, item.data(), item.null_bitmap(), values, nulls);
}

}  // namespace pinwheel::storage
