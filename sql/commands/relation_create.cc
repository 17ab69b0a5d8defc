#include "sql/commands/relation_create.h"

#include <unordered_set>

#include "base/sqlstate.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/index_create.h"
#include "sql/types/type_oids.h"
#include "storage/redo.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr Oid kHeapMethod{2};
constexpr std::size_t kMaxColumns = 1600;
/// Names of system columns, which user columns may not take.
constexpr std::string_view kSystemColumns[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};

void check_columns(Catalog& catalog, const NewRelation& relation) {
  if (relation.columns.size() > kMaxColumns) {
    throw SqlError{sqlstate::kTooManyColumns, "tables can have at most 1600 columns"};
  }
  std::unordered_set<std::string_view> seen;
  for (const NewColumn& column : relation.columns) {
    if (relation.kind == 'r' || relation.kind == 'v' || relation.kind == 'm') {
      for (const std::string_view name : kSystemColumns) {
        if (column.name == name && relation.kind != 'v') {
          throw SqlError{sqlstate::kDuplicateColumn,
                         "column name \"" + column.name + "\" conflicts with a system column name"};
        }
      }
    }
    if (relation.kind != 'i' && !seen.insert(column.name).second) {
      throw SqlError{sqlstate::kDuplicateColumn, "column \"" + column.name + "\" specified more than once"};
    }
    const auto type = catalog.type(column.type);
    if (relation.kind != 'i' && type && type->kind == 'p' && column.type != kRecordType) {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + catalog.format_type(column.type)};
    }
  }
}

void add_row_type(Catalog& catalog, const NewRelation& relation, Oid oid, Oid row_type, Oid array_type) {
  TypeRow type;
  type.oid = row_type;
  type.typname = relation.name;
  type.typnamespace = relation.schema;
  type.typowner = relation.owner;
  type.typtype = 'c';
  type.typcategory = 'C';
  type.typrelid = oid;
  type.typarray = array_type;
  type.typinput = Oid{2290};
  type.typoutput = Oid{2291};
  type.typreceive = Oid{2402};
  type.typsend = Oid{2403};
  type.typalign = 'd';
  insert_row(catalog, type);

  // The array type's name gets underscores before it until it is free.
  std::string array_name = "_" + relation.name.substr(0, 62);
  while (find_row<TypeRow>(catalog, {{2, std::string_view{array_name}}, {3, relation.schema}})) {
    array_name = ("_" + array_name).substr(0, 63);
  }
  type.oid = array_type;
  type.typname = array_name;
  type.typtype = 'b';
  type.typcategory = 'A';
  type.typrelid = kInvalidOid;
  type.typarray = kInvalidOid;
  type.typelem = row_type;
  type.typsubscript = Oid{6179};
  type.typinput = Oid{750};
  type.typoutput = Oid{751};
  type.typreceive = Oid{2400};
  type.typsend = Oid{2401};
  type.typanalyze = Oid{3816};
  insert_row(catalog, type);
  catalog.invalidate_type(row_type);
  catalog.invalidate_type(array_type);
  add_dependency(catalog, {kTypeTable, row_type}, {kClassTable, oid}, DependencyType::kInternal);
  add_dependency(catalog, {kTypeTable, array_type}, {kTypeTable, row_type}, DependencyType::kInternal);
}

/// Most bytes that a value of the column can take; negative = no bound.
std::int64_t max_value_bytes(const Column& column) {
  if (column.length >= 0) return column.length;
  constexpr int kMaxBytesPerCharacter = 4;
  if ((column.type == kBpCharType || column.type == kVarCharType) && column.type_modifier >= 4) {
    return static_cast<std::int64_t>(column.type_modifier - 4) * kMaxBytesPerCharacter + 4;
  }
  if (column.type == kNumericType && column.type_modifier >= 4) {
    const int precision = ((column.type_modifier - 4) >> 16) & 0xFFFF;
    return 16 + precision;
  }
  if ((column.type == kBitType || column.type == kVarBitType) && column.type_modifier > 0) {
    return 12 + column.type_modifier / 8;
  }
  return -1;
}

}  // namespace

