#include "shm/lwlock.h"
#include "shm/statistics.h"
#include "storage/buffer/replacement_policy.h"

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
    std::size_t pinned_in_a_row = 0;
    std::uint64_t hand = shared_.hand.load(std::memory_order_relaxed);
    const std::uint64_t first = hand;
    while (true) {
      const auto at = static_cast<std::uint32_t>(hand++ % frames_);
      const ClockStep step = clock_step(descriptors_[at]);
      if (step == ClockStep::kClaimed) {
        shared_.hand.store(hand, std::memory_order_relaxed);
        shm::count(shm::Counter::kFramesSwept, hand - first);
        return BufferId{at};
      }
      pinned_in_a_row = step == ClockStep::kPinned ? pinned_in_a_row + 1 : 0;
      if (pinned_in_a_row > frames_) throw_no_unpinned_buffers();
    }
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
