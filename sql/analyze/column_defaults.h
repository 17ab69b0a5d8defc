#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// The default of a column, coerced to its type; a NULL of the type when it has none.
Expr* column_default(Analysis& an, const ViewedRelation& relation, std::int16_t attribute);
/// Attribute number of a column that INSERT or UPDATE names. Errors: 42703; for system columns 0A000 where
/// `system_known` (UPDATE knows them, INSERT does not).
std::int16_t find_target_column(Analysis& an, const ViewedRelation& relation, std::string_view name,
                                int location, bool system_known);
/// 428C9 when a generated or GENERATED ALWAYS column is given a value by INSERT.
void refuse_explicit_value(Scope& scope, const Query& query, const ViewedRelation& relation,
                           std::int16_t attribute, int location);

}  // namespace pinwheel::sql
