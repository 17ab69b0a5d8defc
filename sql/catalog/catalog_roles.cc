#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/acl_text.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/catalog_state.h"

namespace pinwheel::sql {
namespace {

RoleInfo from_row(AuthIdRow& row) {
  RoleInfo role;
  role.oid = row.oid;
  role.name = std::move(row.rolname);
  role.superuser = row.rolsuper;
  role.inherit = row.rolinherit;
  role.create_role = row.rolcreaterole;
  role.create_database = row.rolcreatedb;
  role.can_login = row.rolcanlogin;
  role.replication = row.rolreplication;
  role.bypass_rls = row.rolbypassrls;
  role.connection_limit = row.rolconnlimit;
  role.password = row.rolpassword.value_or("");
  role.has_valid_until = row.rolvaliduntil.has_value();
  role.valid_until = row.rolvaliduntil.value_or(0);
  return role;
}

std::string relation_word(char kind) {
  switch (kind) {
    case 'S':
      return "sequence";
    case 'v':
      return "view";
    case 'm':
      return "materialized view";
    case 'i':
      return "index";
    default:
      return "table";
  }
}

}  // namespace

const std::vector<RoleInfo>& Catalog::State::roles() {
  SharedEntries* entries = shared_changed ? &shared_overlay : &catalog.services_.cache.shared();
  if (!entries->roles) {
    std::vector<RoleInfo> read;
    scan_rows<AuthIdRow>(catalog, {}, [&](AuthIdRow& row, TupleId) {
      read.push_back(from_row(row));
      return true;
    });
    entries->roles = std::move(read);
  }
  return *entries->roles;
}

const std::vector<RoleMembership>& Catalog::State::memberships() {
  SharedEntries* entries = shared_changed ? &shared_overlay : &catalog.services_.cache.shared();
  if (!entries->memberships) {
    std::vector<RoleMembership> read;
    scan_rows<AuthMembersRow>(catalog, {}, [&](AuthMembersRow& row, TupleId) {
      read.push_back({row.roleid, row.member, row.grantor, row.admin_option});
      return true;
    });
    entries->memberships = std::move(read);
  }
  return *entries->memberships;
}

const std::vector<DatabaseInfo>& Catalog::State::databases() {
  SharedEntries* entries = shared_changed ? &shared_overlay : &catalog.services_.cache.shared();
  if (!entries->databases) {
    std::vector<DatabaseInfo> read;
    scan_rows<DatabaseRow>(catalog, {}, [&](DatabaseRow& row, TupleId) {
      DatabaseInfo& info = read.emplace_back();
      info.oid = row.oid;
      info.name = std::move(row.datname);
      info.owner = row.datdba;
      info.encoding = row.encoding;
      info.is_template = row.datistemplate;
      info.allow_connections = row.datallowconn;
      info.connection_limit = row.datconnlimit;
      info.collate = std::move(row.datcollate);
      info.ctype = std::move(row.datctype);
      info.has_acl = row.datacl.has_value();
      if (row.datacl) info.acl = std::move(*row.datacl);
      return true;
    });
    entries->databases = std::move(read);
  }
  return *entries->databases;
}

std::optional<RoleInfo> Catalog::role(Oid oid) {
  for (const RoleInfo& info : state_->roles()) {
    if (info.oid == oid) return info;
  }
  return std::nullopt;
}

std::optional<RoleInfo> Catalog::find_role(std::string_view name) {
  for (const RoleInfo& info : state_->roles()) {
    if (info.name == name) return info;
  }
  return std::nullopt;
}

Oid Catalog::require_role(std::string_view name) {
  if (name == "current_user" || name == "current_role") return eval_.user;
  if (const auto found = find_role(name)) return found->oid;
  if (name == "session_user") {
    if (const auto found = find_role(eval_.session_user_name)) return found->oid;
  }
  throw SqlError{sqlstate::kUndefinedObject, "role \"" + std::string{name} + "\" does not exist"};
}

std::string Catalog::role_name(Oid oid) {
  for (const RoleInfo& info : state_->roles()) {
    if (info.oid == oid) return info.name;
  }
  return "unknown (OID=" + std::to_string(oid.value) + ")";
}

bool Catalog::is_superuser(Oid oid) {
  for (const RoleInfo& info : state_->roles()) {
    if (info.oid == oid) return info.superuser;
  }
  return false;
}

bool Catalog::has_privileges_of(Oid member, Oid target) {
  if (member == target || is_superuser(member)) return true;
  // Breadth first over memberships; a role without INHERIT does not pass on what it is a member of.
  std::vector<Oid> reached{member};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto info = role(reached[i]);
    if (!info || !info->inherit) continue;
    for (const RoleMembership& membership : state_->memberships()) {
      if (membership.member != reached[i]) continue;
      if (membership.role == target) return true;
      if (std::ranges::find(reached, membership.role) == reached.end()) reached.push_back(membership.role);
    }
  }
  return false;
}

