#include "storage/buffer/clock_sweep.h"

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
    // Others may free frames behind the hand; a few rounds tell a full pool from bad luck.
    return sweep_clock(descriptors_, frames_, 4,
                       [this] { return shared_.hand.fetch_add(1, std::memory_order_relaxed); });
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
