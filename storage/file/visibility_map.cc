#include "storage/file/visibility_map.h"

#include <bit>

#include "storage/buffer/buffer_pool.h"

namespace pinwheel::storage {

namespace {

constexpr std::uint32_t kBitsPerPage = (kPageSize - kPageHeaderSize) * 8;

void init_map_if_new(Page page) noexcept {
  if (!page.is_new()) return;
  page.init(PageKind::kVisibility);
  page.header().upper = kPageHeaderSize;  // no hole: the bytes after the header are all used
}

}  // namespace

PageTag VisibilityMap::tag_for(FileId file, PageNumber heap_page) noexcept {
  return {file, Fork::kVisibility, PageNumber{heap_page.value / kBitsPerPage}};
}

bool VisibilityMap::pin(FileId file, PageNumber heap_page, Pin& pin, bool extend) {
  const PageTag tag = tag_for(file, heap_page);
  if (pin.holds(tag)) return true;
  pin.release();
  RelationFiles& files = pool_.files();
  if (files.size(file, Fork::kVisibility).value <= tag.page.value) {
    if (!extend) return false;
    files.ensure_size(file, Fork::kVisibility, next(tag.page));
  }
  pin = pool_.pin(tag, nullptr, ReadMode::kZeroOnError);
  return true;
}

bool VisibilityMap::test(ConstPage map, PageNumber heap_page) noexcept {
  if (map.is_new()) return false;
  const std::uint32_t bit = heap_page.value % kBitsPerPage;
  const auto byte = static_cast<std::uint8_t>(map.data()[kPageHeaderSize + bit / 8]);
  return (byte >> (bit % 8) & 1) != 0;
}

bool VisibilityMap::is_all_visible(FileId file, PageNumber heap_page, Pin& pin) {
  return this->pin(file, heap_page, pin, false) && test(pin.unlatched(), heap_page);
}

void VisibilityMap::clear(const Pin& pin, PageNumber heap_page) noexcept {
  WriteGuard map = pin.write();
  if (!test(map.page(), heap_page)) return;
  map.mark_dirty();
  const std::uint32_t bit = heap_page.value % kBitsPerPage;
  map.page().data()[kPageHeaderSize + bit / 8] &= static_cast<std::byte>(~(1u << (bit % 8)));
}

void VisibilityMap::set(const WriteGuard& map, PageNumber heap_page) noexcept {
  init_map_if_new(map.page());
  const std::uint32_t bit = heap_page.value % kBitsPerPage;
  map.page().data()[kPageHeaderSize + bit / 8] |= static_cast<std::byte>(1u << (bit % 8));
}

std::uint64_t VisibilityMap::count(FileId file) {
  std::uint64_t sum = 0;
  const std::uint32_t pages = pool_.files().size(file, Fork::kVisibility).value;
  for (std::uint32_t i = 0; i < pages; ++i) {
    const ReadGuard guard =
        pool_.read_page({file, Fork::kVisibility, PageNumber{i}}, nullptr, ReadMode::kZeroOnError);
    for (std::size_t at = kPageHeaderSize; at < kPageSize; at += sizeof(std::uint64_t)) {
      sum += static_cast<std::uint64_t>(std::popcount(load<std::uint64_t>(guard.page().data() + at)));
    }
  }
  return sum;
}

void VisibilityMap::truncate(FileId file, PageNumber pages) {
  const std::uint32_t map_pages = pool_.files().size(file, Fork::kVisibility).value;
  const std::uint32_t last = pages.value / kBitsPerPage;
  if (map_pages <= last) return;
  {
    WriteGuard map =
        pool_.write_page({file, Fork::kVisibility, PageNumber{last}}, nullptr, ReadMode::kZeroOnError);
    map.mark_dirty();
    if (!map.page().is_new()) {
      for (std::uint32_t bit = pages.value % kBitsPerPage; bit < kBitsPerPage; ++bit) {
        if (bit % 8 == 0) {
          std::memset(map.page().data() + kPageHeaderSize + bit / 8, 0,
                      kPageSize - kPageHeaderSize - bit / 8);
          break;
        }
        map.page().data()[kPageHeaderSize + bit / 8] &= static_cast<std::byte>(~(1u << (bit % 8)));
      }
    }
  }
  pool_.drop_pages(file, Fork::kVisibility, PageNumber{last + 1});
  pool_.files().truncate(file, Fork::kVisibility, PageNumber{last + 1});
}

void VisibilityMap::clear_in_redo(FileId file, PageNumber heap_page) {
  Pin pin;
  if (this->pin(file, heap_page, pin, false)) clear(pin, heap_page);
}

}  // namespace pinwheel::storage
