#include "sql/execute/node_base.h"
#include "sql/execute/scan_nodes.h"
#include "sql/plan/expression_tools.h"

namespace pinwheel::sql {
namespace {

class NestLoopNode final : public ExpressionNode {
 public:
  NestLoopNode(const NestLoopPlan& p, RunState& r)
      : ExpressionNode{p, r}, plan_{p}, outer_{make_node(p.left, r)}, inner_{make_node(p.right, r)} {
    std::vector<const Expr*> values;
    for (const SubPlanArgument& parameter : p.parameters) values.push_back(parameter.value);
    values_ = r.state_arena.make_array<Datum>(values.size() + 1);
    nulls_ = r.state_arena.make_array<bool>(values.size() + 1);
    parameters_ = compiler().into(values, values_, nulls_);
    join_quals_ = compiler().condition(p.join_quals);
    quals_ = compiler().condition(p.quals);
    compile_output();
    null_inner_ = make_slot(r.state_arena, wide_enough(p));
    null_inner_->valid = null_inner_->count;
    for (int i = 0; i < null_inner_->count; ++i) null_inner_->nulls[i] = true;
  }

  Slot* next() override {
    for (;;) {
      if (need_outer_ && !fetch_outer()) return nullptr;
      begin_row();
      Slot* inner = pull(*inner_);
      if (inner == nullptr) {
        need_outer_ = true;
        if (!matched_ && (plan_.join == JoinType::kLeft || plan_.join == JoinType::kAnti)) {
          frame_.slots[static_cast<int>(SlotSource::kInner)] = null_inner_;
          if (!quals_->empty() && !quals_->test(frame_)) {
            count_filtered();
            continue;
          }
          return project();
        }
        continue;
      }
      frame_.slots[static_cast<int>(SlotSource::kInner)] = inner;
      if ((++ticks_ & 255) == 0) shm::check_interrupts();
      if (!join_quals_->empty() && !join_quals_->test(frame_)) {
        if (run.counters != nullptr) run.counters[plan.node_id].join_filtered += 1;
        continue;
      }
      matched_ = true;
      if (plan_.join == JoinType::kAnti) {
        need_outer_ = true;
        continue;
      }
      if (plan_.join == JoinType::kSemi || plan_.inner_unique) need_outer_ = true;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        continue;
      }
      return project();
    }
  }
  void rewind() override {
    begin_frame();
    need_outer_ = true;
    ended_ = false;
    rewind_node(*outer_);
  }

 private:
  /// Slots of the inner side that the join reads, so that a row of NULLs has them all.
  static int wide_enough(const NestLoopPlan& p) {
    int widest = static_cast<int>(p.right->targets.size());
    const auto look = [&](const Expr* e) {
      any_node(e, [&](const Expr* n) {
        const auto* c = expr_if<SlotColumnExpr>(n);
        if (c != nullptr && c->source == SlotSource::kInner && c->index >= widest) widest = c->index + 1;
        return false;
      });
    };
    for (const Expr* e : p.targets) look(e);
    for (const Expr* e : p.quals) look(e);
    return widest;
  }
  bool fetch_outer() {
    if (ended_) return false;
    Slot* outer = pull(*outer_);
    if (outer == nullptr) {
      ended_ = true;
      return false;
    }
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = outer;
    if (!parameters_->empty()) {
      begin_row();
      // the values live in the outer row, which stays until the next one is fetched; made ones are kept here
      Arena* saved = frame_.arena;
      parameter_arena_.reset();
      frame_.arena = &parameter_arena_;
      parameters_->run(frame_);
      frame_.arena = saved;
      for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
        ParameterSlot& slot = run.parameter_slots[plan_.parameters[i].slot];
        slot.value = values_[i];
        slot.is_null = nulls_[i];
      }
    }
    rewind_node(*inner_);
    matched_ = false;
    need_outer_ = false;
    return true;
  }

  const NestLoopPlan& plan_;
  Node* outer_;
  Node* inner_;
  const Program* parameters_;
  const Program* join_quals_;
  const Program* quals_;
  Datum* values_;
  bool* nulls_;
  Slot* null_inner_;
  Arena parameter_arena_;
  bool need_outer_ = true;
  bool matched_ = false;
  bool ended_ = false;
  unsigned ticks_ = 0;
};

}  // namespace

std::unique_ptr<Node> make_nest_loop(const Plan* plan, RunState& run) {
  return std::make_unique<NestLoopNode>(*plan_cast<NestLoopPlan>(plan), run);
}

}  // namespace pinwheel::sql
