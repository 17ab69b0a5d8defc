#include <sched.h>

#include <algorithm>
#include <bit>

#include "shm/lwlock.h"
#include "shm/statistics.h"
#include "storage/buffer/mapping_table.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

using namespace buffer_state;

namespace {

/// Which queue a frame's index stands in.
enum class Place : std::uint8_t { kNowhere, kSmall, kMain };

/// A page that was evicted from the small queue.
struct Ghost {
  std::uint32_t hash;
  std::uint32_t time;  // of eviction, in evictions from the small queue; 0 = empty
};

/// A first-in-first-out queue of frames: a ring of `frames` indexes. A frame stands in one queue at most, so
/// a ring never overflows. Written under the strategy lock; `upcoming` reads without it and may see nonsense.
struct FifoShared {
  std::atomic<std::uint64_t> in{0};   // frames ever added
  std::atomic<std::uint64_t> out{0};  // frames ever taken
};
struct S3FifoShared {
  alignas(kCacheLine) FifoShared small;
  FifoShared main;
  std::uint32_t ghost_time = 0;          // under the lock
  std::atomic<std::uint64_t> looked{0};  // frames looked at; written under the lock
};

constexpr std::string_view kS3FifoRegion = "Buffer FIFO Control";
constexpr std::string_view kQueuesRegion = "Buffer FIFO Queues";
constexpr std::string_view kPlacesRegion = "Buffer FIFO Places";
constexpr std::string_view kGhostsRegion = "Buffer FIFO Ghosts";

constexpr std::size_t kGhostWays = 4;

std::size_t small_share(std::size_t frames) noexcept { return std::max<std::size_t>(1, frames / 10); }
/// Twice as many places as ghosts are remembered, so that sets seldom overflow.
std::size_t ghost_places(std::size_t frames) noexcept {
  return std::max(kGhostWays, std::bit_ceil(2 * (frames - small_share(frames))));
}

/// S3-FIFO (J. Yang and others, "FIFO queues are all you need for cache eviction", SOSP 2023): new pages
/// enter a small queue, a tenth of the pool; those used again before they reach its end move to the main
/// queue, the others are evicted and remembered as ghosts; a page that comes back while its ghost is
/// remembered goes straight to the main queue, where pages in use go round. So pages that are used once
/// (scans) pass through the small queue only.
///
/// Adapted to a pool shared by processes: a hit only raises the usage count in the frame's state, no lock;
/// the queues, places and ghosts are under one LwLock (level 80, buffer freelist), taken per miss and for at
/// most kStepsPerHold frames at a time. Optimistic reads raise the count from 0 to 1 only, so one use after
/// the first is enough for the main queue (the paper asks for two).
///
/// A frame whose page is dropped keeps its place in its queue and its next page takes it over: a page may so
/// enter the wrong queue, which costs a little precision and saves searching the ring.
class S3Fifo final : public ReplacementPolicy {
 public:
  explicit S3Fifo(const PolicyContext& context)
      : shared_{*context.segment.as<S3FifoShared>(kS3FifoRegion)},
        lock_{*context.segment.as<shm::PaddedLwLock>(kStrategyLockRegion)},
        descriptors_{context.descriptors},
        frames_{context.frames},
        small_target_{small_share(context.frames)},
        small_{shared_.small, context.segment.as<std::atomic<std::uint32_t>>(kQueuesRegion), frames_},
        main_{shared_.main, context.segment.as<std::atomic<std::uint32_t>>(kQueuesRegion) + frames_, frames_},
        places_{context.segment.as<Place>(kPlacesRegion)},
        ghosts_{context.segment.as<Ghost>(kGhostsRegion)},
        ghost_sets_{ghost_places(frames_) / kGhostWays} {}

  BufferId claim_victim() override {
    Search search;
    for (int round = 0; round < kRounds; ++round) {
      while (true) {
        shm::ExclusiveGuard guard{lock_};
        int steps = 0;
        while (steps < kStepsPerHold && !search.all_pinned && search.victim == kInvalidBuffer) {
          look_at_one(search);
          ++steps;
        }
        shared_.looked.store(shared_.looked.load(std::memory_order_relaxed) + static_cast<unsigned>(steps),
                             std::memory_order_relaxed);
        shm::count(shm::Counter::kFramesSwept, static_cast<unsigned>(steps));
        if (search.victim != kInvalidBuffer) return search.victim;
        if (search.all_pinned) break;
      }
      // Frames that others are changing stand in no queue: they come back in a moment.
      search = {};
      sched_yield();
    }
    throw_no_unpinned_buffers();
  }

  void put_back(BufferId buffer) noexcept override {
    shm::ExclusiveGuard guard{lock_};
    if (place(buffer) == Place::kNowhere) add(Place::kMain, buffer);
  }

  void page_installed(BufferId buffer, std::uint32_t hash) noexcept override {
    // The use that brought the page in does not count.
    descriptors_[buffer.value].state.fetch_and(~kUsageMask, std::memory_order_relaxed);
    shm::ExclusiveGuard guard{lock_};
    if (place(buffer) != Place::kNowhere) return;
    add(take_ghost(hash) ? Place::kMain : Place::kSmall, buffer);
  }

  BufferId upcoming(std::size_t ahead) const noexcept override {
    const std::uint64_t first = std::max<std::uint64_t>(small_.size(), small_target_) - small_target_;
    return ahead < first ? small_.peek(ahead) : main_.peek(ahead - first);
  }
  std::uint64_t progress() const noexcept override { return shared_.looked.load(std::memory_order_relaxed); }

 private:
  static constexpr int kRounds = 4;
  static constexpr int kStepsPerHold = 64;
  /// More uses than this do not keep a page longer (the paper's counter has two bits).
  static constexpr std::uint64_t kMostUses = 3 * kUsageOne;

