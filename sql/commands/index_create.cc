#include "sql/commands/index_create.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_builder.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/index_build.h"
#include "sql/commands/relation_create.h"
#include "storage/redo.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kMaxName = 63;

std::string cut(std::string_view name, std::size_t bytes) {
  bytes = std::min(bytes, name.size());
  // Not in the middle of a UTF-8 character.
  while (bytes > 0 && bytes < name.size() && (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80)
    --bytes;
  return std::string{name.substr(0, bytes)};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += '_';
    text += name;
    if (text.size() >= kMaxName) break;
  }
  return text;
}

std::string join_expressions(const std::vector<NewIndexKey>& keys) {
  std::string text;
  bool first = true;
  for (const NewIndexKey& key : keys) {
    if (key.column != 0) continue;
    if (!first) text += kExpressionSeparator;
    text += key.expression;
    first = false;
  }
  return text;
}

/// Name of one of the index's own columns, as pg_attribute shows it: another than those before have.
std::string column_name(const Relation& table, const NewIndexKey& key, const std::vector<NewColumn>& before) {
  const std::string base = key.column > 0     ? table.column(key.column).name
                           : key.name.empty() ? "expr"
                                              : key.name;
  std::string name = base;
  for (int i = 1; std::ranges::find(before, name, &NewColumn::name) != before.end(); ++i) {
    name = base + std::to_string(i);
  }
  return name;
}

void insert_index_row(Catalog& catalog, Oid oid, const NewIndex& index) {
  IndexRow row;
  row.indexrelid = oid;
  row.indrelid = index.table;
  row.indnatts = static_cast<std::int16_t>(index.keys.size());
  row.indnkeyatts = static_cast<std::int16_t>(index.key_count);
  row.indisunique = index.unique;
  row.indnullsnotdistinct = index.nulls_not_distinct;
  row.indisprimary = index.primary;
  row.indimmediate = index.immediate;
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    const NewIndexKey& key = index.keys[i];
    row.indkey.push_back(key.column);
    if (i >= static_cast<std::size_t>(index.key_count)) continue;
    row.indcollation.push_back(key.collation);
    row.indclass.push_back(key.operator_class);
    row.indoption.push_back(static_cast<std::int16_t>((key.descending ? 1 : 0) | (key.nulls_first ? 2 : 0)));
  }
  if (const std::string expressions = join_expressions(index.keys); !expressions.empty())
    row.indexprs = expressions;
  if (!index.predicate.empty()) row.indpred = index.predicate;
  insert_row(catalog, row);
}

void make_files(Catalog& catalog, const IndexInfo& index, char persistence) {
  create_relation_files(catalog, index.file, persistence);
  if (persistence == 'u') build_empty_index(catalog, index, Fork::kInit);
}

}  // namespace

std::string make_object_name(std::string_view name1, std::string_view name2, std::string_view label) {
  const std::size_t overhead = (label.empty() ? 0 : label.size() + 1) + (name2.empty() ? 0 : 1);
  const std::size_t room = kMaxName - std::min(overhead, kMaxName);
  std::size_t size1 = name1.size();
  std::size_t size2 = name2.size();
  while (size1 + size2 > room) {
    if (size1 > size2) {
      --size1;
    } else {
      --size2;
    }
  }
  std::string made = cut(name1, size1);
  if (!name2.empty()) made += "_" + cut(name2, size2);
  if (!label.empty()) made += "_" + std::string{label};
  return made;
}

std::string choose_relation_name(Catalog& catalog, Oid schema, std::string_view name1, std::string_view name2,
                                 std::string_view label) {
  std::string numbered{label};
  for (int attempt = 1;; ++attempt) {
    std::string name = make_object_name(name1, name2, numbered);
    const bool constraint_taken =
        find_row<ConstraintRow>(catalog, {{2, std::string_view{name}}, {3, schema}}).has_value();
    if (!name_is_taken(catalog, schema, name) && !constraint_taken) return name;
    numbered = std::string{label} + std::to_string(attempt);
  }
}

std::string choose_index_name(Catalog& catalog, Oid schema, std::string_view table,
                              const std::vector<std::string>& columns, bool primary, bool constraint) {
  if (primary) return choose_relation_name(catalog, schema, table, "", "pkey");
  return choose_relation_name(catalog, schema, table, joined(columns), constraint ? "key" : "idx");
}

Oid create_index(Catalog& catalog, const NewIndex& index, bool for_constraint) {
  const RelationRef table = catalog.require_relation(index.table);
  NewRelation relation;
  relation.name = index.name;
  relation.schema = index.schema;
  relation.kind = 'i';
  relation.persistence = table->persistence;
  relation.owner = table->owner;
  relation.access_method = kBtreeMethod;
  relation.has_row_type = false;
  relation.options = index.options;
  for (const NewIndexKey& key : index.keys) {
    NewColumn column;
    column.name = column_name(*table, key, relation.columns);
    column.type = key.type;
    column.type_modifier = key.type_modifier;
    column.collation = key.collation;
    relation.columns.push_back(std::move(column));
  }
  const Oid oid = create_relation(catalog, relation);
  insert_index_row(catalog, oid, index);
  const bool first_index = table->indexes.empty();
  if (first_index) {
    change_class_row(catalog, index.table, [](ClassRow& row) { row.relhasindex = true; });
  } else {
    catalog.invalidate_relation(index.table);
  }
  if (!for_constraint && table->kind != 't') {
    bool any_column = false, any_expression = false;
    for (const NewIndexKey& key : index.keys) {
      if (key.column == 0) any_expression = true;
      if (key.column <= 0) continue;
      any_column = true;
      add_dependency(catalog, {kClassTable, oid}, {kClassTable, index.table, key.column},
                     DependencyType::kAuto);
    }
    if (!any_column || !index.predicate.empty() || any_expression) {
      add_dependency(catalog, {kClassTable, oid}, {kClassTable, index.table}, DependencyType::kAuto);
    }
  } else if (table->kind == 't') {
    add_dependency(catalog, {kClassTable, oid}, {kClassTable, index.table}, DependencyType::kAuto);
  }
  const RelationRef fresh = catalog.require_relation(index.table);
  const IndexInfo* made = fresh->find_index(oid);
  DB_ASSERT(made != nullptr);
  make_files(catalog, *made, table->persistence);
  build_index(catalog, *fresh, *made, /*again=*/false);
  return oid;
}

void rebuild_index(Catalog& catalog, const Relation& table, Oid index_oid) {
  const Oid file = new_oid(catalog);
  Oid old_file;
  change_class_row(catalog, index_oid, [&](ClassRow& row) {
    old_file = row.relfilenode;
    row.relfilenode = file;
  });
  catalog.invalidate_relation(table.oid);
  catalog.transaction().drop_file_at_commit({catalog.eval().database, old_file});
  const RelationRef fresh = catalog.require_relation(table.oid);
  const IndexInfo* index = fresh->find_index(index_oid);
  DB_ASSERT(index != nullptr);
  make_files(catalog, *index, fresh->persistence);
  build_index(catalog, *fresh, *index, /*again=*/true);
}

}  // namespace pinwheel::sql
