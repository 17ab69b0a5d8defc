#include "shm/lwlock.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/clock.h"
#include "shm/futex.h"
#include "shm/interrupts.h"
#include "shm/latch_wait.h"
#include "shm/process.h"
#include "shm/spin_lock.h"

namespace pinwheel::shm {
namespace {

constexpr int kFewestSpins = 20;
constexpr int kMostSpins = 400;

/// Spins worth trying before sleeping. Grows when spinning got the lock, shrinks when it did not; on one CPU
/// the holder cannot run while we spin. Process-wide estimate.
int initial_spins() noexcept { return ::sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 100 : 0; }
int spin_limit = initial_spins();

void learn_from_spinning(bool got_it) noexcept {
  if (spin_limit == 0) return;
  spin_limit = got_it ? std::min(spin_limit + spin_limit / 8 + 1, kMostSpins)
                      : std::max(spin_limit - spin_limit / 8, kFewestSpins);
}

/// Shows the wait in the session's (or, without one, the process's) wait word.
class PublishedWait {
 public:
  explicit PublishedWait(Tranche tranche) noexcept : word_{current_session.slot->wait_event} {
    before_ = word_.exchange(lwlock_wait_event(static_cast<unsigned>(tranche)), std::memory_order_relaxed);
  }
  ~PublishedWait() { word_.store(before_, std::memory_order_relaxed); }
  PublishedWait(const PublishedWait&) = delete;
  PublishedWait& operator=(const PublishedWait&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
  std::uint32_t before_;
};

}  // namespace

void record_wait(LwLockStats& stats, std::int64_t waited_ns) noexcept {
  const std::uint64_t ns = static_cast<std::uint64_t>(std::max<std::int64_t>(waited_ns, 0));
  stats.waited.add(1);
  stats.wait_ns.add(ns);
  const std::size_t bits = static_cast<std::size_t>(std::bit_width(ns));
  stats.histogram[std::clamp<std::size_t>(bits, 9, 9 + kWaitBuckets - 1) - 9].add(1);
}

/// One attempt without waiting, whatever else happens to the word meanwhile. A process that has slept keeps
/// kWaiters set, because others may still sleep.
template <LatchMode Mode>
bool LwLock::try_once(bool slept) noexcept {
  std::uint32_t seen = word_.load(std::memory_order_relaxed);
  const std::uint32_t keep = slept ? kWaiters : 0;
  for (;;) {
    std::uint32_t wanted;
    if constexpr (Mode == LatchMode::kExclusive) {
      if ((seen & ~kWaiters) != 0) return false;
      wanted = seen | kExclusive | keep;
    } else {
      if ((seen & kExclusive) != 0) return false;
      wanted = (seen + 1) | keep;
    }
    if (word_.compare_exchange_weak(seen, wanted, std::memory_order_acquire)) return true;
  }
}

template <LatchMode Mode>
void LwLock::wait() noexcept {
  if (try_once<Mode>(false)) return;  // only a compare-exchange had been lost to a neighbour
  LwLockStats& to = stats();
  to.spun.add(1);
  for (int i = 0; i < spin_limit; ++i) {
    cpu_pause();
    if (try_once<Mode>(false)) {
      learn_from_spinning(true);
      return;
    }
  }
  learn_from_spinning(false);

  const PublishedWait published_wait{tranche_};
  const std::int64_t begun = monotonic_ns();
  do {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    const bool taken = Mode == LatchMode::kExclusive ? (seen & ~kWaiters) != 0 : (seen & kExclusive) != 0;
    if (!taken) continue;
    if ((seen & kWaiters) == 0 &&
        !word_.compare_exchange_strong(seen, seen | kWaiters, std::memory_order_relaxed)) {
      continue;
    }
    futex_wait(word_, seen | kWaiters);
  } while (!try_once<Mode>(true));
  record_wait(to, monotonic_ns() - begun);
  // Other sharers may sleep beside us; whoever holds exclusively will wake them at its release instead.
  if constexpr (Mode == LatchMode::kShared) futex_wake(word_, 1);
}

void LwLock::wait_exclusive() noexcept { wait<LatchMode::kExclusive>(); }
void LwLock::wait_shared() noexcept { wait<LatchMode::kShared>(); }

bool LwLock::try_lock_exclusive() noexcept {
  if (!try_once<LatchMode::kExclusive>(false)) return false;
  note_acquire_unordered(level(), this);
  stats().acquired.add(1);
  return true;
}

bool LwLock::try_lock_shared() noexcept {
  if (!try_once<LatchMode::kShared>(false)) return false;
  note_acquire_unordered(level(), this);
  stats().acquired.add(1);
  return true;
}

void LwLock::wake_one() noexcept { futex_wake(word_, 1); }

void LwLock::wake_after_last_sharer() noexcept {
  // If somebody took the lock meanwhile, kWaiters is still set and its release wakes.
  std::uint32_t expected = kWaiters;
  if (word_.compare_exchange_strong(expected, 0, std::memory_order_relaxed)) futex_wake(word_, 1);
}

}  // namespace pinwheel::shm
