#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/catalog_state.h"

namespace pinwheel::sql {
namespace {

/// Elements of a list of identifiers: unquoted ones in lower case. Text that is none gives what was read so
/// far.
std::vector<std::string> split_identifiers(std::string_view text) {
  std::vector<std::string> names;
  std::size_t i = 0;
  const auto skip_spaces = [&] {
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r')) ++i;
  };
  for (skip_spaces(); i < text.size(); skip_spaces()) {
    std::string name;
    if (text[i] == '"') {
      for (++i; i < text.size(); ++i) {
        if (text[i] != '"') {
          name += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          name += '"';
          ++i;
        } else {
          ++i;
          break;
        }
      }
    } else {
      for (; i < text.size() && text[i] != ',' && text[i] != ' '; ++i) {
        const char c = text[i];
        name += (c >= 'A' && c <= 'Z') ? static_cast<char>(c + 32) : c;
      }
    }
    names.push_back(std::move(name));
    skip_spaces();
    if (i < text.size() && text[i] == ',') ++i;
  }
  return names;
}

}  // namespace

const std::vector<SchemaInfo>& Catalog::State::schemas() {
  DatabaseEntries& entries = schemas_changed ? overlay : shared_entries();
  if (!entries.schemas) {
    std::vector<SchemaInfo> read;
    scan_rows<NamespaceRow>(catalog, {}, [&](NamespaceRow& row, TupleId) {
      SchemaInfo& info = read.emplace_back();
      info.oid = row.oid;
      info.name = std::move(row.nspname);
      info.owner = row.nspowner;
      info.has_acl = row.nspacl.has_value();
      if (row.nspacl) info.acl = std::move(*row.nspacl);
      return true;
    });
    (schemas_changed ? overlay : shared_entries()).schemas = std::move(read);
  }
  return *(schemas_changed ? overlay : shared_entries()).schemas;
}

void Catalog::set_search_path(std::string_view setting) {
  state_->path_setting = setting;
  state_->path_valid = false;
}

const std::string& Catalog::search_path_setting() const { return state_->path_setting; }

void Catalog::State::resolve_path() {
  const std::uint64_t generation = catalog.generation();
  if (path_valid && path_generation == generation && path_user == catalog.eval_.user) return;
  const std::vector<SchemaInfo>& all = schemas();
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find(all, name, &SchemaInfo::name);
    return found != all.end() ? found->oid : kInvalidOid;
  };
  explicit_path.clear();
  bool names_temporary = false;
  for (const std::string& name : split_identifiers(path_setting)) {
    Oid oid;
    if (name == "$user") {
      oid = find(catalog.eval_.user_name);
    } else if (name == "pg_temp") {
      oid = temporary_schema;
      names_temporary = true;
    } else {
      oid = find(name);
    }
    if (is_valid(oid) && std::ranges::find(explicit_path, oid) == explicit_path.end())
      explicit_path.push_back(oid);
  }
  path.clear();
  if (is_valid(temporary_schema) && !names_temporary) path.push_back(temporary_schema);
  if (std::ranges::find(explicit_path, kCatalogSchema) == explicit_path.end()) path.push_back(kCatalogSchema);
  path.insert(path.end(), explicit_path.begin(), explicit_path.end());

  std::string key = std::to_string(catalog.eval_.database.value);
  for (const Oid oid : path) key += "," + std::to_string(oid.value);
  path_id = catalog.services_.cache.intern_path(key);
  path_valid = true;
  path_generation = generation;
  path_user = catalog.eval_.user;
}

std::span<const Oid> Catalog::search_path() {
  state_->resolve_path();
  return state_->path;
}

std::span<const Oid> Catalog::explicit_search_path() {
  state_->resolve_path();
  return state_->explicit_path;
}

std::uint64_t Catalog::search_path_id() {
  state_->resolve_path();
  return state_->path_id;
}

Oid Catalog::creation_schema(std::string_view schema, char persistence) {
  if (persistence == 't') {
    if (!schema.empty() && schema != "pg_temp" && find_schema(schema) != state_->temporary_schema) {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "cannot create temporary relation in non-temporary schema"};
    }
    return state_->temporary_schema;
  }
  if (!schema.empty()) return require_schema(schema);
  const std::span<const Oid> path = explicit_search_path();
  for (const Oid oid : path) return oid;
  throw SqlError{sqlstate::kInvalidSchemaName, "no schema has been selected to create in"};
}

Oid Catalog::find_schema(std::string_view name) {
  if (name == "pg_temp") return state_->temporary_schema;
  if (name == "pg_catalog") return kCatalogSchema;
  for (const SchemaInfo& info : state_->schemas()) {
    if (info.name == name) return info.oid;
  }
  return kInvalidOid;
}

Oid Catalog::require_schema(std::string_view name) {
  const Oid found = find_schema(name);
  if (!is_valid(found)) {
    throw SqlError{sqlstate::kInvalidSchemaName, "schema \"" + std::string{name} + "\" does not exist"};
  }
  return found;
}

std::string Catalog::schema_name(Oid schema) {
  if (schema == kCatalogSchema) return "pg_catalog";
  for (const SchemaInfo& info : state_->schemas()) {
    if (info.oid == schema) return info.name;
  }
  return {};
}

Oid Catalog::schema_owner(Oid schema) {
  for (const SchemaInfo& info : state_->schemas()) {
    if (info.oid == schema) return info.owner;
  }
  return kInvalidOid;
}

Oid Catalog::temporary_schema() const { return state_->temporary_schema; }

void Catalog::set_temporary_schema(Oid schema) {
  state_->temporary_schema = schema;
  state_->temporary_schema_is_new = true;
  state_->path_valid = false;
}

}  // namespace pinwheel::sql
