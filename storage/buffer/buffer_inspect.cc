// What pg_buffercache shows of the pool, and emptying it for measurements that begin cold.
#include "storage/buffer/buffer_pool_internal.h"

namespace pinwheel::storage {

using namespace buffer_state;

std::optional<FrameView> BufferPool::inspect(BufferId buffer) const noexcept {
  const BufferDescriptor& d = at(buffer);
  const std::uint64_t seen = d.state.load(std::memory_order_acquire);
  if ((seen & kTagValid) == 0) return std::nullopt;
  FrameView view;
  view.tag = d.tag.load();
  view.dirty = (seen & kDirty) != 0;
  view.usage_count = static_cast<std::uint32_t>((seen & kUsageMask) >> kUsageShift);
  view.pin_count = static_cast<std::uint32_t>(seen & kPinMask);
  return view;
}

bool BufferPool::evict(BufferId buffer) {
  BufferDescriptor& d = at(buffer);
  if ((d.state.load(std::memory_order_acquire) & kTagValid) == 0) return false;
  const PageTag tag = d.tag.load();
  if (!try_pin(buffer, tag)) return false;
  bool evicted = false;
  try {
    // A page that is not valid is still being read.
    evicted = (d.state.load(std::memory_order_acquire) & kValid) != 0 &&
              write_pinned(buffer, /*wait=*/false) && evict_claimed(buffer);
  } catch (...) {
    unpin(buffer);
    throw;
  }
  // The replacement policy did not choose the frame: to it this is as if a drop had freed it.
  evicted ? free_victim(buffer) : unpin(buffer);
  return evicted;
}

EvictedFrames BufferPool::evict_all() {
  EvictedFrames result;
  for (std::size_t i = 0; i < frame_count_; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>(i)};
    const std::uint64_t seen = at(buffer).state.load(std::memory_order_relaxed);
    if ((seen & kTagValid) == 0) continue;
    const bool dirty = (seen & kDirty) != 0;
    if (!evict(buffer)) {
      ++result.skipped;
      continue;
    }
    ++result.evicted;
    result.flushed += dirty ? 1 : 0;
  }
  return result;
}

}  // namespace pinwheel::storage
