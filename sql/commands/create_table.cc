#include "sql/commands/create_table.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/constraints.h"
#include "sql/commands/create_like.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/index_create.h"
#include "sql/commands/sequences.h"
#include "sql/commands/stored_expression.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

int position_of(int location) { return location >= 0 ? location + 1 : 0; }

/// The integer type behind serial and its kin; 0 when `type` is none.
Oid serial_type(const TypeName& type) {
  if (!type.schema.empty()) return kInvalidOid;
  if (type.name == "serial" || type.name == "serial4") return kInt4Type;
  if (type.name == "bigserial" || type.name == "serial8") return kInt8Type;
  if (type.name == "smallserial" || type.name == "serial2") return kInt2Type;
  return kInvalidOid;
}

Oid resolve_collation(CommandContext& context, std::string_view name, const ExprType& type) {
  if (name.empty()) return type.collation;
  std::string_view schema;
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    schema = name.substr(0, dot);
    name = name.substr(dot + 1);
  }
  const Oid collation = context.catalog.find_collation(schema, name);
  if (!is_valid(collation)) {
    throw SqlError{sqlstate::kUndefinedObject,
                   "collation " + in_quotes(name) + " for encoding \"UTF8\" does not exist"};
  }
  if (!is_valid(type.collation)) {
    throw SqlError{sqlstate::kDatatypeMismatch,
                   "collations are not supported by type " + context.catalog.format_type(type.type)};
  }
  return collation;
}

void resolve_type(CommandContext& context, const ColumnSpec& spec, ResolvedColumn& resolved) {
  NewColumn& column = resolved.column;
  const Oid serial = serial_type(spec.type);
  ExprType type;
  if (is_valid(serial)) {
    if (spec.type.array_dimensions > 0) {
      throw SqlError{sqlstate::kFeatureNotSupported, "array of serial is not implemented"}.position(
          position_of(spec.type.location));
    }
    type.type = serial;
    resolved.is_serial = true;
    column.not_null = true;
  } else {
    type = resolve_type_name(context.analyze, spec.type, context.text);
  }
  if (spec.type.set_of) {
    throw SqlError{sqlstate::kInvalidTableDefinition,
                   "column " + in_quotes(spec.name) + " cannot be declared SETOF"};
  }
  column.type = type.type;
  column.type_modifier = type.type_modifier;
  column.collation = resolve_collation(context, spec.collation, type);
  column.dimensions = spec.type.array_dimensions;
  column.storage = spec.storage;
}

}  // namespace

ResolvedColumn resolve_column(CommandContext& context, const ColumnSpec& spec, std::string_view table_name) {
  ResolvedColumn resolved;
  resolved.column.name = spec.name;
  resolve_type(context, spec, resolved);
  NewColumn& column = resolved.column;
  bool saw_null = false, saw_not_null = false, saw_default = resolved.is_serial;
  const auto where = [&] { return "column " + in_quotes(spec.name) + " of table " + in_quotes(table_name); };
  const auto fail = [&](const ConstraintDefinition& definition, std::string message) {
    throw SqlError{sqlstate::kSyntaxError, std::move(message)}.position(position_of(definition.location));
  };
  for (const ConstraintDefinition& definition : spec.constraints) {
    switch (definition.kind) {
      case ConstraintKind::kNull:
        if (saw_not_null || column.not_null)
          fail(definition, "conflicting NULL/NOT NULL declarations for " + where());
        saw_null = true;
        break;
      case ConstraintKind::kNotNull:
        if (saw_null) fail(definition, "conflicting NULL/NOT NULL declarations for " + where());
        saw_not_null = column.not_null = true;
        break;
      case ConstraintKind::kDefault:
        if (saw_default) fail(definition, "multiple default values specified for " + where());
        saw_default = true;
        resolved.default_source = definition.expression;
        break;
      case ConstraintKind::kIdentity:
        if (column.identity != '\0') fail(definition, "multiple identity specifications for " + where());
        column.identity = definition.identity;
        resolved.sequence_options = definition.sequence_options;
        saw_not_null = column.not_null = true;
        if (column.type != kInt2Type && column.type != kInt4Type && column.type != kInt8Type) {
          throw SqlError{sqlstate::kInvalidParameterValue,
                         "identity column type must be smallint, integer, or bigint"};
        }
        break;
      case ConstraintKind::kGenerated:
        if (column.generated != '\0')
          fail(definition, "multiple generation clauses specified for " + where());
        column.generated = 's';
        resolved.default_source = definition.expression;
        break;
      case ConstraintKind::kCheck:
        resolved.checks.push_back(&definition);
        break;
      case ConstraintKind::kPrimary:
      case ConstraintKind::kUnique:
        resolved.keys.push_back(&definition);
        break;
      case ConstraintKind::kForeign:
        resolved.foreign_keys.push_back(&definition);
        break;
      case ConstraintKind::kExclusion:
        throw SqlError{sqlstate::kFeatureNotSupported, "exclusion constraints are not supported"};
    }
    if (saw_default && column.identity != '\0') {
      fail(definition, "both default and identity specified for " + where());
    }
    if (saw_default && column.generated != '\0') {
      fail(definition, "both default and generation expression specified for " + where());
    }
    if (column.identity != '\0' && column.generated != '\0') {
      fail(definition, "both identity and generation expression specified for " + where());
    }
  }
  return resolved;
}

