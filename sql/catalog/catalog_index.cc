#include "sql/catalog/catalog_index.h"

namespace pinwheel::sql {

bool find_catalog_rows(Catalog&, const Relation&, std::span<const CatalogKey>, std::vector<TupleId>&,
                       Arena&) {
  return false;
}

void insert_catalog_entries(Catalog&, const Relation&, TupleId, const Datum*, const bool*) {}

}  // namespace pinwheel::sql
