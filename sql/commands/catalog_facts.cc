// Functions that read simple facts off the catalogs: visibility, comments, sizes, files, sequences.

#include <algorithm>
#include <filesystem>

#include "base/sqlstate.h"
#include "sql/catalog/acl_text.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/catalog_functions.h"
#include "sql/deparse/deparse.h"
#include "sql/types/array.h"
#include "sql/types/type_oids.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

using Call = CatalogFunctions::Call;
namespace fs = std::filesystem;

Datum boolean(bool value) { return Datum::from_bool(value); }

// --- Visibility

Datum table_is_visible(Call& call) {
  if (!call.catalog.relation(call.oid(0))) return call.null();
  return boolean(call.catalog.relation_is_visible(call.oid(0)));
}
Datum type_is_visible(Call& call) {
  if (!call.catalog.type(call.oid(0))) return call.null();
  return boolean(call.catalog.type_is_visible(call.oid(0)));
}
Datum function_is_visible(Call& call) {
  return find_proc(call.oid(0)) != nullptr ? boolean(true) : call.null();
}
Datum operator_is_visible(Call& call) {
  return find_operator(call.oid(0)) != nullptr ? boolean(true) : call.null();
}
Datum opclass_is_visible(Call& call) {
  return find_operator_class(call.oid(0)) != nullptr ? boolean(true) : call.null();
}
Datum opfamily_is_visible(Call& call) {
  return find_operator_family(call.oid(0)) != nullptr ? boolean(true) : call.null();
}
Datum collation_is_visible(Call& call) {
  return find_collation(call.oid(0)) != nullptr ? boolean(true) : call.null();
}
Datum no_such_object(Call& call) { return call.null(); }

// --- Schemas and roles

Datum user_by_id(Call& call) { return make_name(call.arena, call.catalog.role_name(call.oid(0))); }

Datum current_schema(Call& call) {
  const auto path = call.catalog.explicit_search_path();
  if (path.empty()) return call.null();
  return make_name(call.arena, call.catalog.schema_name(path.front()));
}

Datum current_schemas(Call& call) {
  const auto path = call.args[0].as_bool() ? call.catalog.search_path() : call.catalog.explicit_search_path();
  const std::vector<Oid> schemas{path.begin(), path.end()};
  std::vector<Datum> names;
  for (const Oid schema : schemas) names.push_back(make_name(call.arena, call.catalog.schema_name(schema)));
  return build_array(call.arena, kNameType, names.data(), nullptr, static_cast<int>(names.size()));
}

Datum my_temp_schema(Call& call) { return Datum::from_oid(call.catalog.temporary_schema()); }

Datum is_other_temp_schema(Call& call) {
  const std::string name = call.catalog.schema_name(call.oid(0));
  const bool temporary = name.starts_with("pg_temp_") || name.starts_with("pg_toast_temp_");
  return boolean(temporary && call.oid(0) != call.catalog.temporary_schema());
}

// --- Comments

Oid class_by_name(Call& call, int argument) {
  const Oid found = call.catalog.find_relation_oid("pg_catalog", call.text(argument));
  return found;
}

Datum description(Call& call, Oid object, Oid catalog_oid, std::int32_t part) {
  std::optional<std::string> text;
  CatalogScan scan{call.catalog, kDescriptionTable, std::vector<CatalogKey>{{1, object}}};
  while (scan.next()) {
    DescriptionRow row;
    scan.read(row);
    if ((is_valid(catalog_oid) && row.classoid != catalog_oid) || row.objsubid != part) continue;
    text = row.description;
    break;
  }
  return text ? call.make_text_result(*text) : call.null();
}

Datum object_description(Call& call) {
  return description(call, call.oid(0), call.nargs > 1 ? class_by_name(call, 1) : kInvalidOid, 0);
}
Datum column_description(Call& call) {
  return description(call, call.oid(0), kClassTable, call.args[1].as_int32());
}
Datum shared_description(Call& call) {
  const auto row = find_row<ShDescriptionRow>(call.catalog, {{1, call.oid(0)}, {2, class_by_name(call, 1)}});
  return row ? call.make_text_result(row->description) : call.null();
}

// --- Sizes and files

std::int64_t file_bytes(Call& call, FileId file) {
  if (!is_valid(file.relation)) return 0;
  storage::RelationFiles& files = call.catalog.services().storage.files;
  std::uint64_t total = 0;
  for (const Fork fork : {Fork::kMain, Fork::kFreeSpace, Fork::kVisibility, Fork::kInit}) {
    total += files.size_bytes(file, fork);
  }
  return static_cast<std::int64_t>(total);
}

std::int64_t indexes_bytes(Call& call, const Relation& table) {
  std::int64_t total = 0;
  for (const IndexInfo& index : table.indexes) total += file_bytes(call, index.file);
  return total;
}

std::int64_t table_bytes(Call& call, const Relation& table) {
  return file_bytes(call, table.file) + file_bytes(call, table.toast_file) +
         file_bytes(call, table.toast_index_file);
}