void add_column_sequence(CommandContext& context, Oid table_oid, std::int16_t number,
                         const ResolvedColumn& resolved) {
  Catalog& catalog = context.catalog;
  const RelationRef table = catalog.require_relation(table_oid);
  const Column& column = table->column(number);
  const std::string name = choose_relation_name(catalog, table->schema, table->name, column.name, "seq");
  const Oid sequence = create_sequence(context, table->schema, name, table->persistence, table->owner,
                                       resolved.sequence_options, column.type);
  own_sequence(catalog, sequence, table_oid, number, column.identity != 0);
  if (resolved.is_serial) {
    const std::string source =
        "nextval(" + quote_literal(quote_qualified(table->schema_name, name)) + "::regclass)";
    SourceExpr expression;
    expression.text = context.arena.copy(source);
    store_default(context, table_oid, number,
                  analyze_stored_value(context, expression, *table, SourceUse::kColumnDefault, column));
  }
  catalog.invalidate_relation(table_oid);
}

namespace {

void check_supported(const CreateTableUtility& utility) {
  const auto refuse = [](const char* what) {
    throw SqlError{sqlstate::kFeatureNotSupported, std::string{what} + " is not supported"};
  };
  if (utility.partitioned) refuse("partitioning");
  if (!utility.inherits.empty()) refuse("table inheritance");
  if (!utility.tablespace.empty() && utility.tablespace != "pg_default")
    refuse("a tablespace other than pg_default");
  if (!utility.access_method.empty() && utility.access_method != "heap") {
    throw SqlError{sqlstate::kUndefinedObject,
                   "access method " + in_quotes(utility.access_method) + " does not exist"};
  }
  if (utility.on_commit == OnCommit::kDrop || utility.on_commit == OnCommit::kDeleteRows) {
    if (utility.name.persistence != 't') {
      throw SqlError{sqlstate::kInvalidTableDefinition, "ON COMMIT can only be used on temporary tables"};
    }
    refuse(utility.on_commit == OnCommit::kDrop ? "ON COMMIT DROP" : "ON COMMIT DELETE ROWS");
  }
}

/// A PRIMARY KEY or UNIQUE clause with the columns it is over.
struct KeyClause {
  const ConstraintDefinition* definition;
  std::vector<std::string_view> columns;
};

std::vector<KeyClause> collect_keys(const CreateTableUtility& utility,
                                    const std::vector<ResolvedColumn>& columns) {
  std::vector<KeyClause> keys;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (const ConstraintDefinition* key : columns[i].keys) keys.push_back({key, {columns[i].column.name}});
  }
  for (const ConstraintDefinition& definition : utility.constraints) {
    if (definition.kind != ConstraintKind::kPrimary && definition.kind != ConstraintKind::kUnique) continue;
    keys.push_back({&definition, {definition.keys.begin(), definition.keys.end()}});
  }
  const KeyClause* primary = nullptr;
  for (const KeyClause& key : keys) {
    if (key.definition->kind != ConstraintKind::kPrimary) continue;
    if (primary != nullptr) {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "multiple primary keys for table " + in_quotes(utility.name.name) + " are not allowed"}
          .position(position_of(key.definition->location));
    }
    primary = &key;
  }
  // The primary key first, as PostgreSQL makes them.
  std::ranges::stable_partition(
      keys, [](const KeyClause& key) { return key.definition->kind == ConstraintKind::kPrimary; });
  return keys;
}

