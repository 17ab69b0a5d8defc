#include "base/sqlstate.h"
#include "sql/commands/command_context.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/create_table.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {

std::string run_command(CommandContext& context, const Utility& utility) {
  switch (utility.kind) {
    case UtilityKind::kCreateTable:
      return run_create_table(context, static_cast<const CreateTableUtility&>(utility));
    case UtilityKind::kCreateTableAs:
      return run_create_table_as(context, static_cast<const CreateTableAsUtility&>(utility));
    case UtilityKind::kAlterTable:
      return run_alter_table(context, static_cast<const AlterTableUtility&>(utility));
    case UtilityKind::kDrop:
      return run_drop(context, static_cast<const DropUtility&>(utility));
    case UtilityKind::kCreateIndex:
      return run_create_index(context, static_cast<const CreateIndexUtility&>(utility));
    case UtilityKind::kReindex:
      return run_reindex(context, static_cast<const ReindexUtility&>(utility));
    case UtilityKind::kCreateView:
      return run_create_view(context, static_cast<const CreateViewUtility&>(utility));
    case UtilityKind::kCreateSequence:
      return run_create_sequence(context, static_cast<const CreateSequenceUtility&>(utility));
    case UtilityKind::kAlterSequence:
      return run_alter_sequence(context, static_cast<const AlterSequenceUtility&>(utility));
    case UtilityKind::kCreateSchema:
      return run_create_schema(context, static_cast<const CreateSchemaUtility&>(utility));
    case UtilityKind::kRename:
      return run_rename(context, static_cast<const RenameUtility&>(utility));
    case UtilityKind::kAlterOwner:
      return run_alter_owner(context, static_cast<const AlterOwnerUtility&>(utility));
    case UtilityKind::kAlterObjectSchema:
      return run_alter_schema(context, static_cast<const AlterObjectSchemaUtility&>(utility));
    case UtilityKind::kTruncate:
      return run_truncate(context, static_cast<const TruncateUtility&>(utility));
    case UtilityKind::kComment:
      return run_comment(context, static_cast<const CommentUtility&>(utility));
    case UtilityKind::kVacuum:
      return run_vacuum(context, static_cast<const VacuumUtility&>(utility));
    case UtilityKind::kCopy:
      return run_copy(context, static_cast<const CopyUtility&>(utility));
    case UtilityKind::kGrant:
      return run_grant(context, static_cast<const GrantUtility&>(utility));
    case UtilityKind::kGrantRole:
      return run_grant_role(context, static_cast<const GrantRoleUtility&>(utility));
    case UtilityKind::kCreateRole:
      return run_create_role(context, static_cast<const CreateRoleUtility&>(utility));
    case UtilityKind::kAlterRole:
      return run_alter_role(context, static_cast<const AlterRoleUtility&>(utility));
    case UtilityKind::kDropRole:
      return run_drop_role(context, static_cast<const DropRoleUtility&>(utility));
    case UtilityKind::kCreateDatabase:
      return run_create_database(context, static_cast<const CreateDatabaseUtility&>(utility));
    case UtilityKind::kDropDatabase:
      return run_drop_database(context, static_cast<const DropDatabaseUtility&>(utility));
    default:
      throw SqlError{sqlstate::kFeatureNotSupported, std::string{command_tag(utility)} + " is not supported"};
  }
}

bool must_run_alone(const Utility& utility, std::string_view& name) {
  switch (utility.kind) {
    case UtilityKind::kVacuum:
      name = "VACUUM";
      return static_cast<const VacuumUtility&>(utility).vacuum;
    case UtilityKind::kCreateDatabase:
      name = "CREATE DATABASE";
      return true;
    case UtilityKind::kDropDatabase:
      name = "DROP DATABASE";
      return true;
    case UtilityKind::kCreateIndex:
      name = "CREATE INDEX CONCURRENTLY";
      return static_cast<const CreateIndexUtility&>(utility).concurrently;
    case UtilityKind::kDrop:
      name = "DROP INDEX CONCURRENTLY";
      return static_cast<const DropUtility&>(utility).concurrently;
    case UtilityKind::kReindex: {
      const auto& reindex = static_cast<const ReindexUtility&>(utility);
      name = reindex.object == ObjectKind::kDatabase ? "REINDEX DATABASE" : "REINDEX SCHEMA";
      return reindex.object == ObjectKind::kDatabase || reindex.object == ObjectKind::kSchema;
    }
    default:
      return false;
  }
}

