#include <algorithm>

#include "sql/analyze/clauses.h"
#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/functions.h"
#include "sql/analyze/operators.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

/// The query levels that the arguments of an aggregate refer to, counted outward from the aggregate's own
/// place.
struct Levels {
  int column = -1;
  int aggregate = -1;
  int aggregate_location = -1;
  int window_location = -1;
  bool window = false;
  int set_location = -1;
  bool set_function = false;

  void note(int& least, int level) {
    if (level >= 0 && (least < 0 || level < least)) least = level;
  }
};

void scan_query(Query& query, int depth, Levels& levels);

void scan_levels(const Expr* expr, int depth, Levels& levels) {
  if (expr == nullptr) return;
  if (const auto* column = expr_if<ColumnExpr>(expr)) {
    levels.note(levels.column, column->levels_up - depth);
    return;
  }
  if (const auto* aggregate = expr_if<AggregateExpr>(expr)) {
    const int level = aggregate->levels_up - depth;
    if (level >= 0 && (levels.aggregate < 0 || level < levels.aggregate))
      levels.aggregate_location = expr->location;
    levels.note(levels.aggregate, level);
    if (level >= 0) return;
  }
  if (depth == 0) {
    if (expr->kind == ExprKind::kWindowFunction && !levels.window) {
      levels.window = true;
      levels.window_location = expr->location;
    }
    if (const auto* call = expr_if<FunctionExpr>(expr);
        call != nullptr && call->returns_set && !levels.set_function) {
      levels.set_function = true;
      levels.set_location = expr->location;
    }
  }
  if (const auto* link = expr_if<SubLinkExpr>(expr)) scan_query(*link->query, depth + 1, levels);
  for_each_child(expr, [&](const Expr* child) { scan_levels(child, depth, levels); });
}

void scan_query(Query& query, int depth, Levels& levels) {
  for_each_expression(query, [&](Expr*& expr) { scan_levels(expr, depth, levels); });
  for_each_subquery(query, [&](Query& sub) { scan_query(sub, depth + 1, levels); });
}

/// Raises when aggregates (42803) or window functions (42P20) may not stand where `scope.use` says.
void check_placement(Scope& scope, SqlState state, std::string_view what, bool window, int location) {
  Analysis& an = scope.an;
  std::string place;
  switch (scope.use) {
    case ExprUse::kNone:
    case ExprUse::kSelectTarget:
    case ExprUse::kInsertTarget:
    case ExprUse::kOrderBy:
    case ExprUse::kDistinctOn:
      return;
    case ExprUse::kHaving:
    case ExprUse::kWindowPartition:
    case ExprUse::kWindowOrder:
      if (!window) return;
      place = scope.use == ExprUse::kHaving ? "HAVING" : "window definitions";
      break;
    case ExprUse::kJoinOn:
    case ExprUse::kJoinUsing:
      place = "JOIN conditions";
      break;
    case ExprUse::kFromSubselect:
      if (!window) {
        throw an.error(state, "aggregate functions are not allowed in FROM clause of their own query level",
                       location);
      }
      place = "FROM";
      break;
    case ExprUse::kFromFunction:
      place = "functions in FROM";
      break;
    case ExprUse::kWindowRange:
    case ExprUse::kWindowRows:
    case ExprUse::kWindowGroups:
      place = window ? std::string{"window definitions"} : std::string{use_name(scope.use)};
      break;
    default:
      place = placement_name(scope.use);
      break;
  }
  throw an.error(state, cat(what, " are not allowed in ", place), location);
}

}  // namespace

bool contains_aggregate(const Expr* expr) {
  if (expr == nullptr) return false;
  if (const auto* aggregate = expr_if<AggregateExpr>(expr)) {
    if (aggregate->levels_up == 0) return true;
  }
  bool found = false;
  for_each_child(expr, [&](const Expr* child) { found = found || contains_aggregate(child); });
  return found;
}

bool contains_window(const Expr* expr, int* location) {
  if (expr == nullptr) return false;
  if (expr->kind == ExprKind::kWindowFunction) {
    if (location != nullptr) *location = expr->location;
    return true;
  }
  bool found = false;
  for_each_child(expr, [&](const Expr* child) { found = found || contains_window(child, location); });
  return found;
}

