// The part of SessionLocks that uses the shared table and waits.
#include <fmt/core.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/statistics.h"
#include "txn/deadlock.h"
#include "txn/lock_manager_internal.h"
#include "txn/running_set.h"
#include "txn/session_locks.h"

namespace pinwheel::txn {

namespace {
[[noreturn]] void throw_out_of_shared_memory() {
  throw SqlError{sqlstate::kOutOfMemory, "out of shared memory"}.hint(
      "You might need to increase max_locks_per_transaction.");
}
}  // namespace

LockResult SessionLocks::lock_in_table(const LockTag& tag, LockMode mode, std::uint32_t hash, LockWait wait) {
  const bool strong = is_strong(tag, mode);
  if (strong) manager_.strong_count(hash).fetch_add(1, std::memory_order_seq_cst);
  const auto give_up_strong = [&] {
    if (strong) manager_.strong_count(hash).fetch_sub(1, std::memory_order_release);
  };
  {
    shm::ExclusiveGuard guard{manager_.partition_latch(hash)};
    LockManager::Lock* lock = nullptr;
    LockManager::Holder* holder = nullptr;
    if (!strong || manager_.transfer_fast_path(tag, hash)) lock = manager_.find_or_make_lock(tag, hash);
    if (lock != nullptr) holder = manager_.find_or_make_holder(*lock, session_);
    if (holder == nullptr) {
      if (lock != nullptr) manager_.free_lock_if_unused(*lock);
      guard.release();
      give_up_strong();
      throw_out_of_shared_memory();
    }
    const LockMask conflicts = conflicts_of(mode);
    const bool blocked =
        (conflicts & lock->wait_mask) != 0 || (conflicts & manager_.granted_to_others(*lock, session_)) != 0;
    std::uint32_t before = 0;
    if (!blocked || manager_.find_place(*lock, session_, mode, holder->held, before)) {
      manager_.grant(*lock, *holder, mode);
      return LockResult::kAcquired;
    }
    if (wait == LockWait::kTry) {
      manager_.free_holder_if_unused(*lock, *holder);
      manager_.free_lock_if_unused(*lock);
      guard.release();
      give_up_strong();
      return LockResult::kNotAvailable;
    }
    manager_.enqueue(*lock, session_, mode, before);
  }
  LockManager::SessionState& state = manager_.state_of(session_);
  try {
    wait_until(
        tag, mode, [&state] { return state.status.load(std::memory_order_acquire) == QueueStatus::kGranted; },
        [&](bool latched) { return latched ? leave_queue_latched(tag, hash) : leave_queue(tag, hash); });
  } catch (...) {
    give_up_strong();
    throw;
  }
  state.status.store(QueueStatus::kNone, std::memory_order_relaxed);
  return LockResult::kAcquired;
}

bool SessionLocks::leave_queue(const LockTag& tag, std::uint32_t hash) noexcept {
  bool left;
  {
    shm::ExclusiveGuard guard{manager_.partition_latch(hash)};
    left = leave_queue_latched(tag, hash);
  }
  manager_.wake_granted();
  return left;
}

bool SessionLocks::leave_queue_latched(const LockTag& tag, std::uint32_t hash) noexcept {
  LockManager::SessionState& state = manager_.state_of(session_);
  if (state.status.load(std::memory_order_relaxed) == QueueStatus::kGranted) return false;
  LockManager::Lock* lock = manager_.find_lock(tag, hash);
  DB_ASSERT(lock != nullptr);
  manager_.unqueue(*lock, session_);
  state.status.store(QueueStatus::kNone, std::memory_order_relaxed);
  LockManager::Holder* holder = manager_.find_holder(*lock, session_);
  manager_.free_holder_if_unused(*lock, *holder);
  // Those behind us may have waited for us only.
  manager_.grant_waiters(*lock);
  manager_.free_lock_if_unused(*lock);
  return true;
}

void SessionLocks::release_in_table(const LockTag& tag, LockMode mode, std::uint32_t hash) noexcept {
  {
    shm::ExclusiveGuard guard{manager_.partition_latch(hash)};
    LockManager::Lock* lock = manager_.find_lock(tag, hash);
    DB_ASSERT(lock != nullptr);
    LockManager::Holder* holder = manager_.find_holder(*lock, session_);
    DB_ASSERT(holder != nullptr);
    manager_.ungrant(*lock, *holder, mode);
    if ((conflicts_of(mode) & lock->wait_mask) != 0) manager_.grant_waiters(*lock);
    manager_.free_holder_if_unused(*lock, *holder);
    manager_.free_lock_if_unused(*lock);
  }
  manager_.wake_granted();
  if (is_strong(tag, mode)) manager_.strong_count(hash).fetch_sub(1, std::memory_order_release);
}

LockResult SessionLocks::wait_for_transaction(Xid xid, LockWait wait) {
  RunningSet& running = manager_.running();
  if (wait == LockWait::kTry)
    return running.is_running(xid) ? LockResult::kNotAvailable : LockResult::kAcquired;
  if (!running.is_running(xid)) return LockResult::kAcquired;
  const LockTag tag = LockTag::transaction(xid);
  // Whoever ends a transaction takes all its waiters off the list; we queue again while the xid still runs
  // (another subtransaction of the same session has ended).
  const auto done = [&] {
    return running.wait_edge(session_).owner == shm::kNoSession && !running.enqueue_waiter(xid, session_);
  };
  const auto leave = [&](bool) {
    running.dequeue_waiter(session_);
    return running.is_running(xid);
  };
  wait_until(tag, LockMode::kShare, done, leave);
  return LockResult::kAcquired;
}

template <class Done, class Leave>
void SessionLocks::wait_until(const LockTag& tag, LockMode mode, Done done, Leave leave) {
  if (done()) return;
  shm::count(shm::Counter::kLockWaits);
  const std::int64_t started_ns = monotonic_ns();
  std::atomic<std::int64_t>& wait_start = manager_.state_of(session_).wait_start_us;
  wait_start.store(wall_clock_us(), std::memory_order_relaxed);
  const Deadline give_up_at =
      settings.lock_timeout_ms > 0 ? Deadline::after_ms(settings.lock_timeout_ms) : Deadline::never();
  Deadline check_at = Deadline::after_ms(settings.deadlock_timeout_ms);
  // Gives the place up and raises what `raise` throws, unless we got what we waited for after all.
  const auto leave_with = [&](auto raise) {
    if (!leave(/*latched=*/false)) return;
    wait_start.store(0, std::memory_order_relaxed);
    raise();
  };
  while (!done()) {
    const shm::WakeReason reason = parker_.park(lock_wait_event(tag.kind), give_up_at.sooner(check_at));
    if (done()) break;
    if (reason == shm::WakeReason::kCancelled || reason == shm::WakeReason::kTerminated) {
      leave_with([] {
        shm::service_interrupts();
        throw SqlError{sqlstate::kQueryCanceled, "canceling statement due to user request"};
      });
      break;
    }
    if (give_up_at.passed()) {
      leave_with([] {
        throw SqlError{sqlstate::kLockNotAvailable, "canceling statement due to lock timeout"};
      });
      break;
    }
    if (!check_at.passed()) continue;
    check_at = Deadline::never();  // a cycle that forms later is found by whoever closes it
    DeadlockSearch search{manager_};
    bool left = false;
    const bool found = search.find_cycle(session_, [&] { left = leave(/*latched=*/true); });
    manager_.wake_granted();
    if (found && left) {
      wait_start.store(0, std::memory_order_relaxed);
      shm::count(shm::Counter::kDeadlocks);
      shm::count_for_session(shm::SessionCounter::kDeadlocks);
      if (settings.log_lock_waits) log_wait("detected deadlock while waiting for", tag, mode, started_ns);
      throw SqlError{sqlstate::kTRDeadlockDetected, "deadlock detected"}
          .detail(search.detail())
          .hint("See server log for query details.");
    }
    // Autovacuum gives way to users.
    for (const shm::SessionIndex blocker : search.blockers_of(session_)) {
      const auto kind = manager_.sessions().slot(blocker).kind.load(std::memory_order_relaxed);
      if (kind != static_cast<std::uint8_t>(shm::ProcessKind::kAutovacuumLauncher)) continue;
      shm::interrupt(manager_.processes(), manager_.sessions(), blocker, shm::kInterruptAutovacuumCancel);
    }
    if (settings.log_lock_waits) log_wait("still waiting for", tag, mode, started_ns);
  }
  wait_start.store(0, std::memory_order_relaxed);
  if (settings.log_lock_waits && check_at.is_never()) log_wait("acquired", tag, mode, started_ns);
}

void SessionLocks::log_wait(std::string_view what, const LockTag& tag, LockMode mode,
                            std::int64_t since_ns) const {
  const std::int64_t us = (monotonic_ns() - since_ns) / 1000;
  log(LogLevel::kLog, "process {} {} {} on {} after {}.{:03} ms",
      manager_.sessions().slot(session_).backend_pid.load(std::memory_order_relaxed), what,
      lock_mode_name(mode), describe(tag), us / 1000, us % 1000);
}

}  // namespace pinwheel::txn
