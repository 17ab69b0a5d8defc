#include "sql/commands/alter_table.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/create_table.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/drop_object.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

/// The lock that an action needs, as in PostgreSQL.
int lock_for(const AlterTableCommand& command) {
  switch (command.action) {
    case AlterTableAction::kSetStatistics:
    case AlterTableAction::kSetOptions:
    case AlterTableAction::kResetOptions:
    case AlterTableAction::kValidateConstraint:
      return kShareUpdateExclusiveLock;
    case AlterTableAction::kAddConstraint:
      return command.constraint.kind == ConstraintKind::kForeign ? kShareRowExclusiveLock
                                                                 : kAccessExclusiveLock;
    default:
      return kAccessExclusiveLock;
  }
}

/// Order of work when one command has several actions: drops, then types, then new columns, then the rest,
/// then constraints, which may need what the others made.
int pass_of(const AlterTableCommand& command) {
  switch (command.action) {
    case AlterTableAction::kDropColumn:
    case AlterTableAction::kDropConstraint:
      return 0;
    case AlterTableAction::kColumnType:
      return 1;
    case AlterTableAction::kAddColumn:
      return 2;
    case AlterTableAction::kAddConstraint:
      return command.constraint.kind == ConstraintKind::kForeign ? 5 : 4;
    default:
      return 3;
  }
}

[[noreturn]] void unsupported(std::string_view what) {
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "ALTER TABLE ... " + std::string{what} + " is not supported"};
}

void drop_column(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  const RelationRef table = context.catalog.require_relation(table_oid);
  const Column* column = table->find_column(command.name);
  if (column == nullptr) {
    if (!command.missing_ok) require_column(*table, command.name);
    send_notice(context, "column " + in_quotes(command.name) + " of relation " + in_quotes(table->name) +
                             " does not exist, skipping");
    return;
  }
  drop_objects(context, {{kClassTable, table_oid, column->number}}, command.cascade);
}

void drop_constraint(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  Oid constraint;
  scan_rows<ConstraintRow>(catalog, {{8, table_oid}}, [&](ConstraintRow& row, TupleId) {
    if (row.conname == command.name) constraint = row.oid;
    return !is_valid(constraint);
  });
  if (!is_valid(constraint)) {
    const std::string message = "constraint " + in_quotes(command.name) + " of relation " +
                                in_quotes(table->name) + " does not exist";
    if (!command.missing_ok) throw SqlError{sqlstate::kUndefinedObject, message};
    return send_notice(context, message + ", skipping");
  }
  drop_objects(context, {{kConstraintTable, constraint}}, command.cascade);
}

void refuse_identity(const Relation& table, const Column& column, const char* hint) {
  if (column.identity == 0) return;
  throw SqlError{sqlstate::kSyntaxError, "column " + in_quotes(column.name) + " of relation " +
                                             in_quotes(table.name) + " is an identity column"}
      .hint(hint);
}

void set_default(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column column = require_column(*table, command.name);
  refuse_identity(
      *table, column,
      command.expression.text.empty() ? "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead." : "");
  if (column.generated != 0) {
    throw SqlError{sqlstate::kSyntaxError, "column " + in_quotes(column.name) + " of relation " +
                                               in_quotes(table->name) + " is a generated column"}
        .hint(command.expression.text.empty()
                  ? "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead."
                  : "");
  }
  if (is_valid(column.default_oid)) drop_one_object(catalog, {kAttrDefTable, column.default_oid});
  if (command.expression.text.empty()) return;
  const RelationRef now = catalog.require_relation(table_oid);
  store_default(context, table_oid, column.number,
                analyze_stored_value(context, command.expression, *now, SourceUse::kColumnDefault, column));
}

void drop_not_null(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  const RelationRef table = context.catalog.require_relation(table_oid);
  const Column& column = require_column(*table, command.name);
  refuse_identity(*table, column, "");
  if (const IndexInfo* key = table->primary_key()) {
    if (std::ranges::find(key->keys, column.number, &IndexKey::column) != key->keys.end()) {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "column " + in_quotes(column.name) + " is in a primary key"};
    }
  }
  if (!column.not_null) return;
  change_attribute_row(context.catalog, table_oid, column.number,
                       [](AttributeRow& row) { row.attnotnull = false; });
}

