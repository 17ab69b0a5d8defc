#include "sql/analyze/coercion.h"
#include "sql/analyze/column_defaults.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

/// A column that INSERT names (or all of them in order).
struct InsertColumn {
  std::int16_t attribute;
  raw::NodeList indirection;
  int location;
};

std::vector<InsertColumn> insert_columns(Scope& scope, raw::NodeList list, const ViewedRelation& relation) {
  Analysis& an = scope.an;
  std::vector<InsertColumn> columns;
  if (list.empty()) {
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      if (!relation.columns[i].dropped) columns.push_back({static_cast<std::int16_t>(i + 1), {}, -1});
    }
    return columns;
  }
  for (const raw::Node* node : list) {
    const PgQuery__ResTarget* res = node->res_target;
    const std::int16_t attribute =
        find_target_column(an, relation, raw::text(res->name), res->location, false);
    const raw::NodeList indirection = RAW_LIST(res, indirection);
    for (const InsertColumn& other : columns) {
      if (other.attribute != attribute) continue;
      if (!indirection.empty() && !other.indirection.empty()) continue;
      throw an.error(sqlstate::kDuplicateColumn,
                     cat("column ", quoted(raw::text(res->name)), " specified more than once"),
                     res->location);
    }
    columns.push_back({attribute, indirection, res->location});
  }
  return columns;
}

/// Checks the number of values and coerces them to their columns.
std::vector<Expr*> prepare_row(Scope& scope, std::vector<Expr*> values, std::span<const InsertColumn> columns,
                               const ViewedRelation& relation, bool columns_written,
                               const raw::Node* source) {
  Analysis& an = scope.an;
  if (values.size() > columns.size()) {
    throw an.error(sqlstate::kSyntaxError, "INSERT has more expressions than target columns",
                   location_of(values[columns.size()]));
  }
  if (columns_written && values.size() < columns.size()) {
    SqlError error = an.error(sqlstate::kSyntaxError, "INSERT has more target columns than expressions",
                              columns[values.size()].location);
    // VALUES ((a, b, c)) is most likely a row by mistake.
    if (values.size() == 1 && source != nullptr) {
      const RowExpr* row = expr_if<RowExpr>(values[0]);
      if (row != nullptr && row->args.size() == columns.size()) {
        throw std::move(error).hint(
            "The insertion source is a row expression containing the same number of columns expected by the "
            "INSERT. "
            "Did you accidentally use extra parentheses?");
      }
    }
    throw error;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = prepare_assignment(scope, values[i], relation, columns[i].attribute, columns[i].indirection,
                                   columns[i].location, ExprUse::kInsertTarget, nullptr);
  }
  return values;
}

Expr* transform_value(Scope& scope, const raw::Node* node, ExprUse use) {
  if (RAW_IS(node, SET_TO_DEFAULT)) {
    SetToDefaultExpr* marker = scope.an.arena.make<SetToDefaultExpr>();
    marker->location = node->set_to_default->location;
    marker->type = {kUnknownType, -1, {}};
    return marker;
  }
  return transform(scope, node, use);
}

/// ARRAY[...].* and t.* spread in VALUES rows too.
std::vector<Expr*> transform_row_values(Scope& scope, raw::NodeList list, ExprUse use) {
  std::vector<Expr*> values;
  for (const raw::Node* node : list) {
    if (RAW_IS(node, COLUMN_REF) &&
        RAW_IS(node->column_ref->fields[node->column_ref->n_fields - 1], A_STAR)) {
      TargetList spread;
      add_star(scope, node->column_ref, spread, use);
      for (const Target& target : spread) values.push_back(target.expr);
      continue;
    }
    values.push_back(transform_value(scope, node, use));
  }
  return values;
}

struct InsertWork {
  Scope& scope;
  Query& query;
  const ViewedRelation& relation;
  std::vector<InsertColumn> columns;
  bool columns_written;
  FromResult from;
  TargetList targets;

  void set(std::size_t column, Expr* value) {
    const std::int16_t attribute = columns[column].attribute;
    // a[1] and a[2] of one column build on each other.
    for (Target& target : targets) {
      if (target.attribute != attribute) continue;
      if (SubscriptExpr* later = expr_if<SubscriptExpr>(value);
          later != nullptr && later->assign != nullptr) {
        later->container = target.expr;
        target.expr = later;
      }
      return;
    }
    Target target;
    target.expr = value;
    target.attribute = attribute;
    target.name = scope.an.arena.copy(relation.columns[static_cast<std::size_t>(attribute) - 1].name);
    targets.push_back(target);
  }

