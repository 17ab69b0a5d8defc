#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ids.h"

namespace pinwheel::storage {

using PageBytes = std::span<std::byte, kPageSize>;
using ConstPageBytes = std::span<const std::byte, kPageSize>;

/// What a page is for: lets `pinwheel check` and error messages tell pages apart. On disk: never renumber.
enum class PageKind : std::uint8_t { kHeap = 1, kBtree = 2, kFreeSpace = 3, kVisibility = 4, kSequence = 5 };

/// Bits of PageHeader::flags. On disk: never reuse.
enum PageFlag : std::uint16_t {
  kPageHasUnusedLines = 1u << 0,  // hint: some line pointer may be unused
  kPageFull = 1u << 1,            // hint: an update found no room here
  kPageAllVisible = 1u << 2,      // every tuple is visible to everyone
};

/// First bytes of every page (docs/formats/page.md). The write-ahead log relies on `lsn` being at offset 0.
///
///   offset  size  field
///   0       8     lsn        end of the last WAL record that changed the page; 0 = never logged
///   8       2     checksum   base/checksum.h page_checksum; set on the copy that is written
///   10      2     flags      PageFlag bits
///   12      2     lower      end of the line pointers
///   14      2     upper      start of the items
///   16      2     special    start of the access method's own area
///   18      1     version    kPageVersion
///   19      1     kind       PageKind
///   20      4     reserved   zero
///   24      8     prune_xid  heap: oldest xid that may have left a dead version; B-tree: free to use
struct PageHeader {
  std::uint64_t lsn;
  std::uint16_t checksum;
  std::uint16_t flags;
  std::uint16_t lower;
  std::uint16_t upper;
  std::uint16_t special;
  std::uint8_t version;
  std::uint8_t kind;
  std::uint32_t reserved;
  std::uint64_t prune_xid;
};
static_assert(sizeof(PageHeader) == 32);
inline constexpr std::uint8_t kPageVersion = 1;
inline constexpr std::size_t kPageHeaderSize = sizeof(PageHeader);

enum class LineState : std::uint8_t {
  kUnused = 0,    // free for reuse
  kNormal = 1,    // points to an item
  kRedirect = 2,  // HOT: offset() is the slot number of the chain's first live version
  kDead = 3,      // indexes may still point here; may keep no bytes
};

/// Four bytes that locate one item: bits 0..14 offset, 15..16 state, 17..31 length. Slots count from 1.
struct LinePointer {
  std::uint32_t word;

  static constexpr LinePointer make(LineState state, std::uint16_t offset, std::uint16_t length) noexcept {
    return {static_cast<std::uint32_t>(offset) | static_cast<std::uint32_t>(state) << 15 |
            static_cast<std::uint32_t>(length) << 17};
  }
  constexpr std::uint16_t offset() const noexcept { return word & 0x7FFF; }
  constexpr LineState state() const noexcept { return static_cast<LineState>((word >> 15) & 3); }
  constexpr std::uint16_t length() const noexcept { return static_cast<std::uint16_t>(word >> 17); }
  constexpr bool is_normal() const noexcept { return state() == LineState::kNormal; }
  constexpr bool is_unused() const noexcept { return state() == LineState::kUnused; }
  constexpr bool is_redirect() const noexcept { return state() == LineState::kRedirect; }
  constexpr bool is_dead() const noexcept { return state() == LineState::kDead; }
  constexpr std::uint16_t redirect_to() const noexcept { return offset(); }
};
static_assert(sizeof(LinePointer) == 4);

/// Items start at multiples of this.
inline constexpr std::size_t kItemAlign = 8;
constexpr std::size_t align_item(std::size_t n) noexcept { return (n + kItemAlign - 1) & ~(kItemAlign - 1); }
/// Largest item that fits on a page without special area, its line pointer counted.
inline constexpr std::size_t kMaxItemSize = kPageSize - kPageHeaderSize - kItemAlign;
/// Upper bound of slots on a page.
inline constexpr std::size_t kMaxSlots = (kPageSize - kPageHeaderSize) / sizeof(LinePointer);

/// Reads a page. A view: whoever made it (a guard) decides how long the bytes are stable.
class ConstPage {
 public:
  explicit ConstPage(const std::byte* bytes) noexcept : bytes_{bytes} {}

  const PageHeader& header() const noexcept { return *reinterpret_cast<const PageHeader*>(bytes_); }
  Lsn lsn() const noexcept { return Lsn{header().lsn}; }
  std::uint16_t flags() const noexcept { return header().flags; }
  bool has_flag(PageFlag flag) const noexcept { return (header().flags & flag) != 0; }
  Xid prune_xid() const noexcept { return Xid{header().prune_xid}; }
  /// True for a page that was never initialised (zeroes): allowed on disk, holds nothing.
  bool is_new() const noexcept { return header().upper == 0; }

