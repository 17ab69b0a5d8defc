#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"
#include "storage/btree/key.h"
#include "storage/page/page.h"

namespace pinwheel::storage {

/// Bits of IndexItemHeader::info. On disk: never reuse.
enum IndexItemInfo : std::uint16_t {
  kItemAttributeMask = 0x003F,  // pivots: key columns it has; the others stand for "less than anything"
  kItemHasNulls = 0x2000,       // a bitmap of 8 bytes follows the header, 1 = not null
  kItemIsPivot = 0x4000,        // a high key or a downlink, not an entry
  kItemHasId = 0x8000,          // pivots: its last 8 bytes are a heap TupleId, the last key column
};

/// First bytes of every item of a B-tree page (docs/formats/btree.md).
///
///   offset  size  field
///   0       4     page    entries: heap page; downlinks: child page; high keys: 0
///   4       2     slot    entries: heap line pointer; pivots: 0
///   6       2     info    IndexItemInfo
///   8       8     null bitmap, only with kItemHasNulls
///   8 or 16 -     values, packed as in heap tuples; pivots with kItemHasId: then, 8-aligned, page (4), slot
///   (2), zero (2)
struct IndexItemHeader {
  std::uint32_t page;
  std::uint16_t slot;
  std::uint16_t info;
};
static_assert(sizeof(IndexItemHeader) == 8);

inline constexpr std::size_t kItemHeaderBytes = sizeof(IndexItemHeader);
inline constexpr std::size_t kItemIdBytes = 8;
/// Largest entry: three items of this size fit on a page, so that every page can be split. The same as
/// PostgreSQL's limit for B-tree version 4.
inline constexpr std::size_t kMaxEntrySize = 2704;
/// Largest pivot: an entry's key and the heap TupleId.
inline constexpr std::size_t kMaxPivotSize = kMaxEntrySize + kItemIdBytes;

/// An item in a page or a private buffer. A view.
class IndexItem {
 public:
  IndexItem() noexcept = default;
  IndexItem(const std::byte* bytes, std::uint16_t length) noexcept : bytes_{bytes}, length_{length} {}

  const std::byte* bytes() const noexcept { return bytes_; }
  std::uint16_t length() const noexcept { return length_; }
  std::span<const std::byte> span() const noexcept { return {bytes_, length_}; }
  IndexItemHeader header() const noexcept { return load<IndexItemHeader>(bytes_); }
  std::uint16_t info() const noexcept { return load<std::uint16_t>(bytes_ + 6); }
  bool is_pivot() const noexcept { return (info() & kItemIsPivot) != 0; }
  bool has_nulls() const noexcept { return (info() & kItemHasNulls) != 0; }
  bool has_id() const noexcept { return (info() & kItemHasId) != 0; }
  /// Pivots only.
  unsigned attribute_count() const noexcept { return info() & kItemAttributeMask; }
  PageNumber child() const noexcept { return PageNumber{load<std::uint32_t>(bytes_)}; }
  /// Entries: the heap row. Pivots with kItemHasId: the last key column.
  TupleId id() const noexcept {
    const std::byte* at = is_pivot() ? bytes_ + length_ - kItemIdBytes : bytes_;
    return {PageNumber{load<std::uint32_t>(at)}, load<std::uint16_t>(at + 4)};
  }
  const std::byte* null_bitmap() const noexcept { return has_nulls() ? bytes_ + kItemHeaderBytes : nullptr; }
  const std::byte* data() const noexcept { return bytes_ + kItemHeaderBytes + (has_nulls() ? 8 : 0); }
  bool is_null(unsigned column) const noexcept {
    return has_nulls() &&
           (static_cast<std::uint8_t>(bytes_[kItemHeaderBytes + column / 8]) >> (column % 8) & 1) == 0;
  }

 private:
  const std::byte* bytes_ = nullptr;
  std::uint16_t length_ = 0;
};

/// A buffer for one item.
struct ItemBuffer {
  alignas(8) std::byte bytes[kMaxPivotSize + 8];
  std::uint16_t length = 0;
  IndexItem item() const noexcept { return {bytes, length}; }
  std::span<const std::byte> span() const noexcept { return {bytes, length}; }
};

/// Size of the entry that form_entry would make; may exceed kMaxEntrySize.
std::size_t entry_size(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls) noexcept;
/// Makes an entry at `to`, which has room for entry_size().
void form_entry(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls, TupleId id,
                std::byte* to) noexcept;
/// entry_size and form_entry. Errors: 54000 when too big.
void form_entry_checked(const BTreeIndex& index, const std::uint64_t* values, const bool* nulls, TupleId id,
                        ItemBuffer& to);

/// The shortest pivot that is not below `last_left` and below `first_right`, two neighbouring entries: as
/// many key columns of `first_right` as it takes to tell them apart, or all and the id of `last_left`.
void make_separator(const BTreeIndex& index, IndexItem last_left, IndexItem first_right,
                    ItemBuffer& to) noexcept;
/// Key columns (1 to all) that make_separator would keep, one more when the id is needed, too.
unsigned separator_columns(const BTreeIndex& index, IndexItem last_left, IndexItem first_right) noexcept;

/// Copies a pivot and makes it point to `child`.
void copy_pivot(IndexItem pivot, PageNumber child, ItemBuffer& to) noexcept;
/// The pivot below everything: first item of inner pages.
void make_least_pivot(PageNumber child, ItemBuffer& to) noexcept;

/// Reads columns [0, count).
void unpack_item(const BTreeIndex& index, IndexItem item, std::size_t count, std::uint64_t* values,
                 bool* nulls) noexcept;

}  // namespace pinwheel::storage
