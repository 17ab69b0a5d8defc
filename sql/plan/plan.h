#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "sql/plan/plan_expression.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

class Relation;
struct IndexInfo;

enum class PlanKind : std::uint8_t {
  kResult,
  kProjectSet,
  kSeqScan,
  kIndexScan,
  kIndexOnlyScan,
  kBitmapIndexScan,
  kBitmapAnd,
  kBitmapOr,
  kBitmapHeapScan,
  kTidScan,
  kSubqueryScan,
  kFunctionScan,
  kValuesScan,
  kCteScan,
  kWorkTableScan,
  kNestLoop,
  kHashJoin,
  kMergeJoin,
  kMaterialize,
  kSort,
  kUnique,
  kAggregate,
  kWindowAgg,
  kSetOp,
  kAppend,
  kRecursiveUnion,
  kLimit,
  kLockRows,
  kModifyTable
};

/// A node of a plan: what to do, never how far it got. Immutable once planned; any session of the process may
/// run it, with state of its own (sql/execute). Nodes lie in their CachedPlan's arena.
struct Plan {
  PlanKind kind = PlanKind::kResult;
  int node_id = 0;  ///< from 0, unique in the CachedPlan: index of its state and counters
  double startup_cost = 0;
  double total_cost = 0;
  double rows = 1;
  int width = 0;
  ExprList targets;  ///< what the node puts out
  ExprList quals;    ///< all must be true; over the node's inputs, before `targets`
  Plan* left = nullptr;
  Plan* right = nullptr;
  /// Anything below reads executor parameters that change between rescans: buffered rows must then be made
  /// anew.
  bool depends_on_parameters = false;
  /// `targets` are exactly the input's columns in order: the input's slot is passed on.
  bool passes_input = false;
  std::span<int> init_plans;  ///< subplans shown under this node by EXPLAIN
};

template <PlanKind K>
struct PlanOf : Plan {
  static constexpr PlanKind kKind = K;
  PlanOf() { kind = K; }
};
template <class T>
const T* plan_cast(const Plan* plan) {
  return static_cast<const T*>(plan);
}
template <class T>
T* plan_cast(Plan* plan) {
  return static_cast<T*>(plan);
}

/// No input: one row. With input: filter and projection. `constant_quals` do not depend on the row.
struct ResultPlan : PlanOf<PlanKind::kResult> {
  ExprList constant_quals;
};
/// Set-returning functions in `targets` (each is a FunctionExpr with returns_set, perhaps below others).
struct ProjectSetPlan : PlanOf<PlanKind::kProjectSet> {};

struct ScanPlan : Plan {
  int range = 0;  ///< index into CachedPlan::ranges
};
template <PlanKind K>
struct ScanPlanOf : ScanPlan {
  static constexpr PlanKind kKind = K;
  ScanPlanOf() { kind = K; }
};

struct SeqScanPlan : ScanPlanOf<PlanKind::kSeqScan> {};

enum class KeyTest : std::uint8_t {
  kLess,
  kLessEqual,
  kEqual,
  kGreaterEqual,
  kGreater,
  kIsNull,
  kNotNull,
  kEqualAny
};

/// One condition that an index answers: key column <test> value.
struct ScanKey {
  int column = 0;  ///< index column, from 0
  KeyTest test = KeyTest::kEqual;
  Expr* value = nullptr;  ///< over parameters only; kEqualAny: an array
  Oid value_type;         ///< of the value (kEqualAny: of its elements)
  Oid function;           ///< btree support procedure 1 for (column type, value type); 0 = the index's own
  Oid collation;
};

enum class ScanDirection : std::int8_t { kForward = 1, kBackward = -1 };

