#pragma once

#include <optional>

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// A function or operator under consideration: its argument types after VARIADIC and defaults were spread
/// out.
struct Candidate {
  const ViewedFunction* function = nullptr;
  const ViewedOperator* op = nullptr;
  std::vector<Oid> args;         ///< one per actual argument, then those that defaults fill
  int variadic_args = 0;         ///< how many actual arguments VARIADIC takes
  int default_args = 0;          ///< how many arguments defaults fill
  std::vector<int> arg_numbers;  ///< for named notation: position of each actual argument
};

/// Keeps the candidates that take `types` by implicit casts.
std::vector<const Candidate*> match_candidates(Analysis& an, std::span<const Oid> types,
                                               std::span<const Candidate> candidates);
/// PostgreSQL's rules for picking one of several candidates; null when they leave more than one.
const Candidate* select_candidate(Analysis& an, std::span<const Oid> types,
                                  std::vector<const Candidate*> candidates);

/// A function, aggregate, window function or cast in function notation. `call` may be null (then it is a
/// plain call by name from `names`); `args` are analyzed.
Expr* resolve_function(Scope& scope, raw::NodeList names, std::vector<Expr*> args,
                       std::vector<std::string_view> arg_names, const PgQuery__FuncCall* call, int location);

/// Aggregates, once their function is chosen: argument checks, ORDER BY, DISTINCT, levels.
Expr* finish_aggregate(Scope& scope, const ViewedFunction& function, std::vector<Expr*> args, Oid result,
                       const PgQuery__FuncCall* call, bool variadic, Expr* filter, int location);
Expr* finish_window_function(Scope& scope, const ViewedFunction& function, std::vector<Expr*> args,
                             Oid result, const PgQuery__FuncCall* call, Expr* filter, int location);

/// "f(integer, unknown)".
std::string function_signature(Analysis& an, std::string_view name, std::span<const Oid> types,
                               std::span<const std::string_view> arg_names = {});

}  // namespace pinwheel::sql
