// The background writer's work: frees frames ahead of demand, cleans frames ahead of the clock.
#include <algorithm>

#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/freelist.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

using namespace buffer_state;

std::size_t BufferPool::refill_freelist() {
  std::size_t freed = 0;
  // Bounded, so that a pool where everything is in use does not keep us here.
  std::size_t attempts = 4 * freelist_->high_mark() + 16;
  while (freelist_->count() < freelist_->high_mark() && attempts-- > 0) {
    const BufferId buffer = policy_->claim_victim();
    if (!clean_and_evict(buffer, nullptr)) continue;
    free_victim(buffer);
    ++freed;
  }
  shm::count(shm::Counter::kFreelistRefilled, freed);
  return freed;
}

std::size_t BufferPool::clean_ahead() {
  // As many as allocations are expected until the next round, times the multiplier; dirty ones among them are
  // written so that the sweep finds them clean.
  const std::uint64_t hand = policy_->position();
  const std::uint64_t moved = (hand + frame_count_ - clean_->allocations_seen % frame_count_) % frame_count_;
  clean_->allocations_seen = hand;
  clean_->smoothed_allocations += (static_cast<double>(moved) - clean_->smoothed_allocations) / 16;
  const double expected = std::max(static_cast<double>(moved), clean_->smoothed_allocations);
  const auto look_at =
      std::min<std::size_t>(frame_count_, static_cast<std::size_t>(expected * options_.bgwriter_multiplier));
  std::size_t written = 0;
  for (std::size_t i = 0; i < look_at; ++i) {
    const BufferId buffer{static_cast<std::uint32_t>((hand + i) % frame_count_)};
    BufferDescriptor& d = at(buffer);
    const std::uint64_t seen = d.state.load(std::memory_order_relaxed);
    if ((seen & (kPinMask | kUsageMask)) != 0 || (seen & kDirty) == 0) continue;
    const PageTag tag = d.tag.load();
    std::uint64_t expected_state = seen;
    if (!d.state.compare_exchange_strong(expected_state, seen + kPinOne, std::memory_order_acquire)) continue;
    if (!d.tag.equals(AtomicPageTag::file_word(tag), AtomicPageTag::page_word(tag))) {
      unpin(buffer);
      continue;
    }
    const Pin pin{this, buffer, frame(buffer)};
    if (write_pinned(buffer, false)) ++written;
    if (written >= static_cast<std::size_t>(std::max(options_.bgwriter_max_pages, 0))) {
      shm::count(shm::Counter::kBgwriterMaxWrittenStops);
      break;
    }
  }
  return written;
}

BgwriterRound BufferPool::run_bgwriter_once() {
  BgwriterRound round;
  shm::count(shm::Counter::kBgwriterRounds);
  // Taken before the look at the list: a taker that finds it low afterwards asks again.
  const bool requested = freelist_->take_request();
  if (freelist_->refill_enabled() && (requested || freelist_->below_low_mark()))
    round.refilled = refill_freelist();
  round.written = clean_ahead();
  round.idle = round.refilled == 0 && round.written == 0;
  return round;
}

}  // namespace pinwheel::storage
