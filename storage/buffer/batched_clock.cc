#include <algorithm>

#include "storage/buffer/clock_sweep.h"

namespace pinwheel::storage {

namespace {

/// Clock sweep that takes a batch of positions with one fetch-add and goes through it privately: the shared
/// hand is written once per batch instead of once per frame. What a process has left of its batch it sweeps
/// next time, late and so out of turn; nobody else looks at those frames in this turn of the clock.
class BatchedClock final : public ReplacementPolicy {
 public:
  explicit BatchedClock(const PolicyContext& context)
      : shared_{*context.segment.as<ClockShared>(kClockRegion)},
        descriptors_{context.descriptors},
        frames_{context.frames},
        batch_{std::clamp<std::uint64_t>(context.frames / kBatchesPerTurn, 1, kLargestBatch)} {}

  BufferId claim_victim() override {
    // As in AtomicClock. Frames in the rest of another process's batch come again in the next turn.
    return sweep_clock(descriptors_, frames_, 4, [this] {
      if (next_ == end_) {
        next_ = shared_.hand.fetch_add(batch_, std::memory_order_relaxed);
        end_ = next_ + batch_;
      }
      return next_++;
    });
  }

  BufferId upcoming(std::size_t ahead) const noexcept override {
    return BufferId{static_cast<std::uint32_t>((progress() + ahead) % frames_)};
  }
  std::uint64_t progress() const noexcept override { return shared_.hand.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t kLargestBatch = 64;
  /// At least so many batches make a turn, so that a small pool is not parcelled out to a few processes.
  static constexpr std::uint64_t kBatchesPerTurn = 128;

  ClockShared& shared_;
  BufferDescriptor* descriptors_;
  std::size_t frames_;
  std::uint64_t batch_;
  std::uint64_t next_ = 0;  // this process's batch: [next_, end_)
  std::uint64_t end_ = 0;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_batched_clock(const PolicyContext& context) {
  return std::make_unique<BatchedClock>(context);
}

}  // namespace pinwheel::storage
