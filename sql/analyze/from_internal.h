#pragma once

#include "sql/analyze/statements.h"

/// Shared by the files that analyze FROM.
namespace pinwheel::sql {

/// One analyzed item of FROM: its tree, the full set of its columns, and the names it shows.
struct FromEntry {
  FromItem* tree = nullptr;
  NamespaceItem whole;
  std::vector<NamespaceItem> names;
};

/// An item that is one range entry.
FromEntry plain_item(Scope& scope, NamespaceItem names);
std::string_view alias_name(const PgQuery__Alias* alias);
/// Renames the first columns as the alias list says. Errors: 42P10 when there are too many.
void apply_alias(Scope& scope, RangeEntry& entry, const PgQuery__Alias* alias, std::string_view kind);
/// from_functions.cc
FromEntry transform_function(Scope& scope, const PgQuery__RangeFunction* range);

}  // namespace pinwheel::sql
