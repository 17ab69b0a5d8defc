#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/support.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

void require_create_role(CommandContext& context, const char* what) {
  const auto self = context.catalog.role(context.catalog.eval().user);
  if (self && (self->superuser || self->create_role)) return;
  throw SqlError{sqlstate::kInsufficientPrivilege, std::string{"permission denied to "} + what + " role"};
}

void require_superuser(CommandContext& context, const char* what) {
  if (context.superuser) return;
  throw SqlError{sqlstate::kInsufficientPrivilege, std::string{"must be superuser to "} + what};
}

/// Applies CREATE/ALTER ROLE options to a row. Memberships are the caller's.
void apply_options(CommandContext& context, std::span<const Option> options, AuthIdRow& row) {
  for (const Option& option : options) {
    if (option.name == "superuser") {
      row.rolsuper = option_bool(option);
      require_superuser(context, "create superusers or change superuser attribute");
    } else if (option.name == "inherit") {
      row.rolinherit = option_bool(option);
    } else if (option.name == "createrole") {
      row.rolcreaterole = option_bool(option);
    } else if (option.name == "createdb") {
      row.rolcreatedb = option_bool(option);
    } else if (option.name == "canlogin" || option.name == "login") {
      row.rolcanlogin = option_bool(option);
    } else if (option.name == "isreplication" || option.name == "replication") {
      row.rolreplication = option_bool(option);
      require_superuser(context, "create replication users or change replication attribute");
    } else if (option.name == "bypassrls") {
      row.rolbypassrls = option_bool(option);
      require_superuser(context, "change bypassrls attribute");
    } else if (option.name == "connectionlimit") {
      row.rolconnlimit = static_cast<std::int32_t>(option_integer(option));
      if (row.rolconnlimit < -1) {
        throw SqlError{sqlstate::kInvalidParameterValue,
                       "invalid connection limit: " + std::to_string(row.rolconnlimit)};
      }
    } else if (option.name == "password") {
      if (option.kind == Option::Kind::kNone || option.text.empty()) {
        row.rolpassword.reset();
      } else {
        row.rolpassword = std::string{option.text};
      }
    } else if (option.name == "validuntil") {
      const TypeInfo& type = type_info(kTimestampTzType);
      row.rolvaliduntil = input_value(type, option.text, context.arena, context.catalog.eval()).as_int64();
    } else if (option.name != "rolemembers" && option.name != "adminmembers" && option.name != "addroleto" &&
               option.name != "sysid") {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "role option " + in_quotes(option.name) + " is not supported"};
    }
  }
}

void add_membership(CommandContext& context, Oid role, Oid member, bool admin) {
  Catalog& catalog = context.catalog;
  if (catalog.has_privileges_of(role, member) && !catalog.is_superuser(role)) {
    throw SqlError{sqlstate::kInvalidGrantOperation, "role " + in_quotes(catalog.role_name(role)) +
                                                         " is a member of role " +
                                                         in_quotes(catalog.role_name(member))};
  }
  bool known = false;
  TupleId at;
  std::optional<AuthMembersRow> row;
  scan_rows<AuthMembersRow>(catalog, {{1, role}, {2, member}}, [&](AuthMembersRow& found, TupleId id) {
    known = true;
    row = found;
    at = id;
    return false;
  });
  if (known) {
    if (row->admin_option || !admin) {
      send_notice(context, "role " + in_quotes(catalog.role_name(member)) + " is already a member of role " +
                               in_quotes(catalog.role_name(role)));
      return;
    }
    row->admin_option = true;
    update_row(catalog, at, *row);
  } else {
    insert_row(catalog, AuthMembersRow{role, member, catalog.eval().user, admin});
  }
  catalog.invalidate_shared();
}

void apply_memberships(CommandContext& context, std::span<const Option> options, Oid role) {
  for (const Option& option : options) {
    const bool members = option.name == "rolemembers" || option.name == "adminmembers";
    if (!members && option.name != "addroleto") continue;
    for (const std::string_view name : option.list) {
      const Oid other = context.catalog.require_role(name);
      add_membership(context, members ? role : other, members ? other : role, option.name == "adminmembers");
    }
  }
}

bool names_role(const AclColumn& acl, Oid role) {
  if (!acl) return false;
  return std::ranges::any_of(
      *acl, [&](const AclItem& item) { return item.grantee == role || item.grantor == role; });
}

/// Lines for what access control lists of this database, and of databases, say of the role.
void add_privileges(Catalog& catalog, Oid role, std::string& detail) {
  const auto add = [&](const std::string& object) {
    if (!detail.empty()) detail += '\n';
    detail += "privileges for " + object;
  };
  for (const DatabaseRow& row : find_rows<DatabaseRow>(catalog, {})) {
    if (names_role(row.datacl, role)) add("database " + row.datname);
  }
  for (const NamespaceRow& row : find_rows<NamespaceRow>(catalog, {})) {
    if (names_role(row.nspacl, role)) add("schema " + row.nspname);
  }
  for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
    if (names_role(row.relacl, role)) add(describe_object(catalog, {kClassTable, row.oid}));
  }
  for (const AttributeRow& row : find_rows<AttributeRow>(catalog, {})) {
    if (names_role(row.attacl, role)) add(describe_object(catalog, {kClassTable, row.attrelid, row.attnum}));
  }
}

