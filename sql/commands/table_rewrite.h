#pragma once

#include <string>
#include <vector>

#include "sql/catalog/relation.h"
#include "sql/commands/command_context.h"

namespace pinwheel::sql {

/// The shape a table will have: its present entry with other columns, a new file, no indexes.
struct RewriteTarget {
  std::vector<Column> columns;
  char persistence = 'p';
};

/// Writes all rows of `table` into a new file, each column computed by one of `sources` (SQL over the table's
/// present columns; "" = null, for dropped ones). The caller holds AccessExclusive, changes the catalog rows
/// afterwards and then calls adopt_rewrite. Returns the new file. If the process dies or the transaction
/// aborts the file goes.
Oid rewrite_table(CommandContext& context, const Relation& table, const RewriteTarget& target,
                  const std::vector<std::string>& sources);

/// Makes the new file the table's and rebuilds its indexes.
void adopt_rewrite(CommandContext& context, Oid table, Oid file);

}  // namespace pinwheel::sql
