#include "sql/catalog/relation_lock.h"

#include "base/sqlstate.h"
#include "sql/catalog/system_tables.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

RelationRef lock_relation_by_name(Catalog& catalog, std::string_view schema, std::string_view name, int mode,
                                  bool nowait) {
  txn::SessionLocks& locks = catalog.transaction().locks();
  const auto lock_mode = static_cast<txn::LockMode>(mode);
  Oid locked;
  for (;;) {
    const Oid found = catalog.find_relation_oid(schema, name);
    if (found == locked) return is_valid(found) ? catalog.relation(found) : RelationRef{};
    const RelationRef relation = is_valid(found) ? catalog.relation(found) : RelationRef{};
    const auto tag_of = [&](Oid oid, bool shared) {
      return txn::LockTag::relation(shared ? kInvalidOid : catalog.eval().database, oid);
    };
    if (is_valid(locked)) locks.unlock(tag_of(locked, find_system_relation(locked) != nullptr), lock_mode);
    if (!relation) return {};
    const txn::LockResult result = locks.lock(tag_of(found, relation->shared), lock_mode,
                                              nowait ? txn::LockWait::kTry : txn::LockWait::kBlock);
    if (result == txn::LockResult::kNotAvailable) {
      throw SqlError{sqlstate::kLockNotAvailable,
                     "could not obtain lock on relation \"" + std::string{name} + "\""};
    }
    if (result == txn::LockResult::kAlreadyHeld) return relation;
    // Whoever held a conflicting lock may have renamed or dropped it: look again with the news.
    locked = found;
    catalog.accept_invalidations();
  }
}

RelationRef lock_relation(Catalog& catalog, Oid oid, int mode) {
  const RelationRef before = catalog.relation(oid);
  if (!before) return {};
  const Oid database = before->shared ? kInvalidOid : catalog.eval().database;
  const txn::LockResult got =
      catalog.transaction().locks().lock_relation(database, oid, static_cast<txn::LockMode>(mode));
  if (got == txn::LockResult::kAcquired) catalog.accept_invalidations();
  return catalog.relation(oid);
}

}  // namespace pinwheel::sql
