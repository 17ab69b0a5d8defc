#include <random>

#include "shm/process.h"
#include "shm/statistics.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

namespace {

/// Any frame that nobody has pinned, used or not. Each process draws by itself and shares nothing.
class RandomReplacement final : public ReplacementPolicy {
 public:
  explicit RandomReplacement(const PolicyContext& context)
      : descriptors_{context.descriptors},
        frames_{context.frames},
        random_{shm::self().slot == nullptr ? 0u : shm::self().index.value} {}

  BufferId claim_victim() override {
    using namespace buffer_state;
    // Enough draws to come upon the only unpinned frame of a pool with near certainty.
    for (std::uint64_t drawn = 1; drawn <= 32 * frames_; ++drawn) {
      const BufferId buffer = upcoming(0);
      draws_ = random_();
      BufferDescriptor& d = descriptors_[buffer.value];
      std::uint64_t seen = d.state.load(std::memory_order_relaxed);
      // Frames without a page are on the freelist, or about to get one.
      while ((seen & kPinMask) == 0 && (seen & kTagValid) != 0) {
        if (!d.state.compare_exchange_weak(seen, seen + kPinOne, std::memory_order_acquire)) continue;
        looked_ += drawn;
        shm::count(shm::Counter::kFramesSwept, drawn);
        return buffer;
      }
    }
    throw_no_unpinned_buffers();
  }

  BufferId upcoming(std::size_t ahead) const noexcept override {
    return BufferId{static_cast<std::uint32_t>((draws_ + ahead) % frames_)};
  }
  std::uint64_t progress() const noexcept override { return looked_; }

 private:
  BufferDescriptor* descriptors_;
  std::size_t frames_;
  std::mt19937 random_;
  std::uint64_t draws_ = 0;
  std::uint64_t looked_ = 0;
};

}  // namespace

std::unique_ptr<ReplacementPolicy> make_random(const PolicyContext& context) {
  return std::make_unique<RandomReplacement>(context);
}

}  // namespace pinwheel::storage
