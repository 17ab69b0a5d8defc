#pragma once

#include <cstdint>
#include <span>

#include "base/arena.h"
#include "sql/execute/slot.h"
#include "sql/functions/function.h"
#include "sql/plan/plan_expression.h"
#include "sql/types/compare.h"

namespace pinwheel::sql {

struct RunState;
struct TypeInfo;
class Program;

/// What a node's programs read: its current rows. The node sets the slots; results that need memory come from
/// `arena`, which the node resets between rows.
struct EvalFrame {
  Slot* slots[3] = {nullptr, nullptr, nullptr};  ///< by SlotSource
  RunState* run = nullptr;
  Arena* arena = nullptr;
  EvalContext* eval = nullptr;  ///< current while a program runs
};

enum class Op : std::uint8_t {
  kDone,
  kDeform,
  kColumn,
  kSystemColumn,
  kWholeRow,
  kConst,
  kCopy,
  kParam,
  kExecParam,
  kCall0,
  kCallAny,
  kCallStrict1,
  kCallStrict2,
  kCallStrict,
  kIntEqual,
  kIntNotEqual,
  kIntLess,
  kIntLessEqual,
  kIntGreater,
  kIntGreaterEqual,
  kInt4Add,
  kInt4Subtract,
  kInt4Multiply,
  kInt8Add,
  kInt8Subtract,
  kInt8Multiply,
  kAndFirst,
  kAndStep,
  kOrFirst,
  kOrStep,
  kNot,
  kQual,
  kJump,
  kJumpIfNotTrue,
  kJumpIfNotNull,
  kJumpIfNull,
  kIsNull,
  kIsNotNull,
  kRowIsNull,
  kRowIsNotNull,
  kBooleanTest,
  kDistinct,
  kNullIf,
  kMinMax,
  kScalarArray,
  kArray,
  kSubscript,
  kRow,
  kRowCompareStep,
  kRowCompareFinal,
  kFieldSelect,
  kIoCoerce,
  kArrayCoerce,
  kSubPlan,
  kSqlValue
};

struct CallStep {
  FunctionPtr function;
  FunctionCall* call;
};

/// One instruction: `out` and `out_null` take the result; what the rest means depends on `op`.
struct Step {
  Op op = Op::kDone;
  std::uint8_t source = 0;  ///< SlotSource, or a small choice
  std::int32_t index = 0;   ///< column, parameter, jump target
  Datum* out = nullptr;
  bool* out_null = nullptr;
  union {
    CallStep call;
    struct {
      const Datum* left;
      const Datum* right;
      const bool* nulls;  ///< two: left, right
    } binary;
    struct {
      Datum value;
      bool is_null;
    } constant;
    struct {
      const Datum* value;
      const bool* is_null;
    } copy;
    void* data;
  };
  Step() : data{nullptr} {}
};

/// A compiled expression or list of them: a flat array of steps over registers that it owns. Belongs to one
/// running state, so registers are plain addresses.
class Program {
 public:
  /// Runs to the end. For projections the results stand in the slot given to the compiler.
  void run(EvalFrame& frame) const { execute(frame); }
  /// Runs a scalar expression.
  Datum value(EvalFrame& frame, bool* is_null) const {
    execute(frame);
    *is_null = result_null_;
    return result_;
  }
  /// Runs a list of conditions: true when all are true.
  bool test(EvalFrame& frame) const {
    execute(frame);
    return result_.as_bool() && !result_null_;
  }
  bool empty() const { return count_ == 0; }

 private:
  friend class ProgramCompiler;
  void execute(EvalFrame& frame) const;
  const Step* steps_ = nullptr;
  int count_ = 0;
  mutable Datum result_{};
  mutable bool result_null_ = false;
};

/// Compiles expressions whose columns are SlotColumnExprs into programs in `arena`. Errors: 0A000, 42883 for
/// functions that are not implemented.
class ProgramCompiler {
 public:
  /// `run` may be null when neither executor parameters nor subplans occur.
  ProgramCompiler(Arena& arena, RunState* run) : arena_{arena}, run_{run} {}

  const Program* scalar(const Expr* expr);
  const Program* condition(ExprList quals);
  /// Columns `out.values[i]` take `exprs[i]`; out.valid is set by the caller.
  const Program* projection(ExprList exprs, Slot& out);
  /// Each expression into its own place.
  const Program* into(std::span<const Expr* const> exprs, Datum* values, bool* nulls);

 private:
  friend class ExpressionCompiler;
  Arena& arena_;
  RunState* run_;
};

/// True when `program` may take memory from the frame's arena.
bool may_allocate(const Expr* expr);

/// Evaluates an expression without columns, once. `parameters` may be null. Results lie in `arena`.
Datum evaluate_once(const Expr* expr, Arena& arena, EvalContext& eval, bool* is_null);

/// Implemented beside subplans: evaluates a SubPlanExpr.
struct SubPlanState;
SubPlanState* make_subplan_state(const SubPlanExpr& expr, RunState& run, Arena& arena);
Datum evaluate_subplan(SubPlanState& state, EvalFrame& frame, bool* is_null);

/// Fills columns [slot.valid, upto) from the tuple.
void deform_slot(Slot& slot, int upto);
/// System column or row identity of a table row.
Datum system_column(const Slot& slot, int attribute, Arena& arena, bool* is_null);

}  // namespace pinwheel::sql
