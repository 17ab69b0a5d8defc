#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// A column by bare name, innermost level first; null when there is none. Errors: 42702 when ambiguous.
Expr* find_column_by_name(Scope& scope, std::string_view name, int location);
/// The item of FROM called `name`; `levels_up` tells how far out. Null when there is none. Errors: 42P09
/// ambiguous, 42P01 for a table that LATERAL would be needed for.
const NamespaceItem* find_item(Scope& scope, std::string_view schema, std::string_view name, int location,
                               int* levels_up);
/// A column (also a system column) of `item`; null when it has none of that name.
Expr* column_of_item(Scope& scope, const NamespaceItem& item, int levels_up, std::string_view name,
                     int location);
/// A reference to `column` as seen from `levels_up` below.
Expr* make_column(Scope& scope, const NamespaceItem& item, const NamespaceColumn& column, std::int16_t number,
                  int levels_up, int location);
/// The whole row of `item`.
Expr* make_whole_row(Scope& scope, const NamespaceItem& item, int levels_up, int location);

/// 42P01 "missing FROM-clause entry for table", with the hint PostgreSQL gives.
[[noreturn]] void throw_missing_item(Scope& scope, std::string_view schema, std::string_view name,
                                     int location);
/// 42703 with "Perhaps you meant..."; `table` "" when the column was not qualified.
[[noreturn]] void throw_missing_column(Scope& scope, std::string_view table, std::string_view column,
                                       int location);

/// System columns: ctid -1, xmin -2, cmin -3, xmax -4, cmax -5, tableoid -6; 0 when `name` is none.
std::int16_t system_column(std::string_view name, Oid* type);
std::string_view system_column_name(std::int16_t attribute);

}  // namespace pinwheel::sql
