#include "sql/analyze/expressions.h"
#include "sql/analyze/functions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/types.h"

/// Columns, whole rows and fields of rows by name.
namespace pinwheel::sql {

Expr* select_field(Scope& scope, Expr* row, std::string_view field, int location) {
  Analysis& an = scope.an;
  if (!is_row_type(an, row->type.type)) return nullptr;
  const std::span<ColumnDefinition> columns = row_columns(scope, row);
  std::int16_t place = 0;  // among the fields that row values hold: dropped columns have none
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name.empty()) continue;
    ++place;
    if (columns[i].name != field) continue;
    if (const auto* whole = expr_if<ColumnExpr>(row); whole != nullptr && whole->attribute == 0) {
      // A field of a whole row is simply the column.
      Scope* level = &scope;
      for (int up = whole->levels_up; up > 0; --up) level = level->parent;
      ColumnExpr* column = an.arena.make<ColumnExpr>();
      column->range_index = whole->range_index;
      column->levels_up = whole->levels_up;
      column->attribute = static_cast<std::int16_t>(i + 1);
      column->type = columns[i].type;
      column->location = location;
      return column;
    }
    FieldSelectExpr* node = an.arena.make<FieldSelectExpr>();
    node->arg = row;
    node->field = place;
    node->type = columns[i].type;
    node->location = location;
    return node;
  }
  return nullptr;
}

Expr* transform_column_ref(Scope& scope, const PgQuery__ColumnRef* ref) {
  Analysis& an = scope.an;
  const raw::NodeList fields = RAW_LIST(ref, fields);
  const int location = ref->location;
  switch (scope.use) {
    case ExprUse::kDefault:
      throw an.error(sqlstate::kFeatureNotSupported, "cannot use column reference in DEFAULT expression",
                     location);
    default:
      break;
  }
  if (RAW_IS(fields.back(), A_STAR)) {
    // t.* as a value is the whole row.
    if (fields.size() == 1) {
      throw an.error(sqlstate::kFeatureNotSupported, "row expansion via \"*\" is not supported here",
                     location);
    }
    int star_levels = 0;
    const std::string_view star_table = raw::string_of(fields[fields.size() - 2]);
    const std::string_view star_schema =
        fields.size() >= 3 ? raw::string_of(fields[fields.size() - 3]) : std::string_view{};
    const NamespaceItem* whole = find_item(scope, star_schema, star_table, location, &star_levels);
    if (whole == nullptr) throw_missing_item(scope, star_schema, star_table, location);
    return make_whole_row(scope, *whole, star_levels, location);
  }
  if (fields.size() == 1) {
    const std::string_view name = raw::string_of(fields[0]);
    if (Expr* column = find_column_by_name(scope, name, location)) return column;
    int levels_up = 0;
    if (const NamespaceItem* item = find_item(scope, {}, name, location, &levels_up)) {
      return make_whole_row(scope, *item, levels_up, location);
    }
    throw_missing_column(scope, {}, name, location);
  }
  if (fields.size() > 4) {
    throw an.error(sqlstate::kSyntaxError,
                   cat("improper qualified name (too many dotted names): ", dotted(fields)), location);
  }
  const std::string_view column_name = raw::string_of(fields.back());
  const std::string_view table = raw::string_of(fields[fields.size() - 2]);
  const std::string_view schema =
      fields.size() >= 3 ? raw::string_of(fields[fields.size() - 3]) : std::string_view{};
  if (fields.size() == 4 && raw::string_of(fields[0]) != an.catalog.database_name()) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   cat("cross-database references are not implemented: ", dotted(fields)), location);
  }
  int levels_up = 0;
  const NamespaceItem* item = find_item(scope, schema, table, location, &levels_up);
  if (item == nullptr) throw_missing_item(scope, schema, table, location);
  if (Expr* column = column_of_item(scope, *item, levels_up, column_name, location)) return column;
  // t.f may be a function of the row in column notation.
  const std::span<const ViewedFunction* const> functions = an.catalog.find_functions({}, column_name);
  for (const ViewedFunction* function : functions) {
    if (function->args.size() != 1 || function->kind != 'f') continue;
    Expr* row = make_whole_row(scope, *item, levels_up, location);
    if (function->args[0] != row->type.type && function->args[0] != kRecordType) continue;
    return resolve_function(scope, raw::NodeList{fields.nodes + fields.size() - 1, 1}, {row}, {}, nullptr,
                            location);
  }
  throw_missing_column(scope, table, column_name, location);
}

}  // namespace pinwheel::sql