AttributeRow make_attribute(Catalog& catalog, Oid relation, const NewColumn& column, std::int16_t number) {
  const auto type = catalog.type(column.type);
  DB_ASSERT(type.has_value());
  AttributeRow row;
  row.attrelid = relation;
  row.attname = column.name;
  row.atttypid = column.type;
  row.attlen = type->length;
  row.attnum = number;
  row.attndims = column.dimensions;
  row.atttypmod = column.type_modifier;
  row.attbyval = type->by_value;
  row.attalign = type->align;
  row.attstorage = column.storage != '\0' ? column.storage : type->storage;
  row.attcompression = column.compression;
  row.attnotnull = column.not_null;
  row.attidentity = column.identity;
  row.attgenerated = column.generated;
  row.attcollation = column.collation;
  return row;
}

bool name_is_taken(Catalog& catalog, Oid schema, std::string_view name) {
  return find_row<ClassRow>(catalog, {{2, name}, {3, schema}}).has_value();
}

void check_name_free(Catalog& catalog, Oid schema, std::string_view name) {
  if (name_is_taken(catalog, schema, name)) {
    throw SqlError{sqlstate::kDuplicateTable, "relation \"" + std::string{name} + "\" already exists"};
  }
}

void create_relation_files(Catalog& catalog, FileId file, char persistence) {
  txn::Transaction& transaction = catalog.transaction();
  storage::Storage& storage = catalog.services().storage;
  // Noted before the file is there: an abort in between finds nothing to remove, which is no error.
  transaction.drop_file_at_abort(file);
  catalog.note_new_file(file);
  const storage::Persistence kind = persistence == 'p'   ? storage::Persistence::kPermanent
                                    : persistence == 'u' ? storage::Persistence::kUnlogged
                                                         : storage::Persistence::kTemporary;
  storage::create_relation_logged(storage, file, Fork::kMain, kind, transaction.assign_xid());
  if (persistence == 'u') {
    storage::create_relation_logged(storage, file, Fork::kInit, kind, transaction.assign_xid());
  }
}

void replace_relation_file(Catalog& catalog, Oid oid) {
  const Oid file = new_oid(catalog);
  Oid old_file;
  char persistence = 'p';
  change_class_row(catalog, oid, [&](ClassRow& row) {
    old_file = row.relfilenode;
    row.relfilenode = file;
    row.relpages = row.relallvisible = 0;
    row.reltuples = -1;
    persistence = row.relpersistence;
  });
  catalog.transaction().drop_file_at_commit({catalog.eval().database, old_file});
  create_relation_files(catalog, {catalog.eval().database, file}, persistence);
}