  void set_all(const std::vector<Expr*>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
  }

  void from_values(raw::NodeList lists) {
    Analysis& an = scope.an;
    if (lists.size() == 1) {
      std::vector<Expr*> row = transform_row_values(scope, raw::items_of(lists[0]), ExprUse::kValuesSingle);
      set_all(prepare_row(scope, std::move(row), columns, relation, columns_written, lists[0]));
      return;
    }
    std::vector<std::vector<Expr*>> rows;
    for (const raw::Node* list : lists) {
      std::vector<Expr*> row = transform_row_values(scope, raw::items_of(list), ExprUse::kValues);
      if (!rows.empty() && row.size() != rows[0].size()) {
        throw an.error(sqlstate::kSyntaxError, "VALUES lists must all be the same length",
                       raw::location(list));
      }
      row = prepare_row(scope, std::move(row), columns, relation, columns_written, list);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (expr_if<SetToDefaultExpr>(row[i]) != nullptr) {
          row[i] = column_default(an, relation, columns[i].attribute);
        } else {
          refuse_explicit_value(scope, query, relation, columns[i].attribute, columns[i].location);
        }
      }
      rows.push_back(std::move(row));
    }
    RangeEntry entry;
    entry.kind = RangeKind::kValues;
    entry.alias = "*VALUES*";
    std::vector<ColumnDefinition> definitions;
    std::vector<ExprList> spans;
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      definitions.push_back({an.arena.copy(cat("column", i + 1)), rows[0][i]->type});
    }
    for (std::vector<Expr*>& row : rows) spans.push_back(to_span(an.arena, row));
    entry.columns = to_span(an.arena, definitions);
    entry.rows = to_span(an.arena, spans);
    scope.range_table.push_back(entry);
    add_source(static_cast<int>(scope.range_table.size()) - 1, definitions, /*coerce=*/false);
  }

  /// Rows come from a range entry whose columns, in order, are the values.
  void add_source(int range_index, const std::vector<ColumnDefinition>& definitions, bool coerce) {
    Analysis& an = scope.an;
    FromItem* item = an.arena.make<FromItem>();
    item->range_index = range_index;
    from.items.push_back(item);
    std::vector<Expr*> values;
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      ColumnExpr* column = an.arena.make<ColumnExpr>();
      column->range_index = range_index;
      column->attribute = static_cast<std::int16_t>(i + 1);
      column->type = definitions[i].type;
      column->location = source_location(range_index, i);
      values.push_back(column);
    }
    if (coerce) {
      set_all(prepare_row(scope, std::move(values), columns, relation, columns_written, nullptr));
    } else {
      set_all(values);
    }
  }

  /// Errors about a column's type point at the select's own expression.
  int source_location(int range_index, std::size_t column) const {
    const RangeEntry& entry = scope.range_table[range_index];
    if (entry.kind != RangeKind::kSubquery) return -1;
    for (const Target& target : entry.subquery->targets) {
      if (!target.hidden && column-- == 0) return location_of(target.expr);
    }
    return -1;
  }

  void from_select(const raw::Node* node) {
    Analysis& an = scope.an;
    // The target table is not visible to the source.
    std::vector<NamespaceItem> saved;
    saved.swap(scope.names);
    Query* select = analyze_query(an, &scope, node, false, false);
    scope.names.swap(saved);
    if (select->command != CommandKind::kSelect) {
      throw an.error(sqlstate::kSyntaxError, "unexpected non-SELECT command in INSERT ... SELECT");
    }
    NamespaceItem names = add_subquery_entry(scope, select, nullptr, false, -1);
    RangeEntry& entry = scope.range_table[names.range_index];
    entry.alias = "*SELECT*";
    // Literals of the target list take the column's type directly.
    std::size_t column = 0;
    for (Target& target : select->targets) {
      if (target.hidden) continue;
      if (target.expr->type.type == kUnknownType && column < columns.size() &&
          (target.expr->kind == ExprKind::kConst || target.expr->kind == ExprKind::kParam)) {
        target.expr = prepare_assignment(
            scope, target.expr, relation, columns[column].attribute,
            columns[column].indirection.empty() ? raw::NodeList{} : columns[column].indirection,
            columns[column].location, ExprUse::kInsertTarget, nullptr);
      } else if (target.expr->type.type == kUnknownType) {
        target.expr = coerce_type(scope, target.expr, kUnknownType, kTextType, -1, CoercionContext::kImplicit,
                                  CallForm::kImplicitCast, -1);
      }
      if (column < entry.columns.size()) entry.columns[column].type = target.expr->type;
      ++column;
    }
    const std::vector<ColumnDefinition> definitions(entry.columns.begin(), entry.columns.end());
    if (definitions.size() > columns.size()) {
      int location = -1;
      std::size_t at = 0;
      for (const Target& target : select->targets) {
        if (!target.hidden && at++ == columns.size()) location = location_of(target.expr);
      }
      throw an.error(sqlstate::kSyntaxError, "INSERT has more expressions than target columns", location);
    }
    add_source(names.range_index, definitions, /*coerce=*/true);
  }

  /// Defaults for what was not given, checks of what was; columns without default are left out (null).
  void complete() {
    Analysis& an = scope.an;
    std::vector<Target> result;
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const std::int16_t attribute = static_cast<std::int16_t>(i + 1);
      const ViewedColumn& column = relation.columns[i];
      if (column.dropped) continue;
      Target* given = nullptr;
      for (Target& target : targets) {
        if (target.attribute == attribute) given = &target;
      }
      const bool default_wanted = given == nullptr || expr_if<SetToDefaultExpr>(given->expr) != nullptr ||
                                  (query.overriding_user && column.identity != 0);
      if (!default_wanted) {
        if (!from_rows_) refuse_explicit_value(scope, query, relation, attribute, -1);
        result.push_back(*given);
        continue;
      }
      if (column.generated) continue;  // computed when the row is stored
      if (column.default_source.empty()) {
        if (given != nullptr) {
          given->expr = make_null(an, {column.type, column.type_modifier, column.collation});
          result.push_back(*given);
        }
        continue;
      }
      Target target;
      target.expr = column_default(an, relation, attribute);
      target.attribute = attribute;
      target.name = an.arena.copy(column.name);
      result.push_back(target);
    }
    query.targets = to_span(an.arena, result);
  }

  bool from_rows_ = false;
};

}  // namespace

