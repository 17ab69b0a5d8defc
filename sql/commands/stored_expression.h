#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/analyze/expression_source.h"
#include "sql/catalog/catalog.h"
#include "sql/commands/command_context.h"
#include "sql/commands/dependencies.h"

namespace pinwheel::sql {

/// A relation as analysis sees it, in `arena`; valid while `relation` is held.
const ViewedRelation* view_relation(const Relation& relation, Arena& arena);

/// An expression of a table (default, check, index key, predicate...), analyzed and in the form that catalogs
/// store: text that parses whatever search_path is.
struct StoredExpression {
  std::string source;
  Expr* expr = nullptr;
  std::vector<std::int16_t> columns;  // that it reads, rising
};

StoredExpression analyze_stored(CommandContext& context, const SourceExpr& source, const Relation& relation,
                                SourceUse use);
/// As analyze_stored, coerced to a column's type: defaults and generated columns.
StoredExpression analyze_stored_value(CommandContext& context, const SourceExpr& source,
                                      const Relation& relation, SourceUse use, const Column& column);

/// Columns of range entry 0 that an expression reads.
std::vector<std::int16_t> columns_of(const Expr* expr);
/// True when some function in it is not immutable (`stable_too`: or, with false, is volatile).
bool has_mutable_functions(const Expr* expr, bool stable_too);
/// Sequences and tables that it names by regclass constants.
std::vector<Oid> named_relations(const Expr* expr);

/// Records what a stored expression of `dependent` depends on: columns of `table` (`column_type`), named
/// relations.
void add_expression_dependencies(Catalog& catalog, const ObjectAddress& dependent, Oid table,
                                 const StoredExpression& expression, DependencyType column_type);

/// Runs `query` with the error position of what it throws moved to where `source` stands in the statement.
template <class Act>
auto at_source(CommandContext& context, const SourceExpr& source, Act act) {
  try {
    return act();
  } catch (SqlError& error) {
    const auto from = static_cast<std::size_t>(source.location < 0 ? 0 : source.location);
    const bool same = source.location >= 0 &&
                      context.text.substr(std::min(from, context.text.size())).starts_with(source.text);
    int& position = error.fields().position;
    if (position > 0)
      position = same ? source.location + position : source.location >= 0 ? source.location + 1 : 0;
    throw;
  }
}

}  // namespace pinwheel::sql
