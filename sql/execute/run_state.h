#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "sql/execute/execution_context.h"
#include "sql/execute/executor.h"
#include "sql/execute/slot.h"
#include "sql/plan/cached_plan.h"

namespace pinwheel::sql {

class Node;
struct RecheckState;
struct TableState;
struct SharedRows;
class ForeignKeyQueue;

/// An executor parameter: set by a nested loop, a correlated subplan's caller, or an init plan at first use.
struct ParameterSlot {
  Datum value{};
  bool is_null = true;
  bool pending = false;  ///< an init plan has yet to run
  int init_plan = -1;
};

/// What all nodes of one running plan share. Belongs to one ExecutorState (or to one recheck of a row).
struct RunState {
  explicit RunState(const CachedPlan& p);
  ~RunState();
  RunState(const RunState&) = delete;
  RunState& operator=(const RunState&) = delete;

  const CachedPlan& plan;
  /// Node states, programs and registers: lives as long as the state, reused by all executions.
  Arena state_arena;
  /// One execution: parameter values that are by reference, init plans' results. Reset at start.
  Arena query_arena;

  // set at start()
  ExecutionContext* context = nullptr;
  EvalContext* eval = nullptr;
  const Datum* parameters = nullptr;
  const bool* parameter_nulls = nullptr;
  int parameter_count = 0;
  std::int64_t work_mem_bytes = 4 << 20;

  ParameterSlot* parameter_slots = nullptr;
  Node** subplans = nullptr;           ///< roots, by subplan index; made at first use
  SharedRows** shared_rows = nullptr;  ///< CTEs by subplan index, then work tables
  TableState** tables = nullptr;       ///< by range
  RecheckState* recheck = nullptr;     ///< set in the second tree that rechecks changed rows
  std::vector<std::unique_ptr<Node>> nodes;

  NodeCounters* counters = nullptr;  ///< by node_id, when instrumented
  Instrument instrument = Instrument::kNone;
  std::uint64_t processed = 0;
  bool opened = false;

  /// Runs the init plan behind a pending parameter.
  void evaluate_pending(ParameterSlot& slot);
  Node* subplan_root(int index);
  TableState& table(int range);
  bool needs_close = false;
};

/// State of one plan node. next() yields rows until null; the slot and what it points to stay until the
/// node's next call.
class Node {
 public:
  Node(const Plan& p, RunState& r) : plan{p}, run{r} {}
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// The next row, or null at the end; stays null then.
  virtual Slot* next() = 0;
  /// To the beginning, for a new execution or because parameters changed. Passes on to its inputs.
  virtual void rewind() = 0;
  /// Lets go of pins, files and big memory; the node can be rewound afterwards.
  virtual void close() noexcept {}
  /// Merge joins: remembers the current row's place, goes back to it. Only nodes that buffer support it.
  virtual void mark() {}
  virtual void restore() {}

  const Plan& plan;
  RunState& run;
};

Slot* instrumented_next(Node& node);

/// One row from an input, counted when EXPLAIN ANALYZE asks for it.
inline Slot* pull(Node& node) {
  if (node.run.instrument == Instrument::kNone) [[likely]]
    return node.next();
  return instrumented_next(node);
}

/// Makes the state of `plan` and of everything below it.
Node* make_node(const Plan* plan, RunState& run);

/// A fresh slot of `count` columns in `arena`.
Slot* make_slot(Arena& arena, int count);

}  // namespace pinwheel::sql
