#pragma once

#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

/// Fills the empty file of an index from its table's rows (all that some snapshot may still see), logged when
/// the index is. The caller keeps changes of the table away. Errors: 23505 `could not create unique index
/// "x"` with detail `Key (a)=(1) is duplicated.`; those of index expressions. `again`: its progress shows as
/// that of REINDEX.
void build_index(Catalog& catalog, const Relation& table, const IndexInfo& index, bool again);

/// Makes an index of no rows: unlogged tables' init forks.
void build_empty_index(Catalog& catalog, const IndexInfo& index, Fork fork);

}  // namespace pinwheel::sql
