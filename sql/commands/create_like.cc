#include "sql/commands/create_like.h"

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/constraints.h"
#include "sql/commands/index_create.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

// PostgreSQL's bits of LIKE ... INCLUDING.
constexpr std::uint32_t kComments = 1u << 0;
constexpr std::uint32_t kConstraints = 1u << 2;
constexpr std::uint32_t kDefaults = 1u << 3;
constexpr std::uint32_t kGenerated = 1u << 4;
constexpr std::uint32_t kIdentity = 1u << 5;
constexpr std::uint32_t kIndexes = 1u << 6;
constexpr std::uint32_t kStorage = 1u << 8;

void copy_indexes(CommandContext& context, const Relation& source, const Relation& table) {
  for (const IndexInfo& index : source.indexes) {
    std::vector<std::string> names;
    std::vector<std::string_view> views;
    bool plain = !index.has_expressions && index.predicate.empty();
    for (int i = 0; plain && i < index.key_count; ++i) {
      const std::string& name = source.column(index.keys[static_cast<std::size_t>(i)].column).name;
      names.push_back(name);
    }
    if (plain && is_valid(index.constraint)) {
      for (const std::string& name : names) views.push_back(name);
      ConstraintDefinition definition;
      definition.kind = index.primary ? ConstraintKind::kPrimary : ConstraintKind::kUnique;
      definition.nulls_not_distinct = index.nulls_not_distinct;
      add_key(context, table.oid, definition, views, false);
      continue;
    }
    NewIndex copy;
    copy.schema = table.schema;
    copy.table = table.oid;
    copy.unique = index.unique;
    copy.nulls_not_distinct = index.nulls_not_distinct;
    copy.predicate = index.predicate;
    copy.key_count = index.key_count;
    // The copy is named after the columns of the index, which keep the names they were made with.
    names.clear();
    const RelationRef own = context.catalog.require_relation(index.oid);
    for (std::size_t i = 0; i < index.keys.size(); ++i) {
      const IndexKey& key = index.keys[i];
      NewIndexKey& to = copy.keys.emplace_back();
      if (key.column > 0) to.column = require_column(table, source.column(key.column).name).number;
      names.push_back(i < own->columns.size() ? own->columns[i].name : "expr");
      to.expression = key.expression;
      to.type = key.type;
      to.type_modifier = key.type_modifier;
      to.collation = key.collation;
      to.operator_class = key.operator_class;
      to.descending = key.descending;
      to.nulls_first = key.nulls_first;
    }
    copy.name = choose_index_name(context.catalog, table.schema, table.name, names, false, false);
    create_index(context.catalog, copy);
  }
}

void copy_comments(CommandContext& context, const Relation& source, const Relation& table) {
  for (DescriptionRow& row :
       find_rows<DescriptionRow>(context.catalog, {{1, source.oid}, {2, kClassTable}})) {
    if (row.objsubid == 0) continue;
    const Column& from = source.column(static_cast<std::int16_t>(row.objsubid));
    const Column* to = table.find_column(from.name);
    if (to == nullptr) continue;
    row.objoid = table.oid;
    row.objsubid = to->number;
    insert_row(context.catalog, row);
  }
}

}  // namespace

void copy_like_columns(CommandContext& context, const LikeClause& clause,
                       std::vector<ResolvedColumn>& columns, LikeWork& work) {
  const RelationRef source = require_relation(context, clause.source, kAccessShareLock);
  if (!source->is_table() && source->kind != 'v' && source->kind != 'c') {
    throw SqlError{sqlstate::kWrongObjectType,
                   "relation " + in_quotes(source->name) + " is invalid in LIKE clause"};
  }
  context.catalog.check_relation_privilege(*source, kSelectPrivilege);
  for (const Column& column : source->columns) {
    if (column.dropped) continue;
    ResolvedColumn& copy = columns.emplace_back();
    copy.column.name = column.name;
    copy.column.type = column.type;
    copy.column.type_modifier = column.type_modifier;
    copy.column.collation = column.collation;
    copy.column.not_null = column.not_null;
    if ((clause.options & kStorage) != 0) copy.column.storage = column.storage;
    if ((clause.options & kIdentity) != 0) copy.column.identity = column.identity;
    const bool wanted =
        column.generated != 0 ? (clause.options & kGenerated) != 0 : (clause.options & kDefaults) != 0;
    if (wanted && !column.default_source.empty()) {
      if (column.generated != 0) copy.column.generated = column.generated;
      copy.default_source.text = context.arena.copy(column.default_source);
    }
  }
  work.sources.push_back({source, clause.options});
}

void finish_like(CommandContext& context, Oid table_oid, const LikeWork& work) {
  for (const LikeWork::Source& source : work.sources) {
    if ((source.options & kConstraints) != 0) {
      for (const CheckConstraint& check : source.table->checks) {
        ConstraintDefinition definition;
        definition.kind = ConstraintKind::kCheck;
        definition.name = context.arena.copy(check.name);
        definition.expression.text = context.arena.copy(check.source);
        add_check(context, table_oid, definition, "", false);
      }
    }
    if ((source.options & kIndexes) != 0) {
      copy_indexes(context, *source.table, *context.catalog.require_relation(table_oid));
    }
    if ((source.options & kComments) != 0) {
      copy_comments(context, *source.table, *context.catalog.require_relation(table_oid));
    }
  }
}

}  // namespace pinwheel::sql