Datum relation_size(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation) return call.null();
  Fork fork = Fork::kMain;
  if (call.nargs > 1) {
    const std::string_view name = call.text(1);
    if (name == "fsm") {
      fork = Fork::kFreeSpace;
    } else if (name == "vm") {
      fork = Fork::kVisibility;
    } else if (name == "init") {
      fork = Fork::kInit;
    } else if (name != "main") {
      throw SqlError{sqlstate::kInvalidParameterValue, "invalid fork name"}.hint(
          "Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".");
    }
  }
  if (!is_valid(relation->file.relation)) return Datum::from_int64(0);
  return Datum::from_int64(
      static_cast<std::int64_t>(call.catalog.services().storage.files.size_bytes(relation->file, fork)));
}
Datum table_size(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  return relation ? Datum::from_int64(table_bytes(call, *relation)) : call.null();
}
Datum indexes_size(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  return relation ? Datum::from_int64(indexes_bytes(call, *relation)) : call.null();
}
Datum total_relation_size(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation) return call.null();
  return Datum::from_int64(table_bytes(call, *relation) + indexes_bytes(call, *relation));
}

std::int64_t directory_bytes(const fs::path& path) {
  std::int64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator{path, error}) {
    std::error_code gone;
    const auto size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
    if (!gone) total += static_cast<std::int64_t>(size);
  }
  return total;
}

std::int64_t database_bytes(Call& call, Oid database) {
  return directory_bytes(fs::path{call.catalog.services().storage.files.data_directory()} / "base" /
                         std::to_string(database.value));
}

Datum database_size(Call& call) {
  const auto database = call.catalog.database(call.oid(0));
  return database ? Datum::from_int64(database_bytes(call, database->oid)) : call.null();
}
Datum database_size_by_name(Call& call) {
  const auto database = call.catalog.find_database(call.text(0));
  if (!database) {
    throw SqlError{sqlstate::kUndefinedDatabase,
                   "database \"" + std::string{call.text(0)} + "\" does not exist"};
  }
  return Datum::from_int64(database_bytes(call, database->oid));
}

Datum tablespace_bytes(Call& call, std::uint32_t oid) {
  const fs::path data = call.catalog.services().storage.files.data_directory();
  if (oid == 1664) return Datum::from_int64(directory_bytes(data / "global"));
  if (oid != 1663) return call.null();
  std::int64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator{data / "base", error}) {
    if (entry.is_directory()) total += directory_bytes(entry.path());
  }
  return Datum::from_int64(total);
}
Datum tablespace_size(Call& call) { return tablespace_bytes(call, call.oid(0).value); }
Datum tablespace_size_by_name(Call& call) {
  const std::string_view name = call.text(0);
  if (name != "pg_default" && name != "pg_global") {
    throw SqlError{sqlstate::kUndefinedObject, "tablespace \"" + std::string{name} + "\" does not exist"};
  }
  return tablespace_bytes(call, name == "pg_default" ? 1663 : 1664);
}
Datum tablespace_location(Call& call) { return call.make_text_result(""); }

Datum relation_filenode(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation || !is_valid(relation->file.relation)) return call.null();
  return Datum::from_oid(relation->file.relation);
}
Datum relation_filepath(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation || !is_valid(relation->file.relation)) return call.null();
  return call.make_text_result(storage::relation_path(relation->file, Fork::kMain));
}
Datum filenode_relation(Call& call) {
  std::optional<Oid> found;
  scan_rows<ClassRow>(call.catalog, {}, [&](ClassRow& row, TupleId) {
    if (row.relfilenode == call.oid(1)) found = row.oid;
    return !found;
  });
  return found ? Datum::from_oid(*found) : call.null();
}

// --- Sequences

Datum next_value(Call& call) { return Datum::from_int64(call.sequences.next(call.oid(0))); }
Datum current_value(Call& call) { return Datum::from_int64(call.sequences.current(call.oid(0))); }
Datum last_value(Call& call) { return Datum::from_int64(call.sequences.last()); }
Datum set_value(Call& call) {
  const bool is_called = call.nargs < 3 || call.args[2].as_bool();
  call.sequences.set(call.oid(0), call.args[1].as_int64(), is_called);
  return call.args[1];
}
Datum sequence_last_value(Call& call) {
  const auto value = call.sequences.last_value(call.oid(0));
  return value ? Datum::from_int64(*value) : call.null();
}

// --- Index and relation properties