Oid create_relation(Catalog& catalog, const NewRelation& relation) {
  check_columns(catalog, relation);
  check_name_free(catalog, relation.schema, relation.name);
  const bool has_type =
      relation.has_row_type && relation.kind != 'i' && relation.kind != 't' && relation.kind != 'S';
  if (has_type) {
    const auto clash =
        find_row<TypeRow>(catalog, {{2, std::string_view{relation.name}}, {3, relation.schema}});
    if (clash) {
      throw SqlError{sqlstate::kDuplicateObject, "type \"" + relation.name + "\" already exists"}.hint(
          "A relation has an associated type of the same name, so you must use a name that doesn't conflict "
          "with any "
          "existing type.");
    }
  }
  ClassRow row;
  row.oid = is_valid(relation.oid) ? relation.oid : new_oid(catalog);
  row.relname = relation.name;
  row.relnamespace = relation.schema;
  row.relowner = relation.owner;
  row.relpersistence = relation.persistence;
  row.relkind = relation.kind;
  row.relnatts = static_cast<std::int16_t>(relation.columns.size());
  row.reloptions = relation.options;
  const bool has_files = relation.kind != 'v' && relation.kind != 'c';
  if (has_files) row.relfilenode = row.oid;
  row.relam = is_valid(relation.access_method)                                       ? relation.access_method
              : relation.kind == 'r' || relation.kind == 't' || relation.kind == 'm' ? kHeapMethod
                                                                                     : kInvalidOid;
  if (relation.kind == 'i') row.relreplident = 'n';
  if (relation.kind == 'v' || relation.kind == 'S' || relation.kind == 't') row.relreplident = 'n';
  if (relation.kind == 'i' || relation.kind == 'v') row.reltuples = relation.kind == 'i' ? 0.0F : -1.0F;
  Oid array_type;
  if (has_type) {
    row.reltype = new_oid(catalog);
    array_type = new_oid(catalog);
  }
  if (has_files && relation.kind != 'i') {
    create_relation_files(catalog, {catalog.eval().database, row.relfilenode}, relation.persistence);
  }
  insert_row(catalog, row);
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    insert_row(catalog,
               make_attribute(catalog, row.oid, relation.columns[i], static_cast<std::int16_t>(i + 1)));
  }
  if (has_type) add_row_type(catalog, relation, row.oid, row.reltype, array_type);
  catalog.invalidate_relation(row.oid);
  if (relation.kind != 't' && relation.kind != 'i') {
    if (relation.schema >= kFirstNormalOid || relation.schema == kPublicSchema) {
      add_dependency(catalog, {kClassTable, row.oid}, {kNamespaceTable, relation.schema},
                     DependencyType::kNormal);
    }
  }
  return row.oid;
}

bool needs_toast_table(const Relation& table) {
  if (table.kind != 'r' && table.kind != 'm') return false;
  std::int64_t total = 0;
  bool toastable = false;
  for (const Column& column : table.columns) {
    if (column.dropped) continue;
    if (column.length == -1 && column.storage != 'p') toastable = true;
    const std::int64_t bytes = max_value_bytes(column);
    if (bytes < 0) {
      if (column.length == -1 && column.storage != 'p') return true;
      continue;
    }
    total += bytes + 8;
  }
  constexpr std::int64_t kThreshold = 2000;
  return toastable && total > kThreshold;
}

void create_toast_table(Catalog& catalog, Oid table_oid) {
  const RelationRef table = catalog.require_relation(table_oid);
  if (is_valid(table->toast_table) || !needs_toast_table(*table)) return;
  NewRelation toast;
  toast.name = "pg_toast_" + std::to_string(table_oid.value);
  toast.schema = kToastSchema;
  toast.kind = 't';
  toast.persistence = table->persistence;
  toast.owner = table->owner;
  toast.has_row_type = false;
  const auto add_column = [&](const char* name, Oid type) {
    NewColumn& column = toast.columns.emplace_back();
    column.name = name;
    column.type = type;
    column.storage = 'p';
  };
  add_column("chunk_id", kOidType);
  add_column("chunk_seq", kInt4Type);
  add_column("chunk_data", kByteaType);
  const Oid toast_oid = create_relation(catalog, toast);
  change_class_row(catalog, table_oid, [&](ClassRow& row) { row.reltoastrelid = toast_oid; });
  add_dependency(catalog, {kClassTable, toast_oid}, {kClassTable, table_oid}, DependencyType::kInternal);

  NewIndex index;
  index.name = toast.name + "_index";
  index.schema = kToastSchema;
  index.table = toast_oid;
  index.unique = index.primary = true;
  const auto add_key = [&](std::int16_t column, Oid type, Oid operator_class) {
    NewIndexKey& key = index.keys.emplace_back();
    key.column = column;
    key.type = type;
    key.operator_class = operator_class;
  };
  add_key(1, kOidType, Oid{1981});
  add_key(2, kInt4Type, Oid{1978});
  index.key_count = 2;
  create_index(catalog, index);
  catalog.invalidate_relation(table_oid);
}

}  // namespace pinwheel::sql
