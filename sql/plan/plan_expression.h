#pragma once

#include <cstdint>
#include <span>

#include "sql/query/expression.h"

namespace pinwheel::sql {

struct SubPlan;

/// Where a slot column is read from: the node's own tuple (scans) or the row of its left or right input.
enum class SlotSource : std::uint8_t { kScan, kOuter, kInner };

/// A column of an executor slot; what ColumnExpr becomes in a finished plan.
struct SlotColumnExpr : ExprOf<ExprKind::kSlotColumn> {
  SlotSource source = SlotSource::kOuter;
  int index = 0;  ///< from 0; negative in kScan: a system column's attribute number
  /// What the column holds, over the plan's own range list: for EXPLAIN only.
  const Expr* origin = nullptr;
};

/// A value of the outer row, put into an executor parameter before a correlated subplan runs.
struct SubPlanArgument {
  int slot = 0;
  Expr* value = nullptr;
};

/// A sub-select that is run by the expression that contains it.
struct SubPlanExpr : ExprOf<ExprKind::kSubPlan> {
  SubLinkKind kind_of_link = SubLinkKind::kExpression;
  int subplan = 0;  ///< index into CachedPlan::subplans
  std::span<SubPlanArgument> arguments;
  /// kAny, kAll, kRowCompare: boolean over `column_slots` (executor parameters that stand for the
  /// sub-select's columns) and the outer row.
  Expr* test = nullptr;
  std::span<int> column_slots;
  /// kAny of equalities without correlation: the rows are put into a hash table once. left[i] = column i.
  bool hashed = false;
  ExprList hash_left;
  std::span<Oid> hash_types;  ///< type whose hash and equality compare column i with hash_left[i]
};

/// ctid as one integer (page << 16 | slot): identifies rows between a plan and the node that changes or locks
/// them. An attribute number that no table has.
inline constexpr std::int16_t kRowIdentityAttribute = -100;
inline constexpr std::int16_t kTableOidAttribute = -6;
inline constexpr std::int16_t kCmaxAttribute = -5;
inline constexpr std::int16_t kXmaxAttribute = -4;
inline constexpr std::int16_t kCminAttribute = -3;
inline constexpr std::int16_t kXminAttribute = -2;
inline constexpr std::int16_t kTidAttribute = -1;

}  // namespace pinwheel::sql
