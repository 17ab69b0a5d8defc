// has_table_privilege(role, table, 'SELECT, UPDATE') and the many others of that shape. Their prosrc says how
// each argument is given: has_KIND_privilege[_name|_id][_name|_id], pg_has_role[_name|_id][_name|_id].

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/acl_text.h"
#include "sql/commands/catalog_functions.h"

namespace pinwheel::sql {
namespace {

using Call = CatalogFunctions::Call;

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string trimmed_upper(std::string_view text) {
  std::string upper;
  for (const char c : trimmed(text)) upper += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return upper;
}

struct Asked {
  Privileges bit = 0;
  bool with_grant_option = false;
};

/// "SELECT, UPDATE WITH GRANT OPTION". Errors: 22023 unrecognized privilege type.
std::vector<Asked> parse_privileges(std::string_view text, Privileges allowed) {
  std::vector<Asked> asked;
  for (const std::string_view part : split(text, ',')) {
    std::string name = trimmed_upper(part);
    Asked one;
    constexpr std::string_view kOption = " WITH GRANT OPTION";
    if (name.ends_with(kOption)) {
      one.with_grant_option = true;
      name.resize(name.size() - kOption.size());
    }
    one.bit = privilege_by_name(name);
    if (name == "RULE") continue;
    if (one.bit == 0 || (one.bit & allowed) == 0) {
      // In the words' own case, which upper() has lost.
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "unrecognized privilege type: \"" + std::string{trimmed(part)} + "\""};
    }
    asked.push_back(one);
  }
  return asked;
}

Oid role_argument(Call& call, int argument, std::string_view how) {
  if (how == "id") return call.oid(argument);
  const std::string_view name = call.text(argument);
  if (name == "public") return kInvalidOid;
  return call.catalog.require_role(name);
}

RelationRef relation_argument(Call& call, int argument, std::string_view how) {
  if (how == "id") return call.catalog.relation(call.oid(argument));
  const std::vector<std::string> parts = split_qualified_name(call.text(argument));
  const std::string schema = parts.size() > 1 ? parts[parts.size() - 2] : "";
  const RelationRef found = call.catalog.find_relation(schema, parts.back());
  if (!found) call.catalog.throw_no_relation(schema, parts.back());
  return found;
}

/// Grant options: the owner and superusers have all.
bool has_grant_option(Catalog& catalog, Oid role, Oid owner, std::span<const AclItem> acl, Privileges bit) {
  if (catalog.has_privileges_of(role, owner)) return true;
  for (const AclItem& item : acl) {
    if ((item.grant_options() & bit) != 0 && is_valid(item.grantee) &&
        catalog.has_privileges_of(role, item.grantee)) {
      return true;
    }
  }
  return false;
}

template <class Test>
Datum any_of(const std::vector<Asked>& asked, Test test) {
  return Datum::from_bool(std::ranges::any_of(asked, test));
}

Datum relation_privilege(Call& call, Oid role, const RelationRef& relation, std::string_view text,
                         bool any_column, bool sequence) {
  if (!relation) return call.null();
  if (sequence && relation->kind != 'S') {
    throw SqlError{sqlstate::kWrongObjectType, "\"" + relation->name + "\" is not a sequence"};
  }
  Catalog& catalog = call.catalog;
  return any_of(
      parse_privileges(text, sequence ? kAllSequencePrivileges : kAllTablePrivileges), [&](const Asked& one) {
        if (one.with_grant_option)
          return has_grant_option(catalog, role, relation->owner, relation->acl, one.bit);
        if (catalog.has_relation_privilege(role, *relation, one.bit)) return true;
        if (!any_column) return false;
        return std::ranges::any_of(relation->columns, [&](const Column& column) {
          return !column.dropped && catalog.has_column_privilege(role, *relation, column.number, one.bit);
        });
      });
}

Datum column_privilege(Call& call, Oid role, const RelationRef& relation, int column_argument,
                       std::string_view how, std::string_view text) {
  if (!relation) return call.null();
  std::int16_t number = 0;
  if (how == "attnum") {
    number = call.args[column_argument].as_int16();
    if (number < 1 || static_cast<std::size_t>(number) > relation->columns.size() ||
        relation->column(number).dropped) {
      return call.null();
    }
  } else {
    const Column* column = relation->find_column(call.text(column_argument));
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn, "column \"" + std::string{call.text(column_argument)} +
                                                     "\" of relation \"" + relation->name +
                                                     "\" does not exist"};
    }
    number = column->number;
  }
  constexpr Privileges kColumns =
      kSelectPrivilege | kInsertPrivilege | kUpdatePrivilege | kReferencesPrivilege;
  return any_of(parse_privileges(text, kColumns), [&](const Asked& one) {
    return call.catalog.has_column_privilege(role, *relation, number, one.bit);
  });
}

