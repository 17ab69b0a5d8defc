#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/ids.h"
#include "storage/btree/index_item.h"
#include "storage/page/page.h"

namespace pinwheel::storage {

/// Bits of BTreeSpecial::flags. On disk: never reuse.
enum BTreePageFlag : std::uint16_t {
  kBTreeLeaf = 1u << 0,
  kBTreeRoot = 1u << 1,
  kBTreeMeta = 1u << 2,
  kBTreeDeleted = 1u << 3,          // unlinked; header's prune_xid: reusable once no snapshot is older
  kBTreeHalfDead = 1u << 4,         // has no downlink any more, still has siblings
  kBTreeIncompleteSplit = 1u << 5,  // the right sibling has no downlink yet
  kBTreeHasDead = 1u << 6,          // hint: some line pointer is marked dead
  kBTreeRecyclable = 1u << 7,       // deleted, and no scan can come here any more
};

/// The last 16 bytes of every B-tree page (docs/formats/btree.md). Page 0 is the meta page, so 0 as a link
/// means "none".
struct BTreeSpecial {
  std::uint32_t previous;
  std::uint32_t next;
  std::uint16_t level;  // 0 = leaf
  std::uint16_t flags;
  std::uint32_t reserved;
};
static_assert(sizeof(BTreeSpecial) == 16 && std::has_unique_object_representations_v<BTreeSpecial>);
inline constexpr std::size_t kBTreeSpecialOffset = kPageSize - sizeof(BTreeSpecial);
/// Bytes for line pointers and items.
inline constexpr std::size_t kBTreeCapacity = kBTreeSpecialOffset - kPageHeaderSize;
/// Percent of an inner page filled by a build, and kept by its left half when the last of its level splits.
inline constexpr std::size_t kInnerFillFactor = 70;
/// Most items on a page: a least pivot (8 bytes) or entries of 16 bytes each.
inline constexpr std::size_t kMaxBTreeSlots = kBTreeCapacity / (16 + sizeof(LinePointer)) + 2;
/// A pivot that stands on an inner page and must fit with two others.
static_assert(kMaxPivotSize + 2 * kMaxEntrySize + 3 * sizeof(LinePointer) <= kBTreeCapacity);

inline constexpr PageNumber kMetaPage{0};
inline constexpr PageNumber kNoPage{0};
inline constexpr std::uint32_t kMaxBTreeLevels = 24;

/// Slot 1 of page 0.
struct BTreeMeta {
  static constexpr std::uint32_t kMagic = 0x31455254;  // "TRE1"
  static constexpr std::uint32_t kVersion = 1;
  std::uint32_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t root = 0;  // 0 = the index is empty and has no root yet
  std::uint32_t level = 0;
  std::uint32_t deleted_pages = 0;  // not yet handed out for reuse when the last vacuum ended
  std::uint32_t reserved = 0;
};
static_assert(sizeof(BTreeMeta) == 24 && std::has_unique_object_representations_v<BTreeMeta>);
inline constexpr std::size_t kBTreeMetaOffset = kBTreeSpecialOffset - sizeof(BTreeMeta);

inline BTreeSpecial special_of(ConstPage page) noexcept {
  return load<BTreeSpecial>(page.data() + kBTreeSpecialOffset);
}
inline BTreeSpecial& special_of(Page page) noexcept {
  return *reinterpret_cast<BTreeSpecial*>(page.data() + kBTreeSpecialOffset);
}
inline BTreeMeta meta_of(ConstPage page) noexcept { return load<BTreeMeta>(page.data() + kBTreeMetaOffset); }
inline BTreeMeta& meta_of(Page page) noexcept {
  return *reinterpret_cast<BTreeMeta*>(page.data() + kBTreeMetaOffset);
}

inline bool is_leaf(const BTreeSpecial& s) noexcept { return (s.flags & kBTreeLeaf) != 0; }
inline bool is_rightmost(const BTreeSpecial& s) noexcept { return s.next == 0; }
/// Holds no place in the key space: searches go on to the right.
inline bool is_ignorable(const BTreeSpecial& s) noexcept {
  return (s.flags & (kBTreeDeleted | kBTreeHalfDead)) != 0;
}
inline bool is_incomplete(const BTreeSpecial& s) noexcept { return (s.flags & kBTreeIncompleteSplit) != 0; }
/// First slot that is no high key.
inline std::uint16_t first_slot(const BTreeSpecial& s) noexcept { return is_rightmost(s) ? 1 : 2; }

inline IndexItem item_at(ConstPage page, std::uint16_t slot) noexcept {
  const LinePointer line = page.line(slot);
  return {page.item(line), line.length()};
}
/// Bytes an item takes on a page, line pointer counted.
constexpr std::size_t item_cost(std::size_t length) noexcept {
  return align_item(length) + sizeof(LinePointer);
}

/// Makes an empty page.
void init_btree_page(Page page, std::uint16_t level, std::uint16_t flags, PageNumber previous,
                     PageNumber next) noexcept;
void init_meta_page(Page page, const BTreeMeta& meta) noexcept;
/// Makes a page that is out of the tree; its links still lead late visitors back into it.
void init_deleted_page(Page page, std::uint64_t safe_xid, PageNumber previous, PageNumber next) noexcept;
/// Lets the downlink at `slot` lead to the next one's child, and removes the next one.
void remove_downlink(Page page, std::uint16_t slot) noexcept;
/// Appends an item that fits.
void append_item(Page page, IndexItem item) noexcept;

}  // namespace pinwheel::storage
