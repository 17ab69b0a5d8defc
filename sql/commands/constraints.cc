#include "sql/commands/constraints.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/slot.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

/// Keeps the first row as text.
class FirstRow final : public RowReceiver {
 public:
  FirstRow(CommandContext& context, std::vector<Oid> types) : context_{context}, types_{std::move(types)} {}
  void row(const Slot& slot) override {
    if (found) return;
    found = true;
    for (int i = 0; i < slot.count; ++i) {
      const TypeInfo* type = find_type(types_[static_cast<std::size_t>(i)]);
      const bool known = type != nullptr && !slot.nulls[i];
      values.push_back(known ? output_value(*type, slot.values[i], context_.arena, context_.analyze.eval)
                             : "null");
    }
  }
  bool found = false;
  std::vector<std::string> values;

 private:
  CommandContext& context_;
  std::vector<Oid> types_;
};

std::string qualified(const Relation& relation) {
  return quote_qualified(relation.schema_name, relation.name);
}

bool constraint_name_taken(Catalog& catalog, Oid table, std::string_view name) {
  bool taken = false;
  scan_rows<ConstraintRow>(catalog, {{8, table}}, [&](ConstraintRow& row, TupleId) {
    taken = row.conname == name;
    return !taken;
  });
  return taken;
}

void check_constraint_name(Catalog& catalog, const Relation& table, std::string_view name) {
  if (!constraint_name_taken(catalog, table.oid, name)) return;
  throw SqlError{sqlstate::kDuplicateObject, "constraint " + in_quotes(name) + " for relation " +
                                                 in_quotes(table.name) + " already exists"};
}

void validate_check(CommandContext& context, const Relation& table, const CheckConstraint& check) {
  const std::string text =
      "SELECT 1 FROM ONLY " + qualified(table) + " WHERE NOT (" + check.source + ") LIMIT 1";
  if (!query_finds_row(context, text)) return;
  throw SqlError{sqlstate::kCheckViolation, "check constraint " + in_quotes(check.name) + " of relation " +
                                                in_quotes(table.name) + " is violated by some row"}
      .table(table.schema_name, table.name)
      .constraint(check.name);
}

ConstraintRow new_constraint(Catalog& catalog, const Relation& table, char type, std::string name,
                             const ConstraintDefinition& definition) {
  ConstraintRow row;
  row.oid = new_oid(catalog);
  row.conname = std::move(name);
  row.connamespace = table.schema;
  row.contype = type;
  row.condeferrable = definition.deferrable;
  row.condeferred = definition.initially_deferred;
  row.conrelid = table.oid;
  return row;
}

}  // namespace

bool query_finds_row(CommandContext& context, std::string_view select_text,
                     std::vector<std::string>* first_row) {
  const Query* query = analyze_select_text(context.analyze, context.arena.copy(select_text));
  std::vector<Oid> types;
  for (const QueryColumn& column : result_columns(*query, context.arena)) types.push_back(column.type.type);
  FirstRow receiver{context, std::move(types)};
  context.run_query(*query, receiver);
  if (first_row != nullptr) *first_row = std::move(receiver.values);
  return receiver.found;
}

const Column& require_column(const Relation& relation, std::string_view name) {
  const Column* column = relation.find_column(name);
  if (column != nullptr) return *column;
  throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(name) + " of relation " +
                                                 in_quotes(relation.name) + " does not exist"};
}

void store_default(CommandContext& context, Oid table, std::int16_t column, const StoredExpression& value,
                   bool generated) {
  Catalog& catalog = context.catalog;
  AttrDefRow row;
  row.oid = new_oid(catalog);
  row.adrelid = table;
  row.adnum = column;
  row.adbin = value.source;
  insert_row(catalog, row);
  change_attribute_row(catalog, table, column, [&](AttributeRow& attribute) {
    attribute.atthasdef = true;
    if (generated) attribute.attgenerated = 's';
  });
  add_dependency(catalog, {kAttrDefTable, row.oid}, {kClassTable, table, column}, DependencyType::kAuto);
  StoredExpression others = value;
  std::erase(others.columns, column);
  add_expression_dependencies(catalog, {kAttrDefTable, row.oid}, table, others,
                              generated ? DependencyType::kAuto : DependencyType::kNormal);
}

void add_check(CommandContext& context, Oid table_oid, const ConstraintDefinition& definition,
               std::string_view column_name, bool validate) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const StoredExpression stored = analyze_stored(context, definition.expression, *table, SourceUse::kCheck);
  std::string name{definition.name};
  if (name.empty()) {
    std::string_view part = column_name;
    if (part.empty() && stored.columns.size() == 1 && stored.columns.front() > 0) {
      part = table->column(stored.columns.front()).name;
    }
    name = choose_relation_name(catalog, table->schema, table->name, part, "check");
  } else {
    check_constraint_name(catalog, *table, name);
  }
  ConstraintRow row = new_constraint(catalog, *table, 'c', name, definition);
  row.condeferrable = row.condeferred = false;
  row.convalidated = !definition.not_valid || !validate;
  row.connoinherit = definition.no_inherit;
  for (const std::int16_t column : stored.columns) {
    if (column != 0) row.conkey.push_back(column);
  }
  row.conbin = stored.source;
  insert_row(catalog, row);
  change_class_row(catalog, table_oid, [](ClassRow& each) { ++each.relchecks; });
  const ObjectAddress address{kConstraintTable, row.oid};
  if (row.conkey.empty()) add_dependency(catalog, address, {kClassTable, table_oid}, DependencyType::kAuto);
  for (const std::int16_t column : row.conkey) {
    add_dependency(catalog, address, {kClassTable, table_oid, column}, DependencyType::kAuto);
  }
  add_expression_dependencies(catalog, address, table_oid, stored, DependencyType::kNormal);
  if (validate && !definition.not_valid) {
    validate_check(context, *table, {row.oid, row.conname, stored.source, true, false});
  }
}

