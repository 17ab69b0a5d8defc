#include "storage/file/free_space_map.h"

#include <algorithm>

#include "storage/buffer/buffer_pool.h"

namespace pinwheel::storage {

namespace {

// Page 0 is the root: byte i is the greatest category on leaf page i + 1. Leaf j: byte i is the category of
// heap page (j - 1) * kPerPage + i. Bytes follow the page header.
constexpr std::uint32_t kPerPage = kPageSize - kPageHeaderSize;
constexpr std::size_t kStep = 32;

std::uint8_t category(std::size_t free_bytes) noexcept {
  return static_cast<std::uint8_t>(std::min<std::size_t>(free_bytes / kStep, 255));
}
/// Least category whose pages have `bytes` for sure.
std::uint8_t category_wanted(std::size_t bytes) noexcept {
  return static_cast<std::uint8_t>(std::min<std::size_t>((bytes + kStep - 1) / kStep, 255));
}

PageTag map_page(FileId file, std::uint32_t number) noexcept {
  return {file, Fork::kFreeSpace, PageNumber{number}};
}

const std::uint8_t* categories(ConstPage page) noexcept {
  return reinterpret_cast<const std::uint8_t*>(page.data()) + kPageHeaderSize;
}
std::uint8_t* categories(Page page) noexcept {
  return reinterpret_cast<std::uint8_t*>(page.data()) + kPageHeaderSize;
}

std::uint8_t greatest(const std::uint8_t* from) noexcept { return *std::max_element(from, from + kPerPage); }

void init_if_new(Page page) noexcept {
  if (!page.is_new()) return;
  page.init(PageKind::kFreeSpace);
  page.header().lower = kPageHeaderSize;
  page.header().upper = kPageHeaderSize;  // no hole: the bytes after the header are all used
}

/// First index at or after `start`, wrapping, whose byte is at least `wanted`; kPerPage when there is none.
std::uint32_t search(const std::uint8_t* bytes, std::uint8_t wanted, std::uint32_t start) noexcept {
  const auto fits = [wanted](std::uint8_t have) { return have >= wanted; };
  const std::uint8_t* found = std::find_if(bytes + start, bytes + kPerPage, fits);
  if (found != bytes + kPerPage) return static_cast<std::uint32_t>(found - bytes);
  found = std::find_if(bytes, bytes + start, fits);
  return found != bytes + start ? static_cast<std::uint32_t>(found - bytes) : kPerPage;
}

WriteGuard latch_map_page(BufferPool& pool, FileId file, std::uint32_t number) {
  RelationFiles& files = pool.files();
  if (!files.exists(file, Fork::kFreeSpace)) files.create(file, Fork::kFreeSpace, true);
  if (files.size(file, Fork::kFreeSpace).value <= number) {
    files.ensure_size(file, Fork::kFreeSpace, PageNumber{number + 1});
  }
  WriteGuard guard = pool.write_page(map_page(file, number), nullptr, ReadMode::kZeroOnError);
  init_if_new(guard.page());
  return guard;
}

}  // namespace

PageNumber FreeSpaceMap::find(FileId file, std::size_t bytes, std::uint32_t start_hint) {
  const std::uint32_t map_pages = pool_.files().size(file, Fork::kFreeSpace).value;
  if (map_pages < 2) return kInvalidPage;
  const std::uint8_t wanted = std::max<std::uint8_t>(category_wanted(bytes), 1);
  const PageNumber heap_pages = pool_.files().size(file, Fork::kMain);
  // A root that promises too much is corrected as we go; a few tries are enough for a hint.
  for (int attempt = 0; attempt < 4; ++attempt) {
    std::uint32_t leaf;
    {
      const ReadGuard root = pool_.read_page(map_page(file, 0), nullptr, ReadMode::kZeroOnError);
      if (root.page().is_new()) return kInvalidPage;
      leaf = search(categories(root.page()), wanted, 0);
    }
    if (leaf == kPerPage || leaf + 1 >= map_pages) return kInvalidPage;
    std::uint8_t best = 0;
    {
      const ReadGuard guard = pool_.read_page(map_page(file, leaf + 1), nullptr, ReadMode::kZeroOnError);
      if (!guard.page().is_new()) {
        const std::uint32_t start = (start_hint * 37) % kPerPage;
        const std::uint32_t limit = heap_pages.value - std::min(heap_pages.value, leaf * kPerPage);
        const std::uint32_t found =
            search(categories(guard.page()), wanted, limit == 0 ? 0 : start % std::min(limit, kPerPage));
        if (found != kPerPage && leaf * kPerPage + found < heap_pages.value) {
          return PageNumber{leaf * kPerPage + found};
        }
        best = found == kPerPage ? greatest(categories(guard.page())) : 0;
      }
    }
    WriteGuard root = latch_map_page(pool_, file, 0);
    root.mark_dirty();
    categories(root.page())[leaf] = best;
  }
  return kInvalidPage;
}

void FreeSpaceMap::record(FileId file, PageNumber page, std::size_t free_bytes) {
  const std::uint32_t leaf = page.value / kPerPage;
  // Beyond what one root describes (half a terabyte) space is not reused by inserts.
  if (leaf >= kPerPage) return;
  const std::uint8_t have = category(free_bytes);
  if (have == 0 && pool_.files().size(file, Fork::kFreeSpace).value < leaf + 2) return;
  bool raise_root;
  {
    WriteGuard guard = latch_map_page(pool_, file, leaf + 1);
    std::uint8_t& byte = categories(guard.page())[page.value % kPerPage];
    if (byte == have) return;
    raise_root = have > byte;
    guard.mark_dirty();
    byte = have;
  }
  if (!raise_root) return;
  WriteGuard root = latch_map_page(pool_, file, 0);
  std::uint8_t& most = categories(root.page())[leaf];
  if (most >= have) return;
  root.mark_dirty();
  most = have;
}

PageNumber FreeSpaceMap::record_and_find(FileId file, PageNumber page, std::size_t free_bytes,
                                         std::size_t bytes_wanted, std::uint32_t start_hint) {
  record(file, page, free_bytes);
  return find(file, bytes_wanted, start_hint);
}

std::size_t FreeSpaceMap::recorded(FileId file, PageNumber page) {
  const std::uint32_t leaf = page.value / kPerPage;
  if (pool_.files().size(file, Fork::kFreeSpace).value < leaf + 2) return 0;
  const ReadGuard guard = pool_.read_page(map_page(file, leaf + 1), nullptr, ReadMode::kZeroOnError);
  return guard.page().is_new() ? 0 : categories(guard.page())[page.value % kPerPage] * kStep;
}

void FreeSpaceMap::truncate(FileId file, PageNumber pages) {
  const std::uint32_t map_pages = pool_.files().size(file, Fork::kFreeSpace).value;
  const std::uint32_t leaf = pages.value / kPerPage;
  if (map_pages < leaf + 2) return;
  {
    WriteGuard guard = latch_map_page(pool_, file, leaf + 1);
    guard.mark_dirty();
    std::fill(categories(guard.page()) + pages.value % kPerPage, categories(guard.page()) + kPerPage, 0);
  }
  pool_.drop_pages(file, Fork::kFreeSpace, PageNumber{leaf + 2});
  pool_.files().truncate(file, Fork::kFreeSpace, PageNumber{leaf + 2});
}

}  // namespace pinwheel::storage