Query* analyze_insert(Scope& scope, const PgQuery__InsertStmt* insert) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kInsert;
  scope.is_insert = true;
  if (insert->with_clause != nullptr) {
    transform_with(scope, insert->with_clause);
    query->with_recursive = insert->with_clause->recursive;
  }
  query->overriding_system = insert->override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_SYSTEM_VALUE;
  query->overriding_user = insert->override == PG_QUERY__OVERRIDING_KIND__OVERRIDING_USER_VALUE;
  const bool updates = insert->on_conflict_clause != nullptr &&
                       insert->on_conflict_clause->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE;
  query->result_range_index = add_result_relation(scope, insert->relation, 3, updates ? 1 | 4 : 1, false);
  const ViewedRelation& relation =
      *an.catalog.relation(scope.range_table[query->result_range_index].relation);

  InsertWork work{
      scope, *query, relation, insert_columns(scope, RAW_LIST(insert, cols), relation), insert->n_cols > 0,
      {},    {},     false};
  if (RAW_IS(insert->select_stmt, SELECT_STMT)) {
    const PgQuery__SelectStmt* select = insert->select_stmt->select_stmt;
    const bool plain_values = select->n_values_lists > 0 && select->n_sort_clause == 0 &&
                              select->limit_offset == nullptr && select->limit_count == nullptr &&
                              select->n_locking_clause == 0 && select->with_clause == nullptr;
    if (plain_values) {
      work.from_rows_ = select->n_values_lists > 1;
      work.from_values(RAW_LIST(select, values_lists));
    } else {
      work.from_select(insert->select_stmt);
    }
  }
  work.complete();

  // ON CONFLICT and RETURNING see the target table.
  NamespaceItem names = make_names(scope, query->result_range_index);
  scope.names.clear();
  scope.names.push_back(names);
  if (insert->on_conflict_clause != nullptr) {
    query->on_conflict = transform_on_conflict(scope, insert->on_conflict_clause, relation);
    scope.names.clear();
    scope.names.push_back(names);
  }
  if (insert->n_returning_list > 0) {
    query->returning = transform_returning(scope, RAW_LIST(insert, returning_list));
  }
  finish_query(scope, *query, work.from);
  assign_collations(scope, *query);
  return query;
}

}  // namespace pinwheel::sql
