#pragma once

#include "sql/catalog/relation.h"
#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// Parts of ALTER TABLE that have files of their own. The table is locked and owned.
void alter_add_column(CommandContext& context, Oid table, const AlterTableCommand& command);
void alter_column_type(CommandContext& context, Oid table, const AlterTableCommand& command);
void alter_add_constraint(CommandContext& context, Oid table, const ConstraintDefinition& definition);
void alter_persistence(CommandContext& context, Oid table, char persistence);
void alter_relation_owner(CommandContext& context, const Relation& relation, std::string_view new_owner);

}  // namespace pinwheel::sql
