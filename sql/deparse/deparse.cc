#include "sql/deparse/deparse.h"

#include "sql/deparse/deparser.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

std::string deparse_expression(const Expr* expr, const ViewedRelation* relation, AnalyzerCatalog& catalog,
                               EvalContext& eval, const DeparseOptions& options) {
  Deparser deparser{catalog, eval, options, options.pretty};
  RangeEntry entry;
  std::vector<ColumnDefinition> columns;
  DeparseLevel level;
  if (relation != nullptr) {
    for (const ViewedColumn& column : relation->columns) {
      columns.push_back({column.name, {column.type, column.type_modifier, column.collation}});
    }
    entry.columns = columns;
    entry.relation = relation->oid;
    entry.alias = relation->name;
    level.names.emplace_back(relation->name);
    level.entries = {&entry, 1};
    level.prefix = options.prefix_columns;
  }
  deparser.push_level(std::move(level));
  deparser.expression(expr, false);
  return deparser.take();
}

std::string deparse_query_expression(const Expr* expr, const Query& query, AnalyzerCatalog& catalog,
                                     EvalContext& eval, const DeparseOptions& options) {
  Deparser deparser{catalog, eval, options, false};
  DeparseLevel level;
  level.entries = query.range_table;
  level.query = &query;
  level.prefix = options.prefix_columns || query.range_table.size() > 1;
  for (const RangeEntry& entry : query.range_table) {
    level.names.emplace_back(entry.kind == RangeKind::kJoin && !entry.has_alias ? std::string_view{}
                                                                                : entry.alias);
  }
  deparser.push_level(std::move(level));
  deparser.expression(expr, false);
  return deparser.take();
}

std::string deparse_query(const Query& query, AnalyzerCatalog& catalog, EvalContext& eval,
                          const DeparseOptions& options) {
  Deparser deparser{catalog, eval, options, true};
  std::vector<std::string_view> names;
  for (const Target& target : query.targets) {
    if (!target.hidden) names.push_back(target.name);
  }
  deparser.query(query, true, names);
  return deparser.take();
}

std::string type_name_text(Oid type, std::int32_t modifier, AnalyzerCatalog& catalog, bool qualify_all,
                           bool modifier_given) {
  const bool with_modifier = modifier_given || modifier >= 0;
  if (std::string text = format_builtin_type(type, modifier, with_modifier); !text.empty()) return text;
  const ViewedType* info = catalog.type(type);
  if (info == nullptr) return "???";
  if (info->element.value != 0 && info->category == 'A') {
    return type_name_text(info->element, modifier, catalog, qualify_all, modifier_given) + "[]";
  }
  std::string_view schema = info->schema_name;
  if (schema.empty() && info->relation.value != 0) {
    if (const ViewedRelation* relation = catalog.relation(info->relation)) schema = relation->schema_name;
  }
  if (schema == "pg_catalog" || (!qualify_all && catalog.type_is_visible(type))) schema = {};
  return quote_qualified(schema, info->name);
}

}  // namespace pinwheel::sql
