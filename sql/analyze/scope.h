#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/sqlstate.h"
#include "base/stack.h"
#include "sql/analyze/analyzer.h"
#include "sql/parse/raw_node.h"
#include "sql/query/query.h"
#include "sql/query/walk.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

/// What one statement's analysis shares over all its query levels.
struct Analysis {
  Analysis(Arena& a, AnalyzerCatalog& c, EvalContext& e, std::string_view t,
           ParameterMode m = ParameterMode::kNone)
      : arena{a}, catalog{c}, eval{e}, text{t}, mode{m} {}

  Arena& arena;
  AnalyzerCatalog& catalog;
  EvalContext& eval;
  std::string_view text;  ///< what positions count in
  ParameterMode mode = ParameterMode::kNone;
  std::vector<Oid> parameters;  ///< 0 = not known yet
  std::vector<ParamExpr*> parameter_uses;
  Oid check_as_user;  ///< owner of the view being expanded, 0 outside views
  int view_depth = 0;
  std::string_view statement_text;  ///< the statement's own part of `text`
  int statement_offset = 0;

  /// An error that points at byte `location` of the text (-1: nowhere).
  SqlError error(SqlState state, std::string message, int location = -1) const {
    return SqlError{state, std::move(message)}.position(character_position(text, location));
  }
};

/// Where in a query an expression stands: decides what it may hold and how errors call the place.
enum class ExprUse : std::uint8_t {
  kNone,
  kJoinOn,
  kJoinUsing,
  kFromSubselect,
  kFromFunction,
  kWhere,
  kHaving,
  kFilter,
  kWindowPartition,
  kWindowOrder,
  kWindowRange,
  kWindowRows,
  kWindowGroups,
  kSelectTarget,
  kInsertTarget,
  kUpdateSource,
  kUpdateTarget,
  kGroupBy,
  kOrderBy,
  kDistinctOn,
  kLimit,
  kOffset,
  kReturning,
  kValues,
  kValuesSingle,
  kCheck,
  kDefault,
  kIndexExpression,
  kIndexPredicate,
  kAlterUsing,
  kExecuteParameter,
  kCopyWhere,
  kGenerated,
  kPartitionKey
};
/// "WHERE", "JOIN/ON"...
std::string_view use_name(ExprUse use);
/// Where an expression stands, as "... are not allowed in x" names it: "check constraints", else use_name().
std::string_view placement_name(ExprUse use);

/// A column as the names of one FROM item give it. It resolves to a column of a table, or of a join when it
/// merges two.
struct NamespaceColumn {
  std::string_view name;  ///< "" = dropped: counts, but cannot be named
  ExprType type;
  int range_index = -1;
  std::int16_t attribute = 0;
  bool star_hidden = false;  ///< not shown by "*" (the second of two merged columns)
};

/// What one FROM item makes visible.
struct NamespaceItem {
  int range_index = -1;
  std::string_view name;
  Oid relation;  ///< set when it may be named with its schema: a table without alias
  std::span<NamespaceColumn> columns;
  bool name_visible = true;
  bool columns_visible = true;
  bool lateral_only = false;
  bool lateral_ok = true;
};

struct NamedWindow {
  const PgQuery__WindowDef* definition;
};

/// Analysis state of one query level: PostgreSQL's ParseState.
struct Scope {
  Scope(Analysis& a, Scope* p) : an{a}, parent{p} {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  Analysis& an;
  Scope* parent;
  std::deque<RangeEntry> range_table;
  std::vector<NamespaceItem> names;
  std::deque<CommonTable> ctes;  ///< of this level's WITH, as far as they are visible
  std::vector<const PgQuery__CommonTableExpr*> later_ctes;  ///< declared after the one in work, for a hint
  std::vector<const PgQuery__WindowDef*> window_definitions;
  ExprUse use = ExprUse::kNone;
  const PgQuery__Node* last_set_function = nullptr;
  Expr* last_set_expr = nullptr;
  bool lateral_active = false;
  bool resolve_unknowns = true;  ///< untyped literals in the target list become text
  bool in_default_list = false;  ///< DEFAULT may stand as a value
  int result_range_index = -1;
  bool is_insert = false;
  const PgQuery__RangeVar* result_relation = nullptr;
  std::span<const PgQuery__LockingClause* const> locking;  ///< FOR UPDATE..., for the table locks of FROM
  bool locked_from_parent = false;
  bool has_aggregates = false, has_windows = false, has_sublinks = false, has_set_functions = false;
  bool has_modifying_cte = false;
};

/// Sets `scope.use` for the life of a block.
class UseGuard {
 public:
  UseGuard(Scope& scope, ExprUse use) : scope_{scope}, saved_{scope.use} { scope.use = use; }
  ~UseGuard() { scope_.use = saved_; }
  UseGuard(const UseGuard&) = delete;
  UseGuard& operator=(const UseGuard&) = delete;

 private:
  Scope& scope_;
  ExprUse saved_;
};

/// A vector's elements as an arena array.
template <class Vector>
auto to_span(Arena& arena, const Vector& items) {
  using T = typename Vector::value_type;
  T* first = arena.make_array<T>(items.size());
  std::size_t i = 0;
  for (const T& item : items) first[i++] = item;
  return std::span<T>{first, items.size()};
}
template <class T>
std::span<T> one_span(Arena& arena, T item) {
  T* first = arena.make_array<T>(1);
  *first = item;
  return {first, 1};
}

namespace detail {
inline void append(std::string& out, std::string_view part) { out += part; }
inline void append(std::string& out, char part) { out += part; }
template <class Number>
requires std::is_integral_v<Number>
void append(std::string& out, Number part) { out += std::to_string(part); }
}  // namespace detail

/// The parts (text and integers) one after the other.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string out;
  (detail::append(out, parts), ...);
  return out;
}

/// "\"" + name + "\"", as messages quote names.
inline std::string quoted(std::string_view name) { return cat('"', name, '"'); }

}  // namespace pinwheel::sql
