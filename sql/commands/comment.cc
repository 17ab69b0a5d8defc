#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

void store_comment(Catalog& catalog, const ObjectAddress& object, const CommentUtility& utility) {
  CatalogScan scan{catalog, kDescriptionTable,
                   std::vector<CatalogKey>{{1, object.object}, {2, object.catalog}, {3, object.part}}};
  if (scan.next()) delete_tuple(catalog, kDescriptionTable, scan.tuple_id());
  if (utility.is_null || utility.text.empty()) return;
  insert_row(catalog, DescriptionRow{object.object, object.catalog, object.part, std::string{utility.text}});
}

void store_shared_comment(Catalog& catalog, const ObjectAddress& object, const CommentUtility& utility) {
  delete_rows<ShDescriptionRow>(catalog, {{1, object.object}, {2, object.catalog}});
  if (utility.is_null || utility.text.empty()) return;
  insert_row(catalog, ShDescriptionRow{object.object, object.catalog, std::string{utility.text}});
}

RelationRef relation_to_comment(CommandContext& context, const QualifiedName& name) {
  const RelationRef relation = require_relation(context, name, kShareUpdateExclusiveLock);
  context.catalog.check_relation_owner(*relation);
  return relation;
}

void check_kind(const Relation& relation, ObjectKind wanted) {
  const char kind = wanted == ObjectKind::kIndex      ? 'i'
                    : wanted == ObjectKind::kSequence ? 'S'
                    : wanted == ObjectKind::kView     ? 'v'
                    : wanted == ObjectKind::kTable    ? 'r'
                                                      : 'm';
  if (relation.kind == kind) return;
  throw SqlError{sqlstate::kWrongObjectType, in_quotes(relation.name) + " is not " +
                                                 (kind == 'i' ? "an " : "a ") +
                                                 std::string{relation_kind_word(kind)}};
}

}  // namespace

std::string run_comment(CommandContext& context, const CommentUtility& utility) {
  Catalog& catalog = context.catalog;
  switch (utility.object) {
    case ObjectKind::kTable:
    case ObjectKind::kIndex:
    case ObjectKind::kView:
    case ObjectKind::kMaterializedView:
    case ObjectKind::kSequence: {
      const RelationRef relation = relation_to_comment(context, utility.name);
      check_kind(*relation, utility.object);
      store_comment(catalog, {kClassTable, relation->oid}, utility);
      break;
    }
    case ObjectKind::kColumn: {
      const RelationRef relation = relation_to_comment(context, utility.name);
      const Column& column = require_column(*relation, utility.sub_name);
      store_comment(catalog, {kClassTable, relation->oid, column.number}, utility);
      break;
    }
    case ObjectKind::kConstraint: {
      const RelationRef relation = relation_to_comment(context, utility.name);
      Oid constraint;
      scan_rows<ConstraintRow>(catalog, {{8, relation->oid}}, [&](ConstraintRow& row, TupleId) {
        if (row.conname == utility.sub_name) constraint = row.oid;
        return !is_valid(constraint);
      });
      if (!is_valid(constraint)) {
        throw SqlError{sqlstate::kUndefinedObject, "constraint " + in_quotes(utility.sub_name) +
                                                       " for table " + in_quotes(relation->name) +
                                                       " does not exist"};
      }
      store_comment(catalog, {kConstraintTable, constraint}, utility);
      break;
    }
    case ObjectKind::kSchema: {
      const Oid schema = catalog.require_schema(utility.name.name);
      if (!catalog.has_privileges_of(catalog.eval().user, catalog.schema_owner(schema))) {
        throw SqlError{sqlstate::kInsufficientPrivilege,
                       "must be owner of schema " + std::string{utility.name.name}};
      }
      store_comment(catalog, {kNamespaceTable, schema}, utility);
      break;
    }
    case ObjectKind::kDatabase: {
      const auto database = catalog.find_database(utility.name.name);
      if (!database) {
        throw SqlError{sqlstate::kUndefinedDatabase,
                       "database " + in_quotes(utility.name.name) + " does not exist"};
      }
      if (!catalog.has_privileges_of(catalog.eval().user, database->owner)) {
        throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of database " + database->name};
      }
      store_shared_comment(catalog, {kDatabaseTable, database->oid}, utility);
      break;
    }
    case ObjectKind::kRole:
      store_shared_comment(catalog, {kAuthIdTable, catalog.require_role(utility.name.name)}, utility);
      break;
    default:
      throw SqlError{sqlstate::kFeatureNotSupported, "COMMENT on this kind of object is not supported"};
  }
  return "COMMENT";
}

}  // namespace pinwheel::sql
