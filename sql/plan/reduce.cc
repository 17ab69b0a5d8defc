// Outer joins that are none, and min and max that an index answers.

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

void QueryPlanner::reduce_outer_joins(JoinNode* node, std::vector<Expr*>& upper) {
  if (node->kind == JoinNode::Kind::kRange) return;
  const std::size_t before = upper.size();
  if (node->kind == JoinNode::Kind::kList) {
    upper.insert(upper.end(), node->quals.begin(), node->quals.end());
    for (JoinNode* child : node->children) reduce_outer_joins(child, upper);
    upper.resize(before);
    return;
  }
  const auto forced = [&](const JoinNode* side) {
    std::vector<int> list;
    collect_ranges(side, list);
    for (const Expr* qual : upper) {
      for (const int range : list) {
        if (is_strict_for(qual, range)) return true;
      }
    }
    return false;
  };
  if (node->type == JoinType::kFull) {
    const bool left = forced(node->children[0]);
    const bool right = forced(node->children[1]);
    if (left && right) {
      node->type = JoinType::kInner;
    } else if (left) {
      node->type = JoinType::kLeft;
    } else if (right) {
      node->type = JoinType::kLeft;
      std::swap(node->children[0], node->children[1]);
    }
  }
  if (node->type == JoinType::kLeft && forced(node->children[1])) node->type = JoinType::kInner;
  if (node->type == JoinType::kInner || node->type == JoinType::kSemi) {
    upper.insert(upper.end(), node->quals.begin(), node->quals.end());
    for (JoinNode* child : node->children) reduce_outer_joins(child, upper);
  } else if (node->type == JoinType::kFull) {
    std::vector<Expr*> none;
    for (JoinNode* child : node->children) reduce_outer_joins(child, none);
  } else {
    // the left side is filtered by what is above; the right side by what is above and the condition, for its
    // own joins
    reduce_outer_joins(node->children[0], upper);
    std::vector<Expr*> inner(node->quals.begin(), node->quals.end());
    reduce_outer_joins(node->children[1], inner);
  }
  upper.resize(before);
}

/// min(x), max(x) of a whole table become sub-selects that read one end of an index.
void QueryPlanner::min_max_by_index() {
  if (!query.has_aggregates || query.has_group_by || !query.group_by.empty() || query.having != nullptr ||
      query.has_windows || !query.distinct.empty() || !query.row_marks.empty()) {
    return;
  }
  if (tree_->children.size() != 1 || !tree_->quals.empty()) return;
  const JoinNode* leaf = tree_->children[0];
  if (leaf->kind != JoinNode::Kind::kRange) return;
  const RangeEntry& entry = ranges[static_cast<std::size_t>(leaf->range)];
  if (entry.kind != RangeKind::kRelation) return;
  const Relation* relation = global.open_relation(entry.relation, entry.table_lock);
  const auto usable = [&](const AggregateExpr* a) -> const AggregateInfo* {
    const AggregateInfo* info = find_aggregate(a->function);
    if (info == nullptr || !is_valid(info->sort_operator) || a->args.size() != 1 || a->filter != nullptr)
      return nullptr;
    const auto* column = expr_if<ColumnExpr>(strip_relabel(a->args[0]));
    if (column == nullptr || column->levels_up != 0 || column->attribute <= 0) return nullptr;
    for (const IndexInfo& index : relation->indexes) {
      if (index.valid && index.predicate.empty() && index.keys[0].column == column->attribute &&
          operator_in_family(info->sort_operator, index.keys[0].operator_family) != nullptr) {
        return info;
      }
    }
    return nullptr;
  };
  bool all = true;
  for (const Target& t : query.targets) {
    const auto plain = [&](auto& self, const Expr* e) -> void {
      if (const auto* a = expr_if<AggregateExpr>(e)) {
        all = all && usable(a) != nullptr;
        return;
      }
      if (e->kind == ExprKind::kColumn || e->kind == ExprKind::kSubLink) all = false;
      visit_children(e, [&](const Expr* child) { self(self, child); });
    };
    plain(plain, t.expr);
  }
  if (!all) return;
  const auto sub_select = [&](AggregateExpr* a) -> Expr* {
    const BuiltinFamilyOperator* member = operator_membership(usable(a)->sort_operator, Oid{403});
    auto* q = arena.make<Query>();
    q->range_table = arena_span(arena, std::vector<RangeEntry>{entry});
    auto* item = arena.make<FromItem>();
    item->range_index = 0;
    q->from = arena_span(arena, std::vector<FromItem*>{item});
    auto* column = arena.make<ColumnExpr>(*expr_cast<ColumnExpr>(strip_relabel(a->args[0])));
    column->range_index = 0;
    auto* not_null = arena.make<NullTestExpr>();
    not_null->type.type = kBoolType;
    not_null->arg = column;
    not_null->is_null = false;
    q->where = not_null;
    Target target;
    target.expr = rewrite(arena, a->args[0],
                          [&](Expr* n) -> Expr* { return n->kind == ExprKind::kColumn ? column : nullptr; });
    target.name = "min_max";
    q->targets = arena_span(arena, std::vector<Target>{target});
    SortClause order;
    order.sort_operator = usable(a)->sort_operator;
    order.descending = member != nullptr && member->strategy == 5;
    order.nulls_first = order.descending;
    q->order_by = arena_span(arena, std::vector<SortClause>{order});
    auto* one = arena.make<ConstExpr>();
    one->type.type = kInt8Type;
    one->value = Datum::from_int64(1);
    q->limit = one;
    auto* link = arena.make<SubLinkExpr>();
    link->type = a->type;
    link->kind_of_link = SubLinkKind::kExpression;
    link->query = q;
    return link;
  };
  for (Target& t : query.targets) {
    t.expr = rewrite(arena, t.expr, [&](Expr* n) -> Expr* {
      auto* a = expr_if<AggregateExpr>(n);
      return a != nullptr ? sub_select(a) : nullptr;
    });
  }
  tree_->children.clear();
  query.has_aggregates = false;
}

}  // namespace pinwheel::sql
