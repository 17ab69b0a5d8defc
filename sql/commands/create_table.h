#pragma once

#include <string>

#include "sql/commands/command_context.h"
#include "sql/commands/relation_create.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

std::string run_create_table(CommandContext& context, const CreateTableUtility& utility);

/// A column as written, resolved; its constraints sorted by what must be done when the table exists. Shared
/// with ALTER TABLE ADD COLUMN.
struct ResolvedColumn {
  NewColumn column;
  SourceExpr default_source;
  /// Serial and identity: the sequence to make; 0 = none.
  bool is_serial = false;
  std::span<const Option> sequence_options;
  std::vector<const ConstraintDefinition*> checks;
  std::vector<const ConstraintDefinition*> keys;
  std::vector<const ConstraintDefinition*> foreign_keys;
};
/// Errors: 42704 for types and collations, 42601 for contradicting constraints, with positions.
ResolvedColumn resolve_column(CommandContext& context, const ColumnSpec& spec, std::string_view table_name);

/// Makes a serial's or identity's sequence for a column of an existing table, owned by it, and sets the
/// default.
void add_column_sequence(CommandContext& context, Oid table, std::int16_t column,
                         const ResolvedColumn& resolved);

}  // namespace pinwheel::sql