struct IndexScanPlan : ScanPlan {
  static constexpr PlanKind kKind = PlanKind::kIndexScan;
  IndexScanPlan() { kind = kKind; }
  Oid index;
  const IndexInfo* info = nullptr;
  std::span<ScanKey> keys;
  ExprList key_quals;  ///< the same as boolean expressions over the row: for rechecks and EXPLAIN
  ScanDirection direction = ScanDirection::kForward;
  /// At most one row can match: all columns of a unique index are compared by "=".
  bool unique_lookup = false;
};
/// Answers from the index where the page is all-visible. Slot columns are the index's columns.
struct IndexOnlyScanPlan : IndexScanPlan {
  static constexpr PlanKind kKind = PlanKind::kIndexOnlyScan;
  IndexOnlyScanPlan() { kind = kKind; }
};
struct BitmapIndexScanPlan : IndexScanPlan {
  static constexpr PlanKind kKind = PlanKind::kBitmapIndexScan;
  BitmapIndexScanPlan() { kind = kKind; }
};
struct BitmapCombinePlan : Plan {  ///< kBitmapAnd, kBitmapOr
  std::span<Plan*> inputs;
};
/// `left` makes the bitmap; `recheck` holds for rows of lossy pages and newest versions.
struct BitmapHeapScanPlan : ScanPlanOf<PlanKind::kBitmapHeapScan> {
  ExprList recheck;
};
struct TidScanPlan : ScanPlanOf<PlanKind::kTidScan> {
  ExprList tids;       ///< of type tid or tid[]
  ExprList tid_quals;  ///< the same as booleans
};

struct SubqueryScanPlan : ScanPlanOf<PlanKind::kSubqueryScan> {};  // `left` is the sub-select's plan
struct FunctionScanPlan : ScanPlanOf<PlanKind::kFunctionScan> {
  std::span<Expr*> functions;
  std::span<int> column_counts;  ///< result columns of each
  bool with_ordinality = false;
};
struct ValuesScanPlan : ScanPlanOf<PlanKind::kValuesScan> {
  std::span<ExprList> value_rows;
};
struct CteScanPlan : ScanPlanOf<PlanKind::kCteScan> {
  int subplan = 0;  ///< all scans of one CTE share its rows
};
struct WorkTableScanPlan : ScanPlanOf<PlanKind::kWorkTableScan> {
  int work_table = 0;  ///< RecursiveUnionPlan::work_table
};

enum class JoinType : std::uint8_t { kInner, kLeft, kRight, kFull, kSemi, kAnti };

struct JoinPlan : Plan {
  JoinType join = JoinType::kInner;
  ExprList join_quals;        ///< decide about a match; `quals` filter afterwards
  bool inner_unique = false;  ///< at most one inner row matches an outer row
};
/// Parameters are set from the outer row before the inner side is scanned.
struct NestLoopPlan : JoinPlan {
  static constexpr PlanKind kKind = PlanKind::kNestLoop;
  NestLoopPlan() { kind = kKind; }
  std::span<SubPlanArgument> parameters;
};
/// One equality of a hash or merge join; `type`'s hash and order compare both sides.
struct JoinKey {
  Expr* outer = nullptr;
  Expr* inner = nullptr;
  Oid outer_type;
  Oid inner_type;
  Oid collation;
  bool descending = false;  ///< merge only
  bool nulls_first = false;
  Expr* clause = nullptr;  ///< for EXPLAIN
};
struct HashJoinPlan : JoinPlan {
  static constexpr PlanKind kKind = PlanKind::kHashJoin;
  HashJoinPlan() { kind = kKind; }
  std::span<JoinKey> keys;
};
struct MergeJoinPlan : JoinPlan {
  static constexpr PlanKind kKind = PlanKind::kMergeJoin;
  MergeJoinPlan() { kind = kKind; }
  std::span<JoinKey> keys;
};

struct MaterializePlan : PlanOf<PlanKind::kMaterialize> {};

struct SortKey {
  int column = 0;  ///< of the input, from 0
  Oid type;
  Oid collation;
  bool descending = false;
  bool nulls_first = false;
};
struct SortPlan : PlanOf<PlanKind::kSort> {
  std::span<SortKey> keys;
  /// A limit above: only the first rows are needed (offset + limit when known at plan time; 0 = all, see
  /// LimitPlan).
  bool bounded = false;
};
struct UniquePlan : PlanOf<PlanKind::kUnique> {
  std::span<SortKey> keys;
};

enum class AggregateStrategy : std::uint8_t { kPlain, kSorted, kHashed };
struct AggregateCall {
  const AggregateExpr* expr = nullptr;  ///< args resolved over the input
  Oid function;
};
/// Targets and quals are over an internal row: the group's first input row (kOuter) and, as kInner columns,
/// the values of `calls`.
struct AggregatePlan : PlanOf<PlanKind::kAggregate> {
  AggregateStrategy strategy = AggregateStrategy::kPlain;
  std::span<SortKey> group_keys;
  std::span<AggregateCall> calls;
};
struct WindowCall {
  const WindowFunctionExpr* expr = nullptr;  ///< args resolved over the input
};
/// Puts out its input's columns (kOuter) and the values of `calls` (kInner).
struct WindowAggPlan : PlanOf<PlanKind::kWindowAgg> {
  std::span<SortKey> partition_keys;
  std::span<SortKey> order_keys;
  WindowFrame frame;
  std::span<WindowCall> calls;
  std::string_view name;
};

