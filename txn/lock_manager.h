#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/parking.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "txn/lock_tag.h"

namespace pinwheel::txn {

class RunningSet;
class SessionLocks;

struct LockManagerOptions {
  std::size_t session_capacity = 0;
  std::uint32_t max_locks_per_transaction = 64;
};

/// One row of pg_locks.
struct LockRow {
  LockTag tag;
  shm::SessionIndex session;
  LockMode mode;
  bool granted;
  bool fast_path;
  std::int64_t wait_start_us = 0;  // wall clock; 0 = does not wait
};

/// The shared lock table of one server: partitioned, with FIFO queues; handle of one process. Sessions lock
/// through SessionLocks. Relation locks of modes 1 to 3 stay in the session's own slot ("fast path") until
/// somebody wants a mode that conflicts with them.
class LockManager {
 public:
  static void declare(shm::RegionBuilder& builder, const LockManagerOptions& options);
  LockManager(const shm::Segment& segment, const shm::ProcessTable& processes,
              const shm::SessionTable& sessions, RunningSet& running);
  LockManager(const LockManager&) = delete;
  LockManager& operator=(const LockManager&) = delete;

  /// All locks held and awaited, transaction ids and virtual ids included; each partition is consistent.
  std::vector<LockRow> list() const;
  /// backend pids of the sessions that block `waiter` (pg_blocking_pids).
  std::vector<std::int32_t> blocking_pids(shm::SessionIndex waiter) const;

  RunningSet& running() const noexcept { return running_; }
  const shm::SessionTable& sessions() const noexcept { return sessions_; }
  const shm::ProcessTable& processes() const noexcept { return processes_; }

 private:
  friend class SessionLocks;
  friend class DeadlockSearch;
  struct Header;
  struct Lock;
  struct Holder;
  struct SessionState;
  struct Partition;

  std::uint32_t hash_of(const LockTag& tag) const noexcept;
  Partition& partition_of(std::uint32_t hash) const noexcept;
  std::atomic<std::uint32_t>& strong_count(std::uint32_t hash) const noexcept;

  Lock* find_lock(const LockTag& tag, std::uint32_t hash) const noexcept;
  Lock* find_or_make_lock(const LockTag& tag, std::uint32_t hash) noexcept;
  void free_lock_if_unused(Lock& lock, std::uint32_t hash) noexcept;
  Holder* find_holder(Lock& lock, shm::SessionIndex session) const noexcept;
  Holder* find_or_make_holder(Lock& lock, shm::SessionIndex session) noexcept;
  void free_holder(Lock& lock, Holder& holder) noexcept;
  void grant(Lock& lock, Holder& holder, LockMode mode) noexcept;
  void ungrant(Lock& lock, Holder& holder, LockMode mode) noexcept;
  LockMask granted_to_others(const Lock& lock, shm::SessionIndex session) const noexcept;
  void enqueue(Lock& lock, shm::SessionIndex session, LockMode mode, std::uint32_t before) noexcept;
  void unqueue(Lock& lock, shm::SessionIndex session) noexcept;
  void grant_waiters(Lock& lock) noexcept;
  bool transfer_fast_path(const LockTag& tag, std::uint32_t hash) noexcept;

  std::uint32_t index_of(const Lock* lock) const noexcept;
  std::uint32_t index_of(const Holder* holder) const noexcept;

  Header* header_;
  Partition* partitions_;
  std::uint32_t* buckets_;
  Lock* locks_;
  Holder* holders_;
  SessionState* states_;
  std::atomic<std::uint32_t>* strong_;
  const shm::ProcessTable& processes_;
  const shm::SessionTable& sessions_;
  RunningSet& running_;
};

}  // namespace pinwheel::txn
