#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_builder.h"
#include "sql/commands/alter_table.h"
#include "sql/commands/constraints.h"
#include "sql/commands/create_table.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/drop_object.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/stored_expression.h"
#include "sql/commands/support.h"
#include "sql/commands/table_rewrite.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/program.h"
#include "sql/types/array.h"
#include "sql/types/type_oids.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// SELECT list that keeps all columns as they are.
std::vector<std::string> keep_columns(const Relation& table) {
  std::vector<std::string> sources;
  for (const Column& column : table.columns)
    sources.push_back(column.dropped ? "" : quote_identifier(column.name));
  return sources;
}

/// Stores the value that rows without the column have, when the default is the same for all of them.
void store_missing_value(CommandContext& context, Oid table, const Column& column, const Expr* value) {
  bool is_null = false;
  const Datum datum = evaluate_once(value, context.arena, context.catalog.eval(), &is_null);
  if (is_null) return;
  change_attribute_row(context.catalog, table, column.number, [&](AttributeRow& row) {
    row.atthasmissing = true;
    row.attmissingval.present = true;
    row.attmissingval.value = build_array(context.arena, column.type, &datum, nullptr, 1);
  });
}

/// Computes a new column for all existing rows by writing the table anew.
void rewrite_with_default(CommandContext& context, Oid table_oid, std::int16_t number,
                          const std::string& source) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  std::vector<std::string> sources = keep_columns(*table);
  sources[static_cast<std::size_t>(number) - 1] = "(" + source + ")";
  const Oid file = rewrite_table(context, *table, {table->columns, table->persistence}, sources);
  change_attribute_row(catalog, table_oid, number, [](AttributeRow& row) { row.atthasmissing = false; });
  adopt_rewrite(context, table_oid, file);
}

}  // namespace

void alter_add_column(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  if (table->find_column(command.column.name) != nullptr) {
    const std::string message = "column " + in_quotes(command.column.name) + " of relation " +
                                in_quotes(table->name) + " already exists";
    if (!command.missing_ok) throw SqlError{sqlstate::kDuplicateColumn, message};
    context.client.notice(NoticeLevel::kNotice, SqlError{sqlstate::kDuplicateColumn, message + ", skipping"});
    return;
  }
  if (table->columns.size() >= 1600) {
    throw SqlError{sqlstate::kTooManyColumns, "tables can have at most 1600 columns"};
  }
  const ResolvedColumn resolved = resolve_column(context, command.column, table->name);
  const auto number = static_cast<std::int16_t>(table->columns.size() + 1);
  NewColumn column = resolved.column;
  const bool not_null = column.not_null;
  column.not_null = false;  // set once the rows have values
  insert_row(catalog, make_attribute(catalog, table_oid, column, number));
  change_class_row(catalog, table_oid, [&](ClassRow& row) { row.relnatts = number; });
  const RelationRef with_column = catalog.require_relation(table_oid);
  const Column added = with_column->column(number);
  if (resolved.is_serial || column.identity != '\0') {
    add_column_sequence(context, table_oid, number, resolved);
    const Column made = catalog.require_relation(table_oid)->column(number);
    const std::string next = is_valid(made.identity_sequence)
                                 ? "nextval(" + std::to_string(made.identity_sequence.value) +
                                       "::regclass)::" + catalog.format_type(made.type)
                                 : made.default_source;
    rewrite_with_default(context, table_oid, number, next);
  } else if (!resolved.default_source.text.empty()) {
    const bool generated = column.generated != '\0';
    const StoredExpression value =
        analyze_stored_value(context, resolved.default_source, *with_column,
                             generated ? SourceUse::kGenerated : SourceUse::kColumnDefault, added);
    if (generated && has_mutable_functions(value.expr, true)) {
      throw SqlError{sqlstate::kInvalidObjectDefinition, "generation expression is not immutable"};
    }
    store_default(context, table_oid, number, value, generated);
    if (generated || has_mutable_functions(value.expr, false)) {
      rewrite_with_default(context, table_oid, number, value.source);
    } else {
      store_missing_value(context, table_oid, added, value.expr);
    }
  }
  if (not_null) set_not_null(context, table_oid, number, true);
  create_toast_table(catalog, table_oid);
  const std::string_view name = command.column.name;
  for (const ConstraintDefinition* check : resolved.checks) add_check(context, table_oid, *check, name, true);
  for (const ConstraintDefinition* key : resolved.keys) add_key(context, table_oid, *key, {&name, 1}, true);
  for (const ConstraintDefinition* key : resolved.foreign_keys)
    add_foreign_key(context, table_oid, *key, {&name, 1}, true);
}