void set_not_null(CommandContext& context, Oid table_oid, std::int16_t number, bool validate) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column& column = table->column(number);
  if (column.not_null) return;
  if (validate) {
    const std::string text = "SELECT 1 FROM ONLY " + qualified(*table) + " WHERE " +
                             quote_identifier(column.name) + " IS NULL LIMIT 1";
    if (query_finds_row(context, text)) {
      throw SqlError{sqlstate::kNotNullViolation, "column " + in_quotes(column.name) + " of relation " +
                                                      in_quotes(table->name) + " contains null values"}
          .table(table->schema_name, table->name)
          .column(column.name);
    }
  }
  change_attribute_row(catalog, table_oid, number, [](AttributeRow& row) { row.attnotnull = true; });
}

void add_key(CommandContext& context, Oid table_oid, const ConstraintDefinition& definition,
             std::span<const std::string_view> columns, bool validate_not_null) {
  Catalog& catalog = context.catalog;
  const bool primary = definition.kind == ConstraintKind::kPrimary;
  RelationRef table = catalog.require_relation(table_oid);
  if (!definition.existing_index.empty()) {
    throw SqlError{sqlstate::kFeatureNotSupported, "ADD CONSTRAINT USING INDEX is not supported"};
  }
  if (primary && is_valid(table->primary_key_index)) {
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "multiple primary keys for table " + in_quotes(table->name) + " are not allowed"}
        .position(definition.location >= 0 ? definition.location + 1 : 0);
  }
  NewIndex index;
  index.schema = table->schema;
  index.table = table_oid;
  index.unique = true;
  index.primary = primary;
  index.nulls_not_distinct = definition.nulls_not_distinct;
  index.immediate = !definition.deferrable;
  index.options = check_relation_options(definition.with, 'i');
  std::vector<std::string> names;
  std::vector<std::int16_t> numbers;
  for (const std::string_view name : columns) {
    const Column* column = table->find_column(name);
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(name) + " named in key does not exist"}
          .position(definition.location >= 0 ? definition.location + 1 : 0);
    }
    if (std::ranges::find(numbers, column->number) != numbers.end()) {
      throw SqlError{sqlstate::kDuplicateColumn, "column " + in_quotes(name) + " appears twice in " +
                                                     (primary ? "primary key" : "unique") + " constraint"}
          .position(definition.location >= 0 ? definition.location + 1 : 0);
    }
    const BuiltinOperatorClass* operator_class = default_operator_class(column->type, kBtreeMethod);
    if (operator_class == nullptr) {
      throw SqlError{sqlstate::kUndefinedObject,
                     "data type " + catalog.format_type(column->type) +
                         " has no default operator class for access method \"btree\""}
          .hint(
              "You must specify an operator class for the index or define a default operator class for the "
              "data "
              "type.");
    }
    NewIndexKey& key = index.keys.emplace_back();
    key.column = column->number;
    key.type = column->type;
    key.type_modifier = column->type_modifier;
    key.collation = column->collation;
    key.operator_class = operator_class->oid;
    names.emplace_back(name);
    numbers.push_back(column->number);
  }
  index.key_count = static_cast<int>(index.keys.size());
  if (definition.name.empty()) {
    index.name = choose_index_name(catalog, table->schema, table->name, names, primary, true);
  } else {
    index.name = definition.name;
    check_constraint_name(catalog, *table, index.name);
  }
  if (primary) {
    for (const std::int16_t number : numbers) set_not_null(context, table_oid, number, validate_not_null);
    table = catalog.require_relation(table_oid);
  }
  const Oid index_oid = create_index(catalog, index, true);
  ConstraintRow row = new_constraint(catalog, *table, primary ? 'p' : 'u', index.name, definition);
  row.conindid = index_oid;
  row.conkey = numbers;
  insert_row(catalog, row);
  const ObjectAddress address{kConstraintTable, row.oid};
  for (const std::int16_t number : numbers) {
    add_dependency(catalog, address, {kClassTable, table_oid, number}, DependencyType::kAuto);
  }
  add_dependency(catalog, {kClassTable, index_oid}, address, DependencyType::kInternal);
  catalog.invalidate_relation(table_oid);
}

void validate_constraint(CommandContext& context, Oid table_oid, std::string_view name) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  TupleId at;
  std::optional<ConstraintRow> found;
  scan_rows<ConstraintRow>(catalog, {{8, table_oid}}, [&](ConstraintRow& row, TupleId id) {
    if (row.conname != name) return true;
    found = std::move(row);
    at = id;
    return false;
  });
  if (!found) {
    throw SqlError{sqlstate::kUndefinedObject, "constraint " + in_quotes(name) + " of relation " +
                                                   in_quotes(table->name) + " does not exist"};
  }
  if (found->contype != 'c' && found->contype != 'f') {
    throw SqlError{sqlstate::kWrongObjectType, "constraint " + in_quotes(name) + " of relation " +
                                                   in_quotes(table->name) +
                                                   " is not a foreign key or check constraint"};
  }
  if (found->convalidated) return;
  if (found->contype == 'c') {
    validate_check(context, *table, {found->oid, found->conname, found->conbin.value_or(""), true, false});
  } else {
    for (const ForeignKey& key : table->references) {
      if (key.oid == found->oid) validate_foreign_key(context, *table, key);
    }
  }
  found->convalidated = true;
  update_row(catalog, at, *found);
  catalog.invalidate_relation(table_oid);
}

}  // namespace pinwheel::sql
