#include "sql/catalog/relation_builder.h"

#include <algorithm>
#include <charconv>

#include "sql/catalog/acl_text.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/system_views.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

std::uint8_t align_bytes(char align) {
  switch (align) {
    case 'd':
      return 8;
    case 'i':
      return 4;
    case 's':
      return 2;
    default:
      return 1;
  }
}

storage::Persistence storage_persistence(char persistence) {
  switch (persistence) {
    case 'u':
      return storage::Persistence::kUnlogged;
    case 't':
      return storage::Persistence::kTemporary;
    default:
      return storage::Persistence::kPermanent;
  }
}

/// Completes a key whose type and operator class are set.
void resolve_key(Catalog* catalog, IndexKey& key, Oid operator_class) {
  key.operator_class = operator_class;
  if (const BuiltinOperatorClass* facts = find_operator_class(operator_class)) {
    key.operator_family = facts->family;
    key.compare_procedure = family_proc(facts->family, facts->input_type, facts->input_type, 1);
    key.compare = find_compare_procedure(key.compare_procedure);
  }
  if (key.compare == nullptr) key.compare = find_compare(key.type);
  if (const TypeInfo* info = find_type(key.type)) {
    key.length = info->length;
    key.by_value = info->by_value;
    key.align = info->align;
  } else if (catalog != nullptr) {
    if (const auto type = catalog->type(key.type)) {
      key.length = type->length;
      key.by_value = type->by_value;
      key.align = type->align;
    }
  }
}

/// How values of a type lie in order as 64-bit words, if they do.
storage::KeyOrder key_order(Oid type) {
  if (type == kInt2Type || type == kInt4Type || type == kInt8Type || type == kDateType || type == kTimeType ||
      type == kTimestampType || type == kTimestampTzType || type == kBoolType) {
    return storage::KeyOrder::kSigned;
  }
  // Stored sign-extended: as unsigned words they keep the order of unsigned 32-bit values.
  if (type == kOidType || type == kRegClassType || type == kRegTypeType || type == kRegProcType) {
    return storage::KeyOrder::kUnsigned;
  }
  return storage::KeyOrder::kFunction;
}

void finish_index(IndexInfo& index, storage::Persistence persistence) {
  std::vector<storage::AttributeLayout> attributes;
  index.compare_contexts = std::make_unique<KeyCompareContext[]>(index.keys.size());
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    const IndexKey& key = index.keys[i];
    attributes.push_back({key.length, align_bytes(key.align), key.by_value, false, 'p'});
    index.has_expressions |= key.column == 0;
    if (i >= static_cast<std::size_t>(index.key_count)) continue;
    index.compare_contexts[i].compare = key.compare;
    index.compare_contexts[i].context.collation = key.collation;
    storage::KeyColumn column;
    column.order = key_order(key.type);
    column.descending = key.descending;
    column.nulls_first = key.nulls_first;
    column.compare = &compare_key;
    column.context = &index.compare_contexts[i];
    index.btree.keys.push_back(column);
  }
  index.btree.file = index.file;
  index.btree.persistence = persistence;
  index.layout = storage::TupleLayout{attributes};
  index.persistence = persistence;
  index.btree.layout = index.layout;
  index.btree.unique = index.unique;
  index.btree.nulls_not_distinct = index.nulls_not_distinct;
  index.btree.fill_factor = static_cast<std::uint16_t>(index.fill_factor);
  index.btree.name = index.name;
}

IndexInfo system_index_info(const SystemIndex& facts, const SystemRelation& table, Oid database) {
  IndexInfo index;
  index.oid = facts.oid;
  index.name = facts.name;
  index.file = {table.shared ? kInvalidOid : database, facts.oid};
  index.table = facts.table;
  index.access_method = kBtreeMethod;
  index.unique = facts.unique;
  index.primary = facts.primary;
  index.constraint = facts.constraint;
  index.key_count = static_cast<int>(facts.columns.size());
  for (std::size_t i = 0; i < facts.columns.size(); ++i) {
    const SystemColumn& column = table.columns[static_cast<std::size_t>(facts.columns[i]) - 1];
    IndexKey key;
    key.column = facts.columns[i];
    key.type = column.type;
    key.collation = facts.collations[i];
    resolve_key(nullptr, key, facts.operator_classes[i]);
    index.keys.push_back(std::move(key));
  }
  finish_index(index, storage::Persistence::kPermanent);
  return index;
}

/// The columns that pg_attribute shows for an index.
void columns_from_keys(Relation& relation) {
  const IndexInfo& index = relation.self_index.front();
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    const IndexKey& key = index.keys[i];
    Column column;
    column.number = static_cast<std::int16_t>(i + 1);
    column.type = key.type;
    column.type_modifier = key.type_modifier;
    column.collation = key.collation;
    column.length = key.length;
    column.by_value = key.by_value;
    column.align = key.align;
    relation.columns.push_back(std::move(column));
  }
}

