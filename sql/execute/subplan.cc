#include <vector>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/packed_row.h"
#include "sql/execute/program.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/run_state.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

/// The running side of one SubPlanExpr. Made in the state's arena; the hash table hangs off a node list entry
/// so that it is freed with the state.
struct SubPlanState {
  const SubPlanExpr* expr;
  RunState* run;
  const Program* arguments;
  Datum* argument_values;
  bool* argument_nulls;
  const Program* test;
  struct HashTable* hash;
};

/// The sub-select's rows by value, for IN. A node only to share its life: closed when the execution ends.
struct HashTable final : Node {
  HashTable(const SubPlanExpr& e, RunState& r, const Plan& plan)
      : Node{plan, r}, expr{e}, format{plan.targets}, comparer{keys_of(e), &scratch} {
    const std::size_t n = e.hash_left.size();
    probe = make_slot(r.state_arena, static_cast<int>(n));
    ProgramCompiler compiler{r.state_arena, &r};
    left = compiler.projection(e.hash_left, *probe);
  }
  static std::vector<SortKey> keys_of(const SubPlanExpr& e) {
    std::vector<SortKey> keys;
    for (std::size_t i = 0; i < e.hash_types.size(); ++i) {
      keys.push_back({static_cast<int>(i), e.hash_types[i], e.hash_left[i]->type.collation, false, false});
    }
    return keys;
  }
  Slot* next() override { return nullptr; }
  void rewind() override {}
  void close() noexcept override {
    filled = false;
    buckets.clear();
    null_rows.clear();
    memory.reset();
    count = 0;
  }

  struct Entry {
    Entry* next;
    std::uint64_t hash;
    PackedRow* row;
  };
  void fill() {
    filled = true;
    comparer.set_detoaster(run.eval->detoaster);
    buckets.assign(256, nullptr);
    Node* root = run.subplan_root(expr.subplan);
    rewind_node(*root);
    const int columns = static_cast<int>(expr.hash_left.size());
    while (Slot* row = pull(*root)) {
      scratch.reset();
      if (row->valid < format.count()) deform_slot(*row, format.count());
      bool has_null = false;
      for (int i = 0; i < columns; ++i) has_null = has_null || row->nulls[i];
      if (has_null) {
        null_rows.push_back(format.pack(row->values, row->nulls, memory));
        continue;
      }
      const std::uint64_t hash = comparer.hash(row->values, row->nulls);
      if (find(row->values, row->nulls, hash)) continue;
      auto* entry = static_cast<Entry*>(memory.allocate(sizeof(Entry)));
      *entry = {nullptr, hash, format.pack(row->values, row->nulls, memory)};
      if (++count > buckets.size()) grow();
      Entry*& head = buckets[hash & (buckets.size() - 1)];
      entry->next = head;
      head = entry;
    }
    root->close();
  }
  void grow() {
    std::vector<Entry*> larger(buckets.size() * 2, nullptr);
    for (Entry* head : buckets) {
      while (head != nullptr) {
        Entry* following = head->next;
        Entry*& to = larger[head->hash & (larger.size() - 1)];
        head->next = to;
        to = head;
        head = following;
      }
    }
    buckets.swap(larger);
  }
  bool find(const Datum* values, const bool* nulls, std::uint64_t hash) const {
    for (const Entry* e = buckets[hash & (buckets.size() - 1)]; e != nullptr; e = e->next) {
      if (e->hash == hash && comparer.equal(values, nulls, e->row->values(), e->row->nulls())) return true;
    }
    return false;
  }
  /// True when the rows could be equal if NULLs were filled in.
  bool may_equal(const Datum* values, const bool* nulls, const PackedRow& row) const {
    for (std::size_t i = 0; i < expr.hash_left.size(); ++i) {
      if (nulls[i] || row.nulls()[i]) continue;
      const EqualFn equal = find_equal(expr.hash_types[i]);
      const CompareContext context{expr.hash_left[i]->type.collation, const_cast<Arena*>(&scratch),
                                   run.eval->detoaster};
      if (!equal(values[i], row.values()[i], context)) return false;
    }
    return true;
  }
  Datum probe_value(EvalFrame& frame, bool* is_null) {
    if (!filled) fill();
    left->run(frame);
    scratch.reset();
    *is_null = false;
    if (count == 0 && null_rows.empty()) return Datum::from_bool(false);
    bool has_null = false;
    for (int i = 0; i < probe->count; ++i) has_null = has_null || probe->nulls[i];
    if (!has_null) {
      if (find(probe->values, probe->nulls, comparer.hash(probe->values, probe->nulls)))
        return Datum::from_bool(true);
    } else {
      for (const Entry* head : buckets) {
        for (const Entry* e = head; e != nullptr; e = e->next) {
          if (may_equal(probe->values, probe->nulls, *e->row)) {
            *is_null = true;
            return Datum{};
          }
        }
      }
    }
    for (const PackedRow* row : null_rows) {
      if (may_equal(probe->values, probe->nulls, *row)) {
        *is_null = true;
        return Datum{};
      }
    }
    return Datum::from_bool(false);
  }

