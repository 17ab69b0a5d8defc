#pragma once

#include <cstdint>

#include "base/ids.h"

namespace pinwheel::storage {

class BufferPool;

/// How much room each heap page has, in steps of 32 bytes, in the fork kFreeSpace: docs/formats/maps.md.
///
/// Never logged and never to be relied on: a wrong answer costs a look at a page. Damaged map pages read as
/// empty. A plain handle.
class FreeSpaceMap {
 public:
  explicit FreeSpaceMap(BufferPool& pool) noexcept : pool_{pool} {}

  /// A page with at least `bytes` free, or kInvalidPage. Answers for concurrent callers are spread by
  /// `start_hint` (say, a session number).
  PageNumber find(FileId file, std::size_t bytes, std::uint32_t start_hint = 0);
  /// Notes what `page` has free.
  void record(FileId file, PageNumber page, std::size_t free_bytes);
  /// record(), then find() for the same file: what an inserter does that found a page too full.
  PageNumber record_and_find(FileId file, PageNumber page, std::size_t free_bytes, std::size_t bytes_wanted,
                             std::uint32_t start_hint = 0);
  /// Recorded free bytes (rounded down); 0 when nothing is recorded.
  std::size_t recorded(FileId file, PageNumber page);
  /// Forgets pages from `pages` on: before truncation.
  void truncate(FileId file, PageNumber pages);

 private:
  BufferPool& pool_;
};

}  // namespace pinwheel::storage