  std::uint16_t slot_count() const noexcept {
    const std::uint16_t lower = header().lower;
    return lower <= kPageHeaderSize ? 0 : static_cast<std::uint16_t>((lower - kPageHeaderSize) / 4);
  }
  LinePointer line(std::uint16_t slot) const noexcept { return lines()[slot - 1]; }
  const std::byte* item(LinePointer line) const noexcept { return bytes_ + line.offset(); }
  const std::byte* item(std::uint16_t slot) const noexcept { return item(line(slot)); }
  /// Bytes between line pointers and items.
  std::size_t gap() const noexcept {
    const PageHeader& h = header();
    return h.upper > h.lower ? h.upper - h.lower : 0u;
  }
  /// Bytes an item of a new slot may have; 0 when there is no room for a line pointer.
  std::size_t free_space() const noexcept { return gap() < 4 ? 0 : gap() - 4; }
  std::span<const std::byte> special() const noexcept {
    return {bytes_ + header().special, kPageSize - header().special};
  }
  const std::byte* data() const noexcept { return bytes_; }
  ConstPageBytes bytes() const noexcept { return ConstPageBytes{bytes_, kPageSize}; }

 protected:
  const LinePointer* lines() const noexcept {
    return reinterpret_cast<const LinePointer*>(bytes_ + kPageHeaderSize);
  }
  const std::byte* bytes_;
};

/// Changes a page; only under an exclusive latch (or on private bytes).
class Page : public ConstPage {
 public:
  explicit Page(std::byte* bytes) noexcept : ConstPage{bytes} {}

  std::byte* data() const noexcept { return const_cast<std::byte*>(bytes_); }
  PageBytes bytes() const noexcept { return PageBytes{data(), kPageSize}; }
  PageHeader& header() const noexcept { return *reinterpret_cast<PageHeader*>(data()); }
  std::byte* item(LinePointer line) const noexcept { return data() + line.offset(); }
  std::byte* item(std::uint16_t slot) const noexcept { return item(line(slot)); }
  std::span<std::byte> special() const noexcept {
    return {data() + header().special, kPageSize - header().special};
  }
  void set_lsn(Lsn lsn) const noexcept { header().lsn = lsn.value; }
  void set_flag(PageFlag flag) const noexcept { header().flags = static_cast<std::uint16_t>(flags() | flag); }
  void clear_flag(PageFlag flag) const noexcept {
    header().flags = static_cast<std::uint16_t>(flags() & ~flag);
  }
  void set_line(std::uint16_t slot, LinePointer line) const noexcept {
    reinterpret_cast<LinePointer*>(data() + kPageHeaderSize)[slot - 1] = line;
  }

  /// Makes the page empty; `special_size` is rounded up to kItemAlign. The lsn becomes 0.
  void init(PageKind kind, std::size_t special_size = 0) const noexcept;

  /// Where an item of `length` bytes would go: an unused slot (if the hint says there may be one) or a new
  /// one; 0 when it does not fit or all `max_slots` are taken.
  std::uint16_t find_slot(std::size_t length, std::size_t max_slots = kMaxSlots) const noexcept;

  /// Places an item in `slot`: an unused one, or slot_count() + 1. Returns its bytes, to be filled by the
  /// caller. The caller has checked that it fits (find_slot).
  std::byte* place_item(std::uint16_t slot, std::size_t length) const noexcept;
  /// find_slot, place_item and copy; 0 when it does not fit.
  std::uint16_t add_item(std::span<const std::byte> item, std::size_t max_slots = kMaxSlots) const noexcept;

  /// B-tree: inserts an item at `slot` and moves later line pointers up by one. False when it does not fit.
  bool insert_item_at(std::uint16_t slot, std::span<const std::byte> item) const noexcept;
  /// B-tree: removes the item and its line pointer, moving later line pointers down and items together.
  void remove_item_at(std::uint16_t slot) const noexcept;
  /// B-tree: removes many (ascending slots) in one pass.
  void remove_items_at(std::span<const std::uint16_t> slots) const noexcept;
  /// Replaces the bytes of an item by ones of the same or another length. False when it does not fit.
  bool overwrite_item(std::uint16_t slot, std::span<const std::byte> item) const noexcept;

  /// Moves all kNormal items (and kDead ones with bytes) together, so that all free bytes lie in the gap.
  void compact() const noexcept;
  /// Drops unused line pointers at the end. Not while an index may still name them.
  void truncate_unused_lines() const noexcept;
};

/// Copies `from` over the whole of `to`, lsn included.
inline void copy_page(Page to, ConstPage from) noexcept { std::memcpy(to.data(), from.data(), kPageSize); }

enum class PageError : std::uint8_t { kNone, kBadChecksum, kBadBounds, kBadVersion, kBadLine };

/// Whether bounds, version and line pointers make sense. A page of zeroes is fine.
PageError check_header(ConstPageBytes bytes) noexcept;
/// check_header after the checksum, unless `verify_checksum` is false.
PageError check_page(ConstPageBytes bytes, PageNumber number, bool verify_checksum) noexcept;
/// Sets the checksum of a private copy that is about to be written.
void set_checksum(PageBytes bytes, PageNumber number) noexcept;

/// Ors bits into a 16-bit word that others may read and or at the same time (hint bits under a shared latch).
inline void or_hint_bits(std::uint16_t* word, std::uint16_t bits) noexcept {
  std::atomic_ref<std::uint16_t>{*word}.fetch_or(bits, std::memory_order_relaxed);
}

}  // namespace pinwheel::storage
