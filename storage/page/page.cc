#include "storage/page/page.h"

#include <array>

#include "base/checksum.h"

namespace pinwheel::storage {

void Page::init(PageKind kind, std::size_t special_size) const noexcept {
  std::memset(data(), 0, kPageSize);
  PageHeader& h = header();
  const auto special = static_cast<std::uint16_t>(kPageSize - align_item(special_size));
  h.lower = kPageHeaderSize;
  h.upper = special;
  h.special = special;
  h.version = kPageVersion;
  h.kind = static_cast<std::uint8_t>(kind);
}

std::uint16_t Page::find_slot(std::size_t length, std::size_t max_slots) const noexcept {
  const std::size_t wanted = align_item(length);
  const std::uint16_t count = slot_count();
  if (has_flag(kPageHasUnusedLines)) {
    for (std::uint16_t slot = 1; slot <= count; ++slot) {
      if (line(slot).is_unused()) return gap() >= wanted ? slot : 0;
    }
    clear_flag(kPageHasUnusedLines);
  }
  if (count >= max_slots || gap() < wanted + sizeof(LinePointer)) return 0;
  return static_cast<std::uint16_t>(count + 1);
}

std::byte* Page::place_item(std::uint16_t slot, std::size_t length) const noexcept {
  PageHeader& h = header();
  if (slot > slot_count()) h.lower = static_cast<std::uint16_t>(h.lower + sizeof(LinePointer));
  h.upper = static_cast<std::uint16_t>(h.upper - align_item(length));
  DB_DEBUG_ASSERT(h.lower <= h.upper);
  set_line(slot, LinePointer::make(LineState::kNormal, h.upper, static_cast<std::uint16_t>(length)));
  return data() + h.upper;
}

std::uint16_t Page::add_item(std::span<const std::byte> item, std::size_t max_slots) const noexcept {
  const std::uint16_t slot = find_slot(item.size(), max_slots);
  if (slot != 0) std::memcpy(place_item(slot, item.size()), item.data(), item.size());
  return slot;
}

bool Page::insert_item_at(std::uint16_t slot, std::span<const std::byte> item) const noexcept {
  const std::uint16_t count = slot_count();
  const std::size_t wanted = align_item(item.size());
  if (gap() < wanted + sizeof(LinePointer)) return false;
  PageHeader& h = header();
  LinePointer* first = reinterpret_cast<LinePointer*>(data() + kPageHeaderSize);
  std::memmove(first + slot, first + slot - 1, std::size_t{count + 1u - slot} * sizeof(LinePointer));
  h.lower = static_cast<std::uint16_t>(h.lower + sizeof(LinePointer));
  h.upper = static_cast<std::uint16_t>(h.upper - wanted);
  set_line(slot, LinePointer::make(LineState::kNormal, h.upper, static_cast<std::uint16_t>(item.size())));
  std::memcpy(data() + h.upper, item.data(), item.size());
  return true;
}

namespace {

/// Closes the hole [offset, offset + size) by moving everything below it up.
void close_hole(Page page, std::size_t offset, std::size_t size) noexcept {
  if (size == 0) return;
  PageHeader& h = page.header();
  std::memmove(page.data() + h.upper + size, page.data() + h.upper, offset - h.upper);
  h.upper = static_cast<std::uint16_t>(h.upper + size);
  const std::uint16_t count = page.slot_count();
  for (std::uint16_t slot = 1; slot <= count; ++slot) {
    const LinePointer line = page.line(slot);
    if (line.length() != 0 && line.offset() < offset) {
      page.set_line(slot, LinePointer::make(line.state(), static_cast<std::uint16_t>(line.offset() + size),
                                            line.length()));
    }
  }
}

bool has_bytes(LinePointer line) noexcept {
  return (line.is_normal() || line.is_dead()) && line.length() != 0;
}

}  // namespace

void Page::remove_item_at(std::uint16_t slot) const noexcept {
  const LinePointer removed = line(slot);
  const std::uint16_t count = slot_count();
  LinePointer* first = reinterpret_cast<LinePointer*>(data() + kPageHeaderSize);
  std::memmove(first + slot - 1, first + slot, std::size_t(count - slot) * sizeof(LinePointer));
  header().lower = static_cast<std::uint16_t>(header().lower - sizeof(LinePointer));
  if (has_bytes(removed)) close_hole(*this, removed.offset(), align_item(removed.length()));
}

void Page::remove_items_at(std::span<const std::uint16_t> slots) const noexcept {
  if (slots.size() == 1) return remove_item_at(slots[0]);
  const std::uint16_t count = slot_count();
  std::uint16_t kept = 0;
  std::size_t next_removed = 0;
  for (std::uint16_t slot = 1; slot <= count; ++slot) {
    if (next_removed < slots.size() && slots[next_removed] == slot) {
      ++next_removed;
      continue;
    }
    set_line(++kept, line(slot));
  }
  header().lower = static_cast<std::uint16_t>(kPageHeaderSize + std::size_t{kept} * sizeof(LinePointer));
  compact();
}

bool Page::overwrite_item(std::uint16_t slot, std::span<const std::byte> item) const noexcept {
  const LinePointer old = line(slot);
  const std::size_t old_size = align_item(old.length());
  const std::size_t new_size = align_item(item.size());
  if (new_size != old_size) {
    if (gap() + old_size < new_size) return false;
    set_line(slot, LinePointer::make(LineState::kUnused, 0, 0));
    close_hole(*this, old.offset(), old_size);
    PageHeader& h = header();
    h.upper = static_cast<std::uint16_t>(h.upper - new_size);
    set_line(slot, LinePointer::make(old.state(), h.upper, static_cast<std::uint16_t>(item.size())));
  } else {
    set_line(slot, LinePointer::make(old.state(), old.offset(), static_cast<std::uint16_t>(item.size())));
  }
  std::memcpy(this->item(slot), item.data(), item.size());
  return true;
}

void Page::compact() const noexcept {
  std::array<std::byte, kPageSize> copy;
  PageHeader& h = header();
  std::memcpy(copy.data() + h.upper, data() + h.upper, h.special - h.upper);
  std::size_t upper = h.special;
  const std::uint16_t count = slot_count();
  // Laid out in slot order, whatever the order before: redo makes the same bytes.
  for (std::uint16_t slot = 1; slot <= count; ++slot) {
    const LinePointer at = line(slot);
    if (!has_bytes(at)) continue;
    upper -= align_item(at.length());
    std::memcpy(data() + upper, copy.data() + at.offset(), at.length());
    set_line(slot, LinePointer::make(at.state(), static_cast<std::uint16_t>(upper), at.length()));
  }
  h.upper = static_cast<std::uint16_t>(upper);
}

void Page::truncate_unused_lines() const noexcept {
  std::uint16_t count = slot_count();
  while (count > 0 && line(count).is_unused()) --count;
  header().lower = static_cast<std::uint16_t>(kPageHeaderSize + std::size_t{count} * sizeof(LinePointer));
}

namespace {

bool all_zero(ConstPageBytes bytes) noexcept {
  for (std::size_t i = 0; i < kPageSize; i += sizeof(std::uint64_t)) {
    if (load<std::uint64_t>(bytes.data() + i) != 0) return false;
  }
  return true;
}

}  // namespace

PageError check_header(ConstPageBytes bytes) noexcept {
  const ConstPage page{bytes.data()};
  const PageHeader& h = page.header();
  if (h.upper == 0 && all_zero(bytes)) return PageError::kNone;
  if (h.lower < kPageHeaderSize || h.lower > h.upper || h.upper > h.special || h.special > kPageSize ||
      (h.lower - kPageHeaderSize) % sizeof(LinePointer) != 0 || h.special % kItemAlign != 0) {
    return PageError::kBadBounds;
  }
  if (h.version != kPageVersion || h.reserved != 0) return PageError::kBadVersion;
  const auto kind = static_cast<PageKind>(h.kind);
  if (kind != PageKind::kHeap && kind != PageKind::kBtree) return PageError::kNone;
  const std::uint16_t count = page.slot_count();
  for (std::uint16_t slot = 1; slot <= count; ++slot) {
    const LinePointer line = page.line(slot);
    if (line.is_redirect()) {
      if (line.offset() == 0 || line.offset() > count) return PageError::kBadLine;
    } else if (has_bytes(line)) {
      if (line.offset() < h.upper || line.offset() + std::size_t{line.length()} > h.special ||
          line.offset() % kItemAlign != 0) {
        return PageError::kBadLine;
      }
    } else if (line.is_normal()) {
      return PageError::kBadLine;
    }
  }
  return PageError::kNone;
}

PageError check_page(ConstPageBytes bytes, PageNumber number, bool verify_checksum) noexcept {
  const PageHeader& h = ConstPage{bytes.data()}.header();
  if (h.upper == 0 && all_zero(bytes)) return PageError::kNone;
  if (verify_checksum && h.checksum != 0 &&
      h.checksum != page_checksum(bytes, number.value, offsetof(PageHeader, checksum))) {
    return PageError::kBadChecksum;
  }
  if (h.lower < kPageHeaderSize || h.lower > h.upper || h.upper > h.special || h.special > kPageSize) {
    return PageError::kBadBounds;
  }
  if (h.version != kPageVersion) return PageError::kBadVersion;
  return PageError::kNone;
}

void set_checksum(PageBytes bytes, PageNumber number) noexcept {
  PageHeader& h = Page{bytes.data()}.header();
  h.checksum = 0;
  if (h.upper == 0) return;
  h.checksum = page_checksum(bytes, number.value, offsetof(PageHeader, checksum));
}

}  // namespace pinwheel::storage
