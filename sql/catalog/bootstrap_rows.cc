#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sql/catalog/acl_text.h"
#include "sql/catalog/bootstrap_internal.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/recorded_rows.h"
#include "sql/catalog/rows.h"
#include "sql/catalog/system_views.h"
#include "sql/functions/function.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

std::vector<std::string_view> split(std::string_view line, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = line.find(by);
    parts.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

/// A COPY text field without its escapes.
std::string unescape(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      out += field[i];
      continue;
    }
    const char c = field[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
  }
  return out;
}

std::int64_t to_number(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<Datum> to_numbers(std::string_view text, char by) {
  std::vector<Datum> numbers;
  if (text.empty()) return numbers;
  for (const std::string_view part : split(text, by)) numbers.push_back(Datum::from_int64(to_number(part)));
  return numbers;
}

/// Elements of a plain {a,b,"c d"} array text.
std::vector<std::string> array_elements(std::string_view text) {
  std::vector<std::string> elements;
  if (text.size() <= 2) return elements;
  std::string current;
  bool quoted = false;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      elements.push_back(std::move(current));
      current.clear();
    } else {
      current += c;
    }
  }
  elements.push_back(std::move(current));
  return elements;
}

/// The value that recorded text stands for, by column type. Only the types that catalogs are made of.
Datum value_of(const SystemColumn& column, const std::string& text, Arena& arena) {
  const Oid type = column.type;
  if (type == kNameType) return make_name(arena, text);
  if (type == kBoolType) return Datum::from_bool(text == "t");
  if (type == kCharType) return Datum::from_char(text.empty() ? '\0' : text[0]);
  if (type == kFloat4Type) return Datum::from_float4(std::strtof(text.c_str(), nullptr));
  if (type == kTextType || type == kPgNodeTreeType) return make_text(arena, text);
  if (type == kOidVectorType || type == kInt2VectorType) {
    const std::vector<Datum> numbers = to_numbers(text, ' ');
    if (type == kInt2VectorType) {
      std::vector<std::int16_t> values;
      for (const Datum number : numbers) values.push_back(number.as_int16());
      return make_int2vector(arena, values);
    }
    std::vector<Oid> values;
    for (const Datum number : numbers) values.push_back(number.as_oid());
    return make_oidvector(arena, values);
  }
  const TypeInfo& info = type_info(type);
  if (info.is_array()) {
    std::vector<Datum> values;
    for (const std::string& element : array_elements(text)) {
      if (info.element == kTextType) {
        values.push_back(make_text(arena, element));
      } else if (info.element == kCharType) {
        values.push_back(Datum::from_char(element.empty() ? '\0' : element[0]));
      } else {
        values.push_back(Datum::from_int64(to_number(element)));
      }
    }
    return build_array(arena, info.element, values.data(), nullptr, static_cast<int>(values.size()));
  }
  return info.length == 4 ? Datum::from_int32(static_cast<std::int32_t>(to_number(text)))
                          : Datum::from_int64(to_number(text));
}

/// Columns that were not recorded: NULL where allowed, else the same for every row.
void default_value(const SystemColumn& column, Arena& arena, Datum* value, bool* is_null) {
  *is_null = !column.not_null;
  *value = Datum{};
  if (*is_null) return;
  if (column.name.ends_with("namespace")) {
    *value = Datum::from_oid(kCatalogSchema);
  } else if (column.name.ends_with("owner")) {
    *value = Datum::from_oid(kBootstrapSuperuser);
  } else if (column.type == kNameType) {
    *value = make_name(arena, "");
  } else if (column.type == kInt4Type && column.name == "collencoding") {
    *value = Datum::from_int32(-1);
  }
}

/// Rows that stand for code are there only when the code is.
bool is_wanted(Oid catalog, std::span<const std::string_view> fields, std::span<const int> columns_of) {
  const auto number = [&](int column) {
    const int field = columns_of[static_cast<std::size_t>(column)];
    return Oid{
        static_cast<std::uint32_t>(field < 0 ? 0 : to_number(fields[static_cast<std::size_t>(field)]))};
  };
  if (catalog == kProcTable) return is_implemented(number(0));
  if (catalog == kAggregateTable) return is_implemented(number(0));
  if (catalog == kOperatorTable) {
    const BuiltinOperator* op = find_operator(number(0));
    return op != nullptr && is_implemented(op->procedure);
  }
  if (catalog == kCastTable) return !is_valid(number(3)) || is_implemented(number(3));
  return true;
}

}  // namespace

