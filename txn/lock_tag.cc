#include "txn/lock_tag.h"

#include <fmt/core.h>

namespace pinwheel::txn {

namespace {

constexpr LockMask m(LockMode mode) { return mask_of(mode); }

// The manual's table of conflicting lock modes, a row per mode.
constexpr LockMask kConflicts[kLockModeCount] = {
    0,
    m(LockMode::kAccessExclusive),
    m(LockMode::kExclusive) | m(LockMode::kAccessExclusive),
    m(LockMode::kShare) | m(LockMode::kShareRowExclusive) | m(LockMode::kExclusive) |
        m(LockMode::kAccessExclusive),
    m(LockMode::kShareUpdateExclusive) | m(LockMode::kShare) | m(LockMode::kShareRowExclusive) |
        m(LockMode::kExclusive) | m(LockMode::kAccessExclusive),
    m(LockMode::kRowExclusive) | m(LockMode::kShareUpdateExclusive) | m(LockMode::kShareRowExclusive) |
        m(LockMode::kExclusive) | m(LockMode::kAccessExclusive),
    m(LockMode::kRowExclusive) | m(LockMode::kShareUpdateExclusive) | m(LockMode::kShare) |
        m(LockMode::kShareRowExclusive) | m(LockMode::kExclusive) | m(LockMode::kAccessExclusive),
    m(LockMode::kRowShare) | m(LockMode::kRowExclusive) | m(LockMode::kShareUpdateExclusive) |
        m(LockMode::kShare) | m(LockMode::kShareRowExclusive) | m(LockMode::kExclusive) |
        m(LockMode::kAccessExclusive),
    m(LockMode::kAccessShare) | m(LockMode::kRowShare) | m(LockMode::kRowExclusive) |
        m(LockMode::kShareUpdateExclusive) | m(LockMode::kShare) | m(LockMode::kShareRowExclusive) |
        m(LockMode::kExclusive) | m(LockMode::kAccessExclusive),
};

struct ModeName {
  std::string_view name, sql_name;
};
constexpr ModeName kModeNames[kLockModeCount] = {
    {"INVALID", "INVALID"},
    {"AccessShareLock", "ACCESS SHARE"},
    {"RowShareLock", "ROW SHARE"},
    {"RowExclusiveLock", "ROW EXCLUSIVE"},
    {"ShareUpdateExclusiveLock", "SHARE UPDATE EXCLUSIVE"},
    {"ShareLock", "SHARE"},
    {"ShareRowExclusiveLock", "SHARE ROW EXCLUSIVE"},
    {"ExclusiveLock", "EXCLUSIVE"},
    {"AccessExclusiveLock", "ACCESS EXCLUSIVE"},
};

struct KindInfo {
  std::string_view name;
  shm::WaitEvent event;
};
constexpr KindInfo kKinds[] = {
    {"relation", shm::WaitEvent::kLockRelation},
    {"extend", shm::WaitEvent::kLockExtend},
    {"page", shm::WaitEvent::kLockPage},
    {"tuple", shm::WaitEvent::kLockTuple},
    {"transactionid", shm::WaitEvent::kLockTransactionId},
    {"virtualxid", shm::WaitEvent::kLockVirtualXid},
    {"spectoken", shm::WaitEvent::kLockSpeculativeToken},
    {"object", shm::WaitEvent::kLockObject},
    {"userlock", shm::WaitEvent::kLockUserLock},
    {"advisory", shm::WaitEvent::kLockAdvisory},
};

constexpr std::uint64_t join(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

LockMask conflicts_of(LockMode mode) noexcept { return kConflicts[static_cast<int>(mode)]; }
std::string_view lock_mode_name(LockMode mode) noexcept { return kModeNames[static_cast<int>(mode)].name; }
std::string_view lock_mode_sql_name(LockMode mode) noexcept {
  return kModeNames[static_cast<int>(mode)].sql_name;
}
std::string_view lock_kind_name(LockKind kind) noexcept { return kKinds[static_cast<int>(kind)].name; }
shm::WaitEvent lock_wait_event(LockKind kind) noexcept { return kKinds[static_cast<int>(kind)].event; }

std::string describe(const LockTag& tag) {
  switch (tag.kind) {
    case LockKind::kRelation:
      return fmt::format("relation {} of database {}", tag.field2, tag.field1);
    case LockKind::kRelationExtension:
      return fmt::format("extension of relation {} of database {}", tag.field2, tag.field1);
    case LockKind::kPage:
      return fmt::format("page {} of relation {} of database {}", tag.field3, tag.field2, tag.field1);
    case LockKind::kTuple:
      return fmt::format("tuple ({},{}) of relation {} of database {}", tag.field3, tag.field4, tag.field2,
                         tag.field1);
    case LockKind::kTransaction:
      return fmt::format("transaction {}", join(tag.field2, tag.field1));
    case LockKind::kVirtualTransaction:
      return fmt::format("virtual transaction {}/{}", tag.field1, join(tag.field3, tag.field2));
    case LockKind::kSpeculativeToken:
      return fmt::format("speculative token {} of transaction {}", tag.field2, tag.field1);
    case LockKind::kObject:
      return fmt::format("object {} of class {} of database {}", tag.field3, tag.field2, tag.field1);
    case LockKind::kUserLock:
      return fmt::format("user lock [{},{},{}]", tag.field1, tag.field2, tag.field3);
    case LockKind::kAdvisory:
      return fmt::format("advisory lock [{},{},{},{}]", tag.field1, tag.field2, tag.field3, tag.field4);
  }
  return fmt::format("unrecognized locktag type {}", static_cast<int>(tag.kind));
}

}  // namespace pinwheel::txn
