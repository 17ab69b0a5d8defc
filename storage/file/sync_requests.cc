#include "storage/file/sync_requests.h"

#include <algorithm>
#include <bit>

namespace pinwheel::storage {

namespace {
constexpr std::string_view kControlRegion = "Sync Request Control";
constexpr std::string_view kSlotsRegion = "Sync Requests";
}  // namespace

struct SyncRequests::Shared {
  shm::LwLock lock{shm::Tranche::kSyncRequests};  // protects the slots and `count`
  std::uint32_t count = 0;
  /// Raised by the checkpointer under the lock; read without it after a write.
  alignas(kCacheLine) std::atomic<std::uint64_t> cycle{1};
};

void SyncRequests::declare(shm::RegionBuilder& builder, std::size_t entries) {
  builder.add_array<Shared>(kControlRegion, 1);
  builder.add_array<Slot>(kSlotsRegion, std::bit_ceil(std::max<std::size_t>(entries, 64)));
}

SyncRequests::SyncRequests(const shm::Segment& segment)
    : shared_{segment.as<Shared>(kControlRegion)},
      slots_{segment.as<Slot>(kSlotsRegion), segment.size_of(kSlotsRegion) / sizeof(Slot)} {}

std::uint64_t SyncRequests::cycle() const noexcept { return shared_->cycle.load(std::memory_order_seq_cst); }

bool SyncRequests::add(const SyncRequest& request) noexcept {
  std::uint64_t hash = (request.file * 31 + request.segment) * 31 + request.fork;
  hash *= 0x9E3779B97F4A7C15ull;
  const std::size_t mask = slots_.size() - 1;
  shm::ExclusiveGuard guard{shared_->lock};
  for (std::size_t at = (hash >> 32) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.used == 0) {
      if (shared_->count >= slots_.size() / 4 * 3) return false;
      slot.request = request;
      slot.used = 1;
      ++shared_->count;
      return true;
    }
    if (slot.request == request) return true;
  }
}

std::vector<SyncRequest> SyncRequests::take() {
  std::vector<SyncRequest> taken;
  taken.reserve(slots_.size());
  shm::ExclusiveGuard guard{shared_->lock};
  shared_->cycle.fetch_add(1, std::memory_order_seq_cst);
  for (Slot& slot : slots_) {
    if (slot.used != 0) taken.push_back(slot.request);
    slot.used = 0;
  }
  shared_->count = 0;
  guard.release();
  std::sort(taken.begin(), taken.end());
  return taken;
}

}  // namespace pinwheel::storage