IndexInfo read_index(Catalog& catalog, const Relation& table, const IndexRow& row,
                     const ClassRow& index_class) {
  IndexInfo index;
  index.oid = row.indexrelid;
  index.name = index_class.relname;
  index.file = {table.shared ? kInvalidOid : catalog.eval().database, index_class.relfilenode};
  index.table = row.indrelid;
  index.access_method = index_class.relam;
  index.unique = row.indisunique;
  index.nulls_not_distinct = row.indnullsnotdistinct;
  index.primary = row.indisprimary;
  index.immediate = row.indimmediate;
  index.valid = row.indisvalid;
  index.ready = row.indisready;
  index.key_count = row.indnkeyatts;
  index.predicate = row.indpred.value_or("");
  index.pages = index_class.relpages;
  index.tuples = index_class.reltuples;
  index.fill_factor = parse_relation_options(index_class.reloptions).fill_factor;
  if (index_class.reloptions.empty()) index.fill_factor = 90;
  const std::vector<AttributeRow> attributes = find_rows<AttributeRow>(catalog, {{1, row.indexrelid}});
  const std::vector<std::string> expressions = split_expressions(row.indexprs.value_or(""));
  std::size_t next_expression = 0;
  for (std::size_t i = 0; i < row.indkey.size(); ++i) {
    IndexKey key;
    key.column = row.indkey[i];
    if (key.column == 0 && next_expression < expressions.size())
      key.expression = expressions[next_expression++];
    for (const AttributeRow& attribute : attributes) {
      if (attribute.attnum != static_cast<std::int16_t>(i + 1)) continue;
      key.type = attribute.atttypid;
      key.type_modifier = attribute.atttypmod;
    }
    const bool is_key = i < static_cast<std::size_t>(index.key_count);
    if (i < row.indcollation.size()) key.collation = row.indcollation[i];
    if (is_key && i < row.indoption.size()) {
      key.descending = (row.indoption[i] & 1) != 0;
      key.nulls_first = (row.indoption[i] & 2) != 0;
    }
    resolve_key(&catalog, key, is_key && i < row.indclass.size() ? row.indclass[i] : kInvalidOid);
    index.keys.push_back(std::move(key));
  }
  finish_index(index, storage_persistence(index_class.relpersistence));
  return index;
}

void read_columns(Catalog& catalog, Relation& relation) {
  scan_rows<AttributeRow>(catalog, {{1, relation.oid}}, [&](AttributeRow& row, TupleId) {
    if (row.attnum < 1) return true;
    const auto place = static_cast<std::size_t>(row.attnum);
    if (relation.columns.size() < place) relation.columns.resize(place);
    Column& column = relation.columns[place - 1];
    column.number = row.attnum;
    column.type = row.atttypid;
    column.type_modifier = row.atttypmod;
    column.collation = row.attcollation;
    column.length = row.attlen;
    column.by_value = row.attbyval;
    column.align = row.attalign;
    column.storage = row.attstorage;
    column.dropped = row.attisdropped;
    column.statistics_target = row.attstattarget;
    if (row.attisdropped) return true;
    column.name = std::move(row.attname);
    column.not_null = row.attnotnull;
    column.identity = row.attidentity;
    column.generated = row.attgenerated;
    if (row.attacl) column.acl = std::move(*row.attacl);
    if (row.atthasmissing && row.attmissingval.present) {
      const ArrayView view = view_array(row.attmissingval.value);
      ArrayReader reader{view, column.length, column.by_value};
      Datum element;
      bool is_null = true;
      if (reader.next(&element, &is_null) && !is_null) {
        column.has_missing = true;
        column.missing = copy_datum(element, column.length, column.by_value, relation.values);
      }
    }
    return true;
  });
  scan_rows<AttrDefRow>(catalog, {{2, relation.oid}}, [&](AttrDefRow& row, TupleId) {
    if (row.adnum < 1 || static_cast<std::size_t>(row.adnum) > relation.columns.size()) return true;
    Column& column = relation.columns[static_cast<std::size_t>(row.adnum) - 1];
    column.default_source = row.adbin.value_or("");
    column.default_oid = row.oid;
    return true;
  });
  const bool has_identity =
      std::ranges::any_of(relation.columns, [](const Column& c) { return c.identity != 0; });
  if (!has_identity) return;
  scan_rows<DependRow>(catalog, {{4, kClassTable}, {5, relation.oid}}, [&](DependRow& row, TupleId) {
    if (row.deptype == 'i' && row.classid == kClassTable && row.refobjsubid > 0) {
      relation.columns[static_cast<std::size_t>(row.refobjsubid) - 1].identity_sequence = row.objid;
    }
    return true;
  });
}