  class Fifo {
   public:
    Fifo(FifoShared& shared, std::atomic<std::uint32_t>* ring, std::size_t frames) noexcept
        : shared_{shared}, ring_{ring}, frames_{frames} {}
    std::uint64_t size() const noexcept {
      return shared_.in.load(std::memory_order_relaxed) - shared_.out.load(std::memory_order_relaxed);
    }
    void push(BufferId buffer) noexcept {
      const std::uint64_t at = shared_.in.load(std::memory_order_relaxed);
      ring_[at % frames_].store(buffer.value, std::memory_order_relaxed);
      shared_.in.store(at + 1, std::memory_order_relaxed);
    }
    BufferId pop() noexcept {
      const std::uint64_t at = shared_.out.load(std::memory_order_relaxed);
      shared_.out.store(at + 1, std::memory_order_relaxed);
      return BufferId{ring_[at % frames_].load(std::memory_order_relaxed)};
    }
    BufferId peek(std::size_t ahead) const noexcept {
      return BufferId{ring_[(shared_.out.load(std::memory_order_relaxed) + ahead) % frames_].load(
          std::memory_order_relaxed)};
    }

   private:
    FifoShared& shared_;
    std::atomic<std::uint32_t>* ring_;
    std::size_t frames_;
  };

  struct Search {
    BufferId victim = kInvalidBuffer;
    bool all_pinned = false;
    std::uint64_t pinned_in_a_row = 0;
  };

  Place& place(BufferId buffer) noexcept { return places_[buffer.value]; }

  void add(Place where, BufferId buffer) noexcept {
    place(buffer) = where;
    (where == Place::kSmall ? small_ : main_).push(buffer);
  }

  /// One step of the search. When the whole main queue was found pinned the small one is looked through too;
  /// its pinned frames move over to the main queue, so in the end either is found what can be claimed or
  /// aged, or the main queue holds everything, pinned.
  void look_at_one(Search& search) noexcept {
    const bool main_is_pinned = search.pinned_in_a_row >= main_.size();
    const bool from_small = small_.size() > small_target_ || main_is_pinned;
    if (from_small && small_.size() == 0) {
      search.all_pinned = true;
      return;
    }
    const BufferId buffer = (from_small ? small_ : main_).pop();
    BufferDescriptor& d = descriptors_[buffer.value];
    std::uint64_t seen = d.state.load(std::memory_order_relaxed);
    while (true) {
      if ((seen & kPinMask) != 0) {
        ++search.pinned_in_a_row;
        return add(Place::kMain, buffer);
      }
      if ((seen & kTagValid) == 0) {
        // Dropped and on the freelist, from where it comes in again.
        place(buffer) = Place::kNowhere;
        return;
      }
      const std::uint64_t uses = seen & kUsageMask;
      const std::uint64_t left = from_small || uses == 0 ? 0 : std::min(uses, kMostUses) - kUsageOne;
      const std::uint64_t wanted = uses != 0 ? (seen & ~kUsageMask) | left : seen + kPinOne;
      if (!d.state.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) continue;
      if (uses != 0) {
        search.pinned_in_a_row = 0;
        return add(Place::kMain, buffer);
      }
      place(buffer) = Place::kNowhere;
      // Pinned by us: the tag stays as it is.
      if (from_small) add_ghost(MappingTable::hash(d.tag.load()));
      search.victim = buffer;
      return;
    }
  }

  Ghost* ghost_set(std::uint32_t hash) noexcept {
    // The low bits choose the mapping partition; any bits would do.
    return ghosts_ + (hash >> 8) % ghost_sets_ * kGhostWays;
  }
  bool is_remembered(const Ghost& ghost) const noexcept {
    return ghost.time != 0 && shared_.ghost_time - ghost.time < frames_ - small_target_;
  }
  /// Into the place of the set that is empty or was evicted longest ago.
  void add_ghost(std::uint32_t hash) noexcept {
    if (++shared_.ghost_time == 0) ++shared_.ghost_time;
    Ghost* const set = ghost_set(hash);
    const auto age = [this](const Ghost& ghost) {
      return ghost.time == 0 ? UINT32_MAX : shared_.ghost_time - ghost.time;
    };
    *std::max_element(set, set + kGhostWays, [&](const Ghost& a, const Ghost& b) {
      return age(a) < age(b);
    }) = {hash, shared_.ghost_time};
  }
  /// Whether the page was evicted lately; forgets it.
  bool take_ghost(std::uint32_t hash) noexcept {
    Ghost* const set = ghost_set(hash);
    for (Ghost* ghost = set; ghost != set + kGhostWays; ++ghost) {
      if (ghost->hash != hash || !is_remembered(*ghost)) continue;
      *ghost = {};
      return true;
    }
    return false;
  }

  S3FifoShared& shared_;
  shm::LwLock& lock_;
  BufferDescriptor* descriptors_;
  std::size_t frames_;
  std::size_t small_target_;
  Fifo small_;
  Fifo main_;
  Place* places_;
  Ghost* ghosts_;
  std::size_t ghost_sets_;
};

}  // namespace

void declare_s3_fifo(shm::RegionBuilder& builder, std::size_t frames) {
  builder.add_array<S3FifoShared>(kS3FifoRegion, 1);
  builder.add_array<std::atomic<std::uint32_t>>(kQueuesRegion, 2 * frames);
  builder.add_array<Place>(kPlacesRegion, frames);
  builder.add_array<Ghost>(kGhostsRegion, ghost_places(frames));
}

std::unique_ptr<ReplacementPolicy> make_s3_fifo(const PolicyContext& context) {
  return std::make_unique<S3Fifo>(context);
}

}  // namespace pinwheel::storage
