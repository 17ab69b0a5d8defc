#include "sql/analyze/column_defaults.h"

#include "sql/analyze/coercion.h"
#include "sql/analyze/expression_source.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/names.h"

namespace pinwheel::sql {

Expr* column_default(Analysis& an, const ViewedRelation& relation, std::int16_t attribute) {
  const ViewedColumn& column = relation.columns[static_cast<std::size_t>(attribute) - 1];
  const ExprType type{column.type, column.type_modifier, column.collation};
  if (column.default_source.empty() || column.generated) return make_null(an, type);
  return analyze_column_value({an.arena, an.catalog, an.eval}, column.default_source, nullptr,
                              SourceUse::kColumnDefault, column.name, type);
}

std::int16_t find_target_column(Analysis& an, const ViewedRelation& relation, std::string_view name,
                                int location, bool system_known) {
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    if (!relation.columns[i].dropped && relation.columns[i].name == name)
      return static_cast<std::int16_t>(i + 1);
  }
  Oid type;
  if (system_known && system_column(name, &type) != 0) {
    throw an.error(sqlstate::kFeatureNotSupported, cat("cannot assign to system column ", quoted(name)),
                   location);
  }
  throw an.error(sqlstate::kUndefinedColumn,
                 cat("column ", quoted(name), " of relation ", quoted(relation.name), " does not exist"),
                 location);
}

void refuse_explicit_value(Scope& scope, const Query& query, const ViewedRelation& relation,
                           std::int16_t attribute, int location) {
  Analysis& an = scope.an;
  (void)location;
  const ViewedColumn& column = relation.columns[static_cast<std::size_t>(attribute) - 1];
  if (column.generated) {
    throw an
        .error(sqlstate::kGeneratedAlways,
               cat("cannot insert a non-DEFAULT value into column ", quoted(column.name)))
        .detail(cat("Column ", quoted(column.name), " is a generated column."));
  }
  if (column.identity == 'a' && !query.overriding_system && !query.overriding_user) {
    throw an
        .error(sqlstate::kGeneratedAlways,
               cat("cannot insert a non-DEFAULT value into column ", quoted(column.name)))
        .detail(cat("Column ", quoted(column.name), " is an identity column defined as GENERATED ALWAYS."))
        .hint("Use OVERRIDING SYSTEM VALUE to override.");
  }
}

}  // namespace pinwheel::sql
