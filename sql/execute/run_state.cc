#include "sql/execute/run_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/program.h"
#include "sql/execute/recheck.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/shared_rows.h"
#include "sql/execute/statement_checks.h"
#include "sql/execute/table_state.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

RunState::RunState(const CachedPlan& p) : plan{p}, state_arena{nullptr, 4096}, query_arena{nullptr, 2048} {
  const auto slots = static_cast<std::size_t>(p.parameter_slot_count);
  parameter_slots = state_arena.make_array<ParameterSlot>(slots + 1);
  subplans = state_arena.make_array<Node*>(p.subplans.size() + 1);
  shared_rows = state_arena.make_array<SharedRows*>(p.subplans.size() +
                                                    static_cast<std::size_t>(p.work_table_count) + 1);
  tables = state_arena.make_array<TableState*>(p.ranges.size() + 1);
  for (std::size_t i = 0; i < p.subplans.size(); ++i) {
    if (!p.subplans[i].is_init_plan) continue;
    for (const int slot : p.subplans[i].output_slots) {
      parameter_slots[slot].init_plan = static_cast<int>(i);
    }
  }
}

RunState::~RunState() {
  nodes.clear();
  for (std::size_t i = 0; i < plan.ranges.size(); ++i) delete tables[i];
  for (std::size_t i = 0; i < plan.subplans.size() + static_cast<std::size_t>(plan.work_table_count); ++i)
    delete shared_rows[i];
}

void RunState::begin(ExecutionContext& c) {
  context = &c;
  eval = &c.eval;
  parameters = c.parameters;
  parameter_nulls = c.parameter_nulls;
  parameter_count = c.parameter_count;
  work_mem_bytes = c.work_mem_bytes;
  budget.limit_bytes = c.budget != nullptr ? c.budget->limit_bytes : ~std::size_t{0};
  oracle.emplace(c.transaction);
  visible.emplace(c.transaction, *c.snapshot);
  processed = 0;
  if (plan.parameter_slot_count != 0) {
    query_arena.reset();
    for (int i = 0; i < plan.parameter_slot_count; ++i)
      parameter_slots[i].pending = parameter_slots[i].init_plan >= 0;
  }
}

void RunState::close_nodes() noexcept {
  for (const auto& node : nodes) node->close();
  for (std::size_t i = 0; i < plan.subplans.size() + static_cast<std::size_t>(plan.work_table_count); ++i) {
    if (shared_rows[i] != nullptr) shared_rows[i]->reset();
  }
}

void RunState::report_activity() {
  if (context == nullptr || context->activity == nullptr) return;
  for (std::size_t i = 0; i < plan.ranges.size(); ++i) {
    if (tables[i] != nullptr) tables[i]->report_activity(*context->activity);
  }
}

TableState& RunState::table(int range) {
  TableState*& state = tables[range];
  if (state == nullptr) {
    state = new TableState{context->storage, *plan.ranges[static_cast<std::size_t>(range)].relation};
  }
  return *state;
}

Node* RunState::subplan_root(int index) {
  Node*& root = subplans[index];
  if (root == nullptr) root = make_node(plan.subplans[static_cast<std::size_t>(index)].plan, *this);
  return root;
}

Datum keep_value(Datum value, Oid type, Arena& arena) {
  const TypeInfo* info = find_type(type);
  if (info != nullptr) return copy_datum(value, info->length, info->by_value, arena);
  return copy_datum(value, -1, false, arena);
}

Datum gather_array(Node& rows, Oid element, Arena& arena) {
  std::vector<Datum> values;
  std::vector<char> nulls;
  while (Slot* row = pull(rows)) {
    if (row->valid < 1) deform_slot(*row, 1);
    nulls.push_back(row->nulls[0] ? 1 : 0);
    values.push_back(row->nulls[0] ? Datum{} : keep_value(row->values[0], element, arena));
  }
  return build_array(arena, element, values.data(), reinterpret_cast<const bool*>(nulls.data()),
                     static_cast<int>(values.size()));
}

