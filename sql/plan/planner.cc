#include "sql/plan/planner.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/plan/planner_state.h"

namespace pinwheel::sql {

const Relation* PlannerGlobal::open_relation(Oid oid, std::uint8_t lock_mode) {
  note_lock(oid, lock_mode);
  for (const RelationRef& known : result.relations) {
    if (known->oid == oid) return known.get();
  }
  result.relations.push_back(input.catalog.require_relation(oid));
  return result.relations.back().get();
}

void PlannerGlobal::note_lock(Oid relation, std::uint8_t mode) {
  for (PlanLock& lock : locks) {
    if (lock.relation == relation) {
      lock.mode = std::max(lock.mode, mode);
      return;
    }
  }
  locks.push_back({relation, mode});
}

void PlannerGlobal::note_privileges(const RangeEntry& entry) {
  const Oid oid = is_valid(entry.view) ? entry.view : entry.relation;
  if (entry.required_privileges == 0 || !is_valid(oid)) return;
  const Relation* relation = open_relation(oid, 1);
  for (PlanPrivilege& known : privileges) {
    if (known.relation != relation || known.as_user != entry.check_as_user) continue;
    known.wanted |= entry.required_privileges;
    return;
  }
  privileges.push_back({relation, entry.required_privileges, entry.check_as_user});
}

std::string_view PlannerGlobal::unique_alias(std::string_view wanted) {
  const auto used = [&](std::string_view name) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const PlanRange& r) { return r.alias == name; });
  };
  if (!used(wanted)) return arena.copy(wanted);
  for (int i = 1;; ++i) {
    const std::string name = std::string{wanted} + "_" + std::to_string(i);
    if (!used(name)) return arena.copy(name);
  }
}

PlannedQuery QueryPlanner::plan(double tuple_fraction) {
  prepare();
  if (query.set_operation != nullptr) return plan_set_operation(tuple_fraction);
  std::vector<int> in_from;
  collect_ranges(tree_, in_from);
  if (!query.row_marks.empty()) {
    for (const int range : in_from) {
      if (ranges[static_cast<std::size_t>(range)].kind != RangeKind::kRelation) continue;
      const bool marked = std::any_of(query.row_marks.begin(), query.row_marks.end(),
                                      [&](const RowMark& m) { return m.range_index == range; });
      if (!marked && in_from.size() == 1) continue;
      auto* identity = arena.make<ColumnExpr>();
      identity->type.type = kInt8Type;
      identity->range_index = range;
      identity->attribute = kRowIdentityAttribute;
      extra_wanted_.push_back(identity);
    }
  }
  deconstruct();
  query_order_ = required_order(&fraction_);
  set_base_sizes();
  for (BaseRelation& rel : bases) set_base_paths(rel);
  JoinRelation* input;
  if (bases.empty()) {
    input = &join_relations_.emplace_back();
    Path* path = new_path(PathKind::kResult);
    path->total = global.input.settings.cpu_tuple_cost;
    if (!query.has_aggregates && !query.has_windows) {
      path->conditions = constant_quals_;
      constant_quals_.clear();
    }
    input->paths.push_back(path);
  } else {
    input = join_search();
  }
  Path* top = plan_upper(input, tuple_fraction);
  return finish_targets(top);
}

PlannedQuery QueryPlanner::finish_targets(Path* top) {
  std::vector<Expr*> wanted;
  for (const bool hidden : {false, true}) {
    for (const Target& target : query.targets) {
      if (target.hidden == hidden) wanted.push_back(target.expr);
    }
  }
  return finish(top, wanted);
}

namespace {

/// Whether an expression reads parameters that change between rescans.
struct DependenceMarker {
  CachedPlan& result;
  std::vector<bool> constant_slots;  ///< set once, by init plans
  std::vector<signed char> subplan_state;

  bool expr(const Expr* e) {
    return any_node(e, [&](const Expr* n) {
      if (const auto* p = expr_if<ExecParamExpr>(n)) {
        return p->slot >= 0 && !constant_slots[static_cast<std::size_t>(p->slot)];
      }
      if (n->kind == ExprKind::kSubPlan) subplan(expr_cast<SubPlanExpr>(n)->subplan);
      return false;
    });
  }
  bool list(ExprList exprs) {
    bool any = false;
    for (const Expr* e : exprs) any = expr(e) || any;
    return any;
  }
  bool subplan(int index) {
    auto& state = subplan_state[static_cast<std::size_t>(index)];
    if (state == 0) {
      state = 1;
      if (mark(result.subplans[static_cast<std::size_t>(index)].plan)) state = 2;
    }
    return state == 2;
  }

