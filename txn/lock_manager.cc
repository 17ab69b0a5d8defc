#include "txn/lock_manager.h"

#include <bit>
#include <new>

#include "base/bytes.h"
#include "base/error.h"
#include "txn/lock_manager_internal.h"

namespace pinwheel::txn {

namespace {
std::size_t lock_capacity(const LockManagerOptions& options) {
  return options.session_capacity * options.max_locks_per_transaction;
}
/// Twice the locks: several sessions may hold one.
std::size_t holder_capacity(const LockManagerOptions& options) { return 2 * lock_capacity(options); }
std::uint32_t bucket_count(std::size_t locks) {
  return std::max<std::uint32_t>(kLockPartitions, std::bit_ceil(static_cast<std::uint32_t>(locks)));
}
}  // namespace

void LockManager::declare(shm::RegionBuilder& builder, const LockManagerOptions& options) {
  const std::size_t locks = lock_capacity(options);
  const std::size_t holders = holder_capacity(options);
  builder.add_region("LOCK header", sizeof(Header), alignof(Header), [](std::byte* at) {
    Header* header = ::new (at) Header();
    header->free_lock_head = header->free_holder_head = 1;
  });
  builder.add_array<Partition>("LOCK partitions", kLockPartitions);
  builder.add_array<std::uint32_t>("LOCK buckets", bucket_count(locks));
  builder.add_array<SessionState>("LOCK sessions", options.session_capacity);
  builder.add_array<std::atomic<std::uint32_t>>("LOCK strong counters", kStrongCounters);
  builder.add_region("LOCK hash", locks * sizeof(Lock), alignof(Lock), [locks](std::byte* at) {
    Lock* first = reinterpret_cast<Lock*>(at);
    for (std::size_t i = 0; i < locks; ++i) {
      ::new (first + i) Lock();
      first[i].next = i + 1 < locks ? static_cast<std::uint32_t>(i + 2) : 0;
    }
  });
  builder.add_region("PROCLOCK hash", holders * sizeof(Holder), alignof(Holder), [holders](std::byte* at) {
    Holder* first = reinterpret_cast<Holder*>(at);
    for (std::size_t i = 0; i < holders; ++i) {
      ::new (first + i) Holder();
      first[i].next = i + 1 < holders ? static_cast<std::uint32_t>(i + 2) : 0;
    }
  });
}

LockManager::LockManager(const shm::Segment& segment, const shm::ProcessTable& processes,
                         const shm::SessionTable& sessions, RunningSet& running)
    : header_{segment.as<Header>("LOCK header")},
      partitions_{segment.as<Partition>("LOCK partitions")},
      buckets_{segment.as<std::uint32_t>("LOCK buckets")},
      locks_{segment.as<Lock>("LOCK hash")},
      holders_{segment.as<Holder>("PROCLOCK hash")},
      states_{segment.as<SessionState>("LOCK sessions")},
      session_count_{segment.size_of("LOCK sessions") / sizeof(SessionState)},
      bucket_mask_{static_cast<std::uint32_t>(segment.size_of("LOCK buckets") / sizeof(std::uint32_t)) - 1},
      strong_{segment.as<std::atomic<std::uint32_t>>("LOCK strong counters")},
      processes_{processes},
      sessions_{sessions},
      running_{running} {
  granted_.reserve(64);
}

std::uint32_t LockManager::hash_of(const LockTag& tag) noexcept {
  const auto low = load<std::uint64_t>(&tag);
  const auto high = load<std::uint64_t>(reinterpret_cast<const std::byte*>(&tag) + 8);
  std::uint64_t mixed = (low ^ (high + 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ mixed >> 29 ^ high) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(mixed >> 32);
}

// ---- Locks and holders; all under the partition latch ----

LockManager::Lock* LockManager::find_lock(const LockTag& tag, std::uint32_t hash) const noexcept {
  for (std::uint32_t at = buckets_[hash & bucket_mask_]; at != 0; at = locks_[at - 1].next) {
    if (locks_[at - 1].tag == tag) return &locks_[at - 1];
  }
  return nullptr;
}

LockManager::Lock* LockManager::find_or_make_lock(const LockTag& tag, std::uint32_t hash) noexcept {
  if (Lock* lock = find_lock(tag, hash)) return lock;
  std::uint32_t taken;
  {
    shm::SpinGuard guard{header_->free_lock};
    taken = header_->free_lock_head;
    if (taken == 0) return nullptr;
    header_->free_lock_head = locks_[taken - 1].next;
  }
  Lock& lock = locks_[taken - 1];
  lock = Lock{};
  lock.tag = tag;
  lock.hash = hash;
  lock.next = buckets_[hash & bucket_mask_];
  buckets_[hash & bucket_mask_] = taken;
  return &lock;
}

void LockManager::free_lock_if_unused(Lock& lock) noexcept {
  if (lock.first_holder != 0 || lock.first_waiter != 0) return;
  const std::uint32_t me = index_of(lock) + 1;
  std::uint32_t* link = &buckets_[lock.hash & bucket_mask_];
  while (*link != me) link = &locks_[*link - 1].next;
  *link = lock.next;
  shm::SpinGuard guard{header_->free_lock};
  lock.next = header_->free_lock_head;
  header_->free_lock_head = me;
}

LockManager::Holder* LockManager::find_holder(const Lock& lock, shm::SessionIndex session) const noexcept {
  for (std::uint32_t at = lock.first_holder; at != 0; at = holders_[at - 1].next) {
    if (holders_[at - 1].session == session.value) return &holders_[at - 1];
  }
  return nullptr;
}

LockManager::Holder* LockManager::find_or_make_holder(Lock& lock, shm::SessionIndex session) noexcept {
  if (Holder* holder = find_holder(lock, session)) return holder;
  std::uint32_t taken;
  {
    shm::SpinGuard guard{header_->free_lock};
    taken = header_->free_holder_head;
    if (taken == 0) return nullptr;
    header_->free_holder_head = holders_[taken - 1].next;
  }
  Holder& holder = holders_[taken - 1];
  holder = {session.value, lock.first_holder, 0};
  lock.first_holder = taken;
  return &holder;
}

void LockManager::free_holder_if_unused(Lock& lock, Holder& holder) noexcept {
  if (holder.held != 0) return;
  const std::uint32_t me = index_of(holder) + 1;
  std::uint32_t* link = &lock.first_holder;
  while (*link != me) link = &holders_[*link - 1].next;
  *link = holder.next;
  shm::SpinGuard guard{header_->free_lock};
  holder.next = header_->free_holder_head;
  header_->free_holder_head = me;
}

void LockManager::grant(Lock& lock, Holder& holder, LockMode mode) noexcept {
  DB_DEBUG_ASSERT((holder.held & mask_of(mode)) == 0);
  ++lock.granted[static_cast<int>(mode)];
  lock.granted_mask |= mask_of(mode);
  holder.held |= mask_of(mode);
}

void LockManager::ungrant(Lock& lock, Holder& holder, LockMode mode) noexcept {
  DB_ASSERT((holder.held & mask_of(mode)) != 0);
  holder.held &= static_cast<LockMask>(~mask_of(mode));
  if (--lock.granted[static_cast<int>(mode)] == 0) lock.granted_mask &= static_cast<LockMask>(~mask_of(mode));
}

LockMask LockManager::granted_to_others(const Lock& lock, shm::SessionIndex session) const noexcept {
  const Holder* mine = find_holder(lock, session);
  if (mine == nullptr || mine->held == 0) return lock.granted_mask;
  LockMask mask = 0;
  for (int mode = 1; mode < kLockModeCount; ++mode) {
    const std::uint32_t own = (mine->held >> mode & 1u);
    if (lock.granted[mode] > own) mask |= static_cast<LockMask>(1u << mode);
  }
  return mask;
}

// ---- Queues ----

void LockManager::enqueue(Lock& lock, shm::SessionIndex session, LockMode mode,
                          std::uint32_t before) noexcept {
  SessionState& state = state_of(session);
  const std::uint32_t me = session.value + 1;
  state.next = before;
  state.previous = before == 0 ? lock.last_waiter : states_[before - 1].previous;
  (state.previous == 0 ? lock.first_waiter : states_[state.previous - 1].next) = me;
  (before == 0 ? lock.last_waiter : states_[before - 1].previous) = me;
  lock.wait_mask |= mask_of(mode);
  state.wait_mode = mode;
  state.wait_lock = index_of(lock) + 1;
  state.status.store(QueueStatus::kWaiting, std::memory_order_relaxed);
}

void LockManager::unqueue(Lock& lock, shm::SessionIndex session) noexcept {
  SessionState& state = state_of(session);
  (state.previous == 0 ? lock.first_waiter : states_[state.previous - 1].next) = state.next;
  (state.next == 0 ? lock.last_waiter : states_[state.next - 1].previous) = state.previous;
  state.previous = state.next = state.wait_lock = 0;
  lock.wait_mask = 0;
  for (std::uint32_t at = lock.first_waiter; at != 0; at = states_[at - 1].next) {
    lock.wait_mask |= mask_of(states_[at - 1].wait_mode);
  }
}

bool LockManager::find_place(const Lock& lock, shm::SessionIndex session, LockMode mode, LockMask held,
                             std::uint32_t& before) const noexcept {
  before = 0;
  if (held == 0) return false;
  // Waiters that wait for what we hold would deadlock with us if they came first.
  LockMask ahead = 0;
  for (std::uint32_t at = lock.first_waiter; at != 0; at = states_[at - 1].next) {
    if ((conflicts_of(states_[at - 1].wait_mode) & held) != 0) {
      before = at;
      return (conflicts_of(mode) & (ahead | granted_to_others(lock, session))) == 0;
    }
    ahead |= mask_of(states_[at - 1].wait_mode);
  }
  return false;
}

void LockManager::grant_waiters(Lock& lock) noexcept {
  LockMask ahead = 0;
  for (std::uint32_t at = lock.first_waiter; at != 0;) {
    const shm::SessionIndex session{at - 1};
    SessionState& state = state_of(session);
    const LockMode mode = state.wait_mode;
    at = state.next;
    if ((conflicts_of(mode) & (ahead | granted_to_others(lock, session))) != 0) {
      // First come, first served: later ones pass only if they do not conflict with it.
      ahead |= mask_of(mode);
      continue;
    }
    Holder* holder = find_holder(lock, session);
    DB_ASSERT(holder != nullptr);
    unqueue(lock, session);
    grant(lock, *holder, mode);
    granted_.push_back(session);
    state.status.store(QueueStatus::kGranted, std::memory_order_release);
  }
}

void LockManager::wake_granted() noexcept {
  for (const shm::SessionIndex session : granted_) shm::wake(processes_, sessions_, session);
  granted_.clear();
}

bool LockManager::transfer_fast_path(const LockTag& tag, std::uint32_t hash) noexcept {
  for (std::size_t i = 0; i < session_count_; ++i) {
    SessionState& state = states_[i];
    if (state.database.load(std::memory_order_relaxed) != tag.field1) continue;
    for (std::atomic<std::uint64_t>& entry : state.fast_path) {
      std::uint64_t seen = entry.load(std::memory_order_seq_cst);
      while (seen != 0 && relation_of_entry(seen) == tag.field2) {
        Lock* lock = find_or_make_lock(tag, hash);
        Holder* holder = lock == nullptr
                             ? nullptr
                             : find_or_make_holder(*lock, shm::SessionIndex{static_cast<std::uint32_t>(i)});
        if (holder == nullptr) {
          if (lock != nullptr) free_lock_if_unused(*lock);
          return false;
        }
        const LockMask modes = modes_of_entry(seen);
        for (int mode = 1; mode <= 3; ++mode) {
          if ((modes >> mode & 1) != 0) grant(*lock, *holder, static_cast<LockMode>(mode));
        }
        // Ours to move only if the owner has not changed it meanwhile; nobody saw the grant, we hold the
        // latch.
        if (entry.compare_exchange_strong(seen, 0, std::memory_order_seq_cst)) break;
        for (int mode = 1; mode <= 3; ++mode) {
          if ((modes >> mode & 1) != 0) ungrant(*lock, *holder, static_cast<LockMode>(mode));
        }
        free_holder_if_unused(*lock, *holder);
        free_lock_if_unused(*lock);
      }
    }
  }
  return true;
}

}  // namespace pinwheel::txn
