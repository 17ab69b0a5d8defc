#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/arena.h"
#include "sql/execute/execution_context.h"
#include "sql/execute/executor.h"
#include "sql/execute/slot.h"
#include "sql/plan/cached_plan.h"
#include "txn/heap_oracle.h"
#include "txn/visibility.h"

namespace pinwheel::sql {

class Node;
struct RecheckState;
struct TableState;
struct SharedRows;
class StatementChecks;

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
  std::optional<txn::HeapOracle> oracle;
  std::optional<txn::MvccPredicate> visible;
  std::int64_t work_mem_bytes = 4 << 20;
  ArenaBudget budget;  ///< of all arenas of the state; the limit is the session's

  ParameterSlot* parameter_slots = nullptr;
  Node** subplans = nullptr;           ///< roots, by subplan index; made at first use
  SharedRows** shared_rows = nullptr;  ///< CTEs by subplan index, then work tables
  TableState** tables = nullptr;       ///< by range
  RecheckState* recheck = nullptr;     ///< set in the second tree that rechecks changed rows
  std::vector<std::unique_ptr<Node>> nodes;

  NodeCounters* counters = nullptr;  ///< by node_id, when instrumented
  Instrument instrument = Instrument::kNone;
  const shm::UsageMeter* meter = nullptr;  ///< the session's, when instrumented under one
  std::uint64_t processed = 0;
  std::unique_ptr<StatementChecks> checks;  ///< made by the first change that needs one

  void begin(ExecutionContext& c);
  void close_nodes() noexcept;
  /// Counts what this execution did to its tables.
  void report_activity();
  /// Runs the init plan behind a pending parameter.
  void evaluate_pending(ParameterSlot& slot);
  Node* subplan_root(int index);
  TableState& table(int range);
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
  /// Only the first `rows` rows will be asked for (0 = all): sorts keep no more. Before the first next().
  virtual void set_bound(std::int64_t /*rows*/) {}
  virtual void mark() {}
  virtual void restore() {}

  const Plan& plan;
  RunState& run;
  bool has_started = false;  ///< for instrumentation: since the last rewind
};

/// Adds the time and the buffers of one call of a node, inputs included, to its counters; does
/// nothing when they are not kept.
class [[nodiscard]] MeasuredCall {
 public:
  explicit MeasuredCall(Node& node) noexcept;
  ~MeasuredCall();
  MeasuredCall(const MeasuredCall&) = delete;
  MeasuredCall& operator=(const MeasuredCall&) = delete;

 private:
  Node& node_;
  std::int64_t start_ns_ = 0;
  shm::BufferUsage before_;
};

Slot* instrumented_next(Node& node);

/// One row from an input, counted when EXPLAIN ANALYZE asks for it.
inline Slot* pull(Node& node) {
  if (node.run.instrument == Instrument::kNone) [[likely]]
    return node.next();
  return instrumented_next(node);
}

/// rewind(), counted as a new loop.
inline void rewind_node(Node& node) {
  if (node.run.counters != nullptr) {
    node.has_started = false;
    node.run.counters[node.plan.node_id].loops += 1;
  }
  node.rewind();
}

/// Makes the state of `plan` and of everything below it.
Node* make_node(const Plan* plan, RunState& run);

/// A copy of a value of any type in `arena`.
Datum keep_value(Datum value, Oid type, Arena& arena);

/// The first column of all rows of `rows` as an array in `arena`: ARRAY(SELECT ...).
Datum gather_array(Node& rows, Oid element, Arena& arena);

/// A fresh slot of `count` columns in `arena`.
Slot* make_slot(Arena& arena, int count);

}  // namespace pinwheel::sql
