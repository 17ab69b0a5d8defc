#pragma once

#include "sql/query/query.h"

namespace pinwheel::sql {

/// Calls `visit(Expr*&)` for each direct child of `expr` that is there. Does not enter the query of a
/// sub-link.
template <class Visit>
void for_each_child(Expr* expr, Visit&& visit) {
  const auto one = [&](Expr*& child) {
    if (child != nullptr) visit(child);
  };
  const auto all = [&](ExprList list) {
    for (Expr*& child : list) one(child);
  };
  switch (expr->kind) {
    case ExprKind::kConst:
    case ExprKind::kParam:
    case ExprKind::kColumn:
    case ExprKind::kCaseValue:
    case ExprKind::kSqlValue:
    case ExprKind::kSetToDefault:
    case ExprKind::kExecParam:
    case ExprKind::kSubPlan:
    case ExprKind::kSlotColumn:
      return;
    case ExprKind::kFunction:
      return all(expr_cast<FunctionExpr>(expr)->args);
    case ExprKind::kOperator:
    case ExprKind::kDistinct:
    case ExprKind::kNullIf:
      return all(expr_cast<OperatorExpr>(expr)->args);
    case ExprKind::kScalarArray:
      one(expr_cast<ScalarArrayExpr>(expr)->left);
      return one(expr_cast<ScalarArrayExpr>(expr)->array);
    case ExprKind::kBool:
      return all(expr_cast<BoolExpr>(expr)->args);
    case ExprKind::kCase: {
      CaseExpr* node = expr_cast<CaseExpr>(expr);
      one(node->argument);
      for (CaseWhen& when : node->whens) {
        one(when.condition);
        one(when.result);
      }
      return one(node->otherwise);
    }
    case ExprKind::kCoalesce:
      return all(expr_cast<CoalesceExpr>(expr)->args);
    case ExprKind::kMinMax:
      return all(expr_cast<MinMaxExpr>(expr)->args);
    case ExprKind::kNullTest:
      return one(expr_cast<NullTestExpr>(expr)->arg);
    case ExprKind::kBooleanTest:
      return one(expr_cast<BooleanTestExpr>(expr)->arg);
    case ExprKind::kRelabel:
      return one(expr_cast<RelabelExpr>(expr)->arg);
    case ExprKind::kCoerceViaIo:
      return one(expr_cast<CoerceViaIoExpr>(expr)->arg);
    case ExprKind::kArrayCoerce:
      one(expr_cast<ArrayCoerceExpr>(expr)->arg);
      return one(expr_cast<ArrayCoerceExpr>(expr)->element);
    case ExprKind::kArray:
      return all(expr_cast<ArrayExpr>(expr)->elements);
    case ExprKind::kSubscript: {
      SubscriptExpr* node = expr_cast<SubscriptExpr>(expr);
      one(node->container);
      all(node->upper);
      all(node->lower);
      return one(node->assign);
    }
    case ExprKind::kRow:
      return all(expr_cast<RowExpr>(expr)->args);
    case ExprKind::kRowCompare:
      all(expr_cast<RowCompareExpr>(expr)->left);
      return all(expr_cast<RowCompareExpr>(expr)->right);
    case ExprKind::kFieldSelect:
      return one(expr_cast<FieldSelectExpr>(expr)->arg);
    case ExprKind::kSubLink:
      return one(expr_cast<SubLinkExpr>(expr)->test);
    case ExprKind::kAggregate: {
      AggregateExpr* node = expr_cast<AggregateExpr>(expr);
      all(node->direct_args);
      all(node->args);
      return one(node->filter);
    }
    case ExprKind::kWindowFunction:
      all(expr_cast<WindowFunctionExpr>(expr)->args);
      return one(expr_cast<WindowFunctionExpr>(expr)->filter);
    case ExprKind::kCollate:
      return one(expr_cast<CollateExpr>(expr)->arg);
  }
}

/// As above, for reading.
template <class Visit>
void for_each_child(const Expr* expr, Visit&& visit) {
  for_each_child(const_cast<Expr*>(expr), [&](Expr*& child) { visit(static_cast<const Expr*>(child)); });
}

/// Calls `visit(Expr*&)` for the join conditions below `item`.
template <class Visit>
void for_each_join_condition(FromItem* item, Visit&& visit) {
  if (item->kind != FromItem::Kind::kJoin) return;
  for_each_join_condition(item->left, visit);
  for_each_join_condition(item->right, visit);
  if (item->condition != nullptr) visit(item->condition);
}

/// Calls `visit(Expr*&)` for every expression that stands directly in `query` (not in its subqueries or
/// CTEs).
template <class Visit>
void for_each_expression(Query& query, Visit&& visit) {
  const auto one = [&](Expr*& slot) {
    if (slot != nullptr) visit(slot);
  };
  const auto targets = [&](std::span<Target> list) {
    for (Target& target : list) one(target.expr);
  };
  targets(query.targets);
  for (FromItem* item : query.from) for_each_join_condition(item, visit);
  one(query.where);
  one(query.having);
  targets(query.returning);
  targets(query.on_conflict.assignments);
  one(query.on_conflict.where);
  one(query.limit);
  one(query.offset);
  for (WindowClause& window : query.windows) {
    one(window.frame.start_offset);
    one(window.frame.end_offset);
  }
  for (RangeEntry& entry : query.range_table) {
    for (Expr*& function : entry.functions) one(function);
    for (ExprList& row : entry.rows) {
      for (Expr*& value : row) one(value);
    }
    for (Expr*& column : entry.join_columns) one(column);
  }
}

/// Calls `visit(Query&)` for each subquery in FROM and each CTE of `query`; sub-links are found by walking
/// expressions.
template <class Visit>
void for_each_subquery(Query& query, Visit&& visit) {
  for (RangeEntry& entry : query.range_table) {
    if (entry.kind == RangeKind::kSubquery) visit(*entry.subquery);
  }
  for (CommonTable& cte : query.ctes) visit(*cte.query);
}

/// Calls `visit(Expr*)` for `expr` and everything below it (children before it when `visit` is called last is
/// not promised), without entering sub-links' queries.
template <class Visit>
void for_each_node(Expr* expr, Visit&& visit) {
  visit(expr);
  for_each_child(expr, [&](Expr*& child) { for_each_node(child, visit); });
}

/// Same structure, whatever the source positions. Sub-links are equal only to themselves.
bool equal(const Expr* a, const Expr* b);

}  // namespace pinwheel::sql
