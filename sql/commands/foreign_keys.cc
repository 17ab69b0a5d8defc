#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/constraints.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"

namespace pinwheel::sql {
namespace {

constexpr int kEqualStrategy = 3;

std::string join(const std::vector<std::string>& parts, std::string_view by) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += by;
    text += part;
  }
  return text;
}

std::vector<std::int16_t> find_columns(const Relation& table, std::span<const std::string_view> names) {
  std::vector<std::int16_t> numbers;
  for (const std::string_view name : names) {
    const Column* column = table.find_column(name);
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn,
                     "column " + in_quotes(name) + " referenced in foreign key constraint does not exist"};
    }
    numbers.push_back(column->number);
  }
  return numbers;
}

/// The unique index of the referenced columns (in any order); reorders nothing.
const IndexInfo* matching_index(const Relation& to, const std::vector<std::int16_t>& columns) {
  for (const IndexInfo& index : to.indexes) {
    if (!index.unique || !index.immediate || !index.predicate.empty() || index.has_expressions ||
        !index.valid)
      continue;
    if (static_cast<std::size_t>(index.key_count) != columns.size()) continue;
    bool all = true;
    for (int i = 0; i < index.key_count; ++i) {
      all &= std::ranges::find(columns, index.keys[static_cast<std::size_t>(i)].column) != columns.end();
    }
    if (all) return &index;
  }
  return nullptr;
}

struct KeyOperators {
  Oid pk_fk, pk_pk, fk_fk;
};

/// Equality across the two columns' types, in the family of the referenced index.
KeyOperators find_operators(Catalog& catalog, const Column& fk, const Column& pk, const IndexKey& index_key,
                            std::string_view constraint) {
  const BuiltinOperatorClass* pk_class = find_operator_class(index_key.operator_class);
  const Oid family = pk_class->family;
  const Oid pk_type = pk_class->input_type;
  KeyOperators operators;
  operators.pk_pk = family_operator(family, pk_type, pk_type, kEqualStrategy);
  // The foreign column's type itself, else what it is coercible to in the family.
  Oid fk_type = fk.type;
  const BuiltinOperatorClass* fk_class = default_operator_class(fk.type, kBtreeMethod);
  if (fk_class != nullptr && fk_class->family == family) fk_type = fk_class->input_type;
  operators.pk_fk = family_operator(family, pk_type, fk_type, kEqualStrategy);
  operators.fk_fk = family_operator(family, fk_type, fk_type, kEqualStrategy);
  if (!is_valid(operators.pk_fk)) {
    // The foreign value is cast to the referenced type when that is implicit (int to numeric).
    const BuiltinCast* cast = find_cast(fk.type, pk.type);
    if (cast != nullptr && cast->context == 'i') {
      operators.pk_fk = operators.pk_pk;
      const Oid fk_equal = fk_class != nullptr ? family_operator(fk_class->family, fk_class->input_type,
                                                                 fk_class->input_type, kEqualStrategy)
                                               : kInvalidOid;
      operators.fk_fk = is_valid(fk_equal) ? fk_equal : operators.pk_pk;
    }
  }
  if (!is_valid(operators.pk_fk)) {
    throw SqlError{sqlstate::kDatatypeMismatch,
                   "foreign key constraint " + in_quotes(constraint) + " cannot be implemented"}
        .detail("Key columns " + in_quotes(fk.name) + " and " + in_quotes(pk.name) +
                " are of incompatible types: " + catalog.format_type(fk.type) + " and " +
                catalog.format_type(pk.type) + ".");
  }
  if (!is_valid(operators.fk_fk)) operators.fk_fk = operators.pk_fk;
  return operators;
}

void check_persistence(const Relation& from, const Relation& to) {
  if (from.persistence == 'p' && to.persistence != 'p') {
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "constraints on permanent tables may reference only permanent tables"};
  }
  if (from.persistence == 'u' && to.persistence == 't') {
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "constraints on unlogged tables may reference only permanent or unlogged tables"};
  }
  if (from.persistence == 't' && to.persistence != 't') {
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "constraints on temporary tables may reference only temporary tables"};
  }
}

}  // namespace

void validate_foreign_key(CommandContext& context, const Relation& from, const ForeignKey& key) {
  const RelationRef to = context.catalog.require_relation(key.to_table);
  std::vector<std::string> outputs, matches, present, names;
  for (std::size_t i = 0; i < key.from_columns.size(); ++i) {
    const std::string fk = "fk." + quote_identifier(from.column(key.from_columns[i]).name);
    const std::string pk = "pk." + quote_identifier(to->column(key.to_columns[i]).name);
    outputs.push_back(fk);
    matches.push_back(pk + " = " + fk);
    present.push_back(fk + " IS NOT NULL");
    names.push_back(from.column(key.from_columns[i]).name);
  }
  const std::string pk_first = "pk." + quote_identifier(to->column(key.to_columns.front()).name);
  const std::string text = "SELECT " + join(outputs, ", ") + " FROM ONLY " +
                           quote_qualified(from.schema_name, from.name) + " fk LEFT JOIN ONLY " +
                           quote_qualified(to->schema_name, to->name) + " pk ON " + join(matches, " AND ") +
                           " WHERE " + pk_first + " IS NULL AND (" +
                           join(present, key.match == 'f' ? " OR " : " AND ") + ") LIMIT 1";
  std::vector<std::string> row;
  if (!query_finds_row(context, text, &row)) return;
  throw SqlError{sqlstate::kForeignKeyViolation, "insert or update on table " + in_quotes(from.name) +
                                                     " violates foreign key constraint " +
                                                     in_quotes(key.name)}
      .detail("Key (" + join(names, ", ") + ")=(" + join(row, ", ") + ") is not present in table " +
              in_quotes(to->name) + ".")
      .table(from.schema_name, from.name)
      .constraint(key.name);
}

