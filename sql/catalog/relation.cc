#include "sql/catalog/relation.h"

namespace pinwheel::sql {

int compare_key(std::uint64_t a, std::uint64_t b, const void* context) {
  const auto& key = *static_cast<const KeyCompareContext*>(context);
  return key.compare(Datum{a}, Datum{b}, key.context);
}

const Column* Relation::find_column(std::string_view column_name) const {
  for (const Column& column : columns) {
    if (!column.dropped && column.name == column_name) return &column;
  }
  return nullptr;
}

const IndexInfo* Relation::find_index(Oid index) const {
  if (!is_valid(index)) return nullptr;
  for (const IndexInfo& candidate : indexes) {
    if (candidate.oid == index) return &candidate;
  }
  return nullptr;
}

}  // namespace pinwheel::sql