namespace {

/// Views and generated columns that read the column forbid the change.
void check_no_readers(Catalog& catalog, const Relation& table, const Column& column) {
  scan_rows<DependRow>(catalog, {{4, kClassTable}, {5, table.oid}}, [&](DependRow& row, TupleId) {
    if (row.refobjsubid != column.number) return true;
    if (row.classid == kRewriteTable) {
      throw SqlError{sqlstate::kFeatureNotSupported, "cannot alter type of a column used by a view or rule"}
          .detail(describe_object(catalog, {row.classid, row.objid}) + " depends on column " +
                  in_quotes(column.name));
    }
    if (row.classid == kAttrDefTable && row.objid != column.default_oid) {
      throw SqlError{sqlstate::kSyntaxError, "cannot alter type of a column used by a generated column"}
          .detail("Column " + in_quotes(column.name) + " is used by a generated column.");
    }
    return true;
  });
}

/// Brings the catalog rows of indexes on the column in line with its new type.
void adapt_indexes(Catalog& catalog, const Relation& table, const Column& changed) {
  for (const IndexInfo& index : table.indexes) {
    for (std::size_t i = 0; i < index.keys.size(); ++i) {
      if (index.keys[i].column != changed.number) continue;
      const auto number = static_cast<std::int16_t>(i + 1);
      change_attribute_row(catalog, index.oid, number, [&](AttributeRow& row) {
        row.atttypid = changed.type;
        row.atttypmod = changed.type_modifier;
        row.attlen = changed.length;
        row.attbyval = changed.by_value;
        row.attalign = changed.align;
        row.attcollation = changed.collation;
      });
      if (i >= static_cast<std::size_t>(index.key_count)) continue;
      const BuiltinOperatorClass* operator_class = default_operator_class(changed.type, kBtreeMethod);
      if (operator_class == nullptr) {
        throw SqlError{sqlstate::kUndefinedObject,
                       "data type " + catalog.format_type(changed.type) +
                           " has no default operator class for access method \"btree\""};
      }
      TupleId at;
      auto row = find_row<IndexRow>(catalog, {{1, index.oid}}, &at);
      row->indclass[i] = operator_class->oid;
      row->indcollation[i] = changed.collation;
      update_row(catalog, at, *row);
      catalog.invalidate_relation(index.oid);
    }
  }
}

}  // namespace

void alter_column_type(CommandContext& context, Oid table_oid, const AlterTableCommand& command) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column old = require_column(*table, command.name);
  const ResolvedColumn resolved = resolve_column(context, command.column, table->name);
  check_no_readers(catalog, *table, old);

  const AttributeRow facts = make_attribute(catalog, table_oid, resolved.column, old.number);
  RewriteTarget target{table->columns, table->persistence};
  Column& column = target.columns[static_cast<std::size_t>(old.number) - 1];
  column.type = facts.atttypid;
  column.type_modifier = facts.atttypmod;
  column.collation = facts.attcollation;
  column.length = facts.attlen;
  column.by_value = facts.attbyval;
  column.align = facts.attalign;
  column.storage = facts.attstorage;

  SourceExpr source = command.expression;
  const bool has_using = !source.text.empty();
  if (!has_using) source.text = context.arena.copy(quote_identifier(old.name));
  StoredExpression value;
  if (has_using) {
    value = analyze_stored_value(context, source, *table, SourceUse::kAlterUsing, column);
  } else {
    Expr* plain = analyze_expression(context.analyze, source.text, view_relation(*table, context.arena),
                                     SourceUse::kAlterUsing);
    const ExprType type{column.type, column.type_modifier, column.collation};
    value.expr = coerce_for_assignment(context.analyze, plain, type);
    if (value.expr == nullptr) {
      throw SqlError{sqlstate::kDatatypeMismatch, "column " + in_quotes(old.name) +
                                                      " cannot be cast automatically to type " +
                                                      catalog.format_type(column.type, column.type_modifier)}
          .hint("You might need to specify \"USING " + quote_identifier(old.name) +
                "::" + catalog.format_type(column.type, column.type_modifier) + "\".");
    }
    const QualifiedNames qualified{catalog};
    value.source = deparse_expression(value.expr, view_relation(*table, context.arena),
                                      context.analyze.catalog, context.analyze.eval, {.qualify_all = true});
  }
  std::vector<std::string> sources = keep_columns(*table);
  sources[static_cast<std::size_t>(old.number) - 1] = "(" + value.source + ")";
  const Oid file = rewrite_table(context, *table, target, sources);

  if (is_valid(old.default_oid)) drop_one_object(catalog, {kAttrDefTable, old.default_oid});
  change_attribute_row(catalog, table_oid, old.number, [&](AttributeRow& row) {
    row.atttypid = facts.atttypid;
    row.atttypmod = facts.atttypmod;
    row.attndims = facts.attndims;
    row.attlen = facts.attlen;
    row.attbyval = facts.attbyval;
    row.attalign = facts.attalign;
    row.attstorage = facts.attstorage;
    row.attcollation = facts.attcollation;
    row.atthasmissing = false;
    row.attmissingval = {};
  });
  // No row lacks a column any more.
  for (const Column& each : table->columns) {
    if (!each.has_missing || each.number == old.number) continue;
    change_attribute_row(catalog, table_oid, each.number, [](AttributeRow& row) {
      row.atthasmissing = false;
      row.attmissingval = {};
    });
  }
  if (!old.default_source.empty()) {
    SourceExpr default_source;
    default_source.text = context.arena.copy(old.default_source);
    const RelationRef now = catalog.require_relation(table_oid);
    const bool generated = old.generated != 0;
    store_default(context, table_oid, old.number,
                  analyze_stored_value(context, default_source, *now,
                                       generated ? SourceUse::kGenerated : SourceUse::kColumnDefault,
                                       now->column(old.number)),
                  generated);
  }
  adapt_indexes(catalog, *catalog.require_relation(table_oid), column);
  create_toast_table(catalog, table_oid);
  adopt_rewrite(context, table_oid, file);
  CatalogScan statistics{catalog, kStatisticTable, std::vector<CatalogKey>{{1, table_oid}, {2, old.number}}};
  while (statistics.next()) delete_tuple(catalog, kStatisticTable, statistics.tuple_id());
  catalog.invalidate_statistics(table_oid);
}

