#pragma once

#include <cstdint>

#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

/// Writes a relation's size into its pg_class row in place, as VACUUM and ANALYZE do: seen at once, by
/// everybody, whatever becomes of the transaction. Nothing is written when nothing changed.
///
/// `tuples` < 0 or `all_visible` < 0: that field stays. The caller holds a lock that keeps other vacuums out.
void record_relation_size(Catalog& catalog, Oid relation, std::int64_t pages, double tuples,
                          std::int64_t all_visible);

}  // namespace pinwheel::sql