void load_recorded_rows(CatalogSet& set, const SystemRelation& table) {
  const std::string_view text = recorded_rows(table.name);
  if (text.empty()) return;
  std::vector<std::string_view> lines = split(text, '\n');
  const std::vector<std::string_view> header = split(lines.front(), '\t');
  std::vector<int> field_of(table.columns.size(), -1);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto found = std::ranges::find(header, table.columns[i].name);
    if (found != header.end()) field_of[i] = static_cast<int>(found - header.begin());
  }
  const auto description = std::ranges::find(header, "description");
  CatalogFiller& filler = set.table(table.oid);
  for (std::size_t line = 1; line < lines.size(); ++line) {
    if (lines[line].empty()) continue;
    const std::vector<std::string_view> fields = split(lines[line], '\t');
    if (!is_wanted(table.oid, fields, field_of)) continue;
    Datum values[64];
    bool nulls[64];
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (field_of[i] < 0) {
        default_value(table.columns[i], filler.arena(), &values[i], &nulls[i]);
        continue;
      }
      const std::string_view field = fields[static_cast<std::size_t>(field_of[i])];
      nulls[i] = field == "\\N";
      values[i] = nulls[i] ? Datum{} : value_of(table.columns[i], unescape(field), filler.arena());
    }
    if (description != header.end()) {
      const std::string_view field = fields[static_cast<std::size_t>(description - header.begin())];
      if (field != "\\N" && !field.empty()) {
        set.add(DescriptionRow{values[0].as_oid(), table.oid, 0, unescape(field)});
      }
    }
    filler.add(values, nulls);
  }
}

namespace {

AttributeRow attribute_row(Oid relation, const SystemColumn& column, std::int16_t number) {
  AttributeRow row;
  row.attrelid = relation;
  row.attname = column.name;
  row.atttypid = column.type;
  row.attnum = number;
  row.attndims = column.dimensions;
  row.atttypmod = column.type_modifier;
  const TypeInfo* info = find_type(column.type);
  row.attlen = info != nullptr ? info->length : column.length;
  row.attbyval = info != nullptr ? info->by_value : column.by_value;
  row.attalign = info != nullptr ? info->align : column.align;
  row.attstorage = column.storage;
  row.attnotnull = column.not_null;
  row.attcollation = column.collation;
  return row;
}

void add_row_type(CatalogSet& set, const SystemRelation& relation) {
  TypeRow row;
  row.oid = relation.row_type;
  row.typname = relation.name;
  row.typnamespace = relation.schema;
  row.typowner = kBootstrapSuperuser;
  row.typtype = 'c';
  row.typcategory = 'C';
  row.typrelid = relation.oid;
  row.typarray = relation.array_type;
  row.typinput = Oid{2290};
  row.typoutput = Oid{2291};
  row.typreceive = Oid{2402};
  row.typsend = Oid{2403};
  row.typalign = 'd';
  set.add(row);
  if (!is_valid(relation.array_type)) return;
  row.oid = relation.array_type;
  row.typname = "_" + std::string{relation.name};
  row.typtype = 'b';
  row.typcategory = 'A';
  row.typrelid = kInvalidOid;
  row.typarray = kInvalidOid;
  row.typelem = relation.row_type;
  row.typsubscript = Oid{6179};
  row.typinput = Oid{750};
  row.typoutput = Oid{751};
  row.typreceive = Oid{2400};
  row.typsend = Oid{2401};
  row.typanalyze = Oid{3816};
  set.add(row);
}

void add_index(CatalogSet& set, const SystemRelation& table, const SystemIndex& facts) {
  ClassRow row;
  row.oid = row.relfilenode = facts.oid;
  row.relname = facts.name;
  row.relnamespace = table.schema;
  row.relowner = kBootstrapSuperuser;
  row.relam = kBtreeMethod;
  row.reltablespace = table.shared ? Oid{1664} : kInvalidOid;
  row.reltuples = 0;
  row.relisshared = table.shared;
  row.relkind = 'i';
  row.relnatts = static_cast<std::int16_t>(facts.columns.size());
  row.relreplident = 'n';
  set.add(row);

  IndexRow index;
  index.indexrelid = facts.oid;
  index.indrelid = table.oid;
  index.indnatts = index.indnkeyatts = row.relnatts;
  index.indisunique = facts.unique;
  index.indisprimary = facts.primary;
  index.indkey.assign(facts.columns.begin(), facts.columns.end());
  index.indcollation.assign(facts.collations.begin(), facts.collations.end());
  index.indclass.assign(facts.operator_classes.begin(), facts.operator_classes.end());
  index.indoption.assign(facts.columns.size(), 0);
  set.add(index);

  for (std::size_t i = 0; i < facts.columns.size(); ++i) {
    const SystemColumn& column = table.columns[static_cast<std::size_t>(facts.columns[i]) - 1];
    AttributeRow attribute = attribute_row(facts.oid, column, static_cast<std::int16_t>(i + 1));
    attribute.attnotnull = false;
    attribute.attcollation = facts.collations[i];
    set.add(attribute);
  }
  if (!is_valid(facts.constraint)) return;
  ConstraintRow constraint;
  constraint.oid = facts.constraint;
  constraint.conname = facts.name;
  constraint.connamespace = table.schema;
  constraint.contype = facts.primary ? 'p' : 'u';
  constraint.conrelid = table.oid;
  constraint.conindid = facts.oid;
  constraint.conkey.assign(facts.columns.begin(), facts.columns.end());
  set.add(constraint);
}

}  // namespace

