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
  std::vector<std::int32_t> blocking_pids(shm::SessionIndex waiter);

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

  static std::uint32_t hash_of(const LockTag& tag) noexcept;
  shm::LwLock& partition_latch(std::uint32_t hash) const noexcept;
  std::atomic<std::uint32_t>& strong_count(std::uint32_t hash) const noexcept;
  SessionState& state_of(shm::SessionIndex session) const noexcept;

  // Under the partition latch, exclusive. Null = the shared table is full.
  Lock* find_lock(const LockTag& tag, std::uint32_t hash) const noexcept;
  Lock* find_or_make_lock(const LockTag& tag, std::uint32_t hash) noexcept;
  void free_lock_if_unused(Lock& lock) noexcept;
  Holder* find_holder(const Lock& lock, shm::SessionIndex session) const noexcept;
  Holder* find_or_make_holder(Lock& lock, shm::SessionIndex session) noexcept;
  void free_holder_if_unused(Lock& lock, Holder& holder) noexcept;
  static void grant(Lock& lock, Holder& holder, LockMode mode) noexcept;
  static void ungrant(Lock& lock, Holder& holder, LockMode mode) noexcept;
  LockMask granted_to_others(const Lock& lock, shm::SessionIndex session) const noexcept;
  /// Puts the session into the queue before `before` (session index + 1; 0 = at the end).
  void enqueue(Lock& lock, shm::SessionIndex session, LockMode mode, std::uint32_t before) noexcept;
  void unqueue(Lock& lock, shm::SessionIndex session) noexcept;
  /// Where a request joins the queue; true if it may be granted at once after all.
  bool find_place(const Lock& lock, shm::SessionIndex session, LockMode mode, LockMask held,
                  std::uint32_t& before) const noexcept;
  /// Grants to waiters what can be granted now; wake_granted() wakes them once the latch is free.
  void grant_waiters(Lock& lock) noexcept;
  void wake_granted() noexcept;
  /// Moves other sessions' fast-path holdings of the relation into the table. False when it is full.
  bool transfer_fast_path(const LockTag& tag, std::uint32_t hash) noexcept;

  std::uint32_t index_of(const Lock& lock) const noexcept;
  std::uint32_t index_of(const Holder& holder) const noexcept;

  Header* header_;
  Partition* partitions_;
  std::uint32_t* buckets_;
  Lock* locks_;
  Holder* holders_;
  SessionState* states_;
  std::size_t session_count_;
  std::uint32_t bucket_mask_;
  std::atomic<std::uint32_t>* strong_;
  const shm::ProcessTable& processes_;
  const shm::SessionTable& sessions_;
  RunningSet& running_;
  /// Granted by this process under a latch it holds, to be woken when it is free.
  std::vector<shm::SessionIndex> granted_;
};

}  // namespace pinwheel::txn
