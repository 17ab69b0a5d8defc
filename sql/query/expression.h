#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

struct Query;

/// Typed expressions, the output of analysis. Nodes lie in the arena of the statement (or of the cached
/// plan), are trivially destructible, and refer to each other by plain pointers. Text positions are byte
/// offsets into the statement, -1 = none.
enum class ExprKind : std::uint8_t {
  kConst,
  kParam,
  kColumn,
  kFunction,
  kOperator,
  kDistinct,
  kNullIf,
  kScalarArray,
  kBool,
  kCase,
  kCaseValue,
  kCoalesce,
  kMinMax,
  kNullTest,
  kBooleanTest,
  kRelabel,
  kCoerceViaIo,
  kArrayCoerce,
  kArray,
  kSubscript,
  kRow,
  kRowCompare,
  kFieldSelect,
  kSubLink,
  kAggregate,
  kWindowFunction,
  kSqlValue,
  kCollate,
  kSetToDefault,
  // made by the planner only
  kExecParam,
  kSubPlan,
  kSlotColumn
};

/// Result type of an expression. `type_modifier` -1 = none; `collation` 0 = not collatable or none.
struct ExprType {
  Oid type;
  std::int32_t type_modifier = -1;
  Oid collation;
};

struct Expr {
  ExprKind kind;
  ExprType type;
  std::int32_t location = -1;
};

using ExprList = std::span<Expr*>;

template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  ExprOf() { kind = K; }
};

/// `node` as a T, which its kind must agree with.
template <class T>
T* expr_cast(Expr* node) {
  return static_cast<T*>(node);
}
template <class T>
const T* expr_cast(const Expr* node) {
  return static_cast<const T*>(node);
}
/// `node` as a T when it is one, else null.
template <class T>
T* expr_if(Expr* node) {
  return node != nullptr && node->kind == T::kKind ? static_cast<T*>(node) : nullptr;
}
template <class T>
const T* expr_if(const Expr* node) {
  return node != nullptr && node->kind == T::kKind ? static_cast<const T*>(node) : nullptr;
}

struct ConstExpr : ExprOf<ExprKind::kConst> {
  Datum value{};
  bool is_null = false;
};

/// $n, `index` from 0.
struct ParamExpr : ExprOf<ExprKind::kParam> {
  int index = 0;
};

/// A column of a range-table entry: PostgreSQL's Var. `attribute` > 0 user column, 0 whole row, < 0 system
/// column.
struct ColumnExpr : ExprOf<ExprKind::kColumn> {
  int range_index = 0;  ///< index from 0 into Query::range_table of the query `levels_up` above
  std::int16_t attribute = 0;
  int levels_up = 0;
  /// For deparsing only: the joined table by whose alias the column was named; -1 = named as range_index
  /// says.
  int named_range_index = -1;
  std::int16_t named_attribute = 0;
};

enum class CallForm : std::uint8_t { kCall, kExplicitCast, kImplicitCast, kSqlSyntax };

struct FunctionExpr : ExprOf<ExprKind::kFunction> {
  Oid function;
  bool returns_set = false;
  bool variadic = false;
  CallForm form = CallForm::kCall;
  Oid input_collation;
  ExprList args;
};

/// Unary or binary operator; `function` implements it. Also kDistinct and kNullIf, whose operator is "=".
struct OperatorExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::kOperator;
  OperatorExpr() { kind = kKind; }
  Oid op;
  Oid function;
  Oid input_collation;
  ExprList args;
};
struct DistinctExpr : OperatorExpr {
  static constexpr ExprKind kKind = ExprKind::kDistinct;
  DistinctExpr() { kind = kKind; }
};
struct NullIfExpr : OperatorExpr {
  static constexpr ExprKind kKind = ExprKind::kNullIf;
  NullIfExpr() { kind = kKind; }
};

/// left op ANY|ALL (array).
struct ScalarArrayExpr : ExprOf<ExprKind::kScalarArray> {
  Oid op;
  Oid function;
  Oid input_collation;
  bool any = true;
  Expr* left = nullptr;
  Expr* array = nullptr;
};

enum class BoolOp : std::uint8_t { kAnd, kOr, kNot };
struct BoolExpr : ExprOf<ExprKind::kBool> {
  BoolOp op = BoolOp::kAnd;
  ExprList args;
};

struct CaseWhen {
  Expr* condition;  ///< boolean; in CASE x WHEN form compares a kCaseValue with the WHEN value
  Expr* result;
};
struct CaseExpr : ExprOf<ExprKind::kCase> {
  Expr* argument = nullptr;  ///< null in CASE WHEN form
  std::span<CaseWhen> whens;
  Expr* otherwise = nullptr;  ///< null = NULL
};
/// Stands for the argument of the innermost CASE x (or for the element in kArrayCoerce).
struct CaseValueExpr : ExprOf<ExprKind::kCaseValue> {};

