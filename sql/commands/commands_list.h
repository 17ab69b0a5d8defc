#pragma once

#include <string>

#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

/// The commands of this folder, one per file; run_command() picks one. Each returns its command tag.
namespace pinwheel::sql {

std::string run_drop(CommandContext& context, const DropUtility& utility);
std::string run_create_index(CommandContext& context, const CreateIndexUtility& utility);
std::string run_reindex(CommandContext& context, const ReindexUtility& utility);
std::string run_create_view(CommandContext& context, const CreateViewUtility& utility);
std::string run_create_sequence(CommandContext& context, const CreateSequenceUtility& utility);
std::string run_alter_sequence(CommandContext& context, const AlterSequenceUtility& utility);
std::string run_create_schema(CommandContext& context, const CreateSchemaUtility& utility);
std::string run_truncate(CommandContext& context, const TruncateUtility& utility);
std::string run_comment(CommandContext& context, const CommentUtility& utility);
std::string run_create_table_as(CommandContext& context, const CreateTableAsUtility& utility);
std::string run_alter_table(CommandContext& context, const AlterTableUtility& utility);
std::string run_rename(CommandContext& context, const RenameUtility& utility);
std::string run_alter_owner(CommandContext& context, const AlterOwnerUtility& utility);
std::string run_alter_schema(CommandContext& context, const AlterObjectSchemaUtility& utility);
std::string run_copy(CommandContext& context, const CopyUtility& utility);
std::string run_vacuum(CommandContext& context, const VacuumUtility& utility);
std::string run_grant(CommandContext& context, const GrantUtility& utility);
std::string run_grant_role(CommandContext& context, const GrantRoleUtility& utility);
std::string run_create_role(CommandContext& context, const CreateRoleUtility& utility);
std::string run_alter_role(CommandContext& context, const AlterRoleUtility& utility);
std::string run_drop_role(CommandContext& context, const DropRoleUtility& utility);
std::string run_create_database(CommandContext& context, const CreateDatabaseUtility& utility);
std::string run_drop_database(CommandContext& context, const DropDatabaseUtility& utility);

}  // namespace pinwheel::sql
