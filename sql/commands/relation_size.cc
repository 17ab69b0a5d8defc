#include "sql/commands/relation_size.h"

#include <algorithm>

#include "sql/catalog/catalog_scan.h"

namespace pinwheel::sql {
namespace {

/// Places of the columns in pg_class, from 0.
constexpr std::size_t kPages = 9, kTuples = 10, kAllVisible = 11;

}  // namespace

void record_relation_size(Catalog& catalog, Oid relation, std::int64_t pages, double tuples,
                          std::int64_t all_visible) {
  CatalogScan scan{catalog, kClassTable, std::vector<CatalogKey>{{1, relation}}};
  if (!scan.next()) return;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
  const std::size_t columns = scan.table().columns.size();
  std::copy_n(scan.values(), columns, values);
  std::copy_n(scan.nulls(), columns, nulls);
  values[kPages] = Datum::from_int32(static_cast<std::int32_t>(pages));
  if (tuples >= 0) values[kTuples] = Datum::from_float4(static_cast<float>(tuples));
  if (all_visible >= 0) values[kAllVisible] = Datum::from_int32(static_cast<std::int32_t>(all_visible));
  const auto same = [&](std::size_t i) { return values[i].bits == scan.values()[i].bits; };
  if (same(kPages) && same(kTuples) && same(kAllVisible)) return;
  overwrite_values(catalog, kClassTable, scan.tuple_id(), values, nulls);
  if (relation >= kFirstNormalOid) catalog.invalidate_relation(relation);
}

}  // namespace pinwheel::sql
