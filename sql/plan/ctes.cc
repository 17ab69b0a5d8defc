// WITH: which queries are planned apart, which are put in place, and recursive ones.

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

bool query_is_volatile(Query* query) {
  bool found = false;
  for_each_expression(*query, [&](Expr*& e) {
    found = found || has_volatile(e) || any_node(e, [](const Expr* n) {
              const auto* s = expr_if<SubLinkExpr>(n);
              return s != nullptr && query_is_volatile(s->query);
            });
  });
  for_each_subquery(*query, [&](Query& sub) { found = found || query_is_volatile(&sub); });
  return found;
}

}  // namespace

CteBinding* QueryPlanner::find_cte(std::string_view name, int levels_up) {
  QueryPlanner* level = this;
  for (int i = 0; i < levels_up && level != nullptr; ++i) level = level->parent;
  if (level != nullptr) {
    for (CteBinding& cte : level->ctes_) {
      if (cte.name == name) return &cte;
    }
  }
  throw SqlError{sqlstate::kInternalError, "reference to an unknown CTE"};
}

void QueryPlanner::plan_ctes() {
  for (CommonTable& cte : query.ctes) {
    CteBinding& binding = ctes_.emplace_back();
    binding.name = cte.name;
    binding.columns = cte.columns;
    const bool modifies = cte.query->command != CommandKind::kSelect;
    if (!modifies && cte.reference_count == 0 && !query_is_volatile(cte.query)) continue;
    if (!modifies && !cte.recursive && !cte.materialized && cte.query->row_marks.empty() &&
        (cte.not_materialized || (cte.reference_count <= 1 && !query_is_volatile(cte.query)))) {
      binding.inline_query = cte.query;
      continue;
    }
    if (cte.recursive && cte.query->set_operation != nullptr) {
      bind_recursive(cte, binding);
      continue;
    }
    QueryPlanner child{global, this, *cte.query};
    PlannedQuery planned = modifies ? child.plan_modification() : child.plan(0);
    std::vector<SubPlanArgument> arguments;
    adopt_outer_values(planned, arguments);
    if (!arguments.empty())
      throw SqlError{sqlstate::kFeatureNotSupported, "correlated CTEs are not supported"};
    SubPlan sub;
    sub.plan = planned.plan;
    sub.is_cte = true;
    sub.cte_name = arena.copy(cte.name);
    sub.modifies = modifies;
    binding.subplan = static_cast<int>(global.subplans.size());
    binding.rows = planned.rows;
    binding.cost = planned.total;
    global.subplans.push_back(sub);
    init_plans_.push_back(binding.subplan);
  }
}

void QueryPlanner::bind_recursive(CommonTable& cte, CteBinding& binding) {
  const Query& body = *cte.query;
  SetNode* set = body.set_operation;
  if (!body.ctes.empty() || !body.order_by.empty() || body.limit != nullptr || body.offset != nullptr) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "ORDER BY, LIMIT or WITH in a recursive query is not implemented"};
  }
  // Both sides are planned as children of a stand-in for the UNION's own level.
  QueryPlanner union_level{global, this, body};
  const auto leaf = [&](SetNode* node) -> Query* {
    if (node->operation != SetOperation::kNone) {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "nested set operations in a recursive query are not supported"};
    }
    return body.range_table[static_cast<std::size_t>(node->range_index)].subquery;
  };
  QueryPlanner start{global, &union_level, *leaf(set->left)};
  const PlannedQuery left = start.plan(0);
  binding.work_table = global.work_tables++;
  binding.rows = clamp_rows(left.rows * 10);
  QueryPlanner step{global, &union_level, *leaf(set->right)};
  const PlannedQuery right = step.plan(0);
  if (!left.outer_values.empty() || !right.outer_values.empty()) {
    throw SqlError{sqlstate::kFeatureNotSupported, "correlated recursive CTEs are not supported"};
  }
  auto* plan = arena.make<RecursiveUnionPlan>();
  plan->node_id = global.nodes++;
  plan->left = left.plan;
  plan->right = right.plan;
  plan->work_table = binding.work_table;
  plan->all = set->all;
  plan->rows = clamp_rows(left.rows + 10 * right.rows);
  plan->startup_cost = left.startup;
  plan->total_cost = left.total + 10 * right.total + plan->rows * global.input.settings.cpu_tuple_cost;
  plan->width = left.plan->width;
  plan->depends_on_parameters = true;
  std::vector<Expr*> targets;
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < set->column_types.size(); ++i) {
    auto* column = arena.make<SlotColumnExpr>();
    column->type = set->column_types[i];
    column->index = static_cast<int>(i);
    targets.push_back(column);
    keys.push_back({static_cast<int>(i), column->type.type, column->type.collation, false, false});
  }
  plan->targets = arena_span(arena, targets);
  if (!set->all) plan->keys = arena_span(arena, keys);
  SubPlan sub;
  sub.plan = plan;
  sub.is_cte = true;
  sub.cte_name = arena.copy(cte.name);
  binding.work_table = -1;
  binding.subplan = static_cast<int>(global.subplans.size());
  binding.rows = plan->rows;
  binding.cost = plan->total_cost;
  global.subplans.push_back(sub);
  init_plans_.push_back(binding.subplan);
}

void QueryPlanner::expand_cte_references() {
  for (RangeEntry& entry : ranges) {
    if (entry.kind != RangeKind::kCte) continue;
    const CteBinding* cte = find_cte(entry.cte_name, entry.cte_levels_up);
    if (cte->inline_query == nullptr) continue;
    entry.kind = RangeKind::kSubquery;
    entry.subquery = shift_query_levels(arena, cte->inline_query, entry.cte_levels_up);
  }
}

}  // namespace pinwheel::sql
