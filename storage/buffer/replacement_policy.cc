#include "storage/buffer/replacement_policy.h"

#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/lwlock.h"

namespace pinwheel::storage {

ClockStep clock_step(BufferDescriptor& descriptor) noexcept {
  using namespace buffer_state;
  std::uint64_t seen = descriptor.state.load(std::memory_order_relaxed);
  while (true) {
    // Frames without a page are on the freelist, or about to get a page.
    if ((seen & kPinMask) != 0 || (seen & kTagValid) == 0) return ClockStep::kPinned;
    const bool used = (seen & kUsageMask) != 0;
    const std::uint64_t wanted = used ? seen - kUsageOne : seen + kPinOne;
    if (descriptor.state.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) {
      return used ? ClockStep::kAged : ClockStep::kClaimed;
    }
  }
}

void declare_replacement(shm::RegionBuilder& builder) {
  builder.add_array<ClockShared>(kClockRegion, 1);
  builder.add_region(kClockLockRegion, sizeof(shm::PaddedLwLock), kCacheLine,
                     [](std::byte* at) { ::new (at) shm::PaddedLwLock(shm::Tranche::kBufferStrategy); });
}

void throw_no_unpinned_buffers() {
  throw SqlError{sqlstate::kInsufficientResources, "no unpinned buffers available"};
}

}  // namespace pinwheel::storage
