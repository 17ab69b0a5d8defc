#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/acl_text.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

/// One GRANT or REVOKE over one access control list.
class AclChange {
 public:
  AclChange(CommandContext& context, const GrantUtility& utility) : context_{context}, utility_{utility} {
    for (const std::string_view name : utility.grantees) {
      grantees_.push_back(name == "public" ? kInvalidOid : context.catalog.require_role(name));
    }
  }

  /// Privileges named without columns (or with the given column), restricted to what `kind` has.
  Privileges wanted(char kind, std::string_view column, std::string_view word) const {
    Privileges bits = 0;
    if (utility_.privileges.empty() && column.empty()) return all_privileges(kind);
    for (const PrivilegeSpec& spec : utility_.privileges) {
      const bool has_column = std::ranges::find(spec.columns, column) != spec.columns.end();
      if (column.empty() ? !spec.columns.empty() : !has_column) continue;
      if (spec.name.empty() || spec.name == "all") {
        bits |= column.empty() ? all_privileges(kind) : kColumnPrivileges;
        continue;
      }
      const Privileges bit = privilege_by_name(spec.name);
      if (bit == 0) {
        throw SqlError{sqlstate::kSyntaxError, "unrecognized privilege type " + in_quotes(spec.name)};
      }
      const Privileges allowed = column.empty() ? all_privileges(kind) : kColumnPrivileges;
      if ((bit & allowed) == 0) {
        std::string upper;
        for (const char c : spec.name) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
        throw SqlError{sqlstate::kInvalidGrantOperation, "invalid privilege type " + upper + " for " +
                                                             std::string{column.empty() ? word : "column"}};
      }
      bits |= bit;
    }
    return bits;
  }

  /// Who is written as the grantor: the owner when the user acts for him, else the user. 42501 without grant
  /// option.
  Oid grantor(Oid owner, const std::vector<AclItem>& acl, Privileges bits, std::string_view what) const {
    Catalog& catalog = context_.catalog;
    const Oid user = catalog.eval().user;
    if (catalog.has_privileges_of(user, owner)) return owner;
    if ((acl_privileges(acl, user, true) & bits) == 0) {
      throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied for " + std::string{what}};
    }
    return user;
  }

  void apply(std::vector<AclItem>& acl, Oid grantor_oid, Privileges bits) const {
    for (const Oid grantee : grantees_) {
      if (utility_.grant && utility_.grant_option && !is_valid(grantee)) {
        throw SqlError{sqlstate::kInvalidGrantOperation, "grant options can only be granted to roles"};
      }
      change_acl(acl, utility_.grant, grantee, grantor_oid, bits, utility_.grant_option);
    }
  }

 private:
  static constexpr Privileges kColumnPrivileges =
      kSelectPrivilege | kInsertPrivilege | kUpdatePrivilege | kReferencesPrivilege;
  CommandContext& context_;
  const GrantUtility& utility_;
  std::vector<Oid> grantees_;
};

void change_relation(CommandContext& context, const AclChange& change, const GrantUtility& utility,
                     const Relation& relation) {
  Catalog& catalog = context.catalog;
  const char kind = relation.kind == 'S' ? 'S' : 'r';
  if (utility.object == ObjectKind::kSequence && relation.kind != 'S') {
    throw SqlError{sqlstate::kWrongObjectType, in_quotes(relation.name) + " is not a sequence"};
  }
  const std::string word{relation_kind_word(relation.kind)};
  const std::string what = word + " " + relation.name;
  if (const Privileges bits = change.wanted(kind, "", kind == 'S' ? "sequence" : "table"); bits != 0) {
    std::vector<AclItem> acl = relation.has_acl ? relation.acl : default_acl(kind, relation.owner);
    change.apply(acl, change.grantor(relation.owner, acl, bits, what), bits);
    change_class_row(catalog, relation.oid, [&](ClassRow& row) { row.relacl = acl; });
  }
  std::vector<std::string_view> columns;
  for (const PrivilegeSpec& spec : utility.privileges) {
    for (const std::string_view column : spec.columns) {
      if (std::ranges::find(columns, column) == columns.end()) columns.push_back(column);
    }
  }
  for (const std::string_view name : columns) {
    const Column& column = require_column(relation, name);
    const Privileges bits = change.wanted('r', name, "column");
    std::vector<AclItem> acl = column.acl;
    const std::vector<AclItem> owner_acl = default_acl('r', relation.owner);
    change.apply(acl, change.grantor(relation.owner, owner_acl, bits, what), bits);
    change_attribute_row(catalog, relation.oid, column.number,
                         [&](AttributeRow& row) { row.attacl = acl.empty() ? AclColumn{} : AclColumn{acl}; });
  }
}

void change_schema(CommandContext& context, const AclChange& change, std::string_view name) {
  Catalog& catalog = context.catalog;
  const Oid schema = catalog.require_schema(name);
  TupleId at;
  auto row = find_row<NamespaceRow>(catalog, {{1, schema}}, &at);
  std::vector<AclItem> acl = row->nspacl ? *row->nspacl : default_acl('n', row->nspowner);
  const Privileges bits = change.wanted('n', "", "schema");
  change.apply(acl, change.grantor(row->nspowner, acl, bits, "schema " + row->nspname), bits);
  row->nspacl = std::move(acl);
  update_row(catalog, at, *row);
  catalog.invalidate_schema();
}

void change_database(CommandContext& context, const AclChange& change, std::string_view name) {
  Catalog& catalog = context.catalog;
  TupleId at;
  auto row = find_row<DatabaseRow>(catalog, {{2, name}}, &at);
  if (!row) throw SqlError{sqlstate::kUndefinedDatabase, "database " + in_quotes(name) + " does not exist"};
  std::vector<AclItem> acl = row->datacl ? *row->datacl : default_acl('d', row->datdba);
  const Privileges bits = change.wanted('d', "", "database");
  change.apply(acl, change.grantor(row->datdba, acl, bits, "database " + row->datname), bits);
  row->datacl = std::move(acl);
  update_row(catalog, at, *row);
  catalog.invalidate_shared();
}

}  // namespace

std::string run_grant(CommandContext& context, const GrantUtility& utility) {
  Catalog& catalog = context.catalog;
  const AclChange change{context, utility};
  for (const QualifiedName& name : utility.objects) {
    if (utility.all_in_schema) {
      const Oid schema = catalog.require_schema(name.name);
      for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
        const bool fits = utility.object == ObjectKind::kSequence ? row.relkind == 'S'
                                                                  : row.relkind == 'r' || row.relkind == 'v';
        if (row.relnamespace == schema && fits) {
          change_relation(context, change, utility, *catalog.require_relation(row.oid));
        }
      }
      continue;
    }
    switch (utility.object) {
      case ObjectKind::kTable:
      case ObjectKind::kSequence:
        change_relation(context, change, utility, *require_relation(context, name, kAccessShareLock));
        break;
      case ObjectKind::kSchema:
        change_schema(context, change, name.name);
        break;
      case ObjectKind::kDatabase:
        change_database(context, change, name.name);
        break;
      default:
        throw SqlError{sqlstate::kFeatureNotSupported, std::string{utility.grant ? "GRANT" : "REVOKE"} +
                                                           " on this kind of object is not supported"};
    }
  }
  return utility.grant ? "GRANT" : "REVOKE";
}

}  // namespace pinwheel::sql
