#pragma once

#include <span>
#include <vector>

#include "sql/catalog/catalog_scan.h"

namespace pinwheel::sql {

/// System indexes behind CatalogScan and the catalog writes.

/// Ids of the rows whose index entries agree with `keys` through an index whose leading columns are among
/// them. False when there is no such index: scan the heap. Entries may be of dead rows, or of other keys than
/// asked for on columns beyond the index: the caller checks visibility and keys.
bool find_catalog_rows(Catalog& catalog, const Relation& table, std::span<const CatalogKey> keys,
                       std::vector<TupleId>& ids, Arena& arena);

/// Adds the entries of a new row version to all indexes of a catalog. Errors: 23505 when another row,
/// committed or of this transaction, has the key; waits for running inserters of it.
void insert_catalog_entries(Catalog& catalog, const Relation& table, TupleId id, const Datum* values,
                            const bool* nulls);

}  // namespace pinwheel::sql
