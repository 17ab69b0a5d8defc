// The background writer's work: frees frames ahead of demand, cleans frames ahead of the clock.
#include <algorithm>

#include "storage/buffer/buffer_pool_internal.h"
#include "storage/buffer/freelist.h"

namespace pinwheel::storage {

using namespace buffer_state;

std::size_t BufferPool::refill_freelist() {
  std::size_t freed = 0;
  // Copies of many pages cost one sync: clean together what will be claimed below.
  if (double_write_ != nullptr) clean_upcoming(4 * freelist_->high_mark(), freelist_->high_mark());
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
  if (options_.bgwriter_max_pages <= 0) return 0;
  const std::uint64_t looked_at = policy_->progress();
  const std::uint64_t moved = looked_at - clean_->progress_seen;
  clean_->progress_seen = looked_at;
  clean_->smoothed_allocations += (static_cast<double>(moved) - clean_->smoothed_allocations) / 16;
  const double expected = std::max(static_cast<double>(moved), clean_->smoothed_allocations);
  const auto look_at =
      std::min<std::size_t>(frame_count_, static_cast<std::size_t>(expected * options_.bgwriter_multiplier));
  const auto most = static_cast<std::size_t>(options_.bgwriter_max_pages);
  const std::size_t written = clean_upcoming(look_at, most);
  if (written >= most) shm::count(shm::Counter::kBgwriterMaxWrittenStops);
  return written;
}

/// Writes up to `most` of the next `look_at` frames of the search: those that are dirty and could be claimed.
std::size_t BufferPool::clean_upcoming(std::size_t look_at, std::size_t most) {
  std::size_t written = 0;
  WriteBatch batch{*this};
  for (std::size_t i = 0; i < std::min(look_at, frame_count_) && written < most; ++i) {
    const BufferId buffer = policy_->upcoming(i);
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
    if (batch.add(Pin{this, buffer, frame(buffer)}, false)) ++written;
  }
  batch.finish();
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
