#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "shm/parking.h"
#include "shm/session_slot.h"
#include "txn/lock_manager.h"
#include "txn/lock_tag.h"

namespace pinwheel::txn {

/// Settings that guide a wait; the session keeps them current.
struct LockWaitSettings {
  std::int32_t deadlock_timeout_ms = 1000;
  std::int32_t lock_timeout_ms = 0;  // 0 = wait for ever
  bool log_lock_waits = false;
};

/// What to do when a lock is not free.
enum class LockWait : std::uint8_t {
  kBlock,
  kTry,  // give up and say so
};

enum class LockResult : std::uint8_t {
  kAcquired,     // newly
  kAlreadyHeld,  // counted up
  kNotAvailable,
};

/// Which end of life releases a lock that nobody released before.
enum class LockOwner : std::uint8_t { kTransaction, kSession };

/// The heavyweight locks of one session: its private table of what it holds, and the acts of getting and
/// releasing. Errors of every waiting call: 40P01 deadlock, 55P03 lock timeout, 57014 cancel, 57P01...;
/// 53200 when the shared table is full. Nothing may be latched.
class SessionLocks {
 public:
  SessionLocks(LockManager& manager, shm::SessionIndex session, shm::Parker& parker);
  ~SessionLocks();
  SessionLocks(const SessionLocks&) = delete;
  SessionLocks& operator=(const SessionLocks&) = delete;

  LockWaitSettings settings;
  /// Database of the session: only its relations use the fast path.
  void set_database(Oid database) noexcept;

  LockResult lock(const LockTag& tag, LockMode mode, LockWait wait = LockWait::kBlock,
                  LockOwner owner = LockOwner::kTransaction);
  /// Undoes one lock() of that owner; false when it is not held so (the caller warns).
  bool unlock(const LockTag& tag, LockMode mode, LockOwner owner = LockOwner::kTransaction) noexcept;
  bool holds(const LockTag& tag, LockMode mode) const noexcept;
  /// Holds that mode or a stronger one.
  bool holds_at_least(const LockTag& tag, LockMode mode) const noexcept;

  /// Relation locks, with PostgreSQL's words for kTry: 55P03 `could not obtain lock on relation "x"` is the
  /// caller's to raise, who knows the name.
  LockResult lock_relation(Oid database, Oid relation, LockMode mode, LockWait wait = LockWait::kBlock) {
    return lock(LockTag::relation(database, relation), mode, wait);
  }

  /// Waits until `xid` (top or sub) is over. kNotAvailable with kTry if it still runs. The committer wakes
  /// the waiters of its own slot only; the deadlock detector knows the edge.
  LockResult wait_for_transaction(Xid xid, LockWait wait = LockWait::kBlock);

  /// A place in the queue for one row: whoever holds it is the only one to wait for the row's locker, so that
  /// waiters get the row in the order they came. Release with unlock() once the row is marked.
  LockResult lock_tuple(Oid database, Oid relation, TupleId tuple, LockMode mode,
                        LockWait wait = LockWait::kBlock) {
    return lock(LockTag::tuple(database, relation, tuple), mode, wait);
  }

  // ---- Nest levels: 1 is the transaction, each savepoint one more ----
  void begin_level(int level) noexcept { level_ = level; }
  /// The level's locks go to the one below.
  void merge_level(int level) noexcept;
  /// Releases what was first taken at `level` or above.
  void release_level(int level) noexcept;
  /// At the end of a transaction: all but session locks.
  void release_all() noexcept;
  /// pg_advisory_unlock_all: all session-level advisory locks.
  void release_session_advisory() noexcept;
  /// At the session's end.
  void release_everything() noexcept;

  std::size_t held_count() const noexcept { return held_.size(); }

 private:
  struct Held {
    LockTag tag;
    LockMode mode;
    std::int8_t fast_path = -1;  // fast-path entry that may hold it, -1 = it is in the shared table
    std::uint32_t hash = 0;
    std::uint32_t transaction_count = 0;
    std::uint32_t session_count = 0;
    int first_level = 0;  // lowest level that a transaction use belongs to
  };
  struct Key {
    LockTag tag;
    LockMode mode;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  enum class FastPath : std::uint8_t { kTaken, kNotPossible, kTransferred };

  Held* find(const LockTag& tag, LockMode mode) noexcept;
  void add_use(Held& held, LockOwner owner) noexcept;
  void remember(const LockTag& tag, LockMode mode, std::uint32_t hash, int fast_path, LockOwner owner);
  void release(const Held& held) noexcept;
  void forget(std::size_t at) noexcept;
  template <class Keep>
  void release_transaction_uses(Keep keep) noexcept;

  FastPath take_fast_path(const LockTag& tag, LockMode mode, std::uint32_t hash, int& entry) noexcept;
  bool release_fast_path(const Held& held) noexcept;
  LockResult lock_in_table(const LockTag& tag, LockMode mode, std::uint32_t hash, LockWait wait);
  void release_in_table(const LockTag& tag, LockMode mode, std::uint32_t hash) noexcept;
  /// False when the lock was granted meanwhile. The second form is for who holds the partition latch, and
  /// wakes nobody.
  bool leave_queue(const LockTag& tag, std::uint32_t hash) noexcept;
  bool leave_queue_latched(const LockTag& tag, std::uint32_t hash) noexcept;
  /// Parks until done(). leave(latched) gives the place in the queue up and says false if it was done after
  /// all; `latched`: all partition latches are held.
  template <class Done, class Leave>
  void wait_until(const LockTag& tag, LockMode mode, Done done, Leave leave);
  void log_wait(std::string_view what, const LockTag& tag, LockMode mode, std::int64_t since_ns) const;

  LockManager& manager_;
  shm::SessionIndex session_;
  shm::Parker& parker_;
  Oid database_;
  int level_ = 1;
  /// Fast-path entries from here on have not been used since nothing was held.
  int fast_path_limit_ = 0;
  std::vector<Held> held_;
  /// Positions in held_, used once it is long (a dump locks thousands of tables).
  std::unordered_map<Key, std::size_t, KeyHash> index_;
};

}  // namespace pinwheel::txn
