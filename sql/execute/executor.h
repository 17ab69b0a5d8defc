#pragma once

#include <cstdint>
#include <memory>

#include "base/arena.h"
#include "shm/usage_meter.h"
#include "sql/execute/execution_context.h"
#include "sql/execute/slot.h"
#include "sql/plan/cached_plan.h"

namespace pinwheel::sql {

/// What a node did, for EXPLAIN ANALYZE. Counted only when asked for.
struct NodeCounters {
  double startup_ns = 0;  ///< summed over loops
  double total_ns = 0;
  double rows = 0;
  double loops = 0;
  double filtered = 0;       ///< removed by quals
  double join_filtered = 0;  ///< removed by join quals
  shm::BufferUsage buffers;  ///< of the node and what is below it, under a meter
  std::int64_t memory_bytes = 0;
  std::int64_t disk_bytes = 0;
  std::int64_t buckets = 0, batches = 0;  ///< hash tables
  std::uint64_t heap_fetches = 0, exact_pages = 0, lossy_pages = 0;
};

enum class Instrument : std::uint8_t { kNone, kRows, kTime };

struct ExecutorImpl;

/// The running side of one CachedPlan: node states, registers, arenas. Used by one session at a time; built
/// once and rewound for each execution, so that a short statement allocates nothing.
class ExecutorState {
 public:
  ~ExecutorState();
  ExecutorState(const ExecutorState&) = delete;
  ExecutorState& operator=(const ExecutorState&) = delete;

  /// Begins an execution. Table locks are held already and `context.snapshot` is set; both and the parameters
  /// stay valid until finish(). Errors: 25006 when the plan writes in a read-only transaction.
  void start(ExecutionContext& context, Instrument instrument = Instrument::kNone);

  /// Sends up to `limit` rows (0 = all) to `receiver`; true when the last row has been made. A statement that
  /// changes rows does all its work in the first call if it returns no rows.
  bool run(RowReceiver& receiver, std::uint64_t limit = 0);

  /// Ends an execution: checks that wait for the statement's end (foreign keys), frees pins and files. After
  /// an error call abandon() instead.
  void finish();
  void abandon() noexcept;

  /// Rows returned, or changed for INSERT/UPDATE/DELETE: the command tag's count.
  std::uint64_t processed() const noexcept;
  const CachedPlan& plan() const noexcept;
  const NodeCounters* counters() const noexcept;  ///< by node_id, when instrumented

 private:
  friend class ExecutorLease;
  friend class CachedPlan;
  explicit ExecutorState(const CachedPlan& plan);
  std::unique_ptr<ExecutorImpl> impl_;
  ExecutorState* next_idle_ = nullptr;
};

/// A state taken from its plan's idle list (or made), given back when the lease dies.
class [[nodiscard]] ExecutorLease {
 public:
  explicit ExecutorLease(CachedPlan& plan);
  ExecutorLease(ExecutorLease&& other) noexcept : plan_{other.plan_}, state_{other.state_} {
    other.state_ = nullptr;
  }
  ExecutorLease& operator=(ExecutorLease&&) = delete;
  /// Abandons an execution that was not finished.
  ~ExecutorLease();
  ExecutorState* operator->() const noexcept { return state_; }
  ExecutorState& operator*() const noexcept { return *state_; }

 private:
  CachedPlan* plan_;
  ExecutorState* state_;
};

/// Runs a whole plan with one call.
std::uint64_t execute_plan(CachedPlan& plan, ExecutionContext& context, RowReceiver& receiver);

}  // namespace pinwheel::sql