void add_defaults(CommandContext& context, Oid table_oid, const std::vector<ResolvedColumn>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto number = static_cast<std::int16_t>(i + 1);
    const ResolvedColumn& resolved = columns[i];
    if (resolved.is_serial || resolved.column.identity != '\0') {
      add_column_sequence(context, table_oid, number, resolved);
    }
    if (resolved.default_source.text.empty()) continue;
    const RelationRef table = context.catalog.require_relation(table_oid);
    const bool generated = resolved.column.generated != '\0';
    const StoredExpression value = analyze_stored_value(
        context, resolved.default_source, *table,
        generated ? SourceUse::kGenerated : SourceUse::kColumnDefault, table->column(number));
    if (generated && has_mutable_functions(value.expr, true)) {
      throw SqlError{sqlstate::kInvalidObjectDefinition, "generation expression is not immutable"};
    }
    store_default(context, table_oid, number, value, generated);
  }
}

}  // namespace

std::string run_create_table(CommandContext& context, const CreateTableUtility& utility) {
  check_supported(utility);
  Catalog& catalog = context.catalog;
  NewRelation relation;
  relation.name = utility.name.name;
  relation.persistence = utility.name.persistence;
  relation.schema = creation_schema(context, utility.name, relation.persistence);
  relation.owner = catalog.eval().user;
  if (name_is_taken(catalog, relation.schema, relation.name)) {
    if (!utility.if_not_exists) check_name_free(catalog, relation.schema, relation.name);
    context.client.notice(NoticeLevel::kNotice,
                          SqlError{sqlstate::kDuplicateTable,
                                   "relation " + in_quotes(relation.name) + " already exists, skipping"});
    return "CREATE TABLE";
  }
  relation.options = check_relation_options(utility.with, 'r');
  std::vector<ResolvedColumn> columns;
  LikeWork like_work;
  std::size_t next_like = 0;
  const auto take_likes = [&](std::size_t before) {
    for (; next_like < utility.likes.size() &&
           static_cast<std::size_t>(utility.likes[next_like].before_column) <= before;
         ++next_like) {
      copy_like_columns(context, utility.likes[next_like], columns, like_work);
    }
  };
  for (std::size_t i = 0; i < utility.columns.size(); ++i) {
    take_likes(i);
    columns.push_back(resolve_column(context, utility.columns[i], utility.name.name));
  }
  take_likes(utility.columns.size() + 1);
  for (const ResolvedColumn& column : columns) relation.columns.push_back(column.column);
  const std::vector<KeyClause> keys = collect_keys(utility, columns);

  const Oid table = create_relation(catalog, relation);
  add_defaults(context, table, columns);
  for (const ResolvedColumn& column : columns) {
    for (const ConstraintDefinition* check : column.checks)
      add_check(context, table, *check, column.column.name, false);
  }
  for (const ConstraintDefinition& definition : utility.constraints) {
    if (definition.kind == ConstraintKind::kCheck) add_check(context, table, definition, "", false);
    if (definition.kind == ConstraintKind::kExclusion) {
      throw SqlError{sqlstate::kFeatureNotSupported, "exclusion constraints are not supported"};
    }
  }
  finish_like(context, table, like_work);
  create_toast_table(catalog, table);
  for (const KeyClause& key : keys) add_key(context, table, *key.definition, key.columns, false);
  for (const ResolvedColumn& column : columns) {
    const std::string_view name = column.column.name;
    for (const ConstraintDefinition* key : column.foreign_keys)
      add_foreign_key(context, table, *key, {&name, 1}, false);
  }
  for (const ConstraintDefinition& definition : utility.constraints) {
    if (definition.kind != ConstraintKind::kForeign) continue;
    add_foreign_key(context, table, definition, definition.keys, false);
  }
  return "CREATE TABLE";
}

}  // namespace pinwheel::sql