/// Something in this database, or a database, still belongs to the role.
void check_owns_nothing(Catalog& catalog, Oid role, const std::string& name) {
  std::string detail;
  for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
    if (row.relowner != role || row.relkind == 'i' || row.relkind == 't') continue;
    if (!detail.empty()) detail += '\n';
    detail += "owner of " + std::string{relation_kind_word(row.relkind)} + " " + row.relname;
  }
  for (const NamespaceRow& row : find_rows<NamespaceRow>(catalog, {})) {
    if (row.nspowner != role) continue;
    if (!detail.empty()) detail += '\n';
    detail += "owner of schema " + row.nspname;
  }
  for (const DatabaseRow& row : find_rows<DatabaseRow>(catalog, {})) {
    if (row.datdba != role) continue;
    if (!detail.empty()) detail += '\n';
    detail += "owner of database " + row.datname;
  }
  add_privileges(catalog, role, detail);
  if (detail.empty()) return;
  throw SqlError{sqlstate::kDependentObjectsStillExist,
                 "role " + in_quotes(name) + " cannot be dropped because some objects depend on it"}
      .detail(detail);
}

}  // namespace

std::string run_create_role(CommandContext& context, const CreateRoleUtility& utility) {
  Catalog& catalog = context.catalog;
  require_create_role(context, "create");
  const std::string name{utility.name};
  if (name == "public" || name == "none") {
    throw SqlError{sqlstate::kReservedName, "role name " + in_quotes(name) + " is reserved"};
  }
  if (name.starts_with("pg_")) {
    throw SqlError{sqlstate::kReservedName, "role name " + in_quotes(name) + " is reserved"}.detail(
        "Role names starting with \"pg_\" are reserved.");
  }
  if (catalog.find_role(name)) {
    throw SqlError{sqlstate::kDuplicateObject, "role " + in_quotes(name) + " already exists"};
  }
  AuthIdRow row;
  row.oid = new_oid(catalog);
  row.rolname = name;
  row.rolcanlogin = utility.login_default;
  apply_options(context, utility.options, row);
  insert_row(catalog, row);
  catalog.invalidate_shared();
  apply_memberships(context, utility.options, row.oid);
  return "CREATE ROLE";
}

std::string run_alter_role(CommandContext& context, const AlterRoleUtility& utility) {
  Catalog& catalog = context.catalog;
  const Oid role = catalog.require_role(utility.name);
  const bool own_password =
      role == catalog.eval().user && utility.options.size() == 1 && utility.options[0].name == "password";
  if (!own_password) require_create_role(context, "alter");
  if (catalog.is_superuser(role))
    require_superuser(context, "alter superuser roles or change superuser attribute");
  TupleId at;
  auto row = find_row<AuthIdRow>(catalog, {{1, role}}, &at);
  apply_options(context, utility.options, *row);
  update_row(catalog, at, *row);
  catalog.invalidate_shared();
  apply_memberships(context, utility.options, role);
  return "ALTER ROLE";
}

std::string run_drop_role(CommandContext& context, const DropRoleUtility& utility) {
  Catalog& catalog = context.catalog;
  require_create_role(context, "drop");
  for (const std::string_view name : utility.names) {
    const auto role = catalog.find_role(name);
    if (!role) {
      if (!utility.missing_ok) catalog.require_role(name);
      send_notice(context, "role " + in_quotes(name) + " does not exist, skipping");
      continue;
    }
    if (role->oid == catalog.eval().user)
      throw SqlError{sqlstate::kObjectInUse, "current user cannot be dropped"};
    if (role->superuser) require_superuser(context, "drop superusers");
    check_owns_nothing(catalog, role->oid, role->name);
    delete_rows<AuthIdRow>(catalog, {{1, role->oid}});
    delete_rows<AuthMembersRow>(catalog, {{1, role->oid}});
    delete_rows<AuthMembersRow>(catalog, {{2, role->oid}});
    delete_rows<ShDescriptionRow>(catalog, {{1, role->oid}, {2, kAuthIdTable}});
    catalog.invalidate_shared();
  }
  return "DROP ROLE";
}

std::string run_grant_role(CommandContext& context, const GrantRoleUtility& utility) {
  Catalog& catalog = context.catalog;
  for (const std::string_view role_name : utility.roles) {
    const Oid role = catalog.require_role(role_name);
    bool may_grant = context.superuser;
    const auto self = catalog.role(catalog.eval().user);
    may_grant |= self && self->create_role && !catalog.is_superuser(role);
    scan_rows<AuthMembersRow>(catalog, {{1, role}}, [&](AuthMembersRow& row, TupleId) {
      may_grant |= row.admin_option && row.member == catalog.eval().user;
      return true;
    });
    if (!may_grant) {
      throw SqlError{sqlstate::kInsufficientPrivilege,
                     "must have admin option on role " + in_quotes(role_name)};
    }
    for (const std::string_view member_name : utility.grantees) {
      const Oid member = catalog.require_role(member_name);
      if (utility.grant) {
        add_membership(context, role, member, utility.admin_option);
        continue;
      }
      CatalogScan scan{catalog, kAuthMembersTable, std::vector<CatalogKey>{{1, role}, {2, member}}};
      if (!scan.next()) {
        send_warning(context, sqlstate::kWarning,
                     "role " + in_quotes(member_name) + " is not a member of role " + in_quotes(role_name));
        continue;
      }
      AuthMembersRow row;
      scan.read(row);
      if (utility.admin_option) {
        row.admin_option = false;
        update_row(catalog, scan.tuple_id(), row);
      } else {
        delete_tuple(catalog, kAuthMembersTable, scan.tuple_id());
      }
      catalog.invalidate_shared();
    }
  }
  return utility.grant ? "GRANT ROLE" : "REVOKE ROLE";
}

}  // namespace pinwheel::sql
