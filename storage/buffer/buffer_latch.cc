// Content latches, and waiting for I/O on a frame: everything that sleeps on a descriptor.
#include "base/clock.h"
#include "shm/futex.h"
#include "shm/interrupts.h"
#include "shm/latch_wait.h"
#include "shm/lwlock.h"
#include "shm/spin_lock.h"
#include "storage/buffer/buffer_pool_internal.h"

namespace pinwheel::storage {

using namespace buffer_state;

namespace {

constexpr int kSpins = 200;
constexpr std::uint64_t kLatched = kSharedMask | kExclusive;

shm::LwLockStats& latch_stats() noexcept {
  return shm::process_stats->lwlocks[shm::index_of(shm::Tranche::kBufferContent)];
}

/// Spins, then sleeps, until `conflict` bits are clear or may be. No wake-up is lost: the waiter reads the
/// wake count before it sets kLatchWaiters in a state that still conflicts; whoever frees the latch sees the
/// bit, and bumps the count.
void wait_for_latch(BufferDescriptor& d, std::uint64_t conflict, bool& spun) noexcept {
  if (!spun) {
    spun = true;
    latch_stats().spun.add(1);
    for (int i = 0; i < kSpins; ++i) {
      if ((d.state.load(std::memory_order_relaxed) & conflict) == 0) return;
      shm::cpu_pause();
    }
  }
  const std::uint32_t wakes = d.latch_wakes.load(std::memory_order_acquire);
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    if ((seen & conflict) == 0) return;
  } while ((seen & kLatchWaiters) == 0 &&
           !d.state.compare_exchange_weak(seen, seen | kLatchWaiters, std::memory_order_acq_rel));
  const std::int64_t start = monotonic_ns();
  std::atomic<std::uint32_t>& published = shm::current_session.slot->wait_event;
  published.store(shm::lwlock_wait_event(static_cast<unsigned>(shm::Tranche::kBufferContent)),
                  std::memory_order_relaxed);
  shm::futex_wait(d.latch_wakes, wakes);
  published.store(0, std::memory_order_relaxed);
  shm::record_wait(latch_stats(), monotonic_ns() - start);
}

/// After a release that left nobody on the latch while somebody waited.
void wake_latch_waiters(BufferDescriptor& d) noexcept {
  d.state.fetch_and(~kLatchWaiters, std::memory_order_acq_rel);
  d.latch_wakes.fetch_add(1, std::memory_order_acq_rel);
  shm::futex_wake(d.latch_wakes, INT32_MAX);
}

void begin_change(BufferDescriptor& d) noexcept {
  d.version.store(d.version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  // Optimistic readers see the odd version before any changed byte.
  std::atomic_thread_fence(std::memory_order_release);
}

}  // namespace

void BufferPool::latch_shared(BufferId buffer, std::uint64_t pins) noexcept {
  BufferDescriptor& d = at(buffer);
  shm::note_acquire(shm::LockLevel::kBufferContent, &d);
  latch_stats().acquired.add(1);
  bool spun = false;
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  while (true) {
    if ((seen & kExclusive) == 0) {
      if (d.state.compare_exchange_weak(seen, seen + kSharedOne + pins, std::memory_order_acquire)) return;
      continue;
    }
    wait_for_latch(d, kExclusive, spun);
    seen = d.state.load(std::memory_order_relaxed);
  }
}

bool BufferPool::try_latch_shared(BufferId buffer) noexcept {
  BufferDescriptor& d = at(buffer);
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    if ((seen & kExclusive) != 0) return false;
  } while (!d.state.compare_exchange_weak(seen, seen + kSharedOne, std::memory_order_acquire));
  shm::note_acquire_unordered(shm::LockLevel::kBufferContent, &d);
  return true;
}

void BufferPool::latch_exclusive(BufferId buffer, std::uint64_t pins) noexcept {
  BufferDescriptor& d = at(buffer);
  shm::note_acquire(shm::LockLevel::kBufferContent, &d);
  latch_stats().acquired.add(1);
  bool spun = false;
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  while (true) {
    if ((seen & kLatched) == 0) {
      if (!d.state.compare_exchange_weak(seen, (seen | kExclusive) + pins, std::memory_order_acquire))
        continue;
      begin_change(d);
      return;
    }
    wait_for_latch(d, kLatched, spun);
    seen = d.state.load(std::memory_order_relaxed);
  }
}

