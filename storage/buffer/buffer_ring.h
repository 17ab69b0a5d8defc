#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace pinwheel::storage {

/// A few frames that a bulk operation reuses again and again, so that it does not push everything else out of
/// the pool. Owned by the operation; one per scan, not shared. Pass it to the pool's page functions.
class BufferRing {
 public:
  enum class Kind : std::uint8_t {
    kBulkRead,   // 256 kB: sequential scans of large tables
    kBulkWrite,  // 16 MB, at most an eighth of the pool: COPY, CREATE TABLE AS, index builds
    kVacuum,     // 256 kB
  };
  BufferRing(Kind kind, std::size_t pool_frames);

  Kind kind() const noexcept { return kind_; }
  std::size_t size() const noexcept { return frames_.size(); }

 private:
  friend class BufferPool;
  Kind kind_;
  std::size_t current_ = 0;
  std::vector<BufferId> frames_;
};

}  // namespace pinwheel::storage
