#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/catalog_state.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

CatalogType from_builtin(const TypeInfo& info) {
  CatalogType type;
  type.oid = info.oid;
  type.name = info.name;
  type.schema = kCatalogSchema;
  type.owner = Oid{10};
  type.length = info.length;
  type.by_value = info.by_value;
  type.align = info.align;
  type.storage = info.storage;
  type.kind = info.kind;
  type.category = info.category;
  type.preferred = info.preferred;
  type.delimiter = info.delimiter;
  type.element = info.element;
  type.array = info.array;
  type.collation = info.collation;
  return type;
}

CatalogType from_row(TypeRow& row) {
  CatalogType type;
  type.oid = row.oid;
  type.name = std::move(row.typname);
  type.schema = row.typnamespace;
  type.owner = row.typowner;
  type.length = row.typlen;
  type.by_value = row.typbyval;
  type.align = row.typalign;
  type.storage = row.typstorage;
  type.kind = row.typtype;
  type.category = row.typcategory;
  type.preferred = row.typispreferred;
  type.defined = row.typisdefined;
  type.delimiter = row.typdelim;
  type.relation = row.typrelid;
  type.element = row.typelem;
  type.array = row.typarray;
  type.base_type = row.typbasetype;
  type.base_modifier = row.typtypmod;
  type.collation = row.typcollation;
  type.not_null = row.typnotnull;
  return type;
}

CatalogType row_type_of(const SystemRelation& relation) {
  CatalogType type;
  type.oid = relation.row_type;
  type.name = relation.name;
  type.schema = relation.schema;
  type.owner = Oid{10};
  type.align = 'd';
  type.kind = 'c';
  type.category = 'C';
  type.relation = relation.oid;
  type.array = relation.array_type;
  return type;
}

CatalogType array_type_of_row(const SystemRelation& relation) {
  CatalogType type;
  type.oid = relation.array_type;
  type.name = "_" + std::string{relation.name};
  type.schema = relation.schema;
  type.owner = Oid{10};
  type.align = 'd';
  type.category = 'A';
  type.element = relation.row_type;
  return type;
}

/// Row types of the system's tables and views, and arrays of them.
std::optional<CatalogType> find_system_row_type(Oid oid) {
  if (oid >= kFirstNormalOid) return std::nullopt;
  for (const SystemRelation& relation : system_relations()) {
    if (relation.row_type == oid) return row_type_of(relation);
    if (relation.array_type == oid) return array_type_of_row(relation);
  }
  return std::nullopt;
}

Oid find_system_type_name(Oid schema, std::string_view name) {
  if (schema == kCatalogSchema) {
    if (const TypeInfo* info = find_type(name)) return info->oid;
  }
  for (const SystemRelation& relation : system_relations()) {
    if (relation.schema == schema && relation.name == name) return relation.row_type;
  }
  return kInvalidOid;
}

}  // namespace

std::optional<CatalogType> Catalog::type(Oid oid) {
  if (const TypeInfo* info = sql::find_type(oid)) return from_builtin(*info);
  if (auto found = find_system_row_type(oid)) return found;
  const bool changed = state_->changed_types.contains(oid);
  DatabaseEntries& entries = changed ? state_->overlay : state_->shared_entries();
  if (const auto found = entries.types.find(oid); found != entries.types.end()) return found->second;
  const std::uint64_t position = services_.cache.applied();
  auto row = find_row<TypeRow>(*this, {{1, oid}});
  if (!row) return std::nullopt;
  CatalogType made = from_row(*row);
  if (services_.cache.applied() == position) {
    (changed ? state_->overlay : state_->shared_entries()).types.insert_or_assign(oid, made);
  }
  return made;
}

Oid Catalog::find_type(std::string_view schema, std::string_view name) {
  const auto find_in = [&](Oid in) -> Oid {
    if (in == kCatalogSchema || in == kInformationSchema) {
      if (const Oid found = find_system_type_name(in, name); is_valid(found) || in == kCatalogSchema)
        return found;
    }
    return state_->find_named<TypeRow>(&DatabaseEntries::type_names, in, name);
  };
  if (!schema.empty()) {
    const Oid in = find_schema(schema);
    return is_valid(in) ? find_in(in) : kInvalidOid;
  }
  for (const Oid in : search_path()) {
    if (const Oid found = find_in(in); is_valid(found)) return found;
  }
  return kInvalidOid;
}

bool Catalog::type_is_visible(Oid oid) {
  const auto found = type(oid);
  return found && find_type("", found->name) == oid;
}

Oid Catalog::array_type_of(Oid element) {
  if (const TypeInfo* info = sql::find_type(element)) return info->array;
  const auto found = type(element);
  return found ? found->array : kInvalidOid;
}

std::string Catalog::format_type(Oid oid, std::int32_t modifier) {
  if (!is_valid(oid)) return "-";
  if (std::string text = format_builtin_type(oid, modifier, modifier >= 0); !text.empty()) return text;
  const auto found = type(oid);
  if (!found) return "???";
  if (found->category == 'A' && is_valid(found->element)) return format_type(found->element, modifier) + "[]";
  const bool visible = find_type("", found->name) == oid;
  return quote_qualified(visible ? "" : schema_name(found->schema), found->name);
}

std::string Catalog::format_type_with_modifier(Oid oid, std::int32_t modifier) {
  if (std::string text = format_builtin_type(oid, modifier, true); !text.empty()) return text;
  return format_type(oid, modifier);
}

std::span<const BuiltinProc* const> Catalog::find_procs(std::string_view schema, std::string_view name) {
  if (!schema.empty() && schema != "pg_catalog") return {};
  return sql::find_procs(name);
}

std::span<const BuiltinOperator* const> Catalog::find_operators(std::string_view schema,
                                                                std::string_view name) {
  if (!schema.empty() && schema != "pg_catalog") return {};
  return sql::find_operators(name);
}

Oid Catalog::find_collation(std::string_view schema, std::string_view name) {
  if (!schema.empty() && schema != "pg_catalog") return kInvalidOid;
  const BuiltinCollation* found = sql::find_collation(name);
  return found != nullptr ? found->oid : kInvalidOid;
}

}  // namespace pinwheel::sql
