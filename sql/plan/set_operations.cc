#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/planner_state.h"
#include "sql/types/compare.h"

namespace pinwheel::sql {
namespace {

/// Leaves and nested sets of the same UNION ALL, left to right.
void flatten_union(SetNode* node, bool all, std::vector<SetNode*>& inputs) {
  if (node->operation == SetOperation::kUnion && (node->all == all || !all)) {
    flatten_union(node->left, all, inputs);
    flatten_union(node->right, all, inputs);
    return;
  }
  inputs.push_back(node);
}

std::vector<SortKey> keys_for(std::span<ExprType> types) {
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < types.size(); ++i) {
    keys.push_back({static_cast<int>(i), types[i].type, types[i].collation, false, false});
  }
  return keys;
}

}  // namespace

/// Casts the columns of a leaf that have another type than the set's.
static Expr* cast_to(Arena& arena, Expr* e, ExprType type) {
  if (e->type.type == type.type) return e;
  const BuiltinCast* cast = find_cast(e->type.type, type.type);
  if (cast != nullptr && cast->method == 'f') {
    auto* f = arena.make<FunctionExpr>();
    f->type = type;
    f->function = cast->procedure;
    f->form = CallForm::kImplicitCast;
    f->args = arena_span(arena, std::vector<Expr*>{e});
    return f;
  }
  if (is_binary_coercible(e->type.type, type.type)) {
    auto* r = arena.make<RelabelExpr>();
    r->type = type;
    r->arg = e;
    return r;
  }
  auto* io = arena.make<CoerceViaIoExpr>();
  io->type = type;
  io->arg = e;
  return io;
}

Plan* QueryPlanner::plan_set_node(SetNode* node, double* rows, double* cost) {
  const PlannerSettings& s = global.input.settings;
  const auto slot = [&](std::size_t i, ExprType type) {
    auto* column = arena.make<SlotColumnExpr>();
    column->type = type;
    column->index = static_cast<int>(i);
    return column;
  };
  const auto slots = [&](std::span<ExprType> types) {
    std::vector<Expr*> list;
    for (std::size_t i = 0; i < types.size(); ++i) list.push_back(slot(i, types[i]));
    return arena_span(arena, list);
  };
  if (node->operation == SetOperation::kNone) {
    QueryPlanner child{global, this, *ranges[static_cast<std::size_t>(node->range_index)].subquery};
    const PlannedQuery planned = child.plan(0);
    std::vector<SubPlanArgument> arguments;
    adopt_outer_values(planned, arguments);
    if (!arguments.empty())
      throw SqlError{sqlstate::kInternalError, "a set operation's input refers to its siblings"};
    *rows = planned.rows;
    *cost = planned.total;
    bool same = planned.targets.size() == node->column_types.size() || node->column_types.empty();
    for (std::size_t i = 0; i < node->column_types.size() && i < planned.targets.size(); ++i) {
      same = same && planned.targets[i]->type.type == node->column_types[i].type;
    }
    const bool exact = planned.plan->targets.size() == planned.targets.size();
    if (same && exact) return planned.plan;
    auto* cast = arena.make<ResultPlan>();
    cast->node_id = global.nodes++;
    cast->left = planned.plan;
    cast->startup_cost = planned.startup;
    cast->total_cost = planned.total;
    cast->rows = planned.rows;
    cast->width = planned.plan->width;
    std::vector<Expr*> list;
    for (std::size_t i = 0; i < planned.targets.size(); ++i) {
      Expr* e = slot(i, planned.targets[i]->type);
      list.push_back(node->column_types.empty() ? e : cast_to(arena, e, node->column_types[i]));
    }
    cast->targets = arena_span(arena, list);
    return cast;
  }
  const auto plan_input = [&](SetNode* input, double* r, double* c) {
    // leaves take over the column types of the whole
    if (input->operation == SetOperation::kNone) input->column_types = node->column_types;
    return plan_set_node(input, r, c);
  };
  if (node->operation == SetOperation::kUnion) {
    std::vector<SetNode*> inputs;
    flatten_union(node->left, node->all, inputs);
    flatten_union(node->right, node->all, inputs);
    auto* append = arena.make<AppendPlan>();
    std::vector<Plan*> plans;
    double total_rows = 0;
    double total_cost = 0;
    for (SetNode* input : inputs) {
      double r = 0;
      double c = 0;
      plans.push_back(plan_input(input, &r, &c));
      total_rows += r;
      total_cost += c;
    }
    append->node_id = global.nodes++;
    append->inputs = arena_span(arena, plans);
    append->rows = total_rows;
    append->total_cost = total_cost + total_rows * s.cpu_tuple_cost * 0.5;
    append->startup_cost = plans[0]->startup_cost;
    append->width = plans[0]->width;
    append->targets = slots(node->column_types);
    append->passes_input = true;
    *rows = total_rows;
    *cost = append->total_cost;
    if (node->all) return append;
    auto* unique = arena.make<AggregatePlan>();
    unique->node_id = global.nodes++;
    unique->left = append;
    unique->rows = total_rows;
    unique->width = append->width;
    unique->group_keys = arena_span(arena, keys_for(node->column_types));
    unique->targets = slots(node->column_types);
    bool can_hash = true;
    for (const ExprType& type : node->column_types) {
      can_hash = can_hash && find_hash(type.type) != nullptr && find_equal(type.type) != nullptr;
    }
    unique->strategy = can_hash ? AggregateStrategy::kHashed : AggregateStrategy::kSorted;
    unique->startup_cost = append->total_cost +
                           total_rows * s.cpu_operator_cost * static_cast<double>(node->column_types.size());
    unique->total_cost = unique->startup_cost + total_rows * s.cpu_tuple_cost;
    if (!can_hash) {
      auto* sort = arena.make<SortPlan>();
      sort->node_id = global.nodes++;
      sort->left = append;
      sort->keys = unique->group_keys;
      sort->targets = slots(node->column_types);
      sort->passes_input = true;
      sort->rows = total_rows;
      sort->width = append->width;
      sort->startup_cost = sort->total_cost =
          append->total_cost + 2 * s.cpu_operator_cost * total_rows * std::log2(std::max(2.0, total_rows));
      unique->left = sort;
    }
    *cost = unique->total_cost;
    return unique;
  }
  auto* plan = arena.make<SetOpPlan>();
  double left_rows = 0;
  double left_cost = 0;
  double right_rows = 0;
  double right_cost = 0;
  plan->left = plan_input(node->left, &left_rows, &left_cost);
  plan->right = plan_input(node->right, &right_rows, &right_cost);
  plan->node_id = global.nodes++;
  plan->operation = node->operation;
  plan->all = node->all;
  plan->keys = arena_span(arena, keys_for(node->column_types));
  for (const ExprType& type : node->column_types) {
    if (find_hash(type.type) == nullptr || find_equal(type.type) == nullptr) {
      throw SqlError{sqlstate::kFeatureNotSupported, node->operation == SetOperation::kIntersect
                                                         ? "could not implement INTERSECT"
                                                         : "could not implement EXCEPT"};
    }
  }
  plan->targets = slots(node->column_types);
  plan->passes_input = false;
  plan->rows =
      clamp_rows(node->operation == SetOperation::kIntersect ? std::min(left_rows, right_rows) : left_rows);
  plan->startup_cost =
      left_cost + right_cost +
      (left_rows + right_rows) * s.cpu_operator_cost * static_cast<double>(node->column_types.size());
  plan->total_cost = plan->startup_cost + plan->rows * s.cpu_tuple_cost;
  plan->width = plan->left->width;
  *rows = plan->rows;
  *cost = plan->total_cost;
  return plan;
}

