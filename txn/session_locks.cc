#include "txn/session_locks.h"

#include "base/error.h"
#include "base/sqlstate.h"
#include "shm/statistics.h"
#include "txn/lock_manager_internal.h"

namespace pinwheel::txn {

namespace {
/// Held locks up to which a look at each is quicker than a hash.
constexpr std::size_t kLinearSearch = 24;
}  // namespace

SessionLocks::SessionLocks(LockManager& manager, shm::SessionIndex session, shm::Parker& parker)
    : manager_{manager}, session_{session}, parker_{parker} {
  held_.reserve(kLinearSearch);
  manager_.state_of(session_).database.store(0, std::memory_order_relaxed);
}

SessionLocks::~SessionLocks() { release_everything(); }

void SessionLocks::set_database(Oid database) noexcept {
  DB_ASSERT(held_.empty());
  database_ = database;
  manager_.state_of(session_).database.store(database.value, std::memory_order_seq_cst);
}

// ---- The private table ----

std::size_t SessionLocks::KeyHash::operator()(const Key& key) const noexcept {
  return LockManager::hash_of(key.tag) * 16u + static_cast<std::size_t>(key.mode);
}

SessionLocks::Held* SessionLocks::find(const LockTag& tag, LockMode mode) noexcept {
  if (held_.size() > kLinearSearch) {
    const auto at = index_.find({tag, mode});
    return at == index_.end() ? nullptr : &held_[at->second];
  }
  for (Held& held : held_) {
    if (held.tag == tag && held.mode == mode) return &held;
  }
  return nullptr;
}

void SessionLocks::add_use(Held& held, LockOwner owner) noexcept {
  if (owner == LockOwner::kSession) {
    ++held.session_count;
  } else {
    if (held.transaction_count++ == 0) held.first_level = level_;
  }
}

void SessionLocks::remember(const LockTag& tag, LockMode mode, std::uint32_t hash, int fast_path,
                            LockOwner owner) {
  held_.push_back({.tag = tag, .mode = mode, .fast_path = static_cast<std::int8_t>(fast_path), .hash = hash});
  add_use(held_.back(), owner);
  if (held_.size() <= kLinearSearch) return;
  if (held_.size() == kLinearSearch + 1) {
    index_.clear();
    for (std::size_t i = 0; i < held_.size(); ++i) index_[{held_[i].tag, held_[i].mode}] = i;
  } else {
    index_[{tag, mode}] = held_.size() - 1;
  }
}

void SessionLocks::forget(std::size_t at) noexcept {
  const bool indexed = held_.size() > kLinearSearch;
  if (indexed) index_.erase({held_[at].tag, held_[at].mode});
  if (at + 1 != held_.size()) {
    held_[at] = held_.back();
    if (indexed) index_[{held_[at].tag, held_[at].mode}] = at;
  }
  held_.pop_back();
}

bool SessionLocks::holds(const LockTag& tag, LockMode mode) const noexcept {
  return const_cast<SessionLocks*>(this)->find(tag, mode) != nullptr;
}

bool SessionLocks::holds_at_least(const LockTag& tag, LockMode mode) const noexcept {
  for (int stronger = static_cast<int>(mode); stronger < kLockModeCount; ++stronger) {
    if (holds(tag, static_cast<LockMode>(stronger))) return true;
  }
  return false;
}

// ---- Getting and releasing ----

LockResult SessionLocks::lock(const LockTag& tag, LockMode mode, LockWait wait, LockOwner owner) {
  if (Held* held = find(tag, mode)) {
    add_use(*held, owner);
    return LockResult::kAlreadyHeld;
  }
  shm::count(shm::Counter::kLockAcquisitions);
  const std::uint32_t hash = LockManager::hash_of(tag);
  // Before anything is taken: remembering it must not fail.
  if (held_.size() == held_.capacity()) held_.reserve(2 * held_.size());
  int entry = -1;
  if (tag.kind == LockKind::kRelation && is_fast_path_mode(mode) && tag.field1 == database_.value &&
      is_valid(database_)) {
    switch (take_fast_path(tag, mode, hash, entry)) {
      case FastPath::kTaken:
        shm::count(shm::Counter::kLockFastPath);
        remember(tag, mode, hash, entry, owner);
        return LockResult::kAcquired;
      case FastPath::kTransferred:
        remember(tag, mode, hash, -1, owner);
        return LockResult::kAcquired;
      case FastPath::kNotPossible:
        break;
    }
  }
  const LockResult result = lock_in_table(tag, mode, hash, wait);
  if (result == LockResult::kAcquired) remember(tag, mode, hash, -1, owner);
  return result;
}

bool SessionLocks::unlock(const LockTag& tag, LockMode mode, LockOwner owner) noexcept {
  Held* held = find(tag, mode);
  if (held == nullptr) return false;
  std::uint32_t& uses = owner == LockOwner::kSession ? held->session_count : held->transaction_count;
  if (uses == 0) return false;
  --uses;
  if (held->session_count + held->transaction_count == 0) {
    release(*held);
    forget(static_cast<std::size_t>(held - held_.data()));
  }
  return true;
}

void SessionLocks::release(const Held& held) noexcept {
  if (held.fast_path >= 0 && release_fast_path(held)) return;
  release_in_table(held.tag, held.mode, held.hash);
}

template <class Keep>
void SessionLocks::release_transaction_uses(Keep keep) noexcept {
  // Newest first, as they nest; forget() moves the last one into the gap, which was looked at already.
  for (std::size_t i = held_.size(); i-- > 0;) {
    Held& held = held_[i];
    if (held.transaction_count == 0 || keep(held)) continue;
    held.transaction_count = 0;
    if (held.session_count != 0) continue;
    release(held);
    forget(i);
  }
}

void SessionLocks::merge_level(int level) noexcept {
  for (Held& held : held_) {
    if (held.transaction_count != 0 && held.first_level >= level) held.first_level = level - 1;
  }
}

void SessionLocks::release_level(int level) noexcept {
  release_transaction_uses([level](const Held& held) { return held.first_level < level; });
}

void SessionLocks::release_all() noexcept {
  release_transaction_uses([](const Held&) { return false; });
}

void SessionLocks::release_session_advisory() noexcept {
  for (std::size_t i = held_.size(); i-- > 0;) {
    Held& held = held_[i];
    if (held.tag.kind != LockKind::kAdvisory || held.session_count == 0) continue;
    held.session_count = 0;
    if (held.transaction_count != 0) continue;
    release(held);
    forget(i);
  }
}

void SessionLocks::release_everything() noexcept {
  for (const Held& held : held_) release(held);
  held_.clear();
  index_.clear();
}

// ---- Fast path ----
//
// We write the entry, then read the counter of strong lockers; a strong locker raises the counter, then reads
// the entries. Both are sequentially consistent, so at least one sees the other: we find the counter raised
// and go to the table, or it finds our entry and moves it there.

SessionLocks::FastPath SessionLocks::take_fast_path(const LockTag& tag, LockMode mode, std::uint32_t hash,
                                                    int& entry) noexcept {
  LockManager::SessionState& state = manager_.state_of(session_);
  std::atomic<std::uint32_t>& strong = manager_.strong_count(hash);
  if (strong.load(std::memory_order_relaxed) != 0) return FastPath::kNotPossible;
  if (held_.empty()) fast_path_limit_ = 0;
  int chosen = -1;
  std::uint64_t before = 0;
  for (int i = 0; i < fast_path_limit_; ++i) {
    const std::uint64_t seen = state.fast_path[i].load(std::memory_order_relaxed);
    if (seen != 0 && relation_of_entry(seen) == tag.field2) {
      chosen = i;
      before = seen;
      break;
    }
    if (seen == 0 && chosen < 0) chosen = i;
  }
  if (chosen < 0) {
    if (fast_path_limit_ == kFastPathEntries) return FastPath::kNotPossible;
    chosen = fast_path_limit_++;
  }
  std::atomic<std::uint64_t>& word = state.fast_path[chosen];
  const std::uint64_t after =
      fast_path_entry(tag.field2, static_cast<LockMask>(modes_of_entry(before) | mask_of(mode)));
  std::uint64_t expected = before;
  if (!word.compare_exchange_strong(expected, after, std::memory_order_seq_cst))
    return FastPath::kNotPossible;
  entry = chosen;
  if (strong.load(std::memory_order_seq_cst) == 0) return FastPath::kTaken;
  expected = after;
  if (word.compare_exchange_strong(expected, before, std::memory_order_seq_cst))
    return FastPath::kNotPossible;
  // A strong locker has moved the entry already, and with it this lock: it is ours, in the table.
  return FastPath::kTransferred;
}

bool SessionLocks::release_fast_path(const Held& held) noexcept {
  std::atomic<std::uint64_t>& word = manager_.state_of(session_).fast_path[held.fast_path];
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  for (;;) {
    // Moved to the table, whatever the entry may hold now.
    if (relation_of_entry(seen) != held.tag.field2 || (modes_of_entry(seen) & mask_of(held.mode)) == 0) {
      return false;
    }
    const LockMask left = static_cast<LockMask>(modes_of_entry(seen) & ~mask_of(held.mode));
    const std::uint64_t after = left == 0 ? 0 : fast_path_entry(held.tag.field2, left);
    if (word.compare_exchange_weak(seen, after, std::memory_order_release, std::memory_order_relaxed))
      return true;
  }
}

}  // namespace pinwheel::txn