ForeignKey foreign_key_from(ConstraintRow& row) {
  ForeignKey key;
  key.oid = row.oid;
  key.name = std::move(row.conname);
  key.from_table = row.conrelid;
  key.to_table = row.confrelid;
  key.from_columns = std::move(row.conkey);
  key.to_columns = std::move(row.confkey);
  key.pk_fk_equal = std::move(row.conpfeqop);
  key.pk_pk_equal = std::move(row.conppeqop);
  key.fk_fk_equal = std::move(row.conffeqop);
  key.index = row.conindid;
  key.match = row.confmatchtype;
  key.on_update = row.confupdtype;
  key.on_delete = row.confdeltype;
  key.deferrable = row.condeferrable;
  key.initially_deferred = row.condeferred;
  key.validated = row.convalidated;
  return key;
}

void read_constraints(Catalog& catalog, Relation& relation) {
  scan_rows<ConstraintRow>(catalog, {{8, relation.oid}}, [&](ConstraintRow& row, TupleId) {
    if (row.contype == 'c') {
      relation.checks.push_back(
          {row.oid, row.conname, row.conbin.value_or(""), row.convalidated, row.connoinherit});
    } else if (row.contype == 'f') {
      relation.references.push_back(foreign_key_from(row));
    } else if (row.contype == 'p' || row.contype == 'u') {
      for (IndexInfo& index : relation.indexes) {
        if (index.oid == row.conindid) index.constraint = row.oid;
      }
    }
    return true;
  });
  // CHECK constraints are tried in the order of their names, as in PostgreSQL.
  std::ranges::sort(relation.checks, {}, &CheckConstraint::name);
  scan_rows<ConstraintRow>(catalog, {{12, relation.oid}}, [&](ConstraintRow& row, TupleId) {
    if (row.contype == 'f') relation.referenced_by.push_back(foreign_key_from(row));
    return true;
  });
}

void read_indexes(Catalog& catalog, Relation& relation) {
  for (const IndexRow& row : find_rows<IndexRow>(catalog, {{2, relation.oid}})) {
    const auto index_class = find_row<ClassRow>(catalog, {{1, row.indexrelid}});
    if (!index_class || !row.indislive) continue;
    relation.indexes.push_back(read_index(catalog, relation, row, *index_class));
    if (row.indisprimary) relation.primary_key_index = row.indexrelid;
  }
  std::ranges::sort(relation.indexes, {}, &IndexInfo::oid);
}

void read_toast(Catalog& catalog, Relation& relation) {
  const auto row = find_row<ClassRow>(catalog, {{1, relation.toast_table}});
  if (!row) return;
  relation.toast_file = {relation.file.database, row->relfilenode};
  for (const IndexRow& index : find_rows<IndexRow>(catalog, {{2, relation.toast_table}})) {
    const auto index_row = find_row<ClassRow>(catalog, {{1, index.indexrelid}});
    if (!index_row) continue;
    relation.toast_index = index.indexrelid;
    relation.toast_index_file = {relation.file.database, index_row->relfilenode};
  }
}

}  // namespace

std::vector<std::string> split_expressions(std::string_view stored) {
  std::vector<std::string> parts;
  while (!stored.empty()) {
    const std::size_t end = std::min(stored.find(kExpressionSeparator), stored.size());
    parts.emplace_back(stored.substr(0, end));
    stored.remove_prefix(std::min(end + 1, stored.size()));
  }
  return parts;
}

RelationOptions parse_relation_options(const std::vector<std::string>& stored) {
  RelationOptions options;
  options.all = stored;
  for (const std::string& option : stored) {
    const std::size_t equals = option.find('=');
    const std::string_view name = std::string_view{option}.substr(0, equals);
    const std::string_view value =
        equals == std::string::npos ? "" : std::string_view{option}.substr(equals + 1);
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (name == "fillfactor") options.fill_factor = number;
    if (name == "toast_tuple_target") options.toast_tuple_target = number;
    if (name == "autovacuum_enabled") options.autovacuum_enabled = value == "true" || value == "on";
    if (name == "security_barrier") options.security_barrier = value == "true" || value == "on";
  }
  return options;
}

void finish_layout(Relation& relation) {
  std::vector<storage::AttributeLayout> attributes;
  std::vector<std::uint64_t> missing;
  std::vector<std::uint8_t> missing_null;
  for (const Column& column : relation.columns) {
    attributes.push_back({column.length, align_bytes(column.align), column.by_value,
                          column.not_null && !column.has_missing && !column.dropped, column.storage});
    missing.push_back(column.missing.bits);
    missing_null.push_back(column.has_missing ? 0 : 1);
  }
  relation.layout = storage::TupleLayout{attributes, missing, missing_null};
  relation.heap.file = relation.file;
  relation.heap.persistence = storage_persistence(relation.persistence);
  relation.heap.fill_factor = static_cast<std::uint16_t>(relation.options.fill_factor);
}

