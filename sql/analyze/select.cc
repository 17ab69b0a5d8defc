#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"
#include "sql/analyze/utility_parts.h"

namespace pinwheel::sql {

void finish_query(Scope& scope, Query& query, FromResult& from) {
  Arena& arena = scope.an.arena;
  query.range_table = to_span(arena, scope.range_table);
  query.ctes = to_span(arena, scope.ctes);
  query.from = to_span(arena, from.items);
  query.has_aggregates = scope.has_aggregates;
  query.has_windows = scope.has_windows;
  query.has_sublinks = scope.has_sublinks;
  query.has_set_functions = scope.has_set_functions;
  query.has_modifying_cte = scope.has_modifying_cte;
}

namespace {

std::vector<const PgQuery__LockingClause*> locking_clauses(raw::NodeList list) {
  std::vector<const PgQuery__LockingClause*> clauses;
  for (const raw::Node* node : list) clauses.push_back(node->locking_clause);
  return clauses;
}

/// DISTINCT is written as a list with one empty node, DISTINCT ON as its expressions.
bool is_plain_distinct(raw::NodeList list) {
  return list.size() == 1 && (list[0] == nullptr || list[0]->node_case == PG_QUERY__NODE__NODE__NOT_SET);
}

}  // namespace

Query* analyze_select(Scope& scope, const PgQuery__SelectStmt* select) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kSelect;
  if (select->with_clause != nullptr) {
    transform_with(scope, select->with_clause);
    query->with_recursive = select->with_clause->recursive;
  }
  if (select->into_clause != nullptr) {
    throw an.error(sqlstate::kSyntaxError, "SELECT ... INTO is not allowed here",
                   select->into_clause->rel->location);
  }
  const std::vector<const PgQuery__LockingClause*> locking =
      locking_clauses(RAW_LIST(select, locking_clause));
  scope.locking = locking;
  for (const raw::Node* node : RAW_LIST(select, window_clause))
    scope.window_definitions.push_back(node->window_def);

  FromResult from;
  transform_from(scope, RAW_LIST(select, from_clause), from);
  TargetList targets = transform_targets(scope, RAW_LIST(select, target_list), ExprUse::kSelectTarget);
  query->where = transform_where(scope, select->where_clause, ExprUse::kWhere, "WHERE");
  query->having = transform_where(scope, select->having_clause, ExprUse::kHaving, "HAVING");
  std::vector<SortClause> order =
      transform_sort(scope, RAW_LIST(select, sort_clause), targets, ExprUse::kOrderBy, false);
  const std::vector<SortClause> group =
      transform_group(scope, RAW_LIST(select, group_clause), targets, order);
  query->has_group_by = select->n_group_clause > 0;
  const raw::NodeList distinct = RAW_LIST(select, distinct_clause);
  std::vector<SortClause> distinct_keys;
  if (!distinct.empty()) {
    if (is_plain_distinct(distinct)) {
      distinct_keys = transform_distinct(scope, targets, order, false);
    } else {
      distinct_keys = transform_distinct_on(scope, distinct, targets, order);
      query->distinct_on = true;
    }
  }
  query->offset = transform_limit(scope, select->limit_offset, ExprUse::kOffset, "OFFSET");
  query->limit_with_ties = select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
  query->limit =
      transform_limit(scope, select->limit_count, ExprUse::kLimit, "LIMIT", query->limit_with_ties);
  if (query->limit_with_ties && order.empty()) {
    throw an.error(sqlstate::kSyntaxError, "WITH TIES cannot be specified without ORDER BY clause");
  }
  query->windows = transform_windows(scope, targets);
  if (scope.resolve_unknowns) resolve_unknowns(scope, targets);

  query->targets = to_span(an.arena, targets);
  mark_origins(scope, query->targets);
  query->order_by = to_span(an.arena, order);
  query->group_by = to_span(an.arena, group);
  query->distinct = to_span(an.arena, distinct_keys);
  finish_query(scope, *query, from);
  transform_locking(scope, *query, RAW_LIST(select, locking_clause));
  assign_collations(scope, *query);
  check_grouping(scope, *query);
  scope.locking = {};
  return query;
}

namespace {

/// Types and coerces the columns of several rows of values.
std::vector<ColumnDefinition> unify_rows(Scope& scope, std::vector<std::vector<Expr*>>& rows) {
  Analysis& an = scope.an;
  std::vector<ColumnDefinition> columns;
  for (std::size_t c = 0; c < rows[0].size(); ++c) {
    std::vector<Expr*> values;
    for (const std::vector<Expr*>& row : rows) values.push_back(row[c]);
    const Oid type = select_common_type(scope, values, "VALUES");
    for (std::vector<Expr*>& row : rows) row[c] = coerce_to_common(scope, row[c], type, "VALUES");
    values.clear();
    for (const std::vector<Expr*>& row : rows) values.push_back(row[c]);
    ColumnDefinition column;
    column.name = an.arena.copy(cat("column", c + 1));
    column.type = plain_type(an, type);
    column.type.type_modifier = select_common_modifier(values, type);
    column.type.collation = type_collation(an, type).value == 0 ? Oid{} : common_collation(an, values, false);
    columns.push_back(column);
  }
  return columns;
}

}  // namespace

