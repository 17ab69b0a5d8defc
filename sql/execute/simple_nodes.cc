#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/node_base.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/set_function_call.h"
#include "sql/plan/expression_tools.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

class ResultNode final : public ExpressionNode {
 public:
  ResultNode(const ResultPlan& p, RunState& r) : ExpressionNode{p, r} {
    if (p.left != nullptr) input_ = make_node(p.left, r);
    gate_ = compiler().condition(p.constant_quals);
    quals_ = compiler().condition(p.quals);
    if (!p.passes_input) compile_output();
  }
  Slot* next() override {
    if (done_) return nullptr;
    if (!gate_checked_) {
      gate_checked_ = true;
      begin_row();
      if (!gate_->empty() && !gate_->test(frame_)) {
        done_ = true;
        return nullptr;
      }
    }
    if (input_ == nullptr) {
      done_ = true;
      begin_row();
      return project();
    }
    for (;;) {
      begin_row();
      Slot* row = pull(*input_);
      if (row == nullptr) {
        done_ = true;
        return nullptr;
      }
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        continue;
      }
      return out_ != nullptr ? project() : row;
    }
  }
  void rewind() override {
    begin_frame();
    done_ = gate_checked_ = false;
    if (input_ != nullptr) rewind_node(*input_);
  }

 private:
  Node* input_ = nullptr;
  const Program* gate_;
  const Program* quals_;
  bool done_ = false;
  bool gate_checked_ = false;
};

/// Set-returning functions in a target list: they run side by side, shorter ones padded with NULL.
class ProjectSetNode final : public ExpressionNode {
 public:
  ProjectSetNode(const ProjectSetPlan& p, RunState& r) : ExpressionNode{p, r} {
    if (p.left != nullptr) input_ = make_node(p.left, r);
    Arena& arena = r.state_arena;
    std::vector<const Expr*> functions;
    std::vector<Expr*> targets;
    for (Expr* target : p.targets) {
      targets.push_back(rewrite(arena, target, [&](Expr* n) -> Expr* {
        auto* f = expr_if<FunctionExpr>(n);
        if (f == nullptr || !f->returns_set) return nullptr;
        for (const Expr* arg : f->args) {
          if (has_set_function(arg)) {
            throw SqlError{sqlstate::kFeatureNotSupported,
                           "nested set-returning functions are not supported"};
          }
        }
        auto* column = arena.make<SlotColumnExpr>();
        column->type = f->type;
        column->source = SlotSource::kInner;
        column->index = static_cast<int>(functions.size());
        functions.push_back(f);
        return column;
      }));
    }
    sets_ = make_slot(arena, static_cast<int>(functions.size()));
    sets_->valid = sets_->count;
    for (const Expr* f : functions) calls_.push_back(std::make_unique<SetFunctionCall>(f, 1, r, arena_));
    out_ = make_slot(arena, static_cast<int>(targets.size()));
    out_->valid = out_->count;
    projection_ = compiler().projection(targets, *out_);
    frame_.slots[static_cast<int>(SlotSource::kInner)] = sets_;
  }
  Slot* next() override {
    for (;;) {
      begin_row();
      if (!active_) {
        if (done_) return nullptr;
        if (input_ != nullptr) {
          Slot* row = pull(*input_);
          if (row == nullptr) {
            done_ = true;
            return nullptr;
          }
          frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
        } else {
          done_ = true;
        }
        for (const auto& call : calls_) call->start(frame_);
        active_ = true;
      }
      bool any = false;
      for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (calls_[i]->next(frame_, sets_->values + i, sets_->nulls + i))
          any = true;
        else
          sets_->nulls[i] = true;
      }
      if ((++ticks_ & 63) == 0) shm::check_interrupts();
      if (any) return project();
      active_ = false;
    }
  }
  void rewind() override {
    begin_frame();
    active_ = done_ = false;
    if (input_ != nullptr) rewind_node(*input_);
  }

 private:
  Node* input_ = nullptr;
  std::vector<std::unique_ptr<SetFunctionCall>> calls_;
  Slot* sets_;
  bool active_ = false;
  bool done_ = false;
  unsigned ticks_ = 0;
};

