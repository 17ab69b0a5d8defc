#pragma once

#include <string>

#include "sql/plan/cached_plan.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// Expressions of finished plans as EXPLAIN shows them.
class ExplainText {
 public:
  ExplainText(const CachedPlan& plan, bool verbose);

  std::string expression(const Expr* e);
  /// A list of conditions joined by AND; "" when empty.
  std::string condition(ExprList quals);
  /// "a" or "t.a" by how many relations there are.
  std::string column(const ColumnExpr* column);
  std::string range_name(int range);

 private:
  std::string constant(const ConstExpr* c);
  std::string call(Oid function, ExprList args);
  std::string operand(const Expr* e);
  std::string list(ExprList args);

  const CachedPlan& plan_;
  bool prefix_;
  EvalContext eval_;
  Arena arena_;
};

}  // namespace pinwheel::sql