void alter_persistence(CommandContext& context, Oid table_oid, char persistence) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  if (table->persistence == persistence) return;
  if (table->is_temporary()) {
    throw SqlError{
        sqlstate::kInvalidTableDefinition,
        "cannot change logged status of table " + in_quotes(table->name) + " because it is temporary"};
  }
  for (const ForeignKey& key : persistence == 'p' ? table->references : table->referenced_by) {
    const Oid other = persistence == 'p' ? key.to_table : key.from_table;
    const RelationRef related = catalog.require_relation(other);
    if (other == table_oid || related->persistence == persistence) continue;
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "could not change table " + in_quotes(table->name) + " to " +
                       (persistence == 'p' ? "logged" : "unlogged") + " because it references " +
                       (persistence == 'p' ? "un" : "") + "logged table " + in_quotes(related->name)};
  }
  const Oid file = rewrite_table(context, *table, {table->columns, persistence}, keep_columns(*table));
  const auto set = [&](Oid relation) {
    change_class_row(catalog, relation, [&](ClassRow& row) { row.relpersistence = persistence; });
  };
  set(table_oid);
  for (const IndexInfo& index : table->indexes) set(index.oid);
  if (is_valid(table->toast_table)) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "changing the logged status of a table with out-of-line values is not supported"};
  }
  adopt_rewrite(context, table_oid, file);
}

void alter_relation_owner(CommandContext& context, const Relation& relation, std::string_view new_owner) {
  Catalog& catalog = context.catalog;
  const Oid owner = catalog.require_role(new_owner);
  if (owner == relation.owner) return;
  if (!catalog.has_privileges_of(catalog.eval().user, owner)) {
    throw SqlError{sqlstate::kInsufficientPrivilege, "must be member of role " + in_quotes(new_owner)};
  }
  const Oid old_owner = relation.owner;
  const auto set = [&](Oid oid) {
    change_class_row(catalog, oid, [&](ClassRow& row) {
      row.relowner = owner;
      if (!row.relacl) return;
      for (AclItem& item : *row.relacl) {
        if (item.grantee == old_owner) item.grantee = owner;
        if (item.grantor == old_owner) item.grantor = owner;
      }
    });
  };
  set(relation.oid);
  if (is_valid(relation.row_type)) {
    TupleId at;
    if (auto type = find_row<TypeRow>(catalog, {{1, relation.row_type}}, &at)) {
      type->typowner = owner;
      update_row(catalog, at, *type);
      catalog.invalidate_type(relation.row_type);
    }
  }
  for (const IndexInfo& index : relation.indexes) set(index.oid);
  if (is_valid(relation.toast_table)) set(relation.toast_table);
  for (const DependRow& row : find_rows<DependRow>(catalog, {{4, kClassTable}, {5, relation.oid}})) {
    if (row.classid != kClassTable || row.refobjsubid == 0) continue;
    const RelationRef sequence = catalog.relation(row.objid);
    if (sequence && sequence->kind == 'S') set(row.objid);
  }
}

}  // namespace pinwheel::sql
