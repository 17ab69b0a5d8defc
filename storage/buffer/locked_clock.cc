#include "shm/lwlock.h"
#include "storage/buffer/clock_sweep.h"

namespace pinwheel::storage {

namespace {

/// Clock sweep under one lock, held from the start of the search until the victim is pinned (as in PostgreSQL
/// before 9.5): the "before" of the eviction experiments.
class LockedClock final : public ReplacementPolicy {
 public:
  explicit LockedClock(const PolicyContext& context)
      : shared_{*context.segment.as<ClockShared>(kClockRegion)},
        lock_{*context.segment.as<shm::PaddedLwLock>(kStrategyLockRegion)},
        descriptors_{context.descriptors},
        frames_{context.frames} {}

  BufferId claim_victim() override {
    shm::ExclusiveGuard guard{lock_};
    return sweep_clock(descriptors_, frames_, 1, [this] {
      const std::uint64_t at = shared_.hand.load(std::memory_order_relaxed);
      shared_.hand.store(at + 1, std::memory_order_relaxed);
      return at;
    });
  }

  BufferId upcoming(std::size_t ahead) const noexcept override {
    return BufferId{static_cast<std::uint32_t>((progress() + ahead) % frames_)};
  }
  std::uint64_t progress() const noexcept override { return shared_.hand.load(std::memory_order_relaxed); }

 private:
  ClockShared& shared_;
  shm::LwLock& lock_;
  BufferDescriptor* descriptors_;
  std::size_t frames_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_locked_clock(const PolicyContext& context) {
  return std::make_unique<LockedClock>(context);
}

}  // namespace pinwheel::storage