Query* analyze_values(Scope& scope, const PgQuery__SelectStmt* select) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kSelect;
  if (select->with_clause != nullptr) {
    transform_with(scope, select->with_clause);
    query->with_recursive = select->with_clause->recursive;
  }
  std::vector<std::vector<Expr*>> rows;
  for (const raw::Node* list : RAW_LIST(select, values_lists)) {
    std::vector<Expr*> row;
    for (const raw::Node* node : raw::items_of(list)) row.push_back(transform(scope, node, ExprUse::kValues));
    if (!rows.empty() && row.size() != rows[0].size()) {
      throw an.error(sqlstate::kSyntaxError, "VALUES lists must all be the same length", raw::location(list));
    }
    rows.push_back(std::move(row));
  }
  const std::vector<ColumnDefinition> columns = unify_rows(scope, rows);
  RangeEntry entry;
  entry.kind = RangeKind::kValues;
  entry.alias = "*VALUES*";
  entry.columns = to_span(an.arena, columns);
  std::vector<ExprList> spans;
  for (const std::vector<Expr*>& row : rows) {
    for (const Expr* value : row) {
      for_each_node(const_cast<Expr*>(value), [&](const Expr* node) {
        if (const auto* column = expr_if<ColumnExpr>(node))
          entry.lateral = entry.lateral || column->levels_up == 0;
      });
    }
    spans.push_back(to_span(an.arena, row));
  }
  entry.rows = to_span(an.arena, spans);
  scope.range_table.push_back(entry);
  FromResult from;
  FromItem* item = an.arena.make<FromItem>();
  item->range_index = static_cast<int>(scope.range_table.size()) - 1;
  from.items.push_back(item);
  scope.names.push_back(make_names(scope, item->range_index));

  TargetList targets;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnExpr* column = an.arena.make<ColumnExpr>();
    column->range_index = item->range_index;
    column->attribute = static_cast<std::int16_t>(i + 1);
    column->type = columns[i].type;
    Target target;
    target.expr = column;
    target.name = columns[i].name;
    targets.push_back(target);
  }
  const std::vector<SortClause> order =
      transform_sort(scope, RAW_LIST(select, sort_clause), targets, ExprUse::kOrderBy, false);
  query->offset = transform_limit(scope, select->limit_offset, ExprUse::kOffset, "OFFSET");
  query->limit_with_ties = select->limit_option == PG_QUERY__LIMIT_OPTION__LIMIT_OPTION_WITH_TIES;
  query->limit =
      transform_limit(scope, select->limit_count, ExprUse::kLimit, "LIMIT", query->limit_with_ties);
  if (select->n_locking_clause > 0) {
    const LockStrength strength = lock_strength(select->locking_clause[0]->locking_clause->strength);
    throw an.error(sqlstate::kFeatureNotSupported, cat(lock_name(strength), " cannot be applied to VALUES"));
  }
  query->targets = to_span(an.arena, targets);
  query->order_by = to_span(an.arena, order);
  finish_query(scope, *query, from);
  assign_collations(scope, *query);
  return query;
}

Query* analyze_query(Analysis& an, Scope* parent, const raw::Node* node, bool locked_from_parent,
                     bool resolve_unknown_literals, const PgQuery__CommonTableExpr* cte) {
  check_stack_depth();
  (void)cte;
  Scope scope{an, parent};
  scope.locked_from_parent = locked_from_parent;
  scope.resolve_unknowns = resolve_unknown_literals;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT: {
      const PgQuery__SelectStmt* select = node->select_stmt;
      if (parent == nullptr && an.view_depth == 0) {
        // SELECT INTO, written in the first member of a set operation when there is one.
        const PgQuery__SelectStmt* first = select;
        while (first->op > PG_QUERY__SET_OPERATION__SETOP_NONE && first->larg != nullptr) first = first->larg;
        if (first->into_clause != nullptr) {
          Query* query = an.arena.make<Query>();
          query->command = CommandKind::kUtility;
          query->utility = select_into(an, select, const_cast<PgQuery__SelectStmt*>(first));
          return query;
        }
      }
      if (select->n_values_lists > 0) return analyze_values(scope, select);
      if (select->op > PG_QUERY__SET_OPERATION__SETOP_NONE) return analyze_set_operation(scope, select);
      return analyze_select(scope, select);
    }
    case PG_QUERY__NODE__NODE_INSERT_STMT:
      return analyze_insert(scope, node->insert_stmt);
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
      return analyze_update(scope, node->update_stmt);
    case PG_QUERY__NODE__NODE_DELETE_STMT:
      return analyze_delete(scope, node->delete_stmt);
    case PG_QUERY__NODE__NODE_MERGE_STMT:
      throw an.error(sqlstate::kFeatureNotSupported, "MERGE is not supported");
    default: {
      Query* query = an.arena.make<Query>();
      query->command = CommandKind::kUtility;
      query->utility = analyze_utility(an, node);
      return query;
    }
  }
}

}  // namespace pinwheel::sql
