#include "sql/commands/relation_size.h"

#include "sql/catalog/catalog_scan.h"

namespace pinwheel::sql {

void record_relation_size(Catalog& catalog, Oid relation, std::int64_t pages, double tuples,
                          std::int64_t all_visible) {
  TupleId at;
  std::optional<ClassRow> row = find_row<ClassRow>(catalog, {{1, relation}}, &at);
  if (!row) return;
  const auto new_pages = static_cast<std::int32_t>(pages);
  const auto new_tuples = tuples < 0 ? row->reltuples : static_cast<float>(tuples);
  const auto new_visible = all_visible < 0 ? row->relallvisible : static_cast<std::int32_t>(all_visible);
  if (row->relpages == new_pages && row->reltuples == new_tuples && row->relallvisible == new_visible) return;
  row->relpages = new_pages;
  row->reltuples = new_tuples;
  row->relallvisible = new_visible;
  Arena arena;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
  row->visit(RowWriter{find_system_relation(kClassTable)->columns, values, nulls, arena});
  overwrite_values(catalog, kClassTable, at, values, nulls);
  catalog.invalidate_relation(relation);
}

}  // namespace pinwheel::sql
