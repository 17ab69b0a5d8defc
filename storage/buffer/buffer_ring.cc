#include "storage/buffer/buffer_ring.h"

#include <algorithm>

namespace pinwheel::storage {

namespace {
constexpr std::size_t kSmallRing = 32;    // 256 kB
constexpr std::size_t kLargeRing = 2048;  // 16 MB
}  // namespace

BufferRing::BufferRing(Kind kind, std::size_t pool_frames) : kind_{kind} {
  const std::size_t wanted = kind == Kind::kBulkWrite ? kLargeRing : kSmallRing;
  frames_.assign(std::clamp<std::size_t>(pool_frames / 8, 1, wanted), kInvalidBuffer);
}

}  // namespace pinwheel::storage
