#include "shm/statistics.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

namespace {

/// Clock sweep whose hand is one fetch-add per frame: nobody waits for anybody (as in PostgreSQL 9.5 and
/// later).
class AtomicClock final : public ReplacementPolicy {
 public:
  explicit AtomicClock(const PolicyContext& context)
      : shared_{*context.segment.as<ClockShared>(kClockRegion)},
        descriptors_{context.descriptors},
        frames_{context.frames} {}

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

  BufferId upcoming(std::size_t ahead) const noexcept override {
    return BufferId{static_cast<std::uint32_t>((progress() + ahead) % frames_)};
  }
  std::uint64_t progress() const noexcept override { return shared_.hand.load(std::memory_order_relaxed); }

 private:
  ClockShared& shared_;
  BufferDescriptor* descriptors_;
  std::size_t frames_;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_atomic_clock(const PolicyContext& context) {
  return std::make_unique<AtomicClock>(context);
}

}  // namespace pinwheel::storage
