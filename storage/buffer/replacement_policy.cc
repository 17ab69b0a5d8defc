#include "storage/buffer/replacement_policy.h"

#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/lwlock.h"

namespace pinwheel::storage {
namespace {

void declare_clock(shm::RegionBuilder& builder, std::size_t /*frames*/) {
  builder.add_array<ClockShared>(kClockRegion, 1);
}

struct PolicyRow {
  Replacement replacement;
  void (*declare)(shm::RegionBuilder& builder, std::size_t frames);
  std::unique_ptr<ReplacementPolicy> (*make)(const PolicyContext& context);
};
constexpr PolicyRow kPolicies[] = {
    {Replacement::kAtomicClock, declare_clock, make_atomic_clock},
    {Replacement::kLockedClock, declare_clock, make_locked_clock},
    {Replacement::kBatchedClock, declare_clock, make_batched_clock},
    {Replacement::kS3Fifo, declare_s3_fifo, make_s3_fifo},
};

const PolicyRow& row_of(Replacement replacement) {
  for (const PolicyRow& row : kPolicies) {
    if (row.replacement == replacement) return row;
  }
  DB_PANIC("unknown buffer replacement policy");
}

}  // namespace

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

void declare_replacement(shm::RegionBuilder& builder, Replacement replacement, std::size_t frames) {
  builder.add_region(kStrategyLockRegion, sizeof(shm::PaddedLwLock), kCacheLine,
                     [](std::byte* at) { ::new (at) shm::PaddedLwLock(shm::Tranche::kBufferStrategy); });
  row_of(replacement).declare(builder, frames);
}

std::unique_ptr<ReplacementPolicy> make_replacement(Replacement replacement, const PolicyContext& context) {
  return row_of(replacement).make(context);
}

void throw_no_unpinned_buffers() {
  throw SqlError{sqlstate::kInsufficientResources, "no unpinned buffers available"};
}

}  // namespace pinwheel::storage