struct CoalesceExpr : ExprOf<ExprKind::kCoalesce> {
  ExprList args;
};
struct MinMaxExpr : ExprOf<ExprKind::kMinMax> {
  bool greatest = true;
  Oid input_collation;
  ExprList args;
};
struct NullTestExpr : ExprOf<ExprKind::kNullTest> {
  Expr* arg = nullptr;
  bool is_null = true;      ///< IS NULL, else IS NOT NULL
  bool arg_is_row = false;  ///< apply to each field
};
enum class BooleanTest : std::uint8_t {
  kIsTrue,
  kIsNotTrue,
  kIsFalse,
  kIsNotFalse,
  kIsUnknown,
  kIsNotUnknown
};
struct BooleanTestExpr : ExprOf<ExprKind::kBooleanTest> {
  Expr* arg = nullptr;
  BooleanTest test = BooleanTest::kIsTrue;
};

/// Same bytes under another type (binary-coercible cast).
struct RelabelExpr : ExprOf<ExprKind::kRelabel> {
  Expr* arg = nullptr;
  CallForm form = CallForm::kImplicitCast;
};
/// Cast by the output function of one type and the input function of the other.
struct CoerceViaIoExpr : ExprOf<ExprKind::kCoerceViaIo> {
  Expr* arg = nullptr;
  CallForm form = CallForm::kImplicitCast;
};
struct ArrayCoerceExpr : ExprOf<ExprKind::kArrayCoerce> {
  Expr* arg = nullptr;
  Expr* element = nullptr;  ///< applied per element, on a kCaseValue
  CallForm form = CallForm::kImplicitCast;
};
struct ArrayExpr : ExprOf<ExprKind::kArray> {
  Oid element_type;
  bool nested = false;  ///< elements are arrays themselves
  ExprList elements;
};
struct SubscriptExpr : ExprOf<ExprKind::kSubscript> {
  Oid container_type;
  Oid element_type;
  Expr* container = nullptr;
  ExprList upper;          ///< one per dimension
  ExprList lower;          ///< empty unless a slice
  Expr* assign = nullptr;  ///< UPDATE t SET a[i] = ...
};
struct RowExpr : ExprOf<ExprKind::kRow> {
  ExprList args;
  std::span<std::string_view> names;
};
enum class RowCompareOp : std::uint8_t { kLess, kLessEqual, kGreaterEqual, kGreater };
struct RowCompareExpr : ExprOf<ExprKind::kRowCompare> {
  RowCompareOp op = RowCompareOp::kLess;
  std::span<Oid> operators;
  std::span<Oid> functions;
  std::span<Oid> collations;
  ExprList left;
  ExprList right;
};
struct FieldSelectExpr : ExprOf<ExprKind::kFieldSelect> {
  Expr* arg = nullptr;
  std::int16_t field = 0;  ///< from 1
};

enum class SubLinkKind : std::uint8_t { kExists, kAny, kAll, kExpression, kArray, kRowCompare, kMultiAssign };
struct SubLinkExpr : ExprOf<ExprKind::kSubLink> {
  SubLinkKind kind_of_link = SubLinkKind::kExists;
  /// kAny/kAll: boolean over the left side and ParamExpr-like kExecParam placeholders numbered -1, -2, ...
  /// that stand for the sub-select's columns 1, 2, ...
  Expr* test = nullptr;
  std::string_view operator_name;  ///< as written, "" for IN
  Query* query = nullptr;
};

struct SortClause;
struct AggregateExpr : ExprOf<ExprKind::kAggregate> {
  Oid function;
  Oid input_collation;
  Oid transition_type;
  bool star = false;
  bool distinct = false;
  bool variadic = false;
  int levels_up = 0;
  ExprList direct_args;  ///< ordered-set aggregates
  ExprList args;
  std::uint16_t hidden_args =
      0;  ///< that many last args serve order_by only and are not passed to the function
  std::span<SortClause> order_by;       ///< target_index refers to args
  std::span<SortClause> distinct_keys;  ///< with DISTINCT: how args are compared
  Expr* filter = nullptr;
};
struct WindowFunctionExpr : ExprOf<ExprKind::kWindowFunction> {
  Oid function;
  Oid input_collation;
  int window_index = 0;  ///< into Query::windows
  bool star = false;
  bool is_aggregate = false;
  ExprList args;
  Expr* filter = nullptr;
};

enum class SqlValue : std::uint8_t {
  kCurrentDate,
  kCurrentTime,
  kCurrentTimestamp,
  kLocaltime,
  kLocaltimestamp,
  kCurrentRole,
  kCurrentUser,
  kUser,
  kSessionUser,
  kCurrentCatalog,
  kCurrentSchema
};
struct SqlValueExpr : ExprOf<ExprKind::kSqlValue> {
  SqlValue value = SqlValue::kCurrentDate;
};
struct CollateExpr : ExprOf<ExprKind::kCollate> {
  Expr* arg = nullptr;
};
/// DEFAULT in VALUES or SET; replaced during analysis wherever the column is known.
struct SetToDefaultExpr : ExprOf<ExprKind::kSetToDefault> {
  int attribute = 0;
};

/// A slot of the executor's parameter array, set by another part of the plan. Negative: see
/// SubLinkExpr::test.
struct ExecParamExpr : ExprOf<ExprKind::kExecParam> {
  int slot = 0;
};

}  // namespace pinwheel::sql
