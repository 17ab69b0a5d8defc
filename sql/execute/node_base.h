#pragma once

#include "shm/interrupts.h"
#include "sql/execute/program.h"
#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// A node with expressions: a frame to evaluate them in, an arena for one row's results, an output slot.
class ExpressionNode : public Node {
 public:
  ExpressionNode(const Plan& p, RunState& r) : Node{p, r}, arena_{&r.budget} {
    frame_.run = &r;
    frame_.arena = &arena_;
  }

 protected:
  /// Begins a row: frees the last one's results.
  void begin_row() { arena_.reset(); }
  void begin_frame() { frame_.eval = run.eval; }
  ProgramCompiler compiler() { return ProgramCompiler{run.state_arena, &run}; }

  void compile_output() {
    out_ = make_slot(run.state_arena, static_cast<int>(plan.targets.size()));
    out_->valid = out_->count;
    projection_ = compiler().projection(plan.targets, *out_);
  }
  /// The node's own output row from what stands in the frame.
  Slot* project() {
    projection_->run(frame_);
    return out_;
  }
  void count_filtered() {
    if (run.counters != nullptr) run.counters[plan.node_id].filtered += 1;
  }

  EvalFrame frame_;
  Arena arena_;
  Slot* out_ = nullptr;
  const Program* projection_ = nullptr;
};

/// A node that reads rows of a range, filters and projects them. `Derived::fetch()` shows the next row in
/// scan_slot_ and says whether there was one.
template <class Derived>
class ScanNode : public ExpressionNode {
 public:
  ScanNode(const ScanPlan& p, RunState& r, Slot* scan_slot) : ExpressionNode{p, r}, scan_slot_{scan_slot} {
    frame_.slots[static_cast<int>(SlotSource::kScan)] = scan_slot_;
    quals_ = compiler().condition(p.quals);
    if (!p.passes_input) compile_output();
  }

  Slot* next() override {
    for (;;) {
      begin_row();
      if (!static_cast<Derived*>(this)->fetch()) return nullptr;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        continue;
      }
      return out_ != nullptr ? project() : scan_slot_;
    }
  }

 protected:
  Slot* scan_slot_;
  const Program* quals_;
};

/// The slot of a table's own rows.
Slot* make_table_slot(RunState& run, int range);

}  // namespace pinwheel::sql