std::unique_ptr<Relation> build_system_relation(const SystemRelation& facts, Oid database) {
  auto relation = std::make_unique<Relation>();
  relation->oid = facts.oid;
  relation->name = facts.name;
  relation->schema = facts.schema;
  relation->schema_name = facts.schema == kCatalogSchema ? "pg_catalog" : "information_schema";
  relation->kind = facts.kind;
  relation->shared = facts.shared;
  relation->row_type = facts.row_type;
  relation->owner = Oid{10};
  relation->has_acl = true;
  relation->acl = parse_bootstrap_acl(facts.acl);
  if (facts.kind == 'r') {
    relation->file = {facts.shared ? kInvalidOid : database, facts.oid};
    relation->access_method = Oid{2};
  } else {
    relation->view_source = system_view_source(facts.schema, facts.name);
  }
  for (const SystemColumn& facts_column : facts.columns) {
    Column column;
    column.name = facts_column.name;
    column.number = static_cast<std::int16_t>(relation->columns.size() + 1);
    column.type = facts_column.type;
    column.type_modifier = facts_column.type_modifier;
    column.collation = facts_column.collation;
    const TypeInfo* info = find_type(facts_column.type);
    column.length = info != nullptr ? info->length : facts_column.length;
    column.by_value = info != nullptr ? info->by_value : facts_column.by_value;
    column.align = info != nullptr ? info->align : facts_column.align;
    column.storage = facts_column.storage;
    column.not_null = facts_column.not_null;
    relation->columns.push_back(std::move(column));
  }
  for (const SystemIndex& index : facts.indexes) {
    relation->indexes.push_back(system_index_info(index, facts, database));
    if (index.primary) relation->primary_key_index = index.oid;
  }
  finish_layout(*relation);
  return relation;
}

std::unique_ptr<Relation> build_system_index(const SystemIndex& facts, Oid database) {
  const SystemRelation& table = *find_system_relation(facts.table);
  auto relation = std::make_unique<Relation>();
  relation->oid = facts.oid;
  relation->name = facts.name;
  relation->schema = table.schema;
  relation->schema_name = "pg_catalog";
  relation->kind = 'i';
  relation->shared = table.shared;
  relation->file = {table.shared ? kInvalidOid : database, facts.oid};
  relation->owner = Oid{10};
  relation->access_method = kBtreeMethod;
  relation->self_index.push_back(system_index_info(facts, table, database));
  columns_from_keys(*relation);
  for (std::size_t i = 0; i < relation->columns.size(); ++i) {
    relation->columns[i].name = table.columns[static_cast<std::size_t>(facts.columns[i]) - 1].name;
  }
  return relation;
}

std::unique_ptr<Relation> build_relation(Catalog& catalog, const ClassRow& row) {
  auto relation = std::make_unique<Relation>();
  relation->oid = row.oid;
  relation->name = row.relname;
  relation->schema = row.relnamespace;
  relation->schema_name = catalog.schema_name(row.relnamespace);
  relation->kind = row.relkind;
  relation->persistence = row.relpersistence;
  relation->shared = row.relisshared;
  if (is_valid(row.relfilenode)) {
    relation->file = {row.relisshared ? kInvalidOid : catalog.eval().database, row.relfilenode};
  }
  relation->row_type = row.reltype;
  relation->owner = row.relowner;
  relation->access_method = row.relam;
  relation->has_acl = row.relacl.has_value();
  if (row.relacl) relation->acl = *row.relacl;
  relation->options = parse_relation_options(row.reloptions);
  relation->pages = row.relpages;
  relation->tuples = row.reltuples;
  relation->all_visible_pages = row.relallvisible;
  relation->toast_table = row.reltoastrelid;
  read_columns(catalog, *relation);
  if (row.relhasindex) read_indexes(catalog, *relation);
  if (row.relkind == 'r') read_constraints(catalog, *relation);
  if (is_valid(row.reltoastrelid)) read_toast(catalog, *relation);
  if (row.relkind == 'i') {
    const auto index_row = find_row<IndexRow>(catalog, {{1, row.oid}});
    if (index_row) relation->self_index.push_back(read_index(catalog, *relation, *index_row, row));
  }
  if (row.relkind == 'v' || row.relkind == 'm') {
    if (const auto rule = find_row<RewriteRow>(catalog, {{3, row.oid}})) {
      relation->view_source = rule->ev_action.value_or("");
    }
  }
  finish_layout(*relation);
  return relation;
}

}  // namespace pinwheel::sql
