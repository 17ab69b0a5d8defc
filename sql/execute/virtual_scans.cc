#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/node_base.h"
#include "sql/execute/recheck.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/set_function_call.h"
#include "sql/execute/shared_rows.h"

namespace pinwheel::sql {

SharedRows& cte_rows(RunState& run, int subplan) {
  SharedRows*& shared = run.shared_rows[subplan];
  if (shared == nullptr) {
    const Plan* plan = run.plan.subplans[static_cast<std::size_t>(subplan)].plan;
    shared = new SharedRows{run, plan->targets};
  }
  if (!shared->started) {
    shared->started = true;
    shared->source = run.subplan_root(subplan);
    rewind_node(*shared->source);
  }
  return *shared;
}

bool advance_cte(RunState& run, SharedRows& shared) {
  static_cast<void>(run);
  if (shared.source == nullptr) return false;
  Slot* row = pull(*shared.source);
  if (row == nullptr) {
    shared.source->close();
    shared.source = nullptr;
    return false;
  }
  if (row->valid < shared.format.count()) deform_slot(*row, shared.format.count());
  shared.rows.append(row->values, row->nulls);
  return true;
}

SharedRows& work_table(RunState& run, int index, std::span<Expr* const> columns) {
  SharedRows*& shared = run.shared_rows[run.plan.subplans.size() + static_cast<std::size_t>(index)];
  if (shared == nullptr) shared = new SharedRows{run, columns};
  return *shared;
}

namespace {

int column_count(RunState& run, const ScanPlan& p) {
  return static_cast<int>(run.plan.ranges[static_cast<std::size_t>(p.range)].columns.size());
}

/// Copies the first columns of a stored row into a slot (the bytes stay in the store).
void show_row(Slot& slot, const PackedRow& row) {
  const int count = std::min(slot.count, static_cast<int>(row.columns));
  for (int i = 0; i < count; ++i) {
    slot.values[i] = row.values()[i];
    slot.nulls[i] = row.nulls()[i];
  }
  for (int i = count; i < slot.count; ++i) slot.nulls[i] = true;
  slot.valid = slot.count;
}

class SubqueryScanNode final : public ExpressionNode {
 public:
  SubqueryScanNode(const SubqueryScanPlan& p, RunState& r)
      : ExpressionNode{p, r}, input_{make_node(p.left, r)} {
    quals_ = compiler().condition(p.quals);
    if (!p.passes_input) compile_output();
  }
  Slot* next() override {
    for (;;) {
      begin_row();
      Slot* row = pull(*input_);
      if (row == nullptr) return nullptr;
      frame_.slots[static_cast<int>(SlotSource::kScan)] = row;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        continue;
      }
      return out_ != nullptr ? project() : row;
    }
  }
  void rewind() override {
    begin_frame();
    rewind_node(*input_);
  }

 private:
  Node* input_;
  const Program* quals_;
};

class ValuesScanNode final : public ScanNode<ValuesScanNode> {
 public:
  ValuesScanNode(const ValuesScanPlan& p, RunState& r)
      : ScanNode{p, r, make_slot(r.state_arena, column_count(r, p))} {
    scan_slot_->valid = scan_slot_->count;
    for (const ExprList& row : p.value_rows) programs_.push_back(compiler().projection(row, *scan_slot_));
  }
  bool fetch() {
    if (at_ == programs_.size()) return false;
    programs_[at_++]->run(frame_);
    return true;
  }
  void rewind() override {
    begin_frame();
    at_ = 0;
  }

 private:
  std::vector<const Program*> programs_;
  std::size_t at_ = 0;
};

class CteScanNode final : public ScanNode<CteScanNode> {
 public:
  CteScanNode(const CteScanPlan& p, RunState& r)
      : ScanNode{p, r, make_slot(r.state_arena, column_count(r, p))}, plan_{p} {}
  bool fetch() {
    SharedRows& shared = cte_rows(run, plan_.subplan);
    if (reader_.at == shared.rows.count() && !advance_cte(run, shared)) return false;
    show_row(*scan_slot_, *shared.rows.next(reader_));
    return true;
  }
  void rewind() override {
    begin_frame();
    reader_.rewind();
  }

 private:
  const CteScanPlan& plan_;
  TupleStore::Reader reader_;
};

class WorkTableScanNode final : public ScanNode<WorkTableScanNode> {
 public:
  WorkTableScanNode(const WorkTableScanPlan& p, RunState& r)
      : ScanNode{p, r, make_slot(r.state_arena, column_count(r, p))}, plan_{p} {}
  bool fetch() {
    SharedRows* shared =
        run.shared_rows[run.plan.subplans.size() + static_cast<std::size_t>(plan_.work_table)];
    if (shared == nullptr) return false;
    const PackedRow* row = shared->rows.next(reader_);
    if (row == nullptr) return false;
    show_row(*scan_slot_, *row);
    return true;
  }
  void rewind() override {
    begin_frame();
    reader_.rewind();
  }

 private:
  const WorkTableScanPlan& plan_;
  TupleStore::Reader reader_;
};

/// Functions in FROM, one or several side by side (ROWS FROM), shorter ones padded with NULL.
class FunctionScanNode final : public ScanNode<FunctionScanNode> {
 public:
  FunctionScanNode(const FunctionScanPlan& p, RunState& r)
      : ScanNode{p, r, make_slot(r.state_arena, column_count(r, p))}, plan_{p} {
    scan_slot_->valid = scan_slot_->count;
    for (std::size_t i = 0; i < p.functions.size(); ++i) {
      calls_.push_back(std::make_unique<SetFunctionCall>(p.functions[i], p.column_counts[i], r, arena_));
    }
  }
  bool fetch() {
    if (!started_) {
      started_ = true;
      ordinal_ = 0;
      for (const auto& call : calls_) call->start(frame_);
    }
    bool any = false;
    int column = 0;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const int count = plan_.column_counts[i];
      if (calls_[i]->next(frame_, scan_slot_->values + column, scan_slot_->nulls + column)) {
        any = true;
      } else {
        for (int c = 0; c < count; ++c) scan_slot_->nulls[column + c] = true;
      }
      column += count;
    }
    if (!any) return false;
    if (plan_.with_ordinality) {
      scan_slot_->values[column] = Datum::from_int64(++ordinal_);
      scan_slot_->nulls[column] = false;
    }
    if ((++ticks_ & 63) == 0) shm::check_interrupts();
    return true;
  }
  void rewind() override {
    begin_frame();
    started_ = false;
  }

 private:
  const FunctionScanPlan& plan_;
  std::vector<std::unique_ptr<SetFunctionCall>> calls_;
  bool started_ = false;
  std::int64_t ordinal_ = 0;
  unsigned ticks_ = 0;
};

}  // namespace

std::unique_ptr<Node> make_virtual_scan(const Plan* plan, RunState& run) {
  switch (plan->kind) {
    case PlanKind::kSubqueryScan:
      return std::make_unique<SubqueryScanNode>(*plan_cast<SubqueryScanPlan>(plan), run);
    case PlanKind::kFunctionScan:
      return std::make_unique<FunctionScanNode>(*plan_cast<FunctionScanPlan>(plan), run);
    case PlanKind::kValuesScan:
      return std::make_unique<ValuesScanNode>(*plan_cast<ValuesScanPlan>(plan), run);
    case PlanKind::kCteScan:
      return std::make_unique<CteScanNode>(*plan_cast<CteScanPlan>(plan), run);
    default:
      return std::make_unique<WorkTableScanNode>(*plan_cast<WorkTableScanPlan>(plan), run);
  }
}

}  // namespace pinwheel::sql