PlannedQuery QueryPlanner::plan_set_operation(double tuple_fraction) {
  double rows = 0;
  double cost = 0;
  Plan* plan = plan_set_node(query.set_operation, &rows, &cost);
  // the output columns are those of the leftmost leaf
  SetNode* leaf = query.set_operation;
  while (leaf->operation != SetOperation::kNone) leaf = leaf->left;
  range_numbers.assign(ranges.size(), -1);
  add_base(leaf->range_index);
  plan_ranges.assign(ranges.size(), -1);
  PlanRange range;
  range.kind = RangeKind::kSubquery;
  range.columns = ranges[static_cast<std::size_t>(leaf->range_index)].columns;
  range.alias = "";
  plan_ranges[static_cast<std::size_t>(leaf->range_index)] = static_cast<int>(global.ranges.size());
  global.ranges.push_back(range);
  bases[0].tuples = bases[0].rows = rows;

  Path* path = new_path(PathKind::kResult);
  path->ready = plan;
  path->rows = rows;
  path->startup = plan->startup_cost;
  path->total = cost;
  path->width = plan->width;
  path->relids = bases[0].bit;
  const std::span<ExprType> types = query.set_operation->column_types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    auto* column = arena.make<ColumnExpr>();
    column->type = types[i];
    column->range_index = leaf->range_index;
    column->attribute = static_cast<std::int16_t>(i + 1);
    path->ready_output.push_back(column);
  }
  JoinRelation& input = join_relations_.emplace_back();
  input.relids = bases[0].bit;
  input.rows = rows;
  input.paths.push_back(path);
  Path* top = plan_upper(&input, tuple_fraction);
  return finish_targets(top);
}

}  // namespace pinwheel::sql
