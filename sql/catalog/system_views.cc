#include "sql/catalog/system_views.h"

#include "sql/catalog/system_tables.h"

namespace pinwheel::sql {
namespace {
struct SystemView {
  std::string_view schema;
  std::string_view name;
  std::string_view source;
};
#include "system_views.inc"
}  // namespace

std::string_view system_view_source(Oid schema, std::string_view name) {
  const std::string_view schema_name = schema == kCatalogSchema ? "pg_catalog" : "information_schema";
  for (const SystemView& view : kViews) {
    if (view.name == name && view.schema == schema_name) return view.source;
  }
  return {};
}

}  // namespace pinwheel::sql
