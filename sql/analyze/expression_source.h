#pragma once

#include <string>
#include <string_view>

#include "sql/analyze/analyzer.h"

namespace pinwheel::sql {

/// Where an expression that belongs to a table stands; decides what it may contain and the words of errors.
enum class SourceUse : std::uint8_t {
  kColumnDefault,     ///< no columns, no sub-selects, no aggregates
  kGenerated,         ///< columns of the table (42P17 for volatile functions is left to the command)
  kCheck,             ///< boolean over the table's columns
  kIndexExpression,   ///< over the table's columns
  kIndexPredicate,    ///< boolean over the table's columns
  kAlterUsing,        ///< ALTER COLUMN TYPE ... USING
  kCopyWhere,         ///< COPY FROM ... WHERE
  kExecuteParameter,  ///< EXECUTE name(...)
  kPartitionKey
};

/// Analyzes the source text of an expression over `relation`'s columns (null: none may be named). Columns
/// come out as ColumnExpr of range_index 0, levels_up 0. Booleans are coerced where the use wants them.
///
/// `text` is what `SELECT <text>` parses to. Errors: as analyze(); positions count in `text`.
Expr* analyze_expression(const AnalyzeContext& context, std::string_view text, const ViewedRelation* relation,
                         SourceUse use);

/// A default or USING expression, coerced by assignment to the column's type and modifier.
///
/// Errors: 42804 `column "c" is of type t but default expression is of type u`, as PostgreSQL words each use.
Expr* analyze_column_value(const AnalyzeContext& context, std::string_view text,
                           const ViewedRelation* relation, SourceUse use, std::string_view column_name,
                           ExprType column_type);

/// Coerces an analyzed expression as an assignment to `target`; null when there is no such cast.
Expr* coerce_for_assignment(const AnalyzeContext& context, Expr* value, ExprType target);

/// Type by its SQL words as CREATE TABLE has them, resolved; `modifier` gets the type modifier.
///
/// Errors: 42704 `type "x" does not exist` with position, 22023, 42601 for modifiers.
ExprType resolve_type_name(const AnalyzeContext& context, const TypeName& name,
                           std::string_view whole_text = {});

/// Type from text ("numeric(10,2)[]"), for regtype and casts of names. Errors: 42704, 42601.
ExprType resolve_type_text(const AnalyzeContext& context, std::string_view text);

}  // namespace pinwheel::sql
