#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/planner_state.h"

namespace pinwheel::sql {
namespace {

/// `left = column` pairs of an IN test; false when the test is anything else.
bool split_in_test(Expr* test, std::vector<Expr*>& left, std::vector<Oid>& types) {
  std::vector<Expr*> parts;
  split_and(test, parts);
  for (Expr* part : parts) {
    auto* op = expr_if<OperatorExpr>(part);
    if (op == nullptr || op->args.size() != 2 || !equality_info(op->op).can_hash) return false;
    const Expr* right = strip_relabel(op->args[1]);
    const auto* param = expr_if<ExecParamExpr>(right);
    if (param == nullptr || param->slot != -static_cast<int>(left.size()) - 1) return false;
    const bool mixed = any_node(op->args[0], [](const Expr* n) {
      const auto* p = expr_if<ExecParamExpr>(n);
      return p != nullptr && p->slot < 0;
    });
    if (mixed) return false;
    left.push_back(op->args[0]);
    types.push_back(op->args[1]->type.type);
  }
  return true;
}

}  // namespace

Expr* QueryPlanner::outer_value(ColumnExpr* column) {
  for (const PlannedQuery::OuterValue& known : outer_values_) {
    if (known.levels == column->levels_up && known.column->range_index == column->range_index &&
        known.column->attribute == column->attribute) {
      auto* param = arena.make<ExecParamExpr>();
      param->type = column->type;
      param->slot = known.slot;
      return param;
    }
  }
  auto* own = arena.make<ColumnExpr>(*column);
  own->levels_up = 0;
  const int slot = global.new_slot();
  outer_values_.push_back({column->levels_up, own, slot});
  auto* param = arena.make<ExecParamExpr>();
  param->type = column->type;
  param->slot = slot;
  return param;
}

void QueryPlanner::adopt_outer_values(const PlannedQuery& child, std::vector<SubPlanArgument>& arguments) {
  for (const PlannedQuery::OuterValue& value : child.outer_values) {
    if (value.levels == 1) {
      arguments.push_back({value.slot, value.column});
      continue;
    }
    bool known = false;
    for (const PlannedQuery::OuterValue& own : outer_values_) known = known || own.slot == value.slot;
    if (!known) outer_values_.push_back({value.levels - 1, value.column, value.slot});
  }
}

Expr* QueryPlanner::finish_expression(Expr* node) {
  return rewrite(arena, node, [&](Expr* n) -> Expr* {
    if (auto* column = expr_if<ColumnExpr>(n)) return column->levels_up > 0 ? outer_value(column) : nullptr;
    if (auto* link = expr_if<SubLinkExpr>(n)) return make_subplan(link);
    if (auto* aggregate = expr_if<AggregateExpr>(n); aggregate != nullptr && aggregate->levels_up > 0) {
      throw SqlError{sqlstate::kFeatureNotSupported, "aggregates of an outer query level are not supported"};
    }
    return nullptr;
  });
}

void QueryPlanner::finish_expressions() {
  const auto one = [&](Expr*& e) {
    if (e != nullptr) e = finish_expression(e);
  };
  const auto tree = [&](auto& self, JoinNode* node) -> void {
    for (Expr*& e : node->quals) one(e);
    for (JoinNode* child : node->children) self(self, child);
  };
  tree(tree, tree_);
  for (Target& t : query.targets) one(t.expr);
  for (Target& t : query.returning) one(t.expr);
  for (Target& t : query.on_conflict.assignments) one(t.expr);
  one(query.on_conflict.where);
  one(query.having);
  one(query.limit);
  one(query.offset);
  for (WindowClause& window : query.windows) {
    one(window.frame.start_offset);
    one(window.frame.end_offset);
  }
  for (RangeEntry& entry : ranges) {
    if (entry.kind == RangeKind::kJoin) continue;
    for (Expr*& e : entry.functions) one(e);
    for (ExprList& row : entry.rows) {
      for (Expr*& e : row) one(e);
    }
  }
}

Expr* QueryPlanner::make_subplan(SubLinkExpr* link) {
  QueryPlanner child{global, this, *link->query};
  const bool exists = link->kind_of_link == SubLinkKind::kExists;
  const PlannedQuery planned = child.plan(exists ? 1.0 : 0.0);
  std::vector<SubPlanArgument> arguments;
  adopt_outer_values(planned, arguments);
  const bool independent = planned.outer_values.empty();

  SubPlan sub;
  sub.plan = planned.plan;
  sub.kind_of_link = link->kind_of_link;
  const int index = static_cast<int>(global.subplans.size());
  if (link->kind_of_link == SubLinkKind::kArray) sub.array_element = planned.targets[0]->type.type;

  const bool single =
      exists || link->kind_of_link == SubLinkKind::kExpression || link->kind_of_link == SubLinkKind::kArray;
  if (independent && single) {
    const int slot = global.new_slot();
    sub.is_init_plan = true;
    sub.output_slots = arena_span(arena, std::vector<int>{slot});
    global.subplans.push_back(sub);
    init_plans_.push_back(index);
    auto* param = arena.make<ExecParamExpr>();
    param->type = link->type;
    param->slot = slot;
    return param;
  }

  auto* expr = arena.make<SubPlanExpr>();
  expr->type = link->type;
  expr->location = link->location;
  expr->kind_of_link = link->kind_of_link;
  expr->subplan = index;
  global.subplans.push_back(sub);
  for (SubPlanArgument& argument : arguments) argument.value = finish_expression(argument.value);
  expr->arguments = arena_span(arena, arguments);
  if (link->test == nullptr) return expr;

  Expr* test = finish_expression(link->test);
  std::vector<Expr*> left;
  std::vector<Oid> types;
  if (independent && link->kind_of_link == SubLinkKind::kAny && split_in_test(test, left, types) &&
      left.size() == planned.targets.size()) {
    expr->hashed = true;
    expr->hash_left = arena_span(arena, left);
    expr->hash_types = arena_span(arena, types);
  }
  std::vector<int> slots;
  for (std::size_t i = 0; i < planned.targets.size(); ++i) slots.push_back(global.new_slot());
  expr->column_slots = arena_span(arena, slots);
  expr->test = rewrite(arena, test, [&](Expr* n) -> Expr* {
    auto* param = expr_if<ExecParamExpr>(n);
    if (param == nullptr || param->slot >= 0) return nullptr;
    auto* copy = arena.make<ExecParamExpr>(*param);
    copy->slot = slots[static_cast<std::size_t>(-param->slot - 1)];
    return copy;
  });
  return expr;
}

}  // namespace pinwheel::sql