Expr* finish_aggregate(Scope& scope, const ViewedFunction& function, std::vector<Expr*> args, Oid result,
                       const PgQuery__FuncCall* call, bool variadic, Expr* filter, int location) {
  Analysis& an = scope.an;
  if (function.returns_set) {
    throw an.error(sqlstate::kInvalidFunctionDefinition, "aggregates may not return sets", location);
  }
  AggregateExpr* node = an.arena.make<AggregateExpr>();
  node->function = function.oid;
  node->type = plain_type(an, result);
  node->star = call != nullptr && call->agg_star;
  node->distinct = call != nullptr && call->agg_distinct;
  node->variadic = variadic;
  node->location = location;
  node->filter = filter;
  std::vector<Oid> actual, declared{function.args.begin(), function.args.end()};
  for (const Expr* arg : args) actual.push_back(arg->type.type);
  node->transition_type = function.transition_type;
  if (is_polymorphic(function.transition_type) && declared.size() <= actual.size()) {
    actual.resize(declared.size());
    node->transition_type = resolve_polymorphic(scope, actual, declared, function.transition_type);
  }

  TargetList targets;
  std::size_t direct = 0;
  if (function.aggregate_kind != 'n') direct = std::min<std::size_t>(function.direct_args, args.size());
  node->direct_args =
      to_span(an.arena, std::vector<Expr*>(args.begin(), args.begin() + static_cast<long>(direct)));
  for (std::size_t i = direct; i < args.size(); ++i) {
    Target target;
    target.expr = args[i];
    targets.push_back(target);
  }
  const std::size_t passed = targets.size();
  std::vector<SortClause> order;
  if (call != nullptr && call->agg_within_group) {
    // The sort expressions are the aggregated arguments themselves.
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const raw::Node* item = call->agg_order[call->n_agg_order - targets.size() + i];
      const PgQuery__SortBy* by = item->sort_by;
      SortClause clause =
          default_sort(scope, targets, static_cast<int>(i), true, location_of(targets[i].expr));
      clause.descending = by->sortby_dir == PG_QUERY__SORT_BY_DIR__SORTBY_DESC;
      if (clause.descending) {
        clause.sort_operator = require_sort_operators_greater(an, targets[i].expr->type.type);
      }
      clause.nulls_first =
          by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_FIRST ||
          (by->sortby_nulls == PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_DEFAULT && clause.descending);
      order.push_back(clause);
    }
  } else if (call != nullptr && call->n_agg_order > 0) {
    order = transform_sort(scope, RAW_LIST(call, agg_order), targets, ExprUse::kOrderBy, true);
  }
  if (node->distinct) {
    const std::vector<SortClause> keys = transform_distinct(scope, targets, order, true);
    node->distinct_keys = to_span(an.arena, keys);
  }
  node->order_by = to_span(an.arena, order);
  std::vector<Expr*> all;
  for (const Target& target : targets) all.push_back(target.expr);
  node->args = to_span(an.arena, all);
  node->hidden_args = static_cast<std::uint16_t>(targets.size() - passed);

  // The aggregate belongs to the innermost level whose columns it uses.
  Levels levels;
  for (Expr* arg : node->args) scan_levels(arg, 0, levels);
  scan_levels(node->filter, 0, levels);
  if (levels.window) {
    throw an.error(sqlstate::kGroupingError, "aggregate function calls cannot contain window function calls",
                   levels.window_location);
  }
  if (levels.set_function) {
    throw an
        .error(sqlstate::kFeatureNotSupported,
               "aggregate function calls cannot contain set-returning function calls", levels.set_location)
        .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
  }
  int level = levels.column;
  if (level < 0) {
    level = levels.aggregate < 0 ? 0 : levels.aggregate;
  } else if (levels.aggregate >= 0) {
    level = std::min(level, levels.aggregate);
  }
  if (levels.aggregate >= 0 && level == levels.aggregate) {
    throw an.error(sqlstate::kGroupingError, "aggregate function calls cannot be nested",
                   levels.aggregate_location);
  }
  node->levels_up = level;
  Scope* owner = &scope;
  for (int i = 0; i < level && owner->parent != nullptr; ++i) owner = owner->parent;
  owner->has_aggregates = true;
  check_placement(*owner, sqlstate::kGroupingError, "aggregate functions", false, location);
  return node;
}

Expr* finish_window_function(Scope& scope, const ViewedFunction& function, std::vector<Expr*> args,
                             Oid result, const PgQuery__FuncCall* call, Expr* filter, int location) {
  Analysis& an = scope.an;
  const bool is_aggregate = function.kind == 'a';
  if (call->agg_distinct) {
    throw an.error(sqlstate::kFeatureNotSupported, "DISTINCT is not implemented for window functions",
                   location);
  }
  if (call->n_agg_order > 0) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   "aggregate ORDER BY is not implemented for window functions", location);
  }
  if (!is_aggregate && call->agg_filter != nullptr) {
    throw an.error(sqlstate::kFeatureNotSupported,
                   "FILTER is not implemented for non-aggregate window functions", location);
  }
  for (const Expr* arg : args) {
    int nested = -1;
    if (contains_window(arg, &nested)) {
      throw an.error(sqlstate::kWindowingError, "window function calls cannot be nested", nested);
    }
    if (contains_set_function(arg)) {
      throw an
          .error(sqlstate::kFeatureNotSupported,
                 "window function calls cannot contain set-returning function calls", location_of(arg))
          .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
    }
  }
  check_placement(scope, sqlstate::kWindowingError, "window functions", true, location);

  WindowFunctionExpr* node = an.arena.make<WindowFunctionExpr>();
  node->function = function.oid;
  node->type = plain_type(an, result);
  node->star = call->agg_star;
  node->is_aggregate = is_aggregate;
  node->args = to_span(an.arena, args);
  node->filter = filter;
  node->location = location;
  scope.has_windows = true;

  // OVER name refers to the WINDOW clause; equal inline definitions share one window.
  const PgQuery__WindowDef* definition = call->over;
  auto& definitions = scope.window_definitions;
  const std::string_view name = raw::text(definition->name);
  if (!name.empty()) {
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      if (raw::text(definitions[i]->name) == name) {
        node->window_index = static_cast<int>(i);
        return node;
      }
    }
    throw an.error(sqlstate::kUndefinedObject, cat("window ", quoted(name), " does not exist"),
                   definition->location);
  }
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    if (definitions[i]->frame_options != definition->frame_options) continue;
    if (!raw::text(definitions[i]->name).empty()) continue;
    if (raw::same_tree(&definitions[i]->base, &definition->base)) {
      node->window_index = static_cast<int>(i);
      return node;
    }
  }
  node->window_index = static_cast<int>(definitions.size());
  definitions.push_back(definition);
  return node;
}

