#pragma once

#include <atomic>
#include <cstdint>

#include "shm/lwlock.h"
#include "shm/spin_lock.h"
#include "txn/lock_manager.h"

namespace pinwheel::txn {

inline constexpr std::uint32_t kLockPartitions = 16;
inline constexpr std::uint32_t kStrongCounters = 1024;
inline constexpr int kFastPathEntries = 16;

/// Weak modes may go the fast path: they conflict with none of each other.
constexpr bool is_fast_path_mode(LockMode mode) noexcept { return mode <= LockMode::kRowExclusive; }
/// Strong modes conflict with some weak mode: who wants one moves the fast-path holdings into the table
/// first.
constexpr bool is_strong(const LockTag& tag, LockMode mode) noexcept {
  return tag.kind == LockKind::kRelation && mode > LockMode::kShareUpdateExclusive;
}

// A fast-path entry: relation oid << 32 | mask of weak modes held; 0 = free. Only the owner fills it; a
// transfer empties it.
constexpr std::uint64_t fast_path_entry(std::uint32_t relation, LockMask modes) noexcept {
  return std::uint64_t{relation} << 32 | modes;
}
constexpr std::uint32_t relation_of_entry(std::uint64_t entry) noexcept {
  return static_cast<std::uint32_t>(entry >> 32);
}
constexpr LockMask modes_of_entry(std::uint64_t entry) noexcept { return static_cast<LockMask>(entry); }

enum class QueueStatus : std::uint8_t { kNone, kWaiting, kGranted };

struct LockManager::Header {
  // Free lists, as index + 1; protected by free_lock.
  shm::SpinLock free_lock;
  std::uint32_t free_lock_head = 0;
  std::uint32_t free_holder_head = 0;
};

struct alignas(kCacheLine) LockManager::Partition {
  shm::LwLock latch{shm::Tranche::kLockManager};
};

/// A thing that is locked or waited for. All fields protected by its partition's latch. Links are index + 1.
struct LockManager::Lock {
  LockTag tag;
  std::uint32_t hash = 0;
  std::uint32_t next = 0;  // in its bucket, or on the free list
  std::uint32_t first_holder = 0;
  std::uint32_t first_waiter = 0, last_waiter = 0;  // sessions, in the order of service
  LockMask granted_mask = 0;
  LockMask wait_mask = 0;
  std::uint32_t granted[kLockModeCount] = {};
};

/// What one session holds of one Lock. Protected by the Lock's partition latch.
struct LockManager::Holder {
  std::uint32_t session = 0;
  std::uint32_t next = 0;  // of the same lock, or on the free list
  LockMask held = 0;
};

/// A session's part in shared memory.
struct alignas(kCacheLine) LockManager::SessionState {
  // Written by the owner (and emptied by transfers) with compare-exchange, without a latch.
  std::atomic<std::uint64_t> fast_path[kFastPathEntries]{};
  /// Database of the fast-path entries; the owner's.
  std::atomic<std::uint32_t> database{0};

  // The place in a queue: protected by the latch of the partition of the lock waited for. `status` is also
  // read by the owner alone.
  alignas(kCacheLine) std::atomic<QueueStatus> status{QueueStatus::kNone};
  LockMode wait_mode = LockMode::kNone;
  std::uint32_t wait_lock = 0;  // lock index + 1
  std::uint32_t previous = 0, next = 0;
  /// Wall clock; 0 = does not wait. Set by the owner for waits of every kind; for views.
  std::atomic<std::int64_t> wait_start_us{0};
};

inline shm::LwLock& LockManager::partition_latch(std::uint32_t hash) const noexcept {
  return partitions_[hash % kLockPartitions].latch;
}
inline std::atomic<std::uint32_t>& LockManager::strong_count(std::uint32_t hash) const noexcept {
  return strong_[hash % kStrongCounters];
}
inline LockManager::SessionState& LockManager::state_of(shm::SessionIndex session) const noexcept {
  return states_[session.value];
}
inline std::uint32_t LockManager::index_of(const Lock& lock) const noexcept {
  return static_cast<std::uint32_t>(&lock - locks_);
}
inline std::uint32_t LockManager::index_of(const Holder& holder) const noexcept {
  return static_cast<std::uint32_t>(&holder - holders_);
}

}  // namespace pinwheel::txn
