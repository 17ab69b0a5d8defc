#pragma once

#include "base/error.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/relation_create.h"

namespace pinwheel::sql {

template <class Change>
void change_class_row(Catalog& catalog, Oid relation, Change change) {
  TupleId at;
  auto row = find_row<ClassRow>(catalog, {{1, relation}}, &at);
  DB_ASSERT(row.has_value());
  change(*row);
  update_row(catalog, at, *row);
  catalog.invalidate_relation(relation);
}

template <class Change>
void change_attribute_row(Catalog& catalog, Oid relation, std::int16_t number, Change change) {
  CatalogScan scan{catalog, kAttributeTable, std::vector<CatalogKey>{{1, relation}, {6, number}}};
  const bool found = scan.next();
  DB_ASSERT(found);
  AttributeRow row;
  scan.read(row);
  change(row);
  update_row(catalog, scan.tuple_id(), row);
  catalog.invalidate_relation(relation);
}

}  // namespace pinwheel::sql
