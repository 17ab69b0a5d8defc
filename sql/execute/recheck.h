#pragma once

#include <vector>

#include "sql/execute/run_state.h"
#include "storage/heap/tuple_layout.h"

namespace pinwheel::sql {

struct RecheckSource;

/// The rows that a second run of a plan works on, one per range, to see whether a row that somebody changed
/// still qualifies in its newest version (READ COMMITTED).
struct RecheckState {
  struct Row {
    bool substituted = false;  ///< scans of the range give `tuple` once (or nothing)
    bool present = false;
    bool given = false;
    storage::HeapTupleView tuple;
  };
  explicit RecheckState(std::size_t ranges) : rows(ranges) {}
  std::vector<Row> rows;
};

/// Rechecks changed rows through a tree of its own, made at first use.
class Rechecker {
 public:
  /// `subtree`: the plan below the node that changes or locks rows.
  Rechecker(RunState& run, const Plan* subtree) : run_{run}, subtree_{subtree} {}
  ~Rechecker();

  /// Sets the newest version of the row of `range`; the bytes live until the next begin().
  void begin();
  void substitute(int range, const storage::HeapTupleView& tuple);
  /// The range has no row (an outer join's null side).
  void substitute_nothing(int range);
  /// The subtree's row for the substituted rows, or null when they no longer qualify. Valid until the next
  /// begin().
  Slot* evaluate();
  Arena& arena() { return arena_; }
  void close() noexcept;

 private:
  RunState& run_;
  const Plan* subtree_;
  std::unique_ptr<RunState> other_;
  std::unique_ptr<RecheckState> state_;
  Node* root_ = nullptr;
  Arena arena_;
};

/// In a rechecking tree: shows the substituted row of `range` once; false when it was given or there is none.
bool give_substitute(RunState& run, int range, Slot& slot);
inline bool is_substituted(const RunState& run, int range) {
  return run.recheck != nullptr && run.recheck->rows[static_cast<std::size_t>(range)].substituted;
}

}  // namespace pinwheel::sql