class AppendNode final : public Node {
 public:
  AppendNode(const AppendPlan& p, RunState& r) : Node{p, r} {
    for (const Plan* input : p.inputs) inputs_.push_back(make_node(input, r));
  }
  Slot* next() override {
    while (at_ < inputs_.size()) {
      if (!started_) {
        started_ = true;
        rewind_node(*inputs_[at_]);
      }
      if (Slot* row = pull(*inputs_[at_])) return row;
      inputs_[at_]->close();
      ++at_;
      started_ = false;
    }
    return nullptr;
  }
  void rewind() override {
    at_ = 0;
    started_ = false;
  }

 private:
  std::vector<Node*> inputs_;
  std::size_t at_ = 0;
  bool started_ = false;
};

class LimitNode final : public ExpressionNode {
 public:
  LimitNode(const LimitPlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        input_{make_node(p.left, r)},
        ties_{p.tie_keys, &arena_},
        format_{p.left->targets} {
    if (p.limit != nullptr) limit_program_ = compiler().scalar(p.limit);
    if (p.offset != nullptr) offset_program_ = compiler().scalar(p.offset);
  }
  Slot* next() override {
    if (!computed_) compute();
    while (skipped_ < offset_) {
      if (pull(*input_) == nullptr) return finish();
      ++skipped_;
    }
    if (finished_) return nullptr;
    if (limit_ >= 0 && given_ >= limit_) {
      if (!plan_.with_ties || limit_ == 0) return finish();
      Slot* row = fetch();
      if (row == nullptr || last_ == nullptr ||
          ties_.compare(row->values, row->nulls, last_->values(), last_->nulls()) != 0) {
        return finish();
      }
      return row;
    }
    Slot* row = fetch();
    if (row == nullptr) return finish();
    ++given_;
    if (plan_.with_ties && given_ == limit_) {
      tie_arena_.reset();
      last_ = format_.pack(row->values, row->nulls, tie_arena_);
    }
    return row;
  }
  void rewind() override {
    begin_frame();
    computed_ = finished_ = false;
    skipped_ = given_ = 0;
    last_ = nullptr;
    rewind_node(*input_);
  }

 private:
  Slot* finish() {
    finished_ = true;
    skipped_ = offset_;
    return nullptr;
  }
  Slot* fetch() {
    Slot* row = pull(*input_);
    if (row != nullptr && plan_.with_ties && row->valid < format_.count()) deform_slot(*row, format_.count());
    return row;
  }
  void compute() {
    computed_ = true;
    begin_row();
    limit_ = -1;
    offset_ = 0;
    bool is_null;
    if (offset_program_ != nullptr) {
      const Datum value = offset_program_->value(frame_, &is_null);
      if (!is_null) offset_ = value.as_int64();
      if (offset_ < 0) {
        throw SqlError{sqlstate::kInvalidRowCountInResultOffsetClause, "OFFSET must not be negative"};
      }
    }
    if (limit_program_ != nullptr) {
      const Datum value = limit_program_->value(frame_, &is_null);
      if (!is_null) {
        limit_ = value.as_int64();
        if (limit_ < 0) throw SqlError{sqlstate::kInvalidRowCountInLimitClause, "LIMIT must not be negative"};
      }
    }
    std::int64_t bound = 0;
    if (limit_ >= 0 && !plan_.with_ties && !__builtin_add_overflow(limit_, offset_, &bound)) {
      input_->set_bound(bound == 0 ? 1 : bound);
    } else {
      input_->set_bound(0);
    }
  }

  const LimitPlan& plan_;
  Node* input_;
  const Program* limit_program_ = nullptr;
  const Program* offset_program_ = nullptr;
  RowComparer ties_;
  RowFormat format_;
  Arena tie_arena_;
  PackedRow* last_ = nullptr;
  std::int64_t limit_ = -1, offset_ = 0, skipped_ = 0, given_ = 0;
  bool computed_ = false;
  bool finished_ = false;
};

/// Keeps its input's rows for another pass.
class MaterializeNode final : public Node {
 public:
  MaterializeNode(const MaterializePlan& p, RunState& r)
      : Node{p, r},
        input_{make_node(p.left, r)},
        format_{p.left->targets},
        rows_{format_, r.context->storage.files.data_directory(), r.work_mem_bytes, &r.budget},
        slot_{make_slot(r.state_arena, format_.count())} {
    slot_->valid = slot_->count;
  }
  Slot* next() override {
    if (!started_) {
      started_ = true;
      rewind_node(*input_);
    }
    if (reader_.at == rows_.count()) {
      if (ended_) return nullptr;
      Slot* row = pull(*input_);
      if (row == nullptr) {
        ended_ = true;
        input_->close();
        return nullptr;
      }
      if (row->valid < format_.count()) deform_slot(*row, format_.count());
      rows_.append(row->values, row->nulls);
    }
    return show(*rows_.next(reader_));
  }
  void rewind() override {
    reader_.rewind();
    if (plan.depends_on_parameters || !started_) {
      rows_.clear();
      ended_ = started_ = false;
    }
  }
  void close() noexcept override {
    rows_.clear();
    reader_.rewind();
    ended_ = started_ = false;
  }
  void mark() override { marked_ = reader_.at; }
  void restore() override { reader_.at = marked_; }

