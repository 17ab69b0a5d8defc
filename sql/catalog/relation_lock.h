#pragma once

#include <string_view>

#include "sql/catalog/catalog.h"
#include "sql/catalog/relation.h"

namespace pinwheel::sql {

/// Modes of table locks as catalogs and commands speak of them: `txn::LockMode`'s numbers.
inline constexpr int kAccessShareLock = 1;
inline constexpr int kRowExclusiveLock = 3;
inline constexpr int kShareUpdateExclusiveLock = 4;
inline constexpr int kShareLock = 5;
inline constexpr int kShareRowExclusiveLock = 6;
inline constexpr int kAccessExclusiveLock = 8;

/// Locks a relation found by name, in `mode` (1 to 8), and makes sure that after the wait the name still
/// means it. Null when there is no such relation. `schema` "" = along search_path. Errors: 55P03 with
/// `nowait`.
RelationRef lock_relation_by_name(Catalog& catalog, std::string_view schema, std::string_view name, int mode,
                                  bool nowait = false);
/// As above by oid; null when it is gone once the lock is held.
RelationRef lock_relation(Catalog& catalog, Oid relation, int mode);

}  // namespace pinwheel::sql
