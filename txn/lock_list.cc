// What pg_locks and pg_blocking_pids show.
#include "txn/deadlock.h"
#include "txn/lock_manager.h"
#include "txn/lock_manager_internal.h"
#include "txn/running_set.h"

namespace pinwheel::txn {

namespace {
constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }

void add_modes(std::vector<LockRow>& rows, const LockTag& tag, shm::SessionIndex session, LockMask modes,
               bool fast_path) {
  for (int mode = 1; mode < kLockModeCount; ++mode) {
    if ((modes >> mode & 1) == 0) continue;
    rows.push_back({tag, session, static_cast<LockMode>(mode), /*granted=*/true, fast_path});
  }
}
}  // namespace

std::vector<LockRow> LockManager::list() const {
  std::vector<LockRow> rows;
  for (std::uint32_t i = 0; i < session_count_; ++i) {
    const shm::SessionIndex session{i};
    const std::uint32_t database = states_[i].database.load(std::memory_order_relaxed);
    for (const std::atomic<std::uint64_t>& entry : states_[i].fast_path) {
      const std::uint64_t seen = entry.load(std::memory_order_relaxed);
      if (seen == 0) continue;
      add_modes(rows, LockTag::relation(Oid{database}, Oid{relation_of_entry(seen)}), session,
                modes_of_entry(seen), true);
    }
  }
  for (std::uint32_t partition = 0; partition < kLockPartitions; ++partition) {
    shm::SharedGuard guard{partitions_[partition].latch};
    for (std::uint32_t bucket = partition; bucket <= bucket_mask_; bucket += kLockPartitions) {
      for (std::uint32_t at = buckets_[bucket]; at != 0; at = locks_[at - 1].next) {
        const Lock& lock = locks_[at - 1];
        for (std::uint32_t h = lock.first_holder; h != 0; h = holders_[h - 1].next) {
          add_modes(rows, lock.tag, shm::SessionIndex{holders_[h - 1].session}, holders_[h - 1].held, false);
        }
        for (std::uint32_t w = lock.first_waiter; w != 0; w = states_[w - 1].next) {
          rows.push_back({lock.tag, shm::SessionIndex{w - 1}, states_[w - 1].wait_mode, false, false,
                          states_[w - 1].wait_start_us.load(std::memory_order_relaxed)});
        }
      }
    }
  }
  // Every transaction "holds" its own ids; waits for them are served by the running set.
  for (std::uint32_t i = 0; i < session_count_; ++i) {
    const shm::SessionIndex session{i};
    const RunningSet::SlotView view = running_.view(session);
    if (view.virtual_xid.session != 0) {
      const LockTag tag{view.virtual_xid.session, low(view.virtual_xid.local), high(view.virtual_xid.local),
                        0, LockKind::kVirtualTransaction};
      rows.push_back({tag, session, LockMode::kExclusive, true, true});
    }
    if (is_valid(view.xid)) {
      rows.push_back({LockTag::transaction(view.xid), session, LockMode::kExclusive, true, false});
    }
    const RunningSet::WaitEdge wait = running_.wait_edge(session);
    if (wait.owner != shm::kNoSession) {
      rows.push_back({LockTag::transaction(wait.xid), session, LockMode::kShare, false, false,
                      states_[i].wait_start_us.load(std::memory_order_relaxed)});
    }
  }
  return rows;
}

std::vector<std::int32_t> LockManager::blocking_pids(shm::SessionIndex waiter) {
  std::vector<std::int32_t> pids;
  for (const shm::SessionIndex blocker : DeadlockSearch{*this}.blockers_of(waiter)) {
    pids.push_back(sessions_.slot(blocker).backend_pid.load(std::memory_order_relaxed));
  }
  return pids;
}

}  // namespace pinwheel::txn