  bool own(Plan* plan) {
    switch (plan->kind) {
      case PlanKind::kWorkTableScan:
        return true;
      case PlanKind::kIndexScan:
      case PlanKind::kIndexOnlyScan:
      case PlanKind::kBitmapIndexScan: {
        bool any = list(plan_cast<IndexScanPlan>(plan)->key_quals);
        for (const ScanKey& key : plan_cast<IndexScanPlan>(plan)->keys)
          any = (key.value != nullptr && expr(key.value)) || any;
        return any;
      }
      case PlanKind::kTidScan:
        return list(plan_cast<TidScanPlan>(plan)->tids);
      case PlanKind::kBitmapHeapScan:
        return list(plan_cast<BitmapHeapScanPlan>(plan)->recheck);
      case PlanKind::kFunctionScan:
        return list(plan_cast<FunctionScanPlan>(plan)->functions);
      case PlanKind::kValuesScan: {
        bool any = false;
        for (const ExprList& row : plan_cast<ValuesScanPlan>(plan)->value_rows) any = list(row) || any;
        return any;
      }
      case PlanKind::kNestLoop:
        return list(plan_cast<JoinPlan>(plan)->join_quals);
      case PlanKind::kHashJoin: {
        bool any = list(plan_cast<JoinPlan>(plan)->join_quals);
        for (const JoinKey& key : plan_cast<HashJoinPlan>(plan)->keys)
          any = expr(key.outer) || expr(key.inner) || any;
        return any;
      }
      case PlanKind::kResult:
        return list(plan_cast<ResultPlan>(plan)->constant_quals);
      case PlanKind::kAggregate: {
        bool any = false;
        for (const AggregateCall& call : plan_cast<AggregatePlan>(plan)->calls) any = expr(call.expr) || any;
        return any;
      }
      case PlanKind::kWindowAgg: {
        bool any = false;
        for (const WindowCall& call : plan_cast<WindowAggPlan>(plan)->calls) any = expr(call.expr) || any;
        return any;
      }
      case PlanKind::kLimit: {
        const auto* limit = plan_cast<LimitPlan>(plan);
        return (limit->limit != nullptr && expr(limit->limit)) |
               (limit->offset != nullptr && expr(limit->offset));
      }
      case PlanKind::kCteScan:
        return subplan(plan_cast<CteScanPlan>(plan)->subplan);
      case PlanKind::kModifyTable:
        return true;
      default:
        return false;
    }
  }

  bool mark(Plan* plan) {
    if (plan == nullptr) return false;
    bool any = plan->depends_on_parameters;
    any = list(plan->targets) || any;
    any = list(plan->quals) || any;
    any = own(plan) || any;
    any = mark(plan->left) || any;
    any = mark(plan->right) || any;
    if (plan->kind == PlanKind::kAppend) {
      for (Plan* input : plan_cast<AppendPlan>(plan)->inputs) any = mark(input) || any;
    }
    if (plan->kind == PlanKind::kBitmapAnd || plan->kind == PlanKind::kBitmapOr) {
      for (Plan* input : plan_cast<BitmapCombinePlan>(plan)->inputs) any = mark(input) || any;
    }
    plan->depends_on_parameters = any;
    return any;
  }
};

bool writes_or_locks(const Plan* plan) {
  if (plan == nullptr) return false;
  if (plan->kind == PlanKind::kModifyTable || plan->kind == PlanKind::kLockRows) return true;
  if (plan->kind == PlanKind::kAppend) {
    for (const Plan* input : plan_cast<AppendPlan>(plan)->inputs) {
      if (writes_or_locks(input)) return true;
    }
  }
  return writes_or_locks(plan->left) || writes_or_locks(plan->right);
}

}  // namespace

void plan_query(const Query& query, std::span<const Oid> parameter_types, const PlannerInput& input,
                CachedPlan& result) {
  result.command = query.command;
  result.catalog_generation = input.catalog.generation();
  PlannerGlobal global{result, input};
  QueryPlanner planner{global, nullptr, query};
  const bool modifies = query.command != CommandKind::kSelect;
  const double fraction = input.is_cursor ? input.settings.cursor_tuple_fraction : 0;
  const PlannedQuery planned = modifies ? planner.plan_modification() : planner.plan(fraction);
  result.root = planned.plan;

  Arena& arena = result.arena;
  std::vector<ResultColumn> columns;
  const auto add = [&](const Target& t) {
    columns.push_back({arena.copy(t.name), t.expr->type.type, t.expr->type.type_modifier, t.origin_table,
                       t.origin_attribute});
  };
  if (modifies) {
    for (const Target& t : query.returning) add(t);
  } else {
    for (const Target& t : query.targets) {
      if (!t.hidden) add(t);
    }
  }
  result.columns = arena_span(arena, columns);
  result.returns_rows = !modifies || !query.returning.empty();
  result.parameter_types =
      arena_span(arena, std::vector<Oid>(parameter_types.begin(), parameter_types.end()));
  result.ranges = arena_span(arena, global.ranges);
  result.subplans = arena_span(arena, global.subplans);
  result.locks = arena_span(arena, global.locks);
  result.privileges = arena_span(arena, global.privileges);
  result.node_count = global.nodes;
  result.parameter_slot_count = global.parameter_slots;
  result.work_table_count = global.work_tables;

  DependenceMarker marker{result, std::vector<bool>(static_cast<std::size_t>(global.parameter_slots), false),
                          std::vector<signed char>(global.subplans.size(), 0)};
  for (const SubPlan& sub : result.subplans) {
    if (!sub.is_init_plan) continue;
    for (const int slot : sub.output_slots) marker.constant_slots[static_cast<std::size_t>(slot)] = true;
  }
  marker.mark(result.root);
  result.read_only = !writes_or_locks(result.root);
  for (std::size_t i = 0; i < result.subplans.size(); ++i) {
    marker.subplan(static_cast<int>(i));
    if (result.subplans[i].modifies || writes_or_locks(result.subplans[i].plan)) result.read_only = false;
  }
}

}  // namespace pinwheel::sql