void add_system_relations(CatalogSet& set) {
  for (const SystemRelation& facts : system_relations()) {
    const std::string_view view = facts.kind == 'v' ? system_view_source(facts.schema, facts.name) : "";
    if (facts.kind == 'v' && view.empty()) continue;
    ClassRow row;
    row.oid = facts.oid;
    row.relname = facts.name;
    row.relnamespace = facts.schema;
    row.reltype = facts.row_type;
    row.relowner = kBootstrapSuperuser;
    row.relam = facts.kind == 'r' ? Oid{2} : kInvalidOid;
    row.relfilenode = facts.kind == 'r' ? facts.oid : kInvalidOid;
    row.reltablespace = facts.shared ? Oid{1664} : kInvalidOid;
    row.relhasindex = !facts.indexes.empty();
    row.relisshared = facts.shared;
    row.relkind = facts.kind;
    row.relnatts = static_cast<std::int16_t>(facts.columns.size());
    row.relhasrules = facts.kind == 'v';
    row.relreplident = 'n';
    row.relacl = parse_bootstrap_acl(facts.acl);
    set.add(row);
    add_row_type(set, facts);
    for (std::size_t i = 0; i < facts.columns.size(); ++i) {
      set.add(attribute_row(facts.oid, facts.columns[i], static_cast<std::int16_t>(i + 1)));
    }
    for (const SystemIndex& index : facts.indexes) add_index(set, facts, index);
    if (facts.kind == 'v') {
      RewriteRow rule;
      // Rules of system views have no recorded oid: any unused one below kFirstNormalOid serves.
      rule.oid = Oid{facts.row_type.value - 1};
      rule.rulename = "_RETURN";
      rule.ev_class = facts.oid;
      rule.ev_action = std::string{view};
      set.add(rule);
    }
  }
}