bool BufferPool::try_latch_exclusive(BufferId buffer) noexcept {
  BufferDescriptor& d = at(buffer);
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  do {
    if ((seen & kLatched) != 0) return false;
  } while (!d.state.compare_exchange_weak(seen, seen | kExclusive, std::memory_order_acquire));
  shm::note_acquire_unordered(shm::LockLevel::kBufferContent, &d);
  begin_change(d);
  return true;
}

void BufferPool::unlatch_shared(BufferId buffer, std::uint64_t pins) noexcept {
  BufferDescriptor& d = at(buffer);
  shm::note_release(shm::LockLevel::kBufferContent, &d);
  const std::uint64_t after = d.state.fetch_sub(kSharedOne + pins, std::memory_order_release) - kSharedOne;
  if ((after & kLatchWaiters) != 0 && (after & kLatched) == 0) [[unlikely]]
    wake_latch_waiters(d);
}

void BufferPool::unlatch_exclusive(BufferId buffer, std::uint64_t pins) noexcept {
  BufferDescriptor& d = at(buffer);
  shm::note_release(shm::LockLevel::kBufferContent, &d);
  d.version.store(d.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  const std::uint64_t before = d.state.fetch_sub(kExclusive + pins, std::memory_order_release);
  if ((before & kLatchWaiters) != 0) [[unlikely]]
    wake_latch_waiters(d);
}

// ---- I/O ----

void BufferPool::wait_for_io(BufferDescriptor& d) noexcept {
  shm::WaitEventScope waiting{shm::WaitEvent::kBufferIo};
  while (true) {
    const std::uint32_t wakes = d.io_wakes.load(std::memory_order_acquire);
    std::uint64_t seen = d.state.load(std::memory_order_acquire);
    do {
      if ((seen & kIoInProgress) == 0) return;
    } while ((seen & kIoWaiters) == 0 &&
             !d.state.compare_exchange_weak(seen, seen | kIoWaiters, std::memory_order_acq_rel));
    shm::futex_wait(d.io_wakes, wakes);
  }
}

bool BufferPool::start_io(BufferId buffer, bool for_input) noexcept {
  BufferDescriptor& d = at(buffer);
  std::uint64_t seen = d.state.load(std::memory_order_acquire);
  while (true) {
    if ((seen & kIoInProgress) != 0) {
      wait_for_io(d);
      seen = d.state.load(std::memory_order_acquire);
      continue;
    }
    const bool needless = for_input ? (seen & kValid) != 0 : (seen & kDirty) == 0;
    if (needless) return false;
    if (d.state.compare_exchange_weak(seen, seen | kIoInProgress, std::memory_order_acq_rel)) return true;
  }
}

void BufferPool::end_io(BufferId buffer, std::uint64_t set, std::uint64_t clear) noexcept {
  BufferDescriptor& d = at(buffer);
  if ((set & kValid) != 0) {
    // The bytes are complete: the version becomes even with them.
    d.version.store(d.version.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  std::uint64_t seen = d.state.load(std::memory_order_relaxed);
  std::uint64_t wanted;
  do {
    std::uint64_t cleared = clear;
    // Changed since it was copied: what was written is not the newest.
    if ((clear & kDirty) != 0 && (seen & kJustDirtied) != 0) cleared &= ~(kDirty | kCheckpointNeeded);
    wanted = (seen & ~(cleared | kIoInProgress | kIoWaiters)) | set;
  } while (!d.state.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel));
  if ((seen & kIoWaiters) != 0) {
    d.io_wakes.fetch_add(1, std::memory_order_acq_rel);
    shm::futex_wake(d.io_wakes, INT32_MAX);
  }
}

void BufferPool::set_dirty(BufferId buffer) noexcept {
  BufferDescriptor& d = at(buffer);
  constexpr std::uint64_t kBoth = kDirty | kJustDirtied;
  if ((d.state.load(std::memory_order_relaxed) & kBoth) != kBoth) {
    const std::uint64_t before = d.state.fetch_or(kBoth, std::memory_order_relaxed);
    if ((before & kDirty) == 0) shm::count(shm::Counter::kBuffersDirtied);
  }
}

}  // namespace pinwheel::storage