 private:
  Slot* show(const PackedRow& row) {
    for (int i = 0; i < slot_->count; ++i) {
      slot_->values[i] = row.values()[i];
      slot_->nulls[i] = row.nulls()[i];
    }
    return slot_;
  }
  Node* input_;
  RowFormat format_;
  TupleStore rows_;
  TupleStore::Reader reader_;
  Slot* slot_;
  std::size_t marked_ = 0;
  bool started_ = false;
  bool ended_ = false;
};

class UniqueNode final : public Node {
 public:
  UniqueNode(const UniquePlan& p, RunState& r)
      : Node{p, r}, input_{make_node(p.left, r)}, comparer_{p.keys, &scratch_}, format_{p.left->targets} {}
  Slot* next() override {
    for (;;) {
      Slot* row = pull(*input_);
      if (row == nullptr) return nullptr;
      if (row->valid < format_.count()) deform_slot(*row, format_.count());
      scratch_.reset();
      if (last_ != nullptr && comparer_.equal(row->values, row->nulls, last_->values(), last_->nulls()))
        continue;
      last_arena_.reset();
      last_ = format_.pack(row->values, row->nulls, last_arena_);
      return row;
    }
  }
  void rewind() override {
    comparer_.set_detoaster(run.eval->detoaster);
    last_ = nullptr;
    rewind_node(*input_);
  }

 private:
  Node* input_;
  Arena scratch_;
  Arena last_arena_;
  RowComparer comparer_;
  RowFormat format_;
  PackedRow* last_ = nullptr;
};

}  // namespace

std::unique_ptr<Node> make_simple_node(const Plan* plan, RunState& run) {
  switch (plan->kind) {
    case PlanKind::kResult:
      return std::make_unique<ResultNode>(*plan_cast<ResultPlan>(plan), run);
    case PlanKind::kProjectSet:
      return std::make_unique<ProjectSetNode>(*plan_cast<ProjectSetPlan>(plan), run);
    case PlanKind::kAppend:
      return std::make_unique<AppendNode>(*plan_cast<AppendPlan>(plan), run);
    case PlanKind::kLimit:
      return std::make_unique<LimitNode>(*plan_cast<LimitPlan>(plan), run);
    case PlanKind::kMaterialize:
      return std::make_unique<MaterializeNode>(*plan_cast<MaterializePlan>(plan), run);
    case PlanKind::kUnique:
      return std::make_unique<UniqueNode>(*plan_cast<UniquePlan>(plan), run);
    default:
      DB_PANIC("plan node of unknown kind");
  }
}

}  // namespace pinwheel::sql
