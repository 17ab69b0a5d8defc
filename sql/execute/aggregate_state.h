#pragma once

#include <memory>
#include <vector>

#include "sql/execute/program.h"
#include "sql/execute/row_compare.h"
#include "sql/functions/function.h"
#include "sql/plan/plan.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

struct RunState;

/// The running value of one aggregate in one group.
struct TransitionValue {
  Datum value{};
  bool is_null = true;
  bool has_value = false;  ///< false until a strict transition without initial value saw its first input
};

/// One aggregate of a plan node: how its inputs are computed, taken in and finished. Shared by all groups.
class AggregateRunner {
 public:
  /// `args`, `filter`... of `expr` are over the node's input row.
  AggregateRunner(const AggregateExpr& expr, RunState& run);
  /// A window function that is an aggregate.
  AggregateRunner(const WindowFunctionExpr& expr, RunState& run);

  /// Before the first row of a group; `group_arena` lives as long as the group.
  void begin(TransitionValue& state, Arena& group_arena);
  /// Takes the input row of `frame` in.
  void advance(TransitionValue& state, EvalFrame& frame, Arena& group_arena);
  /// The result; it may lie in `arena` or in the group's memory.
  Datum finish(TransitionValue& state, EvalFrame& frame, Arena& group_arena, Arena& arena, bool* is_null);

  /// DISTINCT or ORDER BY inside the call: inputs are collected and taken in at the end. The collection
  /// belongs to the current group; such aggregates never run hashed.
  bool collects() const { return collects_; }

 private:
  void prepare(Oid function, Oid collation, ExprList args, ExprList direct_args, const Expr* filter,
               bool star, Oid result, bool variadic);
  void take(TransitionValue& state, EvalFrame& frame, Arena& group_arena);
  void take_collected(TransitionValue& state, EvalFrame& frame, Arena& group_arena);
  void set_value(TransitionValue& state, Datum value, bool is_null, Arena& group_arena);

  RunState& run_;
  const AggregateInfo* info_ = nullptr;
  const Program* inputs_ = nullptr;
  const Program* filter_ = nullptr;
  const Program* direct_ = nullptr;
  FunctionCall transition_;
  FunctionCall final_;
  int input_count_ = 0;
  int direct_count_ = 0;
  std::int16_t state_length_ = 8;
  bool state_by_value_ = true;
  Datum initial_{};
  bool initial_null_ = true;
  enum class Fast : std::uint8_t { kNone, kCountStar, kCountAny } fast_ = Fast::kNone;
  // DISTINCT and ORDER BY
  bool collects_ = false;
  bool distinct_ = false;
  std::vector<SortKey> sort_keys_;
  std::unique_ptr<RowFormat> format_;
  std::unique_ptr<RowComparer> comparer_;
  std::unique_ptr<RowComparer> distinct_comparer_;
  std::vector<PackedRow*> collected_;
  Arena collect_arena_;
};

}  // namespace pinwheel::sql