/// Inputs `left` and `right`; result per SQL's INTERSECT and EXCEPT, by hashing the left rows.
struct SetOpPlan : PlanOf<PlanKind::kSetOp> {
  SetOperation operation = SetOperation::kIntersect;
  bool all = false;
  std::span<SortKey> keys;
};
struct AppendPlan : PlanOf<PlanKind::kAppend> {
  std::span<Plan*> inputs;
};
struct RecursiveUnionPlan : PlanOf<PlanKind::kRecursiveUnion> {
  int work_table = 0;
  bool all = true;
  std::span<SortKey> keys;
};
struct LimitPlan : PlanOf<PlanKind::kLimit> {
  Expr* limit = nullptr;
  Expr* offset = nullptr;
  bool with_ties = false;
  std::span<SortKey> tie_keys;
};

struct LockTarget {
  int range = 0;
  int identity_column = 0;  ///< of the input: the row's kRowIdentityAttribute
  LockStrength strength = LockStrength::kUpdate;
  LockWait wait = LockWait::kBlock;
};
/// A relation whose row a recheck needs again: range and the input's identity column.
struct RecheckSource {
  int range = 0;
  int identity_column = 0;
};
struct LockRowsPlan : PlanOf<PlanKind::kLockRows> {
  std::span<LockTarget> locks;
  std::span<RecheckSource> recheck_sources;
};

struct AssignedColumn {
  std::int16_t attribute = 0;  ///< from 1
  int input_column = 0;
};
struct ConflictPlan {
  ConflictAction action = ConflictAction::kNone;
  std::span<Oid> arbiter_indexes;
  /// Over kScan = the existing row, kInner = the proposed row.
  std::span<AssignedColumn> assigned;  ///< input_column indexes `values`
  ExprList values;
  ExprList where;
};
/// A CHECK or a partial index's predicate, over kScan = the new row.
struct CheckPlan {
  std::string_view name;
  Expr* condition = nullptr;
};
/// Expressions of one index that are not plain columns, over kScan = the new row.
struct IndexMaintenancePlan {
  Oid index;
  ExprList expressions;  ///< in order of the zero attribute numbers of the index
  ExprList predicate;
};
struct GeneratedColumn {
  std::int16_t attribute = 0;
  Expr* value = nullptr;
};
/// Applies the rows of `left` to a table. `targets` are RETURNING over kScan = the row as it is now (for
/// DELETE as it was) and kOuter = the input row.
struct ModifyTablePlan : PlanOf<PlanKind::kModifyTable> {
  CommandKind command = CommandKind::kInsert;
  int range = 0;
  const Relation* relation = nullptr;
  std::span<AssignedColumn> assigned;
  int identity_column = -1;  ///< UPDATE, DELETE
  bool has_returning = false;
  ConflictPlan conflict;
  std::span<CheckPlan> checks;
  std::span<IndexMaintenancePlan> indexes;
  std::span<GeneratedColumn> generated;
  std::span<RecheckSource> recheck_sources;
  /// UPDATE assigns a column that an index or a foreign key covers (all HOT-blocking columns, by attribute).
  bool may_change_keys = false;
};

/// What scans of the plan read, over all query levels: EXPLAIN's names and the executor's relations.
struct PlanRange {
  RangeKind kind = RangeKind::kRelation;
  std::string_view alias;  ///< unique within the plan
  std::string_view name;   ///< the relation's own
  std::string_view schema;
  std::span<ColumnDefinition> columns;
  const Relation* relation = nullptr;  ///< kept alive by CachedPlan
};

/// A sub-select with its own plan: run once for all (init plan, CTE) or per outer row (SubPlanExpr).
struct SubPlan {
  Plan* plan = nullptr;
  SubLinkKind kind_of_link = SubLinkKind::kExpression;
  bool is_init_plan = false;
  bool is_cte = false;
  std::string_view cte_name;
  /// Init plans: executor parameters that take the first row's columns (or the EXISTS answer, or the array).
  std::span<int> output_slots;
  Oid array_element;  ///< kArray
  /// A data-modifying CTE: runs to its end even if nobody reads it.
  bool modifies = false;
};

}  // namespace pinwheel::sql