void add_foreign_key(CommandContext& context, Oid table_oid, const ConstraintDefinition& definition,
                     std::span<const std::string_view> columns, bool validate) {
  Catalog& catalog = context.catalog;
  const RelationRef to = require_relation(context, definition.referenced, kShareRowExclusiveLock);
  const RelationRef from = catalog.require_relation(table_oid);
  if (to->kind != 'r') {
    throw SqlError{sqlstate::kWrongObjectType,
                   "referenced relation " + in_quotes(to->name) + " is not a table"};
  }
  refuse_system_relation(*to);
  check_persistence(*from, *to);
  const std::vector<std::int16_t> from_columns = find_columns(*from, columns);
  std::vector<std::int16_t> to_columns = find_columns(*to, definition.referenced_keys);
  const IndexInfo* index = nullptr;
  if (to_columns.empty()) {
    index = to->primary_key();
    if (index == nullptr) {
      throw SqlError{sqlstate::kUndefinedObject,
                     "there is no primary key for referenced table " + in_quotes(to->name)};
    }
    for (int i = 0; i < index->key_count; ++i)
      to_columns.push_back(index->keys[static_cast<std::size_t>(i)].column);
  }
  if (from_columns.size() != to_columns.size()) {
    throw SqlError{sqlstate::kInvalidForeignKey,
                   "number of referencing and referenced columns for foreign key disagree"};
  }
  if (index == nullptr) index = matching_index(*to, to_columns);
  if (index == nullptr) {
    throw SqlError{
        sqlstate::kInvalidForeignKey,
        "there is no unique constraint matching given keys for referenced table " + in_quotes(to->name)};
  }
  catalog.check_relation_privilege(*to, kReferencesPrivilege, to_columns);
  std::string name{definition.name};
  if (name.empty()) {
    std::vector<std::string> names;
    for (const std::string_view column : columns) names.emplace_back(column);
    name = choose_relation_name(catalog, from->schema, from->name, join(names, "_"), "fkey");
  } else {
    scan_rows<ConstraintRow>(catalog, {{8, table_oid}}, [&](ConstraintRow& row, TupleId) {
      if (row.conname != name) return true;
      throw SqlError{sqlstate::kDuplicateObject, "constraint " + in_quotes(name) + " for relation " +
                                                     in_quotes(from->name) + " already exists"};
    });
  }
  ConstraintRow row;
  row.oid = new_oid(catalog);
  row.conname = name;
  row.connamespace = from->schema;
  row.contype = 'f';
  row.condeferrable = definition.deferrable;
  row.condeferred = definition.initially_deferred;
  row.convalidated = !definition.not_valid;
  row.conrelid = table_oid;
  row.conindid = index->oid;
  row.confrelid = to->oid;
  row.confupdtype = definition.on_update;
  row.confdeltype = definition.on_delete;
  row.confmatchtype = definition.match;
  row.conkey = from_columns;
  row.confkey = to_columns;
  for (std::size_t i = 0; i < to_columns.size(); ++i) {
    const auto index_key = std::ranges::find(index->keys, to_columns[i], &IndexKey::column);
    const KeyOperators operators =
        find_operators(catalog, from->column(from_columns[i]), to->column(to_columns[i]), *index_key, name);
    row.conpfeqop.push_back(operators.pk_fk);
    row.conppeqop.push_back(operators.pk_pk);
    row.conffeqop.push_back(operators.fk_fk);
  }
  insert_row(catalog, row);
  const ObjectAddress address{kConstraintTable, row.oid};
  for (const std::int16_t column : from_columns) {
    add_dependency(catalog, address, {kClassTable, table_oid, column}, DependencyType::kAuto);
  }
  for (const std::int16_t column : to_columns) {
    add_dependency(catalog, address, {kClassTable, to->oid, column}, DependencyType::kNormal);
  }
  add_dependency(catalog, address, {kClassTable, index->oid}, DependencyType::kNormal);
  change_class_row(catalog, table_oid, [](ClassRow& each) { each.relhastriggers = true; });
  change_class_row(catalog, to->oid, [](ClassRow& each) { each.relhastriggers = true; });
  if (!validate || definition.not_valid) return;
  const RelationRef now = catalog.require_relation(table_oid);
  for (const ForeignKey& key : now->references) {
    if (key.oid == row.oid) validate_foreign_key(context, *now, key);
  }
}

}  // namespace pinwheel::sql