Datum schema_privilege(Call& call, Oid role, int argument, std::string_view how, std::string_view text) {
  const Oid schema = how == "id" ? call.oid(argument) : call.catalog.require_schema(call.text(argument));
  if (call.catalog.schema_name(schema).empty()) return call.null();
  return any_of(parse_privileges(text, kAllSchemaPrivileges),
                [&](const Asked& one) { return call.catalog.has_schema_privilege(role, schema, one.bit); });
}

Datum database_privilege(Call& call, Oid role, int argument, std::string_view how, std::string_view text) {
  const auto database = how == "id" ? call.catalog.database(call.oid(argument))
                                    : call.catalog.find_database(call.text(argument));
  if (!database) {
    if (how == "id") return call.null();
    throw SqlError{sqlstate::kUndefinedDatabase,
                   "database \"" + std::string{call.text(argument)} + "\" does not exist"};
  }
  return any_of(parse_privileges(text, kAllDatabasePrivileges), [&](const Asked& one) {
    return call.catalog.has_database_privilege(role, database->oid, one.bit);
  });
}

Datum has_role(Call& call, Oid member, int argument, std::string_view how, std::string_view text) {
  const Oid role = role_argument(call, argument, how);
  bool result = false;
  for (const std::string_view part : split(text, ',')) {
    const std::string mode = trimmed_upper(part);
    if (mode.starts_with("MEMBER") || mode.starts_with("USAGE") || mode.starts_with("SET")) {
      result |= call.catalog.has_privileges_of(member, role);
    } else {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "unrecognized privilege type: \"" + std::string{trimmed(part)} + "\""};
    }
  }
  return Datum::from_bool(result);
}

/// Objects that everybody may use and nobody can restrict here: functions, types, languages.
Datum public_object(Call& call, Oid role, std::string_view kind, int argument, std::string_view how) {
  if (kind == "function") {
    return how == "id" && find_proc(call.oid(argument)) == nullptr ? call.null() : Datum::from_bool(true);
  }
  if (kind == "type" || kind == "language") return Datum::from_bool(true);
  return Datum::from_bool(call.catalog.is_superuser(role));
}

}  // namespace

bool call_privilege_function(Call& call, Datum* result) {
  const std::string_view source = call.prosrc;
  std::string_view kind, rest;
  if (source.starts_with("pg_has_role")) {
    kind = "role";
    rest = source.substr(11);
  } else if (source.starts_with("has_")) {
    const std::size_t end = source.find("_privilege");
    if (end == std::string_view::npos) return false;
    kind = source.substr(4, end - 4);
    rest = source.substr(end + 10);
  } else {
    return false;
  }
  std::vector<std::string_view> hows = split(rest, '_');
  hows.erase(hows.begin());  // before the first underscore there is nothing
  const std::size_t objects = kind == "column" ? 2 : 1;
  Catalog& catalog = call.catalog;
  Oid role = catalog.eval().user;
  int next = 0;
  if (hows.size() > objects) {
    role = role_argument(call, next++, hows.front());
    hows.erase(hows.begin());
  }
  const int object = next++;
  const std::string_view how = hows.front();
  if (kind == "column") {
    const int column = next++;
    *result =
        column_privilege(call, role, relation_argument(call, object, how), column, hows[1], call.text(next));
    return true;
  }
  const std::string_view text = call.text(next);
  if (kind == "table" || kind == "any_column" || kind == "sequence") {
    *result = relation_privilege(call, role, relation_argument(call, object, how), text, kind == "any_column",
                                 kind == "sequence");
  } else if (kind == "schema") {
    *result = schema_privilege(call, role, object, how, text);
  } else if (kind == "database") {
    *result = database_privilege(call, role, object, how, text);
  } else if (kind == "role") {
    *result = has_role(call, role, object, how, text);
  } else {
    *result = public_object(call, role, kind, object, how);
  }
  return true;
}

}  // namespace pinwheel::sql