void add_local_objects(CatalogSet& set) {
  const AclItem owner_all{kBootstrapSuperuser, kBootstrapSuperuser, kAllSchemaPrivileges};
  const AclItem everyone{kInvalidOid, kBootstrapSuperuser, kUsagePrivilege};
  constexpr Oid kDatabaseOwnerRole{6171};
  set.add(NamespaceRow{kToastSchema, "pg_toast", kBootstrapSuperuser, std::nullopt});
  set.add(NamespaceRow{kCatalogSchema, "pg_catalog", kBootstrapSuperuser, std::vector{owner_all, everyone}});
  set.add(NamespaceRow{kPublicSchema, "public", kDatabaseOwnerRole,
                       std::vector<AclItem>{{kDatabaseOwnerRole, kDatabaseOwnerRole, kAllSchemaPrivileges},
                                            {kInvalidOid, kDatabaseOwnerRole, kUsagePrivilege}}});
  set.add(NamespaceRow{kInformationSchema, "information_schema", kBootstrapSuperuser,
                       std::vector{owner_all, everyone}});
  set.add(DescriptionRow{kCatalogSchema, kNamespaceTable, 0, "system catalog schema"});
  set.add(DescriptionRow{kToastSchema, kNamespaceTable, 0, "reserved schema for TOAST tables"});
  set.add(DescriptionRow{kPublicSchema, kNamespaceTable, 0, "standard public schema"});
  set.add(DescriptionRow{Oid{12}, kLanguageTable, 0, "built-in functions"});
  set.add(DescriptionRow{Oid{13}, kLanguageTable, 0, "dynamically-loaded C functions"});
  set.add(DescriptionRow{Oid{14}, kLanguageTable, 0, "SQL-language functions"});
  set.add(DescriptionRow{Oid{2}, kAmTable, 0, "heap table access method"});
  set.add(DescriptionRow{kBtreeMethod, kAmTable, 0, "b-tree index access method"});
}

void add_shared_objects(CatalogSet& set, const BootstrapOptions& options) {
  AuthIdRow superuser;
  superuser.oid = kBootstrapSuperuser;
  superuser.rolname = options.superuser;
  superuser.rolsuper = superuser.rolcreaterole = superuser.rolcreatedb = superuser.rolcanlogin = true;
  superuser.rolreplication = superuser.rolbypassrls = true;
  if (!options.password.empty()) superuser.rolpassword = options.password;
  set.add(superuser);
  constexpr std::pair<std::uint32_t, const char*> kPredefined[] = {
      {6171, "pg_database_owner"},     {6181, "pg_read_all_data"},
      {6182, "pg_write_all_data"},     {3373, "pg_monitor"},
      {3374, "pg_read_all_settings"},  {3375, "pg_read_all_stats"},
      {3377, "pg_stat_scan_tables"},   {4569, "pg_read_server_files"},
      {4570, "pg_write_server_files"}, {4571, "pg_execute_server_program"},
      {4200, "pg_signal_backend"},     {4544, "pg_checkpoint"}};
  for (const auto& [oid, name] : kPredefined) {
    AuthIdRow role;
    role.oid = Oid{oid};
    role.rolname = name;
    set.add(role);
  }
  for (const std::uint32_t role : {3374u, 3375u, 3377u}) {
    set.add(AuthMembersRow{Oid{role}, Oid{3373}, kBootstrapSuperuser, false});
  }
  set.add(TablespaceRow{Oid{1663}, "pg_default", kBootstrapSuperuser, std::nullopt, {}});
  set.add(TablespaceRow{Oid{1664}, "pg_global", kBootstrapSuperuser, std::nullopt, {}});

  const AclColumn template_acl =
      std::vector<AclItem>{{kInvalidOid, kBootstrapSuperuser, kConnectPrivilege},
                           {kBootstrapSuperuser, kBootstrapSuperuser, kAllDatabasePrivileges}};
  const auto add_database = [&](Oid oid, const char* name, bool is_template, bool allow,
                                const char* description) {
    DatabaseRow row;
    row.oid = oid;
    row.datname = name;
    row.datdba = kBootstrapSuperuser;
    row.datistemplate = is_template;
    row.datallowconn = allow;
    row.dattablespace = Oid{1663};
    row.datcollate = row.datctype = options.locale;
    if (is_template) row.datacl = template_acl;
    set.add(row);
    set.add(ShDescriptionRow{oid, kDatabaseTable, description});
  };
  add_database(kTemplate1Database, "template1", true, true, "default template for new databases");
  add_database(kTemplate0Database, "template0", true, false, "unmodifiable empty database");
  add_database(kPostgresDatabase, "postgres", false, true, "default administrative connection database");
}

}  // namespace pinwheel::sql