void RunState::evaluate_pending(ParameterSlot& slot) {
  const int index = slot.init_plan;
  const SubPlan& sub = plan.subplans[static_cast<std::size_t>(index)];
  slot.pending = false;
  Node* root = subplan_root(index);
  rewind_node(*root);
  switch (sub.kind_of_link) {
    case SubLinkKind::kExists:
      slot.value = Datum::from_bool(pull(*root) != nullptr);
      slot.is_null = false;
      break;
    case SubLinkKind::kArray:
      slot.value = gather_array(*root, sub.array_element, query_arena);
      slot.is_null = false;
      break;
    default: {
      Slot* row = pull(*root);
      slot.is_null = row == nullptr;
      if (row != nullptr) {
        if (row->valid < 1) deform_slot(*row, 1);
        slot.is_null = row->nulls[0];
        if (!slot.is_null)
          slot.value = keep_value(row->values[0], sub.plan->targets[0]->type.type, query_arena);
        if (pull(*root) != nullptr) {
          throw SqlError{sqlstate::kCardinalityViolation,
                         "more than one row returned by a subquery used as an expression"};
        }
      }
      break;
    }
  }
  root->close();
}

MeasuredCall::MeasuredCall(Node& node) noexcept : node_{node} {
  const RunState& run = node.run;
  if (run.instrument == Instrument::kTime) start_ns_ = monotonic_ns();
  if (run.meter != nullptr) before_ = run.meter->buffers();
}

MeasuredCall::~MeasuredCall() {
  const RunState& run = node_.run;
  if (run.counters == nullptr) return;
  NodeCounters& counters = run.counters[node_.plan.node_id];
  if (run.instrument == Instrument::kTime) {
    const auto spent = static_cast<double>(monotonic_ns() - start_ns_);
    counters.total_ns += spent;
    if (!node_.has_started) {
      node_.has_started = true;
      counters.startup_ns += spent;
    }
  }
  if (run.meter != nullptr) counters.buffers += run.meter->buffers() - before_;
}

Slot* instrumented_next(Node& node) {
  const MeasuredCall measured{node};
  Slot* slot = node.next();
  if (slot != nullptr) node.run.counters[node.plan.node_id].rows += 1;
  return slot;
}

Node* make_node(const Plan* plan, RunState& run) {
  std::unique_ptr<Node> node;
  switch (plan->kind) {
    case PlanKind::kSeqScan:
    case PlanKind::kIndexScan:
    case PlanKind::kIndexOnlyScan:
    case PlanKind::kBitmapIndexScan:
    case PlanKind::kBitmapAnd:
    case PlanKind::kBitmapOr:
    case PlanKind::kBitmapHeapScan:
    case PlanKind::kTidScan:
      node = make_table_scan(plan, run);
      break;
    case PlanKind::kSubqueryScan:
    case PlanKind::kFunctionScan:
    case PlanKind::kValuesScan:
    case PlanKind::kCteScan:
    case PlanKind::kWorkTableScan:
      node = make_virtual_scan(plan, run);
      break;
    case PlanKind::kNestLoop:
      node = make_nest_loop(plan, run);
      break;
    case PlanKind::kHashJoin:
      node = make_hash_join(plan, run);
      break;
    case PlanKind::kSort:
      node = make_sort(plan, run);
      break;
    case PlanKind::kAggregate:
      node = make_aggregate(plan, run);
      break;
    case PlanKind::kWindowAgg:
      node = make_window_agg(plan, run);
      break;
    case PlanKind::kSetOp:
      node = make_set_op(plan, run);
      break;
    case PlanKind::kRecursiveUnion:
      node = make_recursive_union(plan, run);
      break;
    case PlanKind::kModifyTable:
      node = make_modify_table(plan, run);
      break;
    case PlanKind::kLockRows:
      node = make_lock_rows(plan, run);
      break;
    case PlanKind::kMergeJoin:
      throw SqlError{sqlstate::kFeatureNotSupported, "merge joins are not supported"};
    default:
      node = make_simple_node(plan, run);
      break;
  }
  Node* made = node.get();
  run.nodes.push_back(std::move(node));
  return made;
}

}  // namespace pinwheel::sql
