#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "shm/wait_event.h"

namespace pinwheel::txn {

/// Modes of heavyweight locks, weakest first; PostgreSQL's numbers.
enum class LockMode : std::uint8_t {
  kNone = 0,
  kAccessShare = 1,
  kRowShare = 2,
  kRowExclusive = 3,
  kShareUpdateExclusive = 4,
  kShare = 5,
  kShareRowExclusive = 6,
  kExclusive = 7,
  kAccessExclusive = 8,
};
inline constexpr int kLockModeCount = 9;

/// A set of modes: bit `mode`.
using LockMask = std::uint16_t;
constexpr LockMask mask_of(LockMode mode) noexcept {
  return static_cast<LockMask>(1u << static_cast<unsigned>(mode));
}

/// Modes that conflict with `mode`, as in the table of PostgreSQL's manual (13.3.1).
LockMask conflicts_of(LockMode mode) noexcept;
/// "AccessShareLock"..., as pg_locks shows it.
std::string_view lock_mode_name(LockMode mode) noexcept;
/// "ACCESS SHARE"..., as LOCK TABLE takes it.
std::string_view lock_mode_sql_name(LockMode mode) noexcept;

/// What kind of thing a lock is on; pg_locks.locktype.
enum class LockKind : std::uint8_t {
  kRelation,
  kRelationExtension,
  kPage,
  kTuple,
  kTransaction,  // not in the table: the running set serves waits for transactions
  kVirtualTransaction,
  kSpeculativeToken,
  kObject,
  kUserLock,
  kAdvisory,
};
std::string_view lock_kind_name(LockKind kind) noexcept;
shm::WaitEvent lock_wait_event(LockKind kind) noexcept;

/// Names a lockable thing. 16 bytes, no padding, so that hashes and comparisons take it whole.
struct LockTag {
  std::uint32_t field1 = 0;  // database, or the low half of an xid
  std::uint32_t field2 = 0;  // relation, class, or the high half
  std::uint32_t field3 = 0;  // page, object
  std::uint16_t field4 = 0;  // slot, sub-object
  LockKind kind = LockKind::kRelation;
  std::uint8_t reserved = 0;

  static constexpr LockTag relation(Oid database, Oid relation) noexcept {
    return {database.value, relation.value, 0, 0, LockKind::kRelation};
  }
  static constexpr LockTag extension(Oid database, Oid relation) noexcept {
    return {database.value, relation.value, 0, 0, LockKind::kRelationExtension};
  }
  static constexpr LockTag page(Oid database, Oid relation, PageNumber page) noexcept {
    return {database.value, relation.value, page.value, 0, LockKind::kPage};
  }
  static constexpr LockTag tuple(Oid database, Oid relation, TupleId tuple) noexcept {
    return {database.value, relation.value, tuple.page.value, tuple.slot, LockKind::kTuple};
  }
  static constexpr LockTag transaction(Xid xid) noexcept {
    return {static_cast<std::uint32_t>(xid.value), static_cast<std::uint32_t>(xid.value >> 32), 0, 0,
            LockKind::kTransaction};
  }
  static constexpr LockTag object(Oid database, Oid class_oid, Oid object, std::uint16_t part = 0) noexcept {
    return {database.value, class_oid.value, object.value, part, LockKind::kObject};
  }
  /// pg_advisory_lock(bigint)
  static constexpr LockTag advisory(Oid database, std::int64_t key) noexcept {
    const auto bits = static_cast<std::uint64_t>(key);
    return {database.value, static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits), 1,
            LockKind::kAdvisory};
  }
  /// pg_advisory_lock(int, int)
  static constexpr LockTag advisory(Oid database, std::int32_t key1, std::int32_t key2) noexcept {
    return {database.value, static_cast<std::uint32_t>(key1), static_cast<std::uint32_t>(key2), 2,
            LockKind::kAdvisory};
  }
  friend bool operator==(const LockTag&, const LockTag&) = default;
};
static_assert(sizeof(LockTag) == 16);

/// "relation 16384 of database 5", "transaction 733"...: as PostgreSQL's messages name it.
std::string describe(const LockTag& tag);

}  // namespace pinwheel::txn
