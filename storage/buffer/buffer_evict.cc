// Where frames for new pages come from.
#include "base/error.h"
#include "shm/lwlock.h"
#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/freelist.h"
#include "storage/buffer/mapping_table.h"
#include "wal/log.h"

namespace pinwheel::storage {

using namespace buffer_state;

BufferId BufferPool::take_victim(BufferRing* ring) {
  while (true) {
    BufferId buffer = ring != nullptr ? claim_from_ring(*ring) : kInvalidBuffer;
    const bool from_ring = buffer != kInvalidBuffer;
    if (!from_ring) {
      buffer = freelist_->pop();
      if (buffer != kInvalidBuffer) {
        shm::count(shm::Counter::kVictimsFromFreelist);
        // Off the list it is ours alone: it has no tag, so nobody else can pin it.
        at(buffer).state.store(kPinOne, std::memory_order_relaxed);
        if (ring != nullptr) ring->frames_[ring->current_] = buffer;
        return buffer;
      }
      buffer = policy_->claim_victim();
      shm::count(shm::Counter::kVictimsBySweep);
    }
    const bool dirty = (at(buffer).state.load(std::memory_order_relaxed) & kDirty) != 0;
    if (!clean_and_evict(buffer, from_ring ? ring : nullptr)) {
      if (from_ring) ring->frames_[ring->current_] = kInvalidBuffer;
      continue;
    }
    if (dirty) count_in_ring(ring, shm::RingEvent::kWrite);
    if (!from_ring) shm::count(shm::Counter::kBufferEvictions);
    count_in_ring(ring, from_ring ? shm::RingEvent::kReuse : shm::RingEvent::kEviction);
    if (ring != nullptr) ring->frames_[ring->current_] = buffer;
    return buffer;
  }
}

BufferId BufferPool::claim_from_ring(BufferRing& ring) noexcept {
  ring.current_ = (ring.current_ + 1) % ring.frames_.size();
  const BufferId buffer = ring.frames_[ring.current_];
  if (buffer == kInvalidBuffer) return buffer;
  BufferDescriptor& d = at(buffer);
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    // Used by others since (our own use counts one): leave it to them.
    if ((seen & kPinMask) != 0 || (seen & kTagValid) == 0 || (seen & kUsageMask) > kUsageOne)
      return kInvalidBuffer;
  } while (!d.state.compare_exchange_weak(seen, seen + kPinOne, std::memory_order_acquire));
  return buffer;
}

bool BufferPool::clean_and_evict(BufferId buffer, BufferRing* ring) {
  // Frames of a ring are not the policy's.
  const auto give_up = [&] {
    unpin(buffer);
    if (ring == nullptr) policy_->put_back(buffer);
    return false;
  };
  BufferDescriptor& d = at(buffer);
  if ((d.state.load(std::memory_order_relaxed) & kDirty) != 0) {
    // A bulk reader does not wait for the log: another frame takes this one's place in the ring.
    if (ring != nullptr && ring->kind() == BufferRing::Kind::kBulkRead &&
        !log_.is_durable(ConstPage{frame(buffer)}.lsn())) {
      return give_up();
    }
    try {
      if (!write_pinned(buffer, /*wait=*/false)) return give_up();
    } catch (...) {
      give_up();
      throw;
    }
  }
  return evict_claimed(buffer) || give_up();
}

bool BufferPool::evict_claimed(BufferId buffer) noexcept {
  BufferDescriptor& d = at(buffer);
  const PageTag tag = d.tag.load();
  const std::uint32_t hash = MappingTable::hash(tag);
  shm::ExclusiveGuard guard{mapping_->lock_of(hash)};
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    // Somebody has pinned or changed it since it was chosen.
    if ((seen & kPinMask) != 1 || (seen & (kDirty | kIoInProgress)) != 0) return false;
  } while (!d.state.compare_exchange_weak(seen, kPinOne, std::memory_order_acq_rel));
  if ((seen & kValid) != 0) {
    d.version.store(d.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    // Optimistic readers see the odd version before the frame's next page.
    std::atomic_thread_fence(std::memory_order_release);
  }
  mapping_->remove(buffer, hash);
  d.tag.clear();
  return true;
}

void BufferPool::free_victim(BufferId buffer) noexcept {
  at(buffer).state.store(0, std::memory_order_release);
  freelist_->push(buffer);
}

}  // namespace pinwheel::storage
