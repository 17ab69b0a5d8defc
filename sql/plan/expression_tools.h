#pragma once

#include <span>
#include <vector>

#include "base/arena.h"
#include "sql/plan/plan_expression.h"
#include "sql/query/query.h"
#include "sql/query/walk.h"

namespace pinwheel::sql {

/// As for_each_child(), and into the parts of a SubPlanExpr.
template <class Visit>
void visit_children(Expr* node, Visit&& visit) {
  if (node->kind != ExprKind::kSubPlan) return for_each_child(node, visit);
  auto* e = expr_cast<SubPlanExpr>(node);
  for (SubPlanArgument& argument : e->arguments) visit(argument.value);
  if (e->test != nullptr) visit(e->test);
  for (Expr*& left : e->hash_left) visit(left);
}

template <class Visit>
void visit_children(const Expr* node, Visit&& visit) {
  visit_children(const_cast<Expr*>(node), [&](Expr*& child) { visit(static_cast<const Expr*>(child)); });
}

/// Copies `node` and its child lists, not the children.
Expr* copy_node(Arena& arena, const Expr* node);

/// Replaces nodes from the top down: `replace(node)` returns a node to take instead (not looked into any
/// further) or null to go on with the children. The input is not changed; unchanged parts are copied too.
template <class Replace>
Expr* rewrite(Arena& arena, Expr* node, Replace&& replace) {
  if (node == nullptr) return nullptr;
  if (Expr* other = replace(node)) return other;
  Expr* copy = copy_node(arena, node);
  visit_children(copy, [&](Expr*& child) { child = rewrite(arena, child, replace); });
  return copy;
}

/// True when `test(node)` holds for a node of the tree (sub-selects are not looked into).
template <class Test>
bool any_node(const Expr* node, Test&& test) {
  if (node == nullptr) return false;
  if (test(node)) return true;
  bool found = false;
  visit_children(node, [&](const Expr* child) { found = found || any_node(child, test); });
  return found;
}

/// Same meaning, node by node (locations apart).
bool same_expr(const Expr* a, const Expr* b);

/// `replace(context, node, depth)` as rewrite()'s; depth counts query levels: 0 for the expression given, 1
/// for the queries of its sub-links, and so on.
using ReplaceInQuery = Expr* (*)(void* context, Expr* node, int depth);

/// Rewriting that goes into sub-selects. CTE references that point out of what is rewritten get `cte_shift`
/// added.
struct DeepRewrite {
  Arena& arena;
  ReplaceInQuery replace;
  void* context;
  int cte_shift = 0;

  Expr* expression(Expr* node, int depth) const;
  /// Copies the query's lists and rewrites every expression in it and below. A query that stands in FROM of
  /// the level 0 has depth 1.
  Query* query(const Query* from, int depth) const;
};

/// Adds `delta` to the levels_up of columns that point out of `node` (its own columns included), and to its
/// CTE references.
Expr* shift_levels(Arena& arena, Expr* node, int delta);
/// The same for what points out of a query.
Query* shift_query_levels(Arena& arena, Query* query, int delta);

bool has_volatile(const Expr* node);
/// Not even stable functions, nor parameters, columns, sub-selects: folds to a constant.
bool is_immutable_constant(const Expr* node);
bool has_set_function(const Expr* node);
bool has_aggregate(const Expr* node);
bool has_window(const Expr* node);
/// True when the result is NULL (or, for a condition, not true) whenever some column of `range` row is all
/// NULL.
bool is_strict_for(const Expr* node, int range);

ConstExpr* make_bool(Arena& arena, bool value);
ConstExpr* make_null(Arena& arena, ExprType type);
/// NULL or false: a WHERE of this keeps nothing.
bool is_false_or_null(const Expr* node);
bool is_true(const Expr* node);

/// Appends the conjuncts of `node` to `list`, splitting ANDs.
void split_and(Expr* node, std::vector<Expr*>& list);
Expr* join_and(Arena& arena, std::span<Expr* const> list);

template <class T>
std::span<T> arena_span(Arena& arena, const std::vector<T>& items) {
  T* first = static_cast<T*>(arena.allocate(sizeof(T) * items.size() + 1, alignof(T)));
  for (std::size_t i = 0; i < items.size(); ++i) ::new (first + i) T(items[i]);
  return {first, items.size()};
}

/// Looks through relabelings and COLLATE.
Expr* strip_relabel(Expr* node);
const Expr* strip_relabel(const Expr* node);

}  // namespace pinwheel::sql