Datum index_column_property(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation || relation->kind != 'i') return call.null();
  const IndexInfo& index = relation->self_index.front();
  const int column = call.args[1].as_int32();
  if (column < 1 || static_cast<std::size_t>(column) > index.keys.size()) return call.null();
  const IndexKey& key = index.keys[static_cast<std::size_t>(column) - 1];
  const bool is_key = column <= index.key_count;
  const std::string_view property = call.text(2);
  if (property == "orderable") return boolean(is_key);
  if (!is_key) return property == "returnable" ? boolean(true) : call.null();
  if (property == "asc") return boolean(!key.descending);
  if (property == "desc") return boolean(key.descending);
  if (property == "nulls_first") return boolean(key.nulls_first);
  if (property == "nulls_last") return boolean(!key.nulls_first);
  if (property == "distance_orderable") return boolean(false);
  if (property == "returnable" || property == "search_array" || property == "search_nulls")
    return boolean(true);
  return call.null();
}
Datum index_property(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation || relation->kind != 'i') return call.null();
  const std::string_view property = call.text(1);
  if (property == "clusterable" || property == "index_scan" || property == "bitmap_scan" ||
      property == "backward_scan") {
    return boolean(true);
  }
  return call.null();
}
Datum access_method_property(Call& call) {
  if (call.oid(0) != Oid{403}) return call.null();
  const std::string_view property = call.text(1);
  if (property == "can_order" || property == "can_unique" || property == "can_multi_col" ||
      property == "can_include") {
    return boolean(true);
  }
  return property == "can_exclude" ? boolean(true) : call.null();
}

constexpr std::int32_t kInsertable = 8, kUpdatable = 4, kDeletable = 16;
Datum relation_is_updatable(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  const bool table = relation && relation->kind == 'r';
  return Datum::from_int32(table ? kInsertable | kUpdatable | kDeletable : 0);
}
Datum column_is_updatable(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  return boolean(relation && relation->kind == 'r' && call.args[1].as_int16() > 0);
}
Datum no(Call&) { return boolean(false); }

Datum collation_for(Call& call) { return call.null(); }

Datum default_acl_function(Call& call) {
  std::vector<Datum> items;
  const char kind = call.args[0].as_char();
  for (const AclItem& item : default_acl(kind == 's' ? 'S' : kind, call.oid(1))) {
    void* bytes = call.arena.allocate(sizeof item);
    std::memcpy(bytes, &item, sizeof item);
    items.push_back(Datum::from_pointer(bytes));
  }
  return build_array(call.arena, kAclItemType, items.data(), nullptr, static_cast<int>(items.size()));
}

constexpr CatalogFunction kCatalogFactsFunctions[] = {
    {"pg_table_is_visible", table_is_visible},
    {"pg_type_is_visible", type_is_visible},
    {"pg_function_is_visible", function_is_visible},
    {"pg_operator_is_visible", operator_is_visible},
    {"pg_opclass_is_visible", opclass_is_visible},
    {"pg_opfamily_is_visible", opfamily_is_visible},
    {"pg_collation_is_visible", collation_is_visible},
    {"pg_conversion_is_visible", no_such_object},
    {"pg_statistics_obj_is_visible", no_such_object},
    {"pg_ts_config_is_visible", no_such_object},
    {"pg_ts_dict_is_visible", no_such_object},
    {"pg_ts_parser_is_visible", no_such_object},
    {"pg_ts_template_is_visible", no_such_object},
    {"pg_get_userbyid", user_by_id},
    {"current_schema", current_schema},
    {"current_schemas", current_schemas},
    {"pg_my_temp_schema", my_temp_schema},
    {"pg_is_other_temp_schema", is_other_temp_schema},
    {"obj_description", object_description},
    {"col_description", column_description},
    {"shobj_description", shared_description},
    {"pg_relation_size", relation_size},
    {"pg_table_size", table_size},
    {"pg_indexes_size", indexes_size},
    {"pg_total_relation_size", total_relation_size},
    {"pg_database_size_oid", database_size},
    {"pg_database_size_name", database_size_by_name},
    {"pg_tablespace_size_oid", tablespace_size},
    {"pg_tablespace_size_name", tablespace_size_by_name},
    {"pg_tablespace_location", tablespace_location},
    {"pg_relation_filenode", relation_filenode},
    {"pg_relation_filepath", relation_filepath},
    {"pg_filenode_relation", filenode_relation},
    {"nextval_oid", next_value},
    {"currval_oid", current_value},
    {"lastval", last_value},
    {"setval_oid", set_value},
    {"setval3_oid", set_value},
    {"pg_sequence_last_value", sequence_last_value},
    {"pg_index_column_has_property", index_column_property},
    {"pg_index_has_property", index_property},
    {"pg_indexam_has_property", access_method_property},
    {"pg_relation_is_updatable", relation_is_updatable},
    {"pg_column_is_updatable", column_is_updatable},
    {"pg_relation_is_publishable", no},
    {"row_security_active", no},
    {"row_security_active_name", no},
    {"pg_partition_root", no_such_object},
    {"pg_collation_for", collation_for},
    {"pg_collation_actual_version", no_such_object},
    {"pg_database_collation_actual_version", no_such_object},
    {"acldefault_sql", default_acl_function},
};

}  // namespace

std::span<const CatalogFunction> fact_functions() { return kCatalogFactsFunctions; }

}  // namespace pinwheel::sql
