#pragma once

#include "storage/btree/btree_page.h"
#include "storage/btree/compare.h"
#include "storage/buffer/page_guard.h"

namespace pinwheel::storage {

/// Compares first columns that are integers where they lie. True when that decides; `bytes` are at least 16.
[[gnu::always_inline]] inline bool compare_first_integers(const SearchKey& key, const std::byte* bytes,
                                                          int& order) noexcept {
  const auto info = load<std::uint16_t>(bytes + 6);
  if ((info & kItemHasNulls) != 0) [[unlikely]]
    return false;
  const std::byte* at = bytes + kItemHeaderBytes;
  const std::uint64_t value =
      (key.first_width == 4 ? static_cast<std::uint64_t>(std::int64_t{load<std::int32_t>(at)})
                            : load<std::uint64_t>(at)) ^
      key.first_flip;
  if (value != key.first) {
    order = key.first > value ? 1 : -1;
    return true;
  }
  if (key.column_count != 1 || key.has_id || key.is_pivot) return false;
  // A pivot that ends here stands left of everything that begins like it.
  order = (info & (kItemIsPivot | kItemHasId | kItemAttributeMask)) == (kItemIsPivot | 1) ? 1 : 0;
  return true;
}

/// Reads a page that is latched (or private): what it says is so.
class LatchedReader {
 public:
  explicit LatchedReader(ConstPage page) noexcept : page_{page} {}
  BTreeSpecial special() const noexcept { return special_of(page_); }
  std::uint16_t slot_count() const noexcept { return page_.slot_count(); }
  LinePointer line(std::uint16_t slot) const noexcept { return page_.line(slot); }
  bool compare(const SearchKey& key, std::uint16_t slot, int& order) noexcept {
    const IndexItem item = item_at(page_, slot);
    if (key.first_width != 0 && compare_first_integers(key, item.bytes(), order)) return true;
    order = compare_key(key, item);
    return true;
  }
  bool header(std::uint16_t slot, IndexItemHeader& header) const noexcept {
    header = item_at(page_, slot).header();
    return true;
  }
  bool validate() const noexcept { return true; }

 private:
  ConstPage page_;
};

/// Reads a page that others may be changing. Functions return false when what was read cannot be right or has
/// changed; what they return true for is only certain after validate().
///
/// Offsets are checked before they are followed. Integers may be compared where they lie, since any bits are
/// an integer; other keys are copied and proven unchanged first, because a type's comparison may trust its
/// bytes.
class OptimisticReader {
 public:
  explicit OptimisticReader(const OptimisticRead& read) noexcept : read_{read} {}
  BTreeSpecial special() const noexcept { return special_of(read_.page()); }
  std::uint16_t slot_count() const noexcept {
    const std::uint16_t count = read_.page().slot_count();
    return count <= kMaxSlots ? count : 0;
  }
  LinePointer line(std::uint16_t slot) const noexcept { return read_.page().line(slot); }

  bool compare(const SearchKey& key, std::uint16_t slot, int& order) noexcept {
    const LinePointer at = line(slot);
    // Items start at multiples of 8, so that behind a header there are at least 8 bytes of some item.
    constexpr std::size_t kLastOffset = kBTreeSpecialOffset - 2 * kItemHeaderBytes;
    if (key.first_width != 0 && at.offset() - kPageHeaderSize <= kLastOffset - kPageHeaderSize &&
        compare_first_integers(key, read_.page().data() + at.offset(), order)) [[likely]] {
      return true;
    }
    return compare_copy(key, at, order);
  }
  bool header(std::uint16_t slot, IndexItemHeader& header) const noexcept {
    const LinePointer at = line(slot);
    if (!is_inside(at.offset(), at.length())) return false;
    header = load<IndexItemHeader>(read_.page().data() + at.offset());
    return true;
  }
  bool validate() const noexcept { return read_.validate(); }

 private:
  static bool is_inside(std::size_t offset, std::size_t length) noexcept {
    return offset >= kPageHeaderSize && length >= kItemHeaderBytes && length <= kMaxPivotSize &&
           offset + length <= kBTreeSpecialOffset;
  }
  [[gnu::noinline]] bool compare_copy(const SearchKey& key, LinePointer at, int& order) noexcept {
    if (!is_inside(at.offset(), at.length())) return false;
    std::memcpy(copy_.bytes, read_.page().data() + at.offset(), at.length());
    copy_.length = at.length();
    if (!read_.validate()) return false;
    order = compare_key(key, copy_.item());
    return true;
  }
  const OptimisticRead& read_;
  ItemBuffer copy_;
};

/// What a search sees first on a page.
enum class PageStep : std::uint8_t {
  kHere,     // the key belongs to this page
  kRight,    // go on with the right sibling
  kChanged,  // optimistic reading failed: look again
};

/// Whether the key's place is right of the page.
template <class Reader>
PageStep step_on_page(Reader& reader, const SearchKey& key, const BTreeSpecial& special) noexcept {
  if (is_ignorable(special)) [[unlikely]]
    return is_rightmost(special) ? PageStep::kChanged : PageStep::kRight;
  if (is_rightmost(special)) return PageStep::kHere;
  if (reader.slot_count() == 0) return PageStep::kChanged;
  int order;
  if (!reader.compare(key, 1, order)) return PageStep::kChanged;
  return order > 0 || (order == 0 && key.after) ? PageStep::kRight : PageStep::kHere;
}

/// First slot in [first, slot_count] whose item is not left of the key (key.after: is right of it);
/// slot_count + 1 when there is none, 0 when optimistic reading failed.
template <class Reader>
std::uint16_t search_slots(Reader& reader, const SearchKey& key, std::uint16_t first) noexcept {
  std::uint16_t low = first;
  std::uint16_t high = static_cast<std::uint16_t>(reader.slot_count() + 1);
  const int stop = key.after ? 0 : 1;
  while (low < high) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    int order;
    if (!reader.compare(key, middle, order)) return 0;
    if (order >= stop) {
      low = static_cast<std::uint16_t>(middle + 1);
    } else {
      high = middle;
    }
  }
  return low;
}

/// Slot of the downlink to follow on an inner page; 0 when optimistic reading failed (or the page has none).
template <class Reader>
std::uint16_t search_downlink(Reader& reader, const SearchKey& key, const BTreeSpecial& special) noexcept {
  const std::uint16_t first = first_slot(special);
  if (reader.slot_count() < first) return 0;
  // The first downlink is below everything: it is not compared.
  const std::uint16_t slot = search_slots(reader, key, static_cast<std::uint16_t>(first + 1));
  return slot == 0 ? 0 : static_cast<std::uint16_t>(slot - 1);
}

}  // namespace pinwheel::storage