void set_storage(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  const RelationRef table = context.catalog.require_relation(table_oid);
  const Column& column = require_column(*table, command.name);
  const char storage = command.column.storage;
  if (storage != 'p' && column.length != -1) {
    throw SqlError{
        sqlstate::kFeatureNotSupported,
        "column data type " + context.catalog.format_type(column.type) + " can only have storage PLAIN"};
  }
  change_attribute_row(context.catalog, table_oid, column.number,
                       [&](AttributeRow& row) { row.attstorage = storage; });
}

void add_identity(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column column = require_column(*table, command.name);
  const std::string where = "column " + in_quotes(column.name) + " of relation " + in_quotes(table->name);
  if (!column.not_null) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   where + " must be declared NOT NULL before identity can be added"};
  }
  if (column.identity != 0)
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, where + " is already an identity column"};
  if (!column.default_source.empty()) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, where + " already has a default value"};
  }
  if (column.type != kInt2Type && column.type != kInt4Type && column.type != kInt8Type) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "identity column type must be smallint, integer, or bigint"};
  }
  const char kind = command.constraint.identity != 0 ? command.constraint.identity : 'd';
  change_attribute_row(catalog, table_oid, column.number, [&](AttributeRow& row) { row.attidentity = kind; });
  ResolvedColumn resolved;
  resolved.column.identity = kind;
  resolved.sequence_options = command.constraint.sequence_options;
  add_column_sequence(context, table_oid, column.number, resolved);
}

void drop_identity(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column column = require_column(*table, command.name);
  if (column.identity == 0) {
    const std::string message = "column " + in_quotes(column.name) + " of relation " +
                                in_quotes(table->name) + " is not an identity column";
    if (!command.missing_ok) throw SqlError{sqlstate::kObjectNotInPrerequisiteState, message};
    return send_notice(context, message + ", skipping");
  }
  change_attribute_row(catalog, table_oid, column.number, [](AttributeRow& row) { row.attidentity = '\0'; });
  if (is_valid(column.identity_sequence)) {
    remove_dependencies_of(catalog, {kClassTable, column.identity_sequence});
    drop_objects(context, {{kClassTable, column.identity_sequence}}, false);
  }
}

void drop_expression(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column column = require_column(*table, command.name);
  if (column.generated == 0) {
    const std::string message = "column " + in_quotes(column.name) + " of relation " +
                                in_quotes(table->name) + " is not a stored generated column";
    if (!command.missing_ok) throw SqlError{sqlstate::kObjectNotInPrerequisiteState, message};
    return send_notice(context, message + ", skipping");
  }
  drop_one_object(catalog, {kAttrDefTable, column.default_oid});
}

void run_action(CommandContext& context, Oid table, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  switch (command.action) {
    case AlterTableAction::kAddColumn:
      return alter_add_column(context, table, command);
    case AlterTableAction::kDropColumn:
      return drop_column(context, table, command);
    case AlterTableAction::kColumnDefault:
      return set_default(context, table, command);
    case AlterTableAction::kDropNotNull:
      return drop_not_null(context, table, command);
    case AlterTableAction::kSetNotNull:
      return set_not_null(context, table,
                          require_column(*catalog.require_relation(table), command.name).number, true);
    case AlterTableAction::kColumnType:
      return alter_column_type(context, table, command);
    case AlterTableAction::kAddConstraint:
      return alter_add_constraint(context, table, command.constraint);
    case AlterTableAction::kDropConstraint:
      return drop_constraint(context, table, command);
    case AlterTableAction::kValidateConstraint:
      return validate_constraint(context, table, command.name);
    case AlterTableAction::kSetStatistics: {
      const Column& column = require_column(*catalog.require_relation(table), command.name);
      return change_attribute_row(catalog, table, column.number, [&](AttributeRow& row) {
        row.attstattarget = static_cast<std::int32_t>(std::clamp<std::int64_t>(command.number, -1, 10000));
      });
    }
    case AlterTableAction::kSetStorage:
      return set_storage(context, table, command);
    case AlterTableAction::kSetOptions:
    case AlterTableAction::kResetOptions: {
      const RelationRef relation = catalog.require_relation(table);
      const char kind = relation->kind == 'm' ? 'r' : relation->kind;
      const auto options = change_relation_options(relation->options.all, command.options, kind,
                                                   command.action == AlterTableAction::kResetOptions);
      return change_class_row(catalog, table, [&](ClassRow& row) { row.reloptions = options; });
    }
    case AlterTableAction::kChangeOwner:
      return alter_relation_owner(context, *catalog.require_relation(table), command.new_owner);
    case AlterTableAction::kSetLogged:
      return alter_persistence(context, table, 'p');
    case AlterTableAction::kSetUnlogged:
      return alter_persistence(context, table, 'u');
    case AlterTableAction::kAddIdentity:
      return add_identity(context, table, command);
    case AlterTableAction::kDropIdentity:
      return drop_identity(context, table, command);
    case AlterTableAction::kDropExpression:
      return drop_expression(context, table, command);
    case AlterTableAction::kSetTablespace:
      if (command.name == "pg_default") return;
      unsupported("SET TABLESPACE");
    case AlterTableAction::kReplicaIdentity:
      unsupported("REPLICA IDENTITY");
    case AlterTableAction::kClusterOn:
      unsupported("CLUSTER ON");
    case AlterTableAction::kEnableTrigger:
      unsupported("ENABLE TRIGGER");
    case AlterTableAction::kDisableTrigger:
      unsupported("DISABLE TRIGGER");
    case AlterTableAction::kRowSecurity:
      unsupported("ROW LEVEL SECURITY");
    case AlterTableAction::kAlterConstraint:
      unsupported("ALTER CONSTRAINT");
    case AlterTableAction::kOther:
      unsupported(command.unsupported);
  }
}