std::optional<DatabaseInfo> Catalog::database(Oid oid) {
  for (const DatabaseInfo& info : state_->databases()) {
    if (info.oid == oid) return info;
  }
  return std::nullopt;
}

std::optional<DatabaseInfo> Catalog::find_database(std::string_view name) {
  for (const DatabaseInfo& info : state_->databases()) {
    if (info.name == name) return info;
  }
  return std::nullopt;
}

Privileges Catalog::acl_mask(Oid role, std::span<const AclItem> acl) {
  if (is_superuser(role)) return ~Privileges{0};
  Privileges found = 0;
  for (const AclItem& item : acl) {
    const bool applies = !is_valid(item.grantee) || has_privileges_of(role, item.grantee);
    if (applies) found |= item.privileges();
  }
  return found;
}

bool Catalog::has_relation_privilege(Oid role, const Relation& relation, Privileges wanted) {
  if (!relation.has_acl) {
    const char kind = relation.kind == 'S' ? 'S' : 'r';
    if (is_superuser(role)) return true;
    return has_privileges_of(role, relation.owner) && (all_privileges(kind) & wanted) == wanted;
  }
  return (acl_mask(role, relation.acl) & wanted) == wanted;
}

bool Catalog::has_column_privilege(Oid role, const Relation& relation, std::int16_t column,
                                   Privileges wanted) {
  if (has_relation_privilege(role, relation, wanted)) return true;
  if (column < 1 || static_cast<std::size_t>(column) > relation.columns.size()) return false;
  Privileges found = acl_mask(role, relation.column(column).acl);
  if (relation.has_acl) found |= acl_mask(role, relation.acl);
  return (found & wanted) == wanted;
}

bool Catalog::has_schema_privilege(Oid role, Oid schema, Privileges wanted) {
  if (schema == state_->temporary_schema && is_valid(schema)) return true;
  for (const SchemaInfo& info : state_->schemas()) {
    if (info.oid != schema) continue;
    const std::vector<AclItem> acl = info.has_acl ? info.acl : default_acl('n', info.owner);
    return (acl_mask(role, acl) & wanted) == wanted;
  }
  return false;
}

bool Catalog::has_database_privilege(Oid role, Oid database_oid, Privileges wanted) {
  const auto info = database(database_oid);
  if (!info) return false;
  const std::vector<AclItem> acl = info->has_acl ? info->acl : default_acl('d', info->owner);
  return (acl_mask(role, acl) & wanted) == wanted;
}

void Catalog::check_relation_privilege(const Relation& relation, Privileges wanted,
                                       std::span<const std::int16_t> columns) {
  if (has_relation_privilege(eval_.user, relation, wanted)) return;
  bool all_columns = !columns.empty();
  for (const std::int16_t column : columns) {
    all_columns &= has_column_privilege(eval_.user, relation, column, wanted);
  }
  if (all_columns) return;
  throw SqlError{sqlstate::kInsufficientPrivilege,
                 "permission denied for " + relation_word(relation.kind) + " " + relation.name};
}

void Catalog::check_schema_privilege(Oid schema, Privileges wanted) {
  if (has_schema_privilege(eval_.user, schema, wanted)) return;
  throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied for schema " + schema_name(schema)};
}

void Catalog::check_relation_owner(const Relation& relation) {
  if (has_privileges_of(eval_.user, relation.owner)) return;
  throw SqlError{sqlstate::kInsufficientPrivilege,
                 "must be owner of " + relation_word(relation.kind) + " " + relation.name};
}

}  // namespace pinwheel::sql