// --- Grouping

namespace {

struct GroupingCheck {
  Scope& scope;
  Query& query;
  std::vector<Expr*> grouped;  ///< the GROUP BY expressions
  std::vector<int> dependent;  ///< range entries whose primary key is grouped
  bool in_direct_args = false;

  bool depends(const ColumnExpr* column) {
    if (std::find(dependent.begin(), dependent.end(), column->range_index) != dependent.end()) return true;
    const RangeEntry& entry = query.range_table[column->range_index];
    if (entry.kind != RangeKind::kRelation) return false;
    const ViewedRelation* relation = scope.an.catalog.relation(entry.relation);
    if (relation == nullptr || relation->primary_key.empty()) return false;
    for (std::int16_t key : relation->primary_key) {
      bool found = false;
      for (const Expr* expr : grouped) {
        const auto* other = expr_if<ColumnExpr>(expr);
        found = found || (other != nullptr && other->range_index == column->range_index &&
                          other->attribute == key && other->levels_up == 0);
      }
      if (!found) return false;
    }
    dependent.push_back(column->range_index);
    return true;
  }

  [[noreturn]] void fail(const ColumnExpr* column, bool outer) {
    const RangeEntry& entry = query.range_table[column->range_index];
    std::string name = column->attribute > 0 && column->attribute <= static_cast<int>(entry.columns.size())
                           ? std::string{entry.columns[column->attribute - 1].name}
                           : std::string{column->attribute == 0 ? "*" : "ctid"};
    if (outer) {
      throw scope.an.error(
          sqlstate::kGroupingError,
          cat("subquery uses ungrouped column \"", entry.alias, ".", name, "\" from outer query"),
          column->location);
    }
    throw scope.an.error(sqlstate::kGroupingError,
                         cat("column \"", entry.alias, ".", name,
                             "\" must appear in the GROUP BY clause or be used in an aggregate function"),
                         column->location);
  }

  void check(const Expr* expr, int depth) {
    if (expr == nullptr) return;
    if (expr->kind == ExprKind::kConst || expr->kind == ExprKind::kParam) return;
    if (const auto* aggregate = expr_if<AggregateExpr>(expr)) {
      if (aggregate->levels_up == depth) {
        for (const Expr* arg : aggregate->direct_args) check(arg, depth);
        return;
      }
      if (aggregate->levels_up > depth) return;
    }
    if (depth == 0) {
      for (const Expr* group : grouped) {
        if (equal(expr, group)) return;
      }
    }
    if (const auto* column = expr_if<ColumnExpr>(expr)) {
      if (column->levels_up != depth) return;
      for (const Expr* group : grouped) {
        const auto* other = expr_if<ColumnExpr>(group);
        if (other != nullptr && other->range_index == column->range_index &&
            other->attribute == column->attribute) {
          return;
        }
      }
      if (depends(column)) return;
      fail(column, depth > 0);
    }
    if (const auto* link = expr_if<SubLinkExpr>(expr)) check_query(*link->query, depth + 1);
    for_each_child(expr, [&](const Expr* child) { check(child, depth); });
  }

  void check_query(Query& sub, int depth) {
    for_each_expression(sub, [&](Expr*& expr) { check(expr, depth); });
    for_each_subquery(sub, [&](Query& inner) { check_query(inner, depth + 1); });
  }
};

}  // namespace

void check_grouping(Scope& scope, Query& query) {
  if (!query.has_aggregates && query.group_by.empty() && !query.has_group_by && query.having == nullptr)
    return;
  GroupingCheck check{scope, query, {}, {}};
  for (const SortClause& clause : query.group_by)
    check.grouped.push_back(query.targets[clause.target_index].expr);
  for (const Target& target : query.targets) check.check(target.expr, 0);
  check.check(query.having, 0);
}

}  // namespace pinwheel::sql