std::string tag_of(const AlterTableUtility& utility) { return std::string{command_tag(utility)}; }

}  // namespace

void alter_add_constraint(CommandContext& context, Oid table_oid, const ConstraintDefinition& definition) {
  const RelationRef table = context.catalog.require_relation(table_oid);
  switch (definition.kind) {
    case ConstraintKind::kCheck:
      return add_check(context, table_oid, definition, "", true);
    case ConstraintKind::kPrimary:
    case ConstraintKind::kUnique:
      return add_key(context, table_oid, definition, definition.keys, true);
    case ConstraintKind::kForeign:
      return add_foreign_key(context, table_oid, definition, definition.keys, true);
    default:
      throw SqlError{sqlstate::kFeatureNotSupported, "exclusion constraints are not supported"};
  }
}

std::string run_alter_table(CommandContext& context, const AlterTableUtility& utility) {
  int mode = kShareUpdateExclusiveLock;
  for (const AlterTableCommand& command : utility.commands) mode = std::max(mode, lock_for(command));
  const RelationRef relation = find_locked_relation(context, utility.name, mode);
  if (!relation) {
    if (!utility.missing_ok) static_cast<void>(require_relation(context, utility.name, mode));
    notice_skipping(context, "relation", utility.name);
    return tag_of(utility);
  }
  const bool fits =
      relation->kind == utility.object_kind || (utility.object_kind == 'r' && relation->kind != 'c');
  if (!fits) {
    throw SqlError{sqlstate::kWrongObjectType, in_quotes(relation->name) + " is not " +
                                                   (utility.object_kind == 'i' ? "an " : "a ") +
                                                   std::string{relation_kind_word(utility.object_kind)}};
  }
  refuse_system_relation(*relation);
  context.catalog.check_relation_owner(*relation);
  std::vector<const AlterTableCommand*> commands;
  for (const AlterTableCommand& command : utility.commands) commands.push_back(&command);
  std::ranges::stable_sort(commands, {}, [](const AlterTableCommand* command) { return pass_of(*command); });
  for (const AlterTableCommand* command : commands) {
    const bool any_kind = command->action == AlterTableAction::kChangeOwner ||
                          command->action == AlterTableAction::kSetOptions ||
                          command->action == AlterTableAction::kResetOptions ||
                          (relation->kind == 'v' && command->action == AlterTableAction::kColumnDefault);
    if (relation->kind != 'r' && !any_kind) {
      throw SqlError{sqlstate::kWrongObjectType,
                     "ALTER action cannot be performed on relation " + in_quotes(relation->name)}
          .detail("This operation is not supported for " + std::string{relation_kind_word(relation->kind)} +
                  (relation->kind == 'i' ? "es." : "s."));
    }
    run_action(context, relation->oid, *command);
  }
  return tag_of(utility);
}

}  // namespace pinwheel::sql
