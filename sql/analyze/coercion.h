#pragma once

#include <optional>

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

enum class CoercionContext : std::uint8_t { kImplicit, kAssignment, kExplicit };

/// How a value of one type becomes another.
struct CoercionPath {
  enum class Kind : std::uint8_t { kNone, kFunction, kRelabel, kArray, kViaIo } kind = Kind::kNone;
  Oid function;
};
CoercionPath find_coercion_path(Analysis& an, Oid target, Oid source, CoercionContext context);

/// True when each of `sources` can become the corresponding one of `targets` (polymorphic ones must agree).
bool can_coerce(Analysis& an, std::span<const Oid> sources, std::span<const Oid> targets,
                CoercionContext context);
inline bool can_coerce(Analysis& an, Oid source, Oid target, CoercionContext context) {
  return can_coerce(an, {&source, 1}, {&target, 1}, context);
}
/// Values of `source` are values of `target` as they stand.
bool binary_coercible(Analysis& an, Oid source, Oid target);

/// `expr` as `target`, its length modifier applied; null when there is no such cast in `context`.
Expr* coerce_to_target(Scope& scope, Expr* expr, Oid source, ExprType target, CoercionContext context,
                       CallForm form, int location);
/// `expr` as `target`, which can_coerce() has allowed. Leaves the modifier alone.
Expr* coerce_type(Scope& scope, Expr* expr, Oid source, Oid target, std::int32_t modifier,
                  CoercionContext context, CallForm form, int location);

/// Errors: 42804 "argument of WHERE must be type boolean, not type x" (also when it returns a set).
Expr* coerce_to_boolean(Scope& scope, Expr* expr, std::string_view construct);
/// As above for any type: LIMIT's bigint...
Expr* coerce_to_specific(Scope& scope, Expr* expr, Oid target, std::string_view construct);

/// Common type of UNION, CASE, VALUES...; 0 when `construct` is null and there is none. `which` gets the
/// expression that decided. Errors: 42804 "{construct} types a and b cannot be matched".
Oid select_common_type(Scope& scope, std::span<Expr* const> exprs, const char* construct,
                       Expr** which = nullptr);
/// Modifier that all share, else -1.
std::int32_t select_common_modifier(std::span<Expr* const> exprs, Oid common);
/// Errors: 42846 "{construct} could not convert type a to b".
Expr* coerce_to_common(Scope& scope, Expr* expr, Oid target, const char* construct);

/// Polymorphic signatures.
bool is_polymorphic(Oid type);
/// True when actual types fit declared ones that may be polymorphic.
bool check_polymorphic(Analysis& an, std::span<const Oid> actual, std::span<const Oid> declared);
/// Resolves polymorphic entries of `declared` to concrete types, in place; returns the result type. Errors:
/// 42804.
Oid resolve_polymorphic(Scope& scope, std::span<const Oid> actual, std::span<Oid> declared, Oid result,
                        bool allow_polymorphic = false);

/// Makes sure no parameter is left whose type nothing told. Errors: 42P18.
void check_parameters(Analysis& an);

// Node makers
Expr* make_null(Analysis& an, ExprType type);
Expr* make_const(Analysis& an, ExprType type, Datum value, int location = -1);
Expr* make_bool(Analysis& an, bool value);

/// exprLocation() of a typed tree: leftmost.
int location_of(const Expr* expr);

}  // namespace pinwheel::sql
