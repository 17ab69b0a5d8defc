#pragma once

#include <map>
#include <span>
#include <string>

#include "sql/plan/cached_plan.h"
#include "sql/plan/plan_expression.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// Expressions of finished plans as EXPLAIN shows them.
class ExplainText {
 public:
  ExplainText(const CachedPlan& plan, bool verbose);

  std::string expression(const Expr* e);
  /// An output column: bare when there is one relation only, even when EXPLAIN is verbose.
  std::string output(const Expr* e);
  /// A list of conditions joined by AND; "" when empty.
  std::string condition(ExprList quals);
  /// As above for what one scan tests: columns need no relation's name there, unless EXPLAIN is verbose.
  std::string scan_condition(ExprList quals);
  /// "a" or "t.a" by how many relations there are.
  std::string column(const ColumnExpr* column);
  std::string range_name(int range);
  /// What executor parameters stand for, shown in their place from here on.
  void define(std::span<const SubPlanArgument> parameters);

 private:
  std::string constant(const ConstExpr* c);
  std::string call(Oid function, ExprList args);
  std::string operand(const Expr* e);
  std::string list(ExprList args);

  const CachedPlan& plan_;
  const bool verbose_;
  const bool several_;  ///< relations
  bool prefix_;
  std::map<int, const Expr*> parameters_;
  EvalContext eval_;
  Arena arena_;
};

}  // namespace pinwheel::sql
