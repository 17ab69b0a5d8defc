#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/support.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

struct DropKind {
  ObjectKind object;
  char kind;  // pg_class.relkind
  std::string_view word;
  std::string_view article;
  std::string_view tag;
};
constexpr DropKind kKinds[] = {
    {ObjectKind::kTable, 'r', "table", "a", "DROP TABLE"},
    {ObjectKind::kIndex, 'i', "index", "an", "DROP INDEX"},
    {ObjectKind::kView, 'v', "view", "a", "DROP VIEW"},
    {ObjectKind::kSequence, 'S', "sequence", "a", "DROP SEQUENCE"},
    {ObjectKind::kMaterializedView, 'm', "materialized view", "a", "DROP MATERIALIZED VIEW"},
};

std::string_view drop_word(char kind) {
  for (const DropKind& each : kKinds) {
    if (each.kind == kind) return each.tag;
  }
  return "DROP TABLE";
}

[[noreturn]] void wrong_kind(const Relation& relation, const DropKind& wanted) {
  throw SqlError{sqlstate::kWrongObjectType, in_quotes(relation.name) + " is not " +
                                                 std::string{wanted.article} + " " + std::string{wanted.word}}
      .hint("Use " + std::string{drop_word(relation.kind)} + " to remove " +
            (relation.kind == 'i' ? "an " : "a ") + std::string{relation_kind_word(relation.kind)} + ".");
}

void check_may_drop(Catalog& catalog, const Relation& relation) {
  if (catalog.has_privileges_of(catalog.eval().user, relation.owner)) {
    refuse_system_relation(relation);
    return;
  }
  if (catalog.has_privileges_of(catalog.eval().user, catalog.schema_owner(relation.schema))) return;
  catalog.check_relation_owner(relation);
}

std::string drop_relations(CommandContext& context, const DropUtility& utility, const DropKind& kind) {
  Catalog& catalog = context.catalog;
  std::vector<ObjectAddress> objects;
  for (const QualifiedName& name : utility.names) {
    RelationRef relation = catalog.find_relation(name.schema, name.name);
    // An index is locked after its table, as everybody does who comes from the table.
    if (relation && relation->kind == 'i' && kind.kind == 'i') {
      static_cast<void>(catalog.transaction().locks().lock_relation(
          catalog.eval().database, relation->self_index.front().table, txn::LockMode::kAccessExclusive));
    }
    relation = find_locked_relation(context, name, kAccessExclusiveLock);
    if (!relation) {
      if (utility.missing_ok) {
        notice_skipping(context, kind.word, name);
        continue;
      }
      if (!name.schema.empty()) catalog.require_schema(name.schema);
      const std::string shown = name.schema.empty() ? std::string{name.name}
                                                    : std::string{name.schema} + "." + std::string{name.name};
      throw SqlError{sqlstate::kUndefinedTable, std::string{kind.word} + " " +
                                                    in_quotes(name.schema.empty() ? name.name : shown) +
                                                    " does not exist"};
    }
    if (relation->kind != kind.kind) wrong_kind(*relation, kind);
    check_may_drop(catalog, *relation);
    objects.push_back({kClassTable, relation->oid});
  }
  drop_objects(context, objects, utility.cascade);
  return std::string{kind.tag};
}

std::string drop_schemas(CommandContext& context, const DropUtility& utility) {
  Catalog& catalog = context.catalog;
  std::vector<ObjectAddress> objects;
  for (const QualifiedName& name : utility.names) {
    const Oid schema = catalog.find_schema(name.name);
    if (!is_valid(schema)) {
      if (!utility.missing_ok) catalog.require_schema(name.name);
      send_notice(context, "schema " + in_quotes(name.name) + " does not exist, skipping");
      continue;
    }
    if (schema < kFirstNormalOid && schema != kPublicSchema) {
      throw SqlError{
          sqlstate::kDependentObjectsStillExist,
          "cannot drop schema " + std::string{name.name} + " because it is required by the database system"};
    }
    if (!catalog.has_privileges_of(catalog.eval().user, catalog.schema_owner(schema))) {
      throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of schema " + std::string{name.name}};
    }
    objects.push_back({kNamespaceTable, schema});
  }
  drop_objects(context, objects, utility.cascade);
  return "DROP SCHEMA";
}

}  // namespace

std::string run_drop(CommandContext& context, const DropUtility& utility) {
  for (const DropKind& kind : kKinds) {
    if (kind.object == utility.object) return drop_relations(context, utility, kind);
  }
  if (utility.object == ObjectKind::kSchema) return drop_schemas(context, utility);
  // Kinds of objects that cannot be made here cannot be there: IF EXISTS has nothing to do.
  if (utility.missing_ok) {
    for (const QualifiedName& name : utility.names) {
      const std::string_view word = utility.object == ObjectKind::kType        ? "type"
                                    : utility.object == ObjectKind::kExtension ? "extension"
                                    : utility.object == ObjectKind::kDomain    ? "type"
                                                                               : "object";
      notice_skipping(context, word, name);
    }
    return "DROP";
  }
  throw SqlError{sqlstate::kFeatureNotSupported, "DROP of this kind of object is not supported"};
}

}  // namespace pinwheel::sql
