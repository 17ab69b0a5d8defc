#pragma once

#include "sql/execute/program.h"
#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// A call of a set-returning function (or of a plain one, which then gives one row), row by row.
class SetFunctionCall {
 public:
  /// `columns`: result columns; by-reference results live in `row_arena` until it is reset.
  SetFunctionCall(const Expr* expr, int columns, RunState& run, Arena& row_arena);

  /// Evaluates the arguments in `frame`.
  void start(EvalFrame& frame);
  /// False at the end.
  bool next(EvalFrame& frame, Datum* values, bool* nulls);

 private:
  void find_record_columns(Oid procedure, Arena& arena);

  const SetFunction* function_ = nullptr;
  const Program* program_;  ///< arguments, or the whole plain expression
  FunctionCall call_;
  int columns_;
  /// A function with several OUT arguments where one value is wanted: their types, and room for its columns.
  std::span<const Oid> record_types_;
  Datum* record_values_ = nullptr;
  bool* record_nulls_ = nullptr;
  Arena& row_arena_;
  Arena set_arena_;  ///< arguments and the iteration's state
  void* state_ = nullptr;
  bool strict_ = false;
  bool done_ = true;
  Datum plain_value_{};
  bool plain_null_ = false;
};

}  // namespace pinwheel::sql
