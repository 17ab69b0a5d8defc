#pragma once

#include "storage/btree/btree_page.h"
#include "storage/btree/compare.h"
#include "storage/buffer/page_guard.h"

namespace pinwheel::storage {

/// Reads a page that is latched (or private): what it says is so.
class LatchedReader {
 public:
  explicit LatchedReader(ConstPage page) noexcept : page_{page} {}
  BTreeSpecial special() const noexcept { return special_of(page_); }
  std::uint16_t slot_count() const noexcept { return page_.slot_count(); }
  LinePointer line(std::uint16_t slot) const noexcept { return page_.line(slot); }
  bool compare(const SearchKey& key, std::uint16_t slot, int& order) noexcept {
    order = compare_key(key, item_at(page_, slot));
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
    const std::size_t offset = at.offset(), length = at.length();
    if (!is_inside(offset, length)) return false;
    const std::byte* bytes = read_.page().data() + offset;
    const AttributeLayout& first = key.index->layout.attribute(0);
    if (key.column_count == 1 && !key.has_id && !key.is_pivot && first.by_value &&
        key.columns[0].order != KeyOrder::kFunction) {
      const auto info = load<std::uint16_t>(bytes + 6);
      if ((info & kItemHasNulls) == 0 &&
          length >= kItemHeaderBytes + static_cast<std::size_t>(first.length) && !key.nulls[0]) [[likely]] {
        const std::uint64_t value = btree_detail::fetch_by_value(bytes + kItemHeaderBytes, first.length);
        order = -compare_not_null(key.columns[0], value, key.values[0]);
        if (order == 0 && (info & kItemIsPivot) != 0 && (info & kItemAttributeMask) == 1 &&
            (info & kItemHasId) == 0) {
          order = 1;
        }
        return true;
      }
    }
    std::memcpy(copy_.bytes, bytes, length);
    copy_.length = static_cast<std::uint16_t>(length);
    if (!read_.validate()) return false;
    order = compare_key(key, copy_.item());
    return true;
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
