#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// The operator of that name for operands of these types (left 0 = prefix). Errors: 42883, 42725 with
/// position, as PostgreSQL words them; null instead when `missing_ok`.
const ViewedOperator* find_operator(Analysis& an, raw::NodeList name, Oid left, Oid right, bool missing_ok,
                                    int location);
/// As above for a built-in name.
const ViewedOperator* find_operator(Analysis& an, std::string_view schema, std::string_view name, Oid left,
                                    Oid right, bool missing_ok, int location);

/// left op right (left null = prefix), operands coerced.
Expr* make_operator(Scope& scope, raw::NodeList name, Expr* left, Expr* right, int location);
Expr* make_operator(Scope& scope, std::string_view name, Expr* left, Expr* right, int location);
/// left op ANY|ALL (array).
Expr* make_scalar_array(Scope& scope, raw::NodeList name, bool any, Expr* left, Expr* array, int location);
Expr* make_scalar_array(Scope& scope, std::string_view name, bool any, Expr* left, Expr* array, int location);

/// Default ordering operators; 42883 `could not identify an ordering operator for type x` (or equality) with
/// position.
SortOperators require_sort_operators(Analysis& an, Oid type, bool need_less, bool need_equal, int location);
/// The ">" of the type.
inline Oid require_sort_operators_greater(Analysis& an, Oid type) {
  return require_sort_operators(an, type, true, true, -1).greater;
}

/// "integer + text", "- text".
std::string operator_signature(Analysis& an, std::string_view name, Oid left, Oid right);

}  // namespace pinwheel::sql