  const SubPlanExpr& expr;
  RowFormat format;
  Arena scratch;
  Arena memory;
  RowComparer comparer;
  Slot* probe;
  const Program* left;
  std::vector<Entry*> buckets;
  std::vector<PackedRow*> null_rows;
  std::size_t count = 0;
  bool filled = false;
};

SubPlanState* make_subplan_state(const SubPlanExpr& expr, RunState& run, Arena& arena) {
  auto* state = arena.make<SubPlanState>();
  state->expr = &expr;
  state->run = &run;
  state->hash = nullptr;
  state->test = nullptr;
  ProgramCompiler compiler{arena, &run};
  std::vector<const Expr*> values;
  for (const SubPlanArgument& argument : expr.arguments) values.push_back(argument.value);
  state->argument_values = arena.make_array<Datum>(values.size() + 1);
  state->argument_nulls = arena.make_array<bool>(values.size() + 1);
  state->arguments = compiler.into(values, state->argument_values, state->argument_nulls);
  if (expr.test != nullptr) state->test = compiler.scalar(expr.test);
  if (expr.hashed) {
    auto table = std::make_unique<HashTable>(expr, run,
                                             *run.plan.subplans[static_cast<std::size_t>(expr.subplan)].plan);
    state->hash = table.get();
    run.nodes.push_back(std::move(table));
  }
  return state;
}

namespace {

/// ANY and ALL: the test for each row, with SQL's three values.
Datum quantified(SubPlanState& state, Node& root, EvalFrame& frame, bool* is_null) {
  const bool any = state.expr->kind_of_link == SubLinkKind::kAny;
  const int columns = static_cast<int>(state.expr->column_slots.size());
  bool saw_null = false;
  while (Slot* row = pull(root)) {
    if (row->valid < columns) deform_slot(*row, columns);
    for (int i = 0; i < columns; ++i) {
      ParameterSlot& slot = state.run->parameter_slots[state.expr->column_slots[static_cast<std::size_t>(i)]];
      slot.value = row->values[i];
      slot.is_null = row->nulls[i];
    }
    bool result_null;
    const Datum result = state.test->value(frame, &result_null);
    if (result_null)
      saw_null = true;
    else if (result.as_bool() == any)
      return Datum::from_bool(any);
  }
  *is_null = saw_null;
  return Datum::from_bool(!any);
}

}  // namespace

Datum evaluate_subplan(SubPlanState& state, EvalFrame& frame, bool* is_null) {
  *is_null = false;
  if (state.hash != nullptr) return state.hash->probe_value(frame, is_null);
  RunState& run = *state.run;
  state.arguments->run(frame);
  for (std::size_t i = 0; i < state.expr->arguments.size(); ++i) {
    ParameterSlot& slot = run.parameter_slots[state.expr->arguments[i].slot];
    slot.value = state.argument_values[i];
    slot.is_null = state.argument_nulls[i];
  }
  Node* root = run.subplan_root(state.expr->subplan);
  rewind_node(*root);
  const SubPlan& sub = run.plan.subplans[static_cast<std::size_t>(state.expr->subplan)];
  switch (state.expr->kind_of_link) {
    case SubLinkKind::kExists:
      return Datum::from_bool(pull(*root) != nullptr);
    case SubLinkKind::kAny:
    case SubLinkKind::kAll:
      return quantified(state, *root, frame, is_null);
    case SubLinkKind::kArray:
      return gather_array(*root, sub.array_element, *frame.arena);
    default:
      break;
  }
  Slot* row = pull(*root);
  if (row == nullptr) {
    *is_null = true;
    return Datum{};
  }
  Datum result{};
  if (state.expr->kind_of_link == SubLinkKind::kRowCompare) {
    const int columns = static_cast<int>(state.expr->column_slots.size());
    if (row->valid < columns) deform_slot(*row, columns);
    for (int i = 0; i < columns; ++i) {
      ParameterSlot& slot = run.parameter_slots[state.expr->column_slots[static_cast<std::size_t>(i)]];
      slot.value = row->values[i];
      slot.is_null = row->nulls[i];
    }
    result = state.test->value(frame, is_null);
  } else {
    if (row->valid < 1) deform_slot(*row, 1);
    *is_null = row->nulls[0];
    if (!*is_null) result = keep_value(row->values[0], sub.plan->targets[0]->type.type, *frame.arena);
  }
  if (pull(*root) != nullptr) {
    throw SqlError{sqlstate::kCardinalityViolation,
                   "more than one row returned by a subquery used as an expression"};
  }
  return result;
}

}  // namespace pinwheel::sql
