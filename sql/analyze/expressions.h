#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// Analyzes an expression of the grammar's tree for the place `scope.use` says (the overload sets it).
/// Errors: all that PostgreSQL raises for expressions, with position.
Expr* transform(Scope& scope, const raw::Node* node);
inline Expr* transform(Scope& scope, const raw::Node* node, ExprUse use) {
  UseGuard guard{scope, use};
  return transform(scope, node);
}

/// Analyzes `SELECT <text>`'s only target without any FROM: defaults of function arguments and the like.
Expr* transform_source_text(Analysis& an, std::string_view text, ExprUse use);

/// A column reference; its last field may not be "*".
Expr* transform_column_ref(Scope& scope, const PgQuery__ColumnRef* ref);
/// row.field, null when the type has no such field.
Expr* select_field(Scope& scope, Expr* row, std::string_view field, int location);
Expr* transform_function_call(Scope& scope, const PgQuery__FuncCall* call);
Expr* transform_sublink(Scope& scope, const PgQuery__SubLink* link);
Expr* transform_operator(Scope& scope, const PgQuery__AExpr* expr);
Expr* transform_type_cast(Scope& scope, const PgQuery__TypeCast* cast);
/// ARRAY[...]; `array_type` 0 = find out from the elements.
Expr* transform_array(Scope& scope, const PgQuery__AArrayExpr* array, ExprType array_type);
/// container[a:b][c]...; `assign` null for reading.
Expr* transform_subscripts(Scope& scope, Expr* container, raw::NodeList indices);

/// (a, b) op (c, d).
Expr* make_row_compare(Scope& scope, raw::NodeList name, std::span<Expr* const> left,
                       std::span<Expr* const> right, int location);
Expr* make_bool_expr(Analysis& an, BoolOp op, std::vector<Expr*> args, int location);

/// The name that PostgreSQL gives an output column without alias; "?column?" when nothing fits.
std::string_view figure_column_name(Analysis& an, const raw::Node* node);

/// True when the expression calls a set-returning function outside sub-selects.
bool contains_set_function(const Expr* expr);

}  // namespace pinwheel::sql
