#include "sql/analyze/coercion.h"
#include "sql/analyze/column_defaults.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

/// The value that column `number` of a multi-column assignment takes.
Expr* multi_assign_value(Scope& scope, const PgQuery__MultiAssignRef* ref) {
  Analysis& an = scope.an;
  const raw::Node* source = ref->source;
  if (RAW_IS(source, ROW_EXPR)) {
    const PgQuery__RowExpr* row = source->row_expr;
    if (static_cast<int>(row->n_args) != ref->ncolumns) {
      throw an.error(sqlstate::kSyntaxError, "number of columns does not match number of values",
                     row->location);
    }
    const raw::Node* value = row->args[ref->colno - 1];
    if (RAW_IS(value, SET_TO_DEFAULT)) {
      SetToDefaultExpr* marker = an.arena.make<SetToDefaultExpr>();
      marker->type = {kUnknownType, -1, {}};
      return marker;
    }
    return transform(scope, value, ExprUse::kUpdateSource);
  }
  if (RAW_IS(source, SUB_LINK) && source->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK) {
    // One scalar sub-select per column, each showing its own column of the same query.
    UseGuard guard{scope, ExprUse::kUpdateSource};
    SubLinkExpr* link = an.arena.make<SubLinkExpr>();
    link->kind_of_link = SubLinkKind::kExpression;
    link->location = source->sub_link->location;
    link->query = analyze_query(an, &scope, source->sub_link->subselect);
    scope.has_sublinks = true;
    int visible = 0;
    for (Target& target : link->query->targets) {
      if (target.hidden) continue;
      ++visible;
      if (visible == ref->colno) {
        link->type = target.expr->type;
      } else {
        target.hidden = true;
      }
    }
    if (visible != ref->ncolumns) {
      throw an.error(sqlstate::kSyntaxError, "number of columns does not match number of values",
                     source->sub_link->location);
    }
    return link;
  }
  throw an.error(sqlstate::kFeatureNotSupported,
                 "source for a multiple-column UPDATE item must be a sub-SELECT or ROW() expression",
                 raw::location(source));
}

}  // namespace

std::vector<Target> transform_update_targets(Scope& scope, raw::NodeList list,
                                             const ViewedRelation& relation) {
  Analysis& an = scope.an;
  std::vector<Target> targets;
  std::vector<Expr*> values;
  for (const raw::Node* node : list) {
    const PgQuery__ResTarget* res = node->res_target;
    if (RAW_IS(res->val, SET_TO_DEFAULT)) {
      SetToDefaultExpr* marker = an.arena.make<SetToDefaultExpr>();
      marker->type = {kUnknownType, -1, {}};
      values.push_back(marker);
    } else if (RAW_IS(res->val, MULTI_ASSIGN_REF)) {
      values.push_back(multi_assign_value(scope, res->val->multi_assign_ref));
    } else {
      values.push_back(transform(scope, res->val, ExprUse::kUpdateSource));
    }
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const PgQuery__ResTarget* res = list[i]->res_target;
    const std::int16_t attribute =
        find_target_column(an, relation, raw::text(res->name), res->location, true);
    const ViewedColumn& column = relation.columns[static_cast<std::size_t>(attribute) - 1];
    const raw::NodeList indirection = RAW_LIST(res, indirection);
    Target* earlier = nullptr;
    for (Target& target : targets) {
      if (target.attribute == attribute) earlier = &target;
    }
    if (earlier != nullptr && (indirection.empty() || expr_if<SubscriptExpr>(earlier->expr) == nullptr)) {
      throw an.error(sqlstate::kSyntaxError,
                     cat("multiple assignments to same column ", quoted(column.name)));
    }
    Expr* current = nullptr;
    if (!indirection.empty()) {
      if (earlier != nullptr) {
        current = earlier->expr;
      } else {
        ColumnExpr* own = an.arena.make<ColumnExpr>();
        own->range_index = scope.result_range_index;
        own->attribute = attribute;
        own->type = {column.type, column.type_modifier, column.collation};
        current = own;
      }
    }
    UseGuard guard{scope, ExprUse::kUpdateTarget};
    Expr* value = prepare_assignment(scope, values[i], relation, attribute, indirection, res->location,
                                     ExprUse::kUpdateTarget, current);
    const bool is_default = expr_if<SetToDefaultExpr>(value) != nullptr;
    if (!is_default && (column.generated || column.identity == 'a')) {
      throw an
          .error(sqlstate::kGeneratedAlways,
                 cat("column ", quoted(column.name), " can only be updated to DEFAULT"))
          .detail(column.generated ? cat("Column ", quoted(column.name), " is a generated column.")
                                   : cat("Column ", quoted(column.name),
                                         " is an identity column defined as GENERATED ALWAYS."));
    }
    if (is_default) {
      if (column.generated) continue;  // computed when the row is stored
      value = column_default(an, relation, attribute);
    }
    if (earlier != nullptr) {
      earlier->expr = value;
      continue;
    }
    Target target;
    target.expr = value;
    target.attribute = attribute;
    target.name = an.arena.copy(column.name);
    targets.push_back(target);
  }
  return targets;
}

namespace {

/// FROM or USING of a modifying statement: sees the target by LATERAL only.
void transform_other_tables(Scope& scope, raw::NodeList list, FromResult& from) {
  const std::size_t own = scope.names.size();
  for (std::size_t i = 0; i < own; ++i) {
    scope.names[i].lateral_only = true;
    scope.names[i].lateral_ok = false;
  }
  transform_from(scope, list, from);
}

}  // namespace

Query* analyze_update(Scope& scope, const PgQuery__UpdateStmt* update) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kUpdate;
  if (update->with_clause != nullptr) {
    transform_with(scope, update->with_clause);
    query->with_recursive = update->with_clause->recursive;
  }
  query->result_range_index = add_result_relation(scope, update->relation, 3, 4, true);
  const ViewedRelation& relation =
      *an.catalog.relation(scope.range_table[query->result_range_index].relation);
  FromResult from;
  transform_other_tables(scope, RAW_LIST(update, from_clause), from);
  FromItem* own = an.arena.make<FromItem>();
  own->range_index = query->result_range_index;
  from.items.insert(from.items.begin(), own);

  query->where = transform_where(scope, update->where_clause, ExprUse::kWhere, "WHERE");
  query->returning = transform_returning(scope, RAW_LIST(update, returning_list));
  const std::vector<Target> targets =
      transform_update_targets(scope, RAW_LIST(update, target_list), relation);
  query->targets = to_span(an.arena, targets);
  finish_query(scope, *query, from);
  assign_collations(scope, *query);
  return query;
}

Query* analyze_delete(Scope& scope, const PgQuery__DeleteStmt* del) {
  Analysis& an = scope.an;
  Query* query = an.arena.make<Query>();
  query->command = CommandKind::kDelete;
  if (del->with_clause != nullptr) {
    transform_with(scope, del->with_clause);
    query->with_recursive = del->with_clause->recursive;
  }
  query->result_range_index = add_result_relation(scope, del->relation, 3, 8, true);
  FromResult from;
  transform_other_tables(scope, RAW_LIST(del, using_clause), from);
  FromItem* own = an.arena.make<FromItem>();
  own->range_index = query->result_range_index;
  from.items.insert(from.items.begin(), own);
  query->where = transform_where(scope, del->where_clause, ExprUse::kWhere, "WHERE");
  query->returning = transform_returning(scope, RAW_LIST(del, returning_list));
  finish_query(scope, *query, from);
  assign_collations(scope, *query);
  return query;
}

}  // namespace pinwheel::sql
