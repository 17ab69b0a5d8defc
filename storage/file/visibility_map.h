#pragma once

#include <cstdint>

#include "base/ids.h"
#include "storage/buffer/page_guard.h"

namespace pinwheel::storage {

class BufferPool;

/// One bit for each heap page: every tuple on it is visible to everyone. Fork kVisibility;
/// docs/formats/maps.md.
///
/// The bit is set only together with the page's kPageAllVisible flag and logged; it is cleared, before the
/// change that makes it untrue is logged, by whoever has the heap page latched exclusively. Reading is
/// without a latch: an index-only scan that sees the bit after it read the index entry may trust it.
/// Damaged map pages read as zeroes, which is always true.
class VisibilityMap {
 public:
  explicit VisibilityMap(BufferPool& pool) noexcept : pool_{pool} {}

  /// Pins the map page of `heap_page` into `pin` (kept when it is the right one already). False when the map
  /// does not reach so far. With `extend` the map is grown.
  bool pin(FileId file, PageNumber heap_page, Pin& pin, bool extend = false);
  /// Reads the bit, pinning as needed.
  bool is_all_visible(FileId file, PageNumber heap_page, Pin& pin);
  /// Clears the bit; `pin` holds the right map page, the heap page is latched exclusively. Latches the map
  /// page. Logged by the caller's record (flag all_visible_cleared).
  static void clear(const Pin& pin, PageNumber heap_page) noexcept;
  /// Sets the bit on a latched map page; the caller logs it.
  static void set(const WriteGuard& map, PageNumber heap_page) noexcept;
  static bool test(ConstPage map, PageNumber heap_page) noexcept;
  /// Number of set bits.
  std::uint64_t count(FileId file);
  void truncate(FileId file, PageNumber pages);

  static PageTag tag_for(FileId file, PageNumber heap_page) noexcept;
  /// Redo of a record that cleared the bit.
  void clear_in_redo(FileId file, PageNumber heap_page);

 private:
  BufferPool& pool_;
};

}  // namespace pinwheel::storage