std::string_view command_tag(const Utility& utility) {
  switch (utility.kind) {
    case UtilityKind::kTransaction:
      return "BEGIN";
    case UtilityKind::kSet:
      return "SET";
    case UtilityKind::kShow:
      return "SHOW";
    case UtilityKind::kCreateTable:
      return "CREATE TABLE";
    case UtilityKind::kAlterTable:
      switch (static_cast<const AlterTableUtility&>(utility).object_kind) {
        case 'i':
          return "ALTER INDEX";
        case 'v':
          return "ALTER VIEW";
        case 'S':
          return "ALTER SEQUENCE";
        case 'm':
          return "ALTER MATERIALIZED VIEW";
        default:
          return "ALTER TABLE";
      }
    case UtilityKind::kDrop:
      switch (static_cast<const DropUtility&>(utility).object) {
        case ObjectKind::kIndex:
          return "DROP INDEX";
        case ObjectKind::kView:
          return "DROP VIEW";
        case ObjectKind::kSequence:
          return "DROP SEQUENCE";
        case ObjectKind::kSchema:
          return "DROP SCHEMA";
        case ObjectKind::kMaterializedView:
          return "DROP MATERIALIZED VIEW";
        default:
          return "DROP TABLE";
      }
    case UtilityKind::kCreateIndex:
      return "CREATE INDEX";
    case UtilityKind::kCreateView:
      return "CREATE VIEW";
    case UtilityKind::kCreateSequence:
      return "CREATE SEQUENCE";
    case UtilityKind::kAlterSequence:
      return "ALTER SEQUENCE";
    case UtilityKind::kCreateSchema:
      return "CREATE SCHEMA";
    case UtilityKind::kRename:
    case UtilityKind::kAlterOwner:
    case UtilityKind::kAlterObjectSchema:
      return "ALTER TABLE";
    case UtilityKind::kTruncate:
      return "TRUNCATE TABLE";
    case UtilityKind::kVacuum:
      return static_cast<const VacuumUtility&>(utility).vacuum ? "VACUUM" : "ANALYZE";
    case UtilityKind::kCopy:
      return static_cast<const CopyUtility&>(utility).from ? "COPY FROM" : "COPY";
    case UtilityKind::kExplain:
      return "EXPLAIN";
    case UtilityKind::kPrepare:
      return "PREPARE";
    case UtilityKind::kExecute:
      return "EXECUTE";
    case UtilityKind::kDeallocate:
      return "DEALLOCATE";
    case UtilityKind::kDeclareCursor:
      return "DECLARE CURSOR";
    case UtilityKind::kFetch:
      return "FETCH";
    case UtilityKind::kClose:
      return "CLOSE CURSOR";
    case UtilityKind::kLock:
      return "LOCK TABLE";
    case UtilityKind::kCheckpoint:
      return "CHECKPOINT";
    case UtilityKind::kDiscard:
      return "DISCARD";
    case UtilityKind::kComment:
      return "COMMENT";
    case UtilityKind::kGrant:
      return static_cast<const GrantUtility&>(utility).grant ? "GRANT" : "REVOKE";
    case UtilityKind::kGrantRole:
      return static_cast<const GrantRoleUtility&>(utility).grant ? "GRANT ROLE" : "REVOKE ROLE";
    case UtilityKind::kCreateRole:
      return "CREATE ROLE";
    case UtilityKind::kAlterRole:
      return "ALTER ROLE";
    case UtilityKind::kDropRole:
      return "DROP ROLE";
    case UtilityKind::kCreateDatabase:
      return "CREATE DATABASE";
    case UtilityKind::kDropDatabase:
      return "DROP DATABASE";
    case UtilityKind::kAlterSystem:
      return "ALTER SYSTEM";
    case UtilityKind::kReindex:
      return "REINDEX";
    case UtilityKind::kCreateTableAs:
      return static_cast<const CreateTableAsUtility&>(utility).materialized_view ? "CREATE MATERIALIZED VIEW"
                                                                                 : "CREATE TABLE AS";
    case UtilityKind::kListen:
      return "LISTEN";
    case UtilityKind::kNotify:
      return "NOTIFY";
    case UtilityKind::kUnlisten:
      return "UNLISTEN";
    case UtilityKind::kConstraintsSet:
      return "SET CONSTRAINTS";
    case UtilityKind::kCluster:
      return "CLUSTER";
    case UtilityKind::kReassignOwned:
      return "REASSIGN OWNED";
  }
  return "???";
}

bool allowed_in_read_only_transaction(const Utility& utility) {
  switch (utility.kind) {
    case UtilityKind::kCopy:
      return !static_cast<const CopyUtility&>(utility).from;
    case UtilityKind::kVacuum:
    case UtilityKind::kListen:
    case UtilityKind::kNotify:
    case UtilityKind::kUnlisten:
    case UtilityKind::kTransaction:
    case UtilityKind::kSet:
    case UtilityKind::kShow:
    case UtilityKind::kExplain:
    case UtilityKind::kPrepare:
    case UtilityKind::kExecute:
    case UtilityKind::kDeallocate:
    case UtilityKind::kDeclareCursor:
    case UtilityKind::kFetch:
    case UtilityKind::kClose:
    case UtilityKind::kCheckpoint:
    case UtilityKind::kDiscard:
    case UtilityKind::kConstraintsSet:
      return true;
    case UtilityKind::kLock:
      return static_cast<const LockUtility&>(utility).mode <= 3;
    default:
      return false;
  }
}

}  // namespace pinwheel::sql
