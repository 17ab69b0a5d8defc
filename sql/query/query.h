#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "sql/query/expression.h"

namespace pinwheel::sql {

struct Utility;
struct Query;

enum class CommandKind : std::uint8_t { kSelect, kInsert, kUpdate, kDelete, kUtility };

/// One output column, or one assigned column of INSERT/UPDATE.
struct Target {
  Expr* expr = nullptr;
  std::string_view name;
  std::int16_t attribute = 0;  ///< INSERT/UPDATE: column assigned, from 1
  bool hidden = false;         ///< needed by ORDER BY/GROUP BY only, not returned
  Oid origin_table;            ///< for RowDescription; 0 unless a plain column of a table
  std::int16_t origin_attribute = 0;
};

/// A sort or group key: refers to a target by index.
struct SortClause {
  int target_index = 0;
  Oid equality_operator;
  Oid sort_operator;  ///< "<" or ">" of the type's btree family
  bool descending = false;
  bool nulls_first = false;
};

enum class RangeKind : std::uint8_t { kRelation, kSubquery, kFunction, kValues, kJoin, kCte, kResult };
enum class LockStrength : std::uint8_t { kNone, kKeyShare, kShare, kNoKeyUpdate, kUpdate };
enum class LockWait : std::uint8_t { kBlock, kSkipLocked, kNoWait };

struct ColumnDefinition {
  std::string_view name;
  ExprType type;
};

/// An item of FROM that has columns: PostgreSQL's RangeTblEntry.
struct RangeEntry {
  RangeKind kind = RangeKind::kRelation;
  std::string_view alias;  ///< name that columns are qualified with
  bool has_alias = false;  ///< alias was written
  bool lateral = false;
  std::span<std::string_view> alias_columns;  ///< column aliases as written, for deparsing
  std::span<ColumnDefinition>
      columns;  ///< names visible outside and their types, in attribute order (dropped: name "")

  // kRelation
  Oid relation;
  char relation_kind = 'r';
  bool only = false;
  LockStrength row_lock = LockStrength::kNone;
  std::uint8_t table_lock = 1;  ///< LockMode to hold: 1 AccessShare ... 8 AccessExclusive
  /// Privileges to check when execution starts: bit 0 INSERT, 1 SELECT, 2 UPDATE, 3 DELETE.
  std::uint32_t required_privileges = 0;
  Oid check_as_user;  ///< 0 = the current user; within views their owner
  // kSubquery (views are expanded into it; view = the view's oid)
  Query* subquery = nullptr;
  Oid view;
  // kFunction
  std::span<Expr*>
      functions;  ///< FunctionExpr; more than one for ROWS FROM (or a SqlValue, as FROM allows it)
  std::span<int> function_columns;  ///< number of columns that each function gives
  bool column_definitions = false;  ///< AS (name type, ...) was written, for functions returning record
  bool with_ordinality = false;
  bool scalar_function = true;  ///< one column of the function's type; else composite columns
  // kValues
  std::span<ExprList> rows;
  // kJoin: merged columns; each is an expression over the joined inputs
  std::span<Expr*> join_columns;
  // kCte
  std::string_view cte_name;
  int cte_levels_up = 0;
  bool cte_self_reference = false;
};

enum class JoinKind : std::uint8_t { kInner, kLeft, kRight, kFull };

/// A node of the FROM tree.
struct FromItem {
  enum class Kind : std::uint8_t { kRange, kJoin } kind = Kind::kRange;
  int range_index = -1;  ///< kRange: the entry; kJoin: the entry with the join's columns (-1 none)
  // kJoin
  JoinKind join = JoinKind::kInner;
  FromItem* left = nullptr;
  FromItem* right = nullptr;
  Expr* condition = nullptr;
  std::span<std::string_view> using_columns;  ///< USING or NATURAL; for deparsing (condition says it all)
  bool natural = false;
};

enum class SetOperation : std::uint8_t { kNone, kUnion, kIntersect, kExcept };

/// Tree of UNION/INTERSECT/EXCEPT; leaves are subquery range entries.
struct SetNode {
  SetOperation operation = SetOperation::kNone;
  bool all = false;
  int range_index = -1;  ///< leaf
  SetNode* left = nullptr;
  SetNode* right = nullptr;
  std::span<ExprType> column_types;
  std::span<SortClause> grouping;  ///< how rows are compared; empty when `all` under UNION
};

struct CommonTable {
  std::string_view name;
  Query* query = nullptr;
  bool recursive = false;  ///< refers to itself: query is a UNION [ALL] SetNode
  bool materialized = false;
  bool not_materialized = false;
  int reference_count = 0;
  std::span<ColumnDefinition> columns;
  std::span<std::string_view> alias_columns;  ///< as written, for deparsing
};

struct RowMark {
  int range_index = 0;
  LockStrength strength = LockStrength::kUpdate;
  LockWait wait = LockWait::kBlock;
};

enum class ConflictAction : std::uint8_t { kNone, kNothing, kUpdate };
struct OnConflict {
  ConflictAction action = ConflictAction::kNone;
  std::span<Oid> arbiter_indexes;  ///< empty with kNothing = any unique index
  std::span<Target> assignments;   ///< over range entries: result relation and `excluded`
  int excluded_range_index = -1;
  Expr* where = nullptr;
};

struct WindowFrame {
  std::uint32_t options = 0;  ///< PostgreSQL's FRAMEOPTION bits
  Expr* start_offset = nullptr;
  Expr* end_offset = nullptr;
};
struct WindowClause {
  std::string_view name;
  std::span<SortClause> partition_by;
  std::span<SortClause> order_by;
  WindowFrame frame;
};

enum class GroupingSetKind : std::uint8_t { kEmpty, kSimple };

/// A statement after analysis: names resolved, types known, views expanded. Owned by an arena.
struct Query {
  CommandKind command = CommandKind::kSelect;
  Utility* utility = nullptr;  ///< kUtility only; everything else is then empty

  std::span<RangeEntry> range_table;
  std::span<FromItem*> from;  ///< joined as a cross product
  Expr* where = nullptr;
  std::span<Target> targets;

  int result_range_index = -1;  ///< INSERT/UPDATE/DELETE: the target table
  std::span<Target> returning;
  OnConflict on_conflict;
  bool overriding_system = false;
  bool overriding_user = false;

  std::span<SortClause> group_by;
  bool has_group_by = false;  ///< GROUP BY written (also GROUP BY ())
  Expr* having = nullptr;
  std::span<SortClause> order_by;
  std::span<SortClause> distinct;  ///< DISTINCT or DISTINCT ON
  bool distinct_on = false;
  Expr* limit = nullptr;  ///< bigint
  bool limit_with_ties = false;
  Expr* offset = nullptr;  ///< bigint
  SetNode* set_operation = nullptr;
  std::span<CommonTable> ctes;
  std::span<RowMark> row_marks;
  std::span<WindowClause> windows;

  bool has_aggregates = false;
  bool has_windows = false;
  bool has_sublinks = false;
  bool has_set_functions = false;  ///< set-returning functions in targets
  bool has_for_update = false;
  bool has_modifying_cte = false;
  bool with_recursive = false;  ///< WITH RECURSIVE was written, for deparsing
};

/// What analysis makes of one statement of a query string.
struct AnalyzedStatement {
  Query* query = nullptr;
  std::span<Oid> parameter_types;  ///< $1.. as declared or inferred
  std::string_view text;           ///< the statement's own part of the string
  int text_offset = 0;
};

}  // namespace pinwheel::sql
