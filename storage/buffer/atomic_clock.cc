#include "shm/statistics.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

namespace {

/// Clock sweep whose hand is one fetch-add per frame: nobody waits for anybody (as in PostgreSQL 9.5 and
/// later).
class AtomicClock final : public ReplacementPolicy {
 public:
  AtomicClock(const shm::Segment& segment, BufferDescriptor* descriptors, std::size_t frames)
      : shared_{*segment.as<ClockShared>(kClockRegion)}, descriptors_{descriptors}, frames_{frames} {}

  BufferId claim_victim() override {
    std::size_t pinned_in_a_row = 0;
    std::uint64_t swept = 0;
    while (true) {
      const auto at =
          static_cast<std::uint32_t>(shared_.hand.fetch_add(1, std::memory_order_relaxed) % frames_);
      ++swept;
      switch (clock_step(descriptors_[at])) {
        case ClockStep::kClaimed:
          shm::count(shm::Counter::kFramesSwept, swept);
          return BufferId{at};
        case ClockStep::kAged:
          pinned_in_a_row = 0;
          break;
        case ClockStep::kPinned:
          // Others may free frames behind the hand; a few rounds tell a full pool from bad luck.
          if (++pinned_in_a_row > 4 * frames_) throw_no_unpinned_buffers();
          break;
      }
    }
  }

  std::uint32_t position() const noexcept override {
    return static_cast<std::uint32_t>(shared_.hand.load(std::memory_order_relaxed) % frames_);
  }

 private:
  ClockShared& shared_;
  BufferDescriptor* descriptors_;
  std::size_t frames_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_atomic_clock(const shm::Segment& segment,
                                                     BufferDescriptor* descriptors, std::size_t frames) {
  return std::make_unique<AtomicClock>(segment, descriptors, frames);
}

}  // namespace pinwheel::storage
