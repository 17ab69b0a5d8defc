#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "shm/lock_level.h"
#include "shm/lwlock_tranche.h"
#include "shm/statistics.h"

namespace pinwheel::shm {

enum class LatchMode : std::uint8_t { kShared, kExclusive };

/// Reader-writer latch between processes: one word, short adaptive spin, then a futex. It stops the whole
/// process while it waits, so it is held briefly and never across a park, a disk write or a sync. Not
/// recursive.
///
/// Word: bit 31 held exclusively, bit 30 somebody may sleep, bits 0..23 number of shared holders.
///
/// Why no sleeper is forgotten: a process sleeps only after it has set bit 30 in the value it sleeps on. Who
/// frees the lock while bit 30 is set clears it and wakes one sleeper; whoever slept sets bit 30 again with
/// its own acquisition (or with its next sleep), since others may still sleep, and a woken sharer passes the
/// wake on.
class LwLock {
 public:
  LwLock() noexcept : LwLock{Tranche::kTest} {}
  explicit LwLock(Tranche tranche) noexcept : tranche_{tranche} {}
  LwLock(const LwLock&) = delete;
  LwLock& operator=(const LwLock&) = delete;

  void lock_exclusive() noexcept {
    note_acquire(level(), this);
    stats().acquired.add(1);
    std::uint32_t expected = 0;
    if (!word_.compare_exchange_strong(expected, kExclusive, std::memory_order_acquire)) [[unlikely]] {
      wait_exclusive();
    }
  }

  void lock_shared() noexcept {
    note_acquire(level(), this);
    stats().acquired.add(1);
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if ((seen & kExclusive) != 0 || !word_.compare_exchange_strong(seen, seen + 1, std::memory_order_acquire))
        [[unlikely]] {
      wait_shared();
    }
  }

  bool try_lock_exclusive() noexcept;
  bool try_lock_shared() noexcept;

  void unlock_exclusive() noexcept {
    note_release(level(), this);
    const std::uint32_t before = word_.exchange(0, std::memory_order_release);
    if ((before & kWaiters) != 0) [[unlikely]]
      wake_one();
  }

  void unlock_shared() noexcept {
    note_release(level(), this);
    const std::uint32_t after = word_.fetch_sub(1, std::memory_order_release) - 1;
    if (after == kWaiters) [[unlikely]]
      wake_after_last_sharer();
  }

  template <LatchMode Mode>
  void lock() noexcept {
    if constexpr (Mode == LatchMode::kShared) {
      lock_shared();
    } else {
      lock_exclusive();
    }
  }
  template <LatchMode Mode>
  void unlock() noexcept {
    if constexpr (Mode == LatchMode::kShared) {
      unlock_shared();
    } else {
      unlock_exclusive();
    }
  }

  /// For assertions only: somebody holds it so. Says nothing about who.
  bool is_held_exclusive() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kExclusive) != 0;
  }
  bool is_held() const noexcept { return (word_.load(std::memory_order_relaxed) & ~kWaiters) != 0; }
  Tranche tranche() const noexcept { return tranche_; }

 private:
  static constexpr std::uint32_t kExclusive = 1u << 31;
  static constexpr std::uint32_t kWaiters = 1u << 30;

  LockLevel level() const noexcept { return tranche_info(tranche_).level; }
  LwLockStats& stats() const noexcept { return process_stats->lwlocks[index_of(tranche_)]; }
  void wait_exclusive() noexcept;
  void wait_shared() noexcept;
  template <LatchMode Mode>
  void wait() noexcept;
  template <LatchMode Mode>
  bool try_once(bool slept) noexcept;
  void wake_one() noexcept;
  void wake_after_last_sharer() noexcept;

  std::atomic<std::uint32_t> word_{0};
  const Tranche tranche_;
};
static_assert(sizeof(LwLock) == 8);

/// An LwLock alone on its cache line, for arrays of partitions.
struct alignas(kCacheLine) PaddedLwLock : LwLock {
  using LwLock::LwLock;
};

/// Holds an LwLock until release() or the end of its scope.
template <LatchMode Mode>
class [[nodiscard]] LwLockGuard {
 public:
  LwLockGuard() noexcept = default;
  explicit LwLockGuard(LwLock& lock) noexcept : lock_{&lock} { lock.lock<Mode>(); }
  LwLockGuard(LwLockGuard&& other) noexcept : lock_{std::exchange(other.lock_, nullptr)} {}
  LwLockGuard& operator=(LwLockGuard&& other) noexcept {
    if (this != &other) {
      release();
      lock_ = std::exchange(other.lock_, nullptr);
    }
    return *this;
  }
  ~LwLockGuard() { release(); }

  /// owns() tells whether it was free.
  static LwLockGuard try_acquire(LwLock& lock) noexcept {
    LwLockGuard guard;
    const bool got = Mode == LatchMode::kShared ? lock.try_lock_shared() : lock.try_lock_exclusive();
    if (got) guard.lock_ = &lock;
    return guard;
  }

  bool owns() const noexcept { return lock_ != nullptr; }
  explicit operator bool() const noexcept { return owns(); }

  /// Idempotent.
  void release() noexcept {
    if (lock_ != nullptr) std::exchange(lock_, nullptr)->template unlock<Mode>();
  }

 private:
  LwLock* lock_ = nullptr;
};
using SharedGuard = LwLockGuard<LatchMode::kShared>;
using ExclusiveGuard = LwLockGuard<LatchMode::kExclusive>;

}  // namespace pinwheel::shm
