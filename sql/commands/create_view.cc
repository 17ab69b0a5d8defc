#include <algorithm>

#include "base/sqlstate.h"
#include "sql/analyze/analyzer.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/query_references.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/support.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

std::vector<NewColumn> view_columns(CommandContext& context, const CreateViewUtility& utility) {
  std::vector<NewColumn> columns;
  const auto results = result_columns(*utility.query, context.arena);
  if (utility.column_names.size() > results.size()) {
    throw SqlError{sqlstate::kInvalidTableDefinition, "CREATE VIEW specifies more column names than columns"};
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    NewColumn& column = columns.emplace_back();
    column.name = i < utility.column_names.size() ? utility.column_names[i] : results[i].name;
    column.type = results[i].type.type == kUnknownType ? kTextType : results[i].type.type;
    column.type_modifier = results[i].type.type_modifier;
    column.collation = results[i].type.collation;
  }
  return columns;
}

/// The defining query as stored, its output columns bearing the view's names.
std::string view_source(CommandContext& context, const CreateViewUtility& utility,
                        const std::vector<NewColumn>& columns) {
  std::size_t next = 0;
  for (Target& target : utility.query->targets) {
    if (target.hidden) continue;
    if (next < columns.size()) target.name = context.arena.copy(columns[next].name);
    ++next;
  }
  const QualifiedNames qualified{context.catalog};
  return deparse_query(*utility.query, context.analyze.catalog, context.analyze.eval, {.qualify_all = true});
}

void store_rule(CommandContext& context, Oid view, const CreateViewUtility& utility,
                const std::string& source) {
  Catalog& catalog = context.catalog;
  RewriteRow rule;
  rule.oid = new_oid(catalog);
  rule.rulename = "_RETURN";
  rule.ev_class = view;
  rule.ev_action = source;
  insert_row(catalog, rule);
  const ObjectAddress address{kRewriteTable, rule.oid};
  add_dependency(catalog, address, {kClassTable, view}, DependencyType::kInternal);
  for (const ObjectAddress& reference : references_of(*utility.query)) {
    add_dependency(catalog, address, reference, DependencyType::kNormal);
  }
  catalog.invalidate_relation(view);
}

void check_replacement(Catalog& catalog, const Relation& view, const std::vector<NewColumn>& columns) {
  if (columns.size() < view.columns.size()) {
    throw SqlError{sqlstate::kInvalidTableDefinition, "cannot drop columns from view"};
  }
  for (std::size_t i = 0; i < view.columns.size(); ++i) {
    const Column& old = view.columns[i];
    if (old.name != columns[i].name) {
      throw SqlError{
          sqlstate::kInvalidTableDefinition,
          "cannot change name of view column " + in_quotes(old.name) + " to " + in_quotes(columns[i].name)}
          .hint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.");
    }
    if (old.type != columns[i].type || old.type_modifier != columns[i].type_modifier) {
      throw SqlError{sqlstate::kInvalidTableDefinition,
                     "cannot change data type of view column " + in_quotes(old.name) + " from " +
                         catalog.format_type(old.type, old.type_modifier) + " to " +
                         catalog.format_type(columns[i].type, columns[i].type_modifier)};
    }
  }
}

void replace_view(CommandContext& context, const Relation& view, const CreateViewUtility& utility,
                  const std::vector<NewColumn>& columns, const std::string& source,
                  const std::vector<std::string>& options) {
  Catalog& catalog = context.catalog;
  catalog.check_relation_owner(view);
  check_replacement(catalog, view, columns);
  for (std::size_t i = view.columns.size(); i < columns.size(); ++i) {
    insert_row(catalog, make_attribute(catalog, view.oid, columns[i], static_cast<std::int16_t>(i + 1)));
  }
  change_class_row(catalog, view.oid, [&](ClassRow& row) {
    row.relnatts = static_cast<std::int16_t>(columns.size());
    row.reloptions = options;
  });
  if (const auto rule = find_row<RewriteRow>(catalog, {{3, view.oid}})) {
    remove_dependencies_of(catalog, {kRewriteTable, rule->oid});
    delete_rows<RewriteRow>(catalog, {{1, rule->oid}});
  }
  store_rule(context, view.oid, utility, source);
}

}  // namespace

std::string run_create_view(CommandContext& context, const CreateViewUtility& utility) {
  Catalog& catalog = context.catalog;
  const std::vector<NewColumn> columns = view_columns(context, utility);
  std::vector<std::string> options = check_relation_options(utility.with, 'v');
  if (utility.check_option != 'n') {
    throw SqlError{sqlstate::kFeatureNotSupported, "WITH CHECK OPTION is not supported"};
  }
  char persistence = utility.name.persistence;
  // A view of temporary tables is temporary itself.
  const std::vector<ObjectAddress> references = references_of(*utility.query);
  for (const ObjectAddress& reference : references) {
    if (reference.catalog != kClassTable || persistence == 't') continue;
    const RelationRef relation = catalog.relation(reference.object);
    if (!relation || !relation->is_temporary()) continue;
    persistence = 't';
    send_notice(context, "view " + in_quotes(utility.name.name) + " will be a temporary view");
  }
  NewRelation view;
  view.name = utility.name.name;
  view.schema = creation_schema(context, utility.name, persistence);
  const std::string source = view_source(context, utility, columns);
  if (utility.replace) {
    const RelationRef old =
        lock_relation_by_name(catalog, catalog.schema_name(view.schema), view.name, kAccessExclusiveLock);
    if (old) {
      if (old->kind != 'v')
        throw SqlError{sqlstate::kWrongObjectType, in_quotes(old->name) + " is not a view"};
      replace_view(context, *old, utility, columns, source, options);
      return "CREATE VIEW";
    }
  }
  view.kind = 'v';
  view.persistence = persistence;
  view.owner = catalog.eval().user;
  view.columns = columns;
  view.options = options;
  const Oid oid = create_relation(catalog, view);
  store_rule(context, oid, utility, source);
  change_class_row(catalog, oid, [](ClassRow& row) { row.relhasrules = true; });
  return "CREATE VIEW";
}

}  // namespace pinwheel::sql
