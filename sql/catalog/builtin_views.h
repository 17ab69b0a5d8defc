#pragma once

#include <span>
#include <string_view>

#include "base/ids.h"
#include "sql/analyze/catalog_view.h"

namespace pinwheel::sql {

/// Built-in types, functions and operators in the shapes that analysis reads; made once per process, on first
/// use.

/// Null when not built in.
const ViewedType* builtin_type_view(Oid oid);
const ViewedFunction* builtin_function_view(Oid oid);
/// All of that name whose function is implemented.
std::span<const ViewedFunction* const> builtin_function_views(std::string_view name);
const ViewedOperator* builtin_operator_view(Oid oid);
std::span<const ViewedOperator* const> builtin_operator_views(std::string_view name);

/// The default btree operators of a type; `catalog` tells composites, enums and domains.
SortOperators builtin_sort_operators(Oid type, AnalyzerCatalog& catalog);
std::span<const OperatorFamilyEntry> builtin_btree_memberships(Oid op);

}  // namespace pinwheel::sql
