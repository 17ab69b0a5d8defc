#pragma once

#include <span>
#include <string_view>

#include "base/arena.h"
#include "sql/analyze/catalog_view.h"
#include "sql/parse/parser.h"
#include "sql/query/query.h"
#include "sql/query/utility.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// What analysis works with. The tree it makes lies in `arena` and refers to nothing else, so it may outlive
/// the parse tree and the text.
struct AnalyzeContext {
  Arena& arena;
  AnalyzerCatalog& catalog;
  EvalContext& eval;  ///< for the input functions of literals
};

/// Where $1, $2... get their types from.
enum class ParameterMode : std::uint8_t {
  kNone,   ///< "$1" is 42P02: simple queries
  kFixed,  ///< the declared types are all there are
  kInfer   ///< extended protocol, PREPARE: 0 means "find out", more may appear (42P18 when nothing tells)
};

/// Turns one parsed statement into a typed query tree.
///
/// `whole_text` is the query string against which positions count (ParsedText::text()). Tables are locked as
/// they are resolved (AnalyzerCatalog::find_relation). Errors: PostgreSQL's, with position.
AnalyzedStatement analyze(const AnalyzeContext& context, const RawStatement& statement,
                          std::string_view whole_text, std::span<const Oid> declared_parameters = {},
                          ParameterMode mode = ParameterMode::kNone);

/// A visible column of what a query returns, as RowDescription has it.
struct QueryColumn {
  std::string_view name;
  ExprType type;
  Oid table;
  std::int16_t attribute = 0;
};

/// The columns a query returns: SELECT's targets or RETURNING; empty for what returns no rows. In `arena`.
/// Utilities that return rows (SHOW, EXPLAIN, FETCH, EXECUTE) describe themselves in sql/commands.
std::span<QueryColumn> result_columns(const Query& query, Arena& arena);

/// Parses and analyzes a SELECT kept as text (a view's definition). Errors: as analyze().
Query* analyze_select_text(const AnalyzeContext& context, std::string_view text);

}  // namespace pinwheel::sql
