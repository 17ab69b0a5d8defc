#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {

std::string run_create_schema(CommandContext& context, const CreateSchemaUtility& utility) {
  Catalog& catalog = context.catalog;
  const Oid owner = utility.owner.empty() ? catalog.eval().user : catalog.require_role(utility.owner);
  const std::string name = utility.name.empty() ? catalog.role_name(owner) : std::string{utility.name};
  if (!catalog.has_database_privilege(catalog.eval().user, catalog.eval().database, kCreatePrivilege)) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied for database " + catalog.eval().database_name};
  }
  if (!catalog.has_privileges_of(catalog.eval().user, owner)) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "must be member of role " + in_quotes(catalog.role_name(owner))};
  }
  if (name.starts_with("pg_")) {
    throw SqlError{sqlstate::kReservedName, "unacceptable schema name " + in_quotes(name)}.detail(
        "The prefix \"pg_\" is reserved for system schemas.");
  }
  if (find_row<NamespaceRow>(catalog, {{2, std::string_view{name}}})) {
    const std::string message = "schema " + in_quotes(name) + " already exists";
    if (!utility.if_not_exists) throw SqlError{sqlstate::kDuplicateSchema, message};
    context.client.notice(NoticeLevel::kNotice, SqlError{sqlstate::kDuplicateSchema, message + ", skipping"});
    return "CREATE SCHEMA";
  }
  insert_row(catalog, NamespaceRow{new_oid(catalog), name, owner, std::nullopt});
  catalog.invalidate_schema();
  if (!utility.elements.empty()) {
    // The elements' names without a schema mean the new one while they run.
    for (Utility* element : utility.elements) {
      if (element->kind == UtilityKind::kCreateTable) {
        auto& table = static_cast<CreateTableUtility&>(*element);
        if (table.name.schema.empty()) table.name.schema = context.arena.copy(name);
      } else if (element->kind == UtilityKind::kCreateView) {
        auto& view = static_cast<CreateViewUtility&>(*element);
        if (view.name.schema.empty()) view.name.schema = context.arena.copy(name);
      } else if (element->kind == UtilityKind::kCreateSequence) {
        auto& sequence = static_cast<CreateSequenceUtility&>(*element);
        if (sequence.name.schema.empty()) sequence.name.schema = context.arena.copy(name);
      } else if (element->kind == UtilityKind::kCreateIndex) {
        auto& index = static_cast<CreateIndexUtility&>(*element);
        if (index.table.schema.empty()) index.table.schema = context.arena.copy(name);
      }
      run_command(context, *element);
    }
  }
  return "CREATE SCHEMA";
}

}  // namespace pinwheel::sql
