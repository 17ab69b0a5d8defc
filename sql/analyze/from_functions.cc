#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/from_internal.h"
#include "sql/analyze/types.h"

/// Functions in FROM: what columns they give.
namespace pinwheel::sql {

namespace {

/// OUT columns of a function that has several, empty otherwise.
std::vector<ColumnDefinition> out_columns(Scope& scope, const FunctionExpr* call) {
  Analysis& an = scope.an;
  std::vector<ColumnDefinition> columns;
  const ViewedFunction* function = an.catalog.function(call->function);
  if (function == nullptr || function->all_args.empty()) return columns;
  // Polymorphic outputs take their types from the actual inputs.
  std::vector<Oid> actual, declared(function->args.begin(), function->args.end());
  for (const Expr* arg : call->args) actual.push_back(arg->type.type);
  actual.resize(declared.size(), kUnknownType);
  int unnamed = 0;
  for (std::size_t i = 0; i < function->all_args.size(); ++i) {
    const char mode = i < function->arg_modes.size() ? function->arg_modes[i] : 'i';
    if (mode != 'o' && mode != 'b' && mode != 't') continue;
    ++unnamed;
    std::string_view name = i < function->arg_names.size() ? function->arg_names[i] : std::string_view{};
    if (name.empty()) name = an.arena.copy(cat("column", unnamed));
    Oid type = function->all_args[i];
    if (is_polymorphic(type)) {
      std::vector<Oid> copy = declared;
      type = resolve_polymorphic(scope, actual, copy, type);
    }
    columns.push_back({an.arena.copy(name), plain_type(an, type)});
  }
  return columns;
}

std::vector<ColumnDefinition> written_columns(Scope& scope, raw::NodeList definitions) {
  Analysis& an = scope.an;
  std::vector<ColumnDefinition> columns;
  for (const raw::Node* node : definitions) {
    const PgQuery__ColumnDef* definition = node->column_def;
    ExprType type = resolve_type(an, definition->type_name);
    if (definition->coll_clause != nullptr) {
      type.collation =
          resolve_collation(an, RAW_LIST(definition->coll_clause, collname), definition->location);
    }
    columns.push_back({an.arena.copy(raw::text(definition->colname)), type});
  }
  return columns;
}

struct FunctionItem {
  Expr* call;
  std::string_view name;
  raw::NodeList definitions;
};

void add_function(Scope& scope, const raw::Node* node, raw::NodeList definitions,
                  std::vector<FunctionItem>& functions) {
  Analysis& an = scope.an;
  // unnest(a, b) is ROWS FROM (unnest(a), unnest(b)).
  if (RAW_IS(node, FUNC_CALL)) {
    const PgQuery__FuncCall* call = node->func_call;
    if (call->n_funcname == 1 && raw::string_of(call->funcname[0]) == "unnest" && call->n_args > 1 &&
        call->n_agg_order == 0 && !call->agg_star && !call->agg_distinct && !call->func_variadic &&
        call->over == nullptr && definitions.empty()) {
      for (std::size_t i = 0; i < call->n_args; ++i) {
        PgQuery__FuncCall one = *call;
        one.n_args = 1;
        one.args = call->args + i;
        Expr* expr = transform_function_call(scope, &one);
        functions.push_back({expr, "unnest", {}});
      }
      return;
    }
  }
  Expr* const set_before = scope.last_set_expr;
  Expr* expr = transform(scope, node);
  if (scope.last_set_expr != set_before && scope.last_set_expr != expr) {
    throw an.error(sqlstate::kFeatureNotSupported, "set-returning functions must appear at top level of FROM",
                   location_of(scope.last_set_expr));
  }
  functions.push_back({expr, figure_column_name(an, node), definitions});
}

}  // namespace

FromEntry transform_function(Scope& scope, const PgQuery__RangeFunction* range) {
  Analysis& an = scope.an;
  std::vector<FunctionItem> functions;
  {
    UseGuard guard{scope, ExprUse::kFromFunction};
    const bool saved = scope.lateral_active;
    scope.lateral_active = true;
    for (const raw::Node* node : RAW_LIST(range, functions)) {
      const raw::NodeList pair = raw::items_of(node);
      add_function(scope, pair[0], pair.size() > 1 ? raw::items_of(pair[1]) : raw::NodeList{}, functions);
    }
    scope.lateral_active = saved;
  }
  if (range->n_coldeflist > 0) {
    if (functions.size() != 1) {
      throw an.error(sqlstate::kSyntaxError,
                     range->is_rowsfrom
                         ? "ROWS FROM() with multiple functions cannot have a column definition list"
                         : "UNNEST() with multiple arguments cannot have a column definition list",
                     raw::location(range->coldeflist[0]));
    }
    functions[0].definitions = RAW_LIST(range, coldeflist);
  }
  RangeEntry entry;
  entry.kind = RangeKind::kFunction;
  entry.with_ordinality = range->ordinality;
  entry.alias = range->alias != nullptr ? an.arena.copy(alias_name(range->alias)) : functions[0].name;
  std::vector<Expr*> calls;
  std::vector<int> counts;
  std::vector<ColumnDefinition> columns;
  bool uses_columns = range->lateral;
  for (const FunctionItem& item : functions) {
    const Oid type = item.call->type.type;
    std::vector<ColumnDefinition> own;
    const FunctionExpr* call = expr_if<FunctionExpr>(item.call);
    if (call != nullptr) own = out_columns(scope, call);
    bool composite = own.size() > 1 || (type == kRecordType && !own.empty());
    if (!composite && type != kRecordType && is_row_type(an, type)) {
      const std::span<ColumnDefinition> row = row_columns(scope, item.call);
      own.assign(row.begin(), row.end());
      composite = true;
    }
    if (type == kRecordType && !composite) {
      if (item.definitions.empty()) {
        throw an.error(sqlstate::kSyntaxError,
                       "a column definition list is required for functions returning \"record\"",
                       location_of(item.call));
      }
      own = written_columns(scope, item.definitions);
      entry.column_definitions = true;
      composite = true;
    } else if (!item.definitions.empty()) {
      throw an.error(sqlstate::kSyntaxError,
                     composite && type == kRecordType
                         ? "a column definition list is redundant for a function with OUT parameters"
                         : "a column definition list is only allowed for functions returning \"record\"",
                     raw::location(item.definitions[0]));
    }
    if (!composite) {
      std::string_view name = item.name;
      if (own.size() == 1) {
        name = own[0].name;  // its one OUT parameter
        own.clear();
      } else if (functions.size() == 1 && range->alias != nullptr) {
        name = entry.alias;
      }
      own.push_back({name, item.call->type});
    } else {
      entry.scalar_function = false;
    }
    counts.push_back(static_cast<int>(own.size()));
    columns.insert(columns.end(), own.begin(), own.end());
    calls.push_back(item.call);
    for_each_node(item.call, [&](const Expr* expr) {
      if (const auto* column = expr_if<ColumnExpr>(expr))
        uses_columns = uses_columns || column->levels_up == 0;
      if (expr->kind == ExprKind::kSubLink) uses_columns = true;
    });
  }
  if (calls.size() > 1) entry.scalar_function = false;
  if (range->ordinality) columns.push_back({"ordinality", {kInt8Type, -1, {}}});
  entry.lateral = uses_columns;
  entry.functions = to_span(an.arena, calls);
  entry.function_columns = to_span(an.arena, counts);
  entry.columns = to_span(an.arena, columns);
  apply_alias(scope, entry, range->alias, "table");
  scope.range_table.push_back(entry);
  NamespaceItem names = make_names(scope, static_cast<int>(scope.range_table.size()) - 1);
  names.relation = {};
  return plain_item(scope, names);
}

}  // namespace pinwheel::sql
