#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/alter_table.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/constraints.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/stored_texts.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

std::string_view alter_tag(ObjectKind object) {
  switch (object) {
    case ObjectKind::kIndex:
      return "ALTER INDEX";
    case ObjectKind::kView:
      return "ALTER VIEW";
    case ObjectKind::kSequence:
      return "ALTER SEQUENCE";
    case ObjectKind::kSchema:
      return "ALTER SCHEMA";
    case ObjectKind::kRole:
      return "ALTER ROLE";
    case ObjectKind::kDatabase:
      return "ALTER DATABASE";
    default:
      return "ALTER TABLE";
  }
}

/// The relation to alter, locked and owned; null (with a notice) when IF EXISTS allows that.
RelationRef target_relation(CommandContext& context, const QualifiedName& name, bool missing_ok) {
  RelationRef relation = find_locked_relation(context, name, kAccessExclusiveLock);
  if (!relation) {
    if (!missing_ok) return require_relation(context, name, kAccessExclusiveLock);
    notice_skipping(context, "relation", name);
    return {};
  }
  refuse_system_relation(*relation);
  context.catalog.check_relation_owner(*relation);
  return relation;
}

void rename_type(Catalog& catalog, Oid type_oid, const std::string& name, Oid schema) {
  TupleId at;
  auto type = find_row<TypeRow>(catalog, {{1, type_oid}}, &at);
  if (!type) return;
  type->typname = name;
  type->typnamespace = schema;
  update_row(catalog, at, *type);
  catalog.invalidate_type(type_oid);
  if (!is_valid(type->typarray)) return;
  auto array = find_row<TypeRow>(catalog, {{1, type->typarray}}, &at);
  if (!array) return;
  array->typname = "_" + name.substr(0, 62);
  array->typnamespace = schema;
  update_row(catalog, at, *array);
  catalog.invalidate_type(array->oid);
}

void rename_relation(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef relation = target_relation(context, utility.name, utility.missing_ok);
  if (!relation) return;
  const std::string name{utility.new_name};
  check_name_free(catalog, relation->schema, name);
  StoredTexts texts{context};
  texts.collect(relation->oid);
  change_class_row(catalog, relation->oid, [&](ClassRow& row) { row.relname = name; });
  if (is_valid(relation->row_type)) rename_type(catalog, relation->row_type, name, relation->schema);
  if (relation->kind == 'i') {
    const Oid table = relation->self_index.front().table;
    // A constraint bears the name of its index.
    TupleId at;
    std::optional<ConstraintRow> constraint;
    scan_rows<ConstraintRow>(catalog, {{8, table}}, [&](ConstraintRow& row, TupleId id) {
      if (row.conindid != relation->oid || row.contype == 'f') return true;
      constraint = std::move(row);
      at = id;
      return false;
    });
    if (constraint) {
      constraint->conname = name;
      update_row(catalog, at, *constraint);
    }
    catalog.invalidate_relation(table);
  }
  for (const ForeignKey& key : relation->referenced_by) catalog.invalidate_relation(key.from_table);
  for (const ForeignKey& key : relation->references) catalog.invalidate_relation(key.to_table);
  texts.store();
}

void rename_column(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef relation = target_relation(context, utility.name, utility.missing_ok);
  if (!relation) return;
  const Column* column = relation->find_column(utility.sub_name);
  if (column == nullptr) {
    throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(utility.sub_name) + " does not exist"};
  }
  if (relation->find_column(utility.new_name) != nullptr) {
    throw SqlError{sqlstate::kDuplicateColumn, "column " + in_quotes(utility.new_name) + " of relation " +
                                                   in_quotes(relation->name) + " already exists"};
  }
  StoredTexts texts{context};
  texts.collect(relation->oid);
  const std::string name{utility.new_name};
  change_attribute_row(catalog, relation->oid, column->number,
                       [&](AttributeRow& row) { row.attname = name; });
  texts.store();
}

void rename_constraint(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef relation = target_relation(context, utility.name, utility.missing_ok);
  if (!relation) return;
  TupleId at;
  std::optional<ConstraintRow> found;
  scan_rows<ConstraintRow>(catalog, {{8, relation->oid}}, [&](ConstraintRow& row, TupleId id) {
    if (row.conname == utility.new_name) {
      throw SqlError{sqlstate::kDuplicateObject, "constraint " + in_quotes(utility.new_name) +
                                                     " for relation " + in_quotes(relation->name) +
                                                     " already exists"};
    }
    if (row.conname == utility.sub_name) {
      found = row;
      at = id;
    }
    return true;
  });
  if (!found) {
    throw SqlError{sqlstate::kUndefinedObject, "constraint " + in_quotes(utility.sub_name) + " for table " +
                                                   in_quotes(relation->name) + " does not exist"};
  }
  if (found->contype == 'p' || found->contype == 'u') {
    check_name_free(catalog, relation->schema, utility.new_name);
    change_class_row(catalog, found->conindid, [&](ClassRow& row) { row.relname = utility.new_name; });
  }
  found->conname = utility.new_name;
  update_row(catalog, at, *found);
  catalog.invalidate_relation(relation->oid);
  if (is_valid(found->confrelid)) catalog.invalidate_relation(found->confrelid);
}

void rename_schema(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  const Oid schema = catalog.require_schema(utility.name.name);
  if (!catalog.has_privileges_of(catalog.eval().user, catalog.schema_owner(schema))) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "must be owner of schema " + std::string{utility.name.name}};
  }
  if (schema < kFirstNormalOid && schema != kPublicSchema) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied for schema " + std::string{utility.name.name}};
  }
  if (is_valid(catalog.find_schema(utility.new_name))) {
    throw SqlError{sqlstate::kDuplicateSchema, "schema " + in_quotes(utility.new_name) + " already exists"};
  }
  if (utility.new_name.starts_with("pg_")) {
    throw SqlError{sqlstate::kReservedName, "unacceptable schema name " + in_quotes(utility.new_name)}.detail(
        "The prefix \"pg_\" is reserved for system schemas.");
  }
  StoredTexts texts{context};
  std::vector<Oid> relations;
  for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
    if (row.relnamespace != schema) continue;
    relations.push_back(row.oid);
    if (row.relkind != 'i' && row.relkind != 't') texts.collect(row.oid);
  }
  TupleId at;
  auto row = find_row<NamespaceRow>(catalog, {{1, schema}}, &at);
  row->nspname = utility.new_name;
  update_row(catalog, at, *row);
  catalog.invalidate_schema();
  for (const Oid relation : relations) catalog.invalidate_relation(relation);
  texts.store();
}

void rename_role(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  const Oid role = catalog.require_role(utility.name.name);
  const auto self = catalog.role(catalog.eval().user);
  if (!self || !(self->superuser || (self->create_role && !catalog.is_superuser(role)))) {
    throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied to rename role"};
  }
  if (role == catalog.eval().user) {
    throw SqlError{sqlstate::kFeatureNotSupported, "current user cannot be renamed"};
  }
  if (catalog.find_role(utility.new_name)) {
    throw SqlError{sqlstate::kDuplicateObject, "role " + in_quotes(utility.new_name) + " already exists"};
  }
  TupleId at;
  auto row = find_row<AuthIdRow>(catalog, {{1, role}}, &at);
  row->rolname = utility.new_name;
  update_row(catalog, at, *row);
  catalog.invalidate_shared();
}

void rename_database(CommandContext& context, const RenameUtility& utility) {
  Catalog& catalog = context.catalog;
  TupleId at;
  auto row = find_row<DatabaseRow>(catalog, {{2, utility.name.name}}, &at);
  if (!row) {
    throw SqlError{sqlstate::kUndefinedDatabase,
                   "database " + in_quotes(utility.name.name) + " does not exist"};
  }
  if (!catalog.has_privileges_of(catalog.eval().user, row->datdba)) {
    throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of database " + row->datname};
  }
  if (row->oid == catalog.eval().database) {
    throw SqlError{sqlstate::kFeatureNotSupported, "current database cannot be renamed"};
  }
  if (catalog.find_database(utility.new_name)) {
    throw SqlError{sqlstate::kDuplicateDatabase,
                   "database " + in_quotes(utility.new_name) + " already exists"};
  }
  row->datname = utility.new_name;
  update_row(catalog, at, *row);
  catalog.invalidate_shared();
}

}  // namespace

std::string run_rename(CommandContext& context, const RenameUtility& utility) {
  switch (utility.object) {
    case ObjectKind::kTable:
    case ObjectKind::kIndex:
    case ObjectKind::kView:
    case ObjectKind::kSequence:
      rename_relation(context, utility);
      break;
    case ObjectKind::kColumn:
      rename_column(context, utility);
      break;
    case ObjectKind::kConstraint:
      rename_constraint(context, utility);
      break;
    case ObjectKind::kSchema:
      rename_schema(context, utility);
      break;
    case ObjectKind::kRole:
      rename_role(context, utility);
      break;
    case ObjectKind::kDatabase:
      rename_database(context, utility);
      break;
    default:
      throw SqlError{sqlstate::kFeatureNotSupported, "renaming this kind of object is not supported"};
  }
  return std::string{alter_tag(utility.object)};
}

std::string run_alter_owner(CommandContext& context, const AlterOwnerUtility& utility) {
  Catalog& catalog = context.catalog;
  if (utility.object == ObjectKind::kSchema) {
    const Oid schema = catalog.require_schema(utility.name.name);
    TupleId at;
    auto row = find_row<NamespaceRow>(catalog, {{1, schema}}, &at);
    if (!catalog.has_privileges_of(catalog.eval().user, row->nspowner)) {
      throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of schema " + row->nspname};
    }
    row->nspowner = catalog.require_role(utility.new_owner);
    update_row(catalog, at, *row);
    catalog.invalidate_schema();
    return "ALTER SCHEMA";
  }
  if (utility.object == ObjectKind::kDatabase) {
    TupleId at;
    auto row = find_row<DatabaseRow>(catalog, {{2, utility.name.name}}, &at);
    if (!row) {
      throw SqlError{sqlstate::kUndefinedDatabase,
                     "database " + in_quotes(utility.name.name) + " does not exist"};
    }
    if (!catalog.has_privileges_of(catalog.eval().user, row->datdba)) {
      throw SqlError{sqlstate::kInsufficientPrivilege, "must be owner of database " + row->datname};
    }
    row->datdba = catalog.require_role(utility.new_owner);
    update_row(catalog, at, *row);
    catalog.invalidate_shared();
    return "ALTER DATABASE";
  }
  const RelationRef relation = target_relation(context, utility.name, false);
  alter_relation_owner(context, *relation, utility.new_owner);
  return std::string{alter_tag(utility.object)};
}

std::string run_alter_schema(CommandContext& context, const AlterObjectSchemaUtility& utility) {
  Catalog& catalog = context.catalog;
  const RelationRef relation = target_relation(context, utility.name, utility.missing_ok);
  const std::string tag{alter_tag(utility.object)};
  if (!relation) return tag;
  const Oid schema = catalog.require_schema(utility.new_schema);
  catalog.check_schema_privilege(schema, kCreatePrivilege);
  if (relation->is_temporary() || schema == kCatalogSchema || schema == kToastSchema) {
    throw SqlError{sqlstate::kFeatureNotSupported, "cannot move objects into or out of temporary schemas"};
  }
  if (schema == relation->schema) return tag;
  if (name_is_taken(catalog, schema, relation->name)) {
    throw SqlError{sqlstate::kDuplicateTable, "relation " + in_quotes(relation->name) +
                                                  " already exists in schema " +
                                                  in_quotes(utility.new_schema)};
  }
  StoredTexts texts{context};
  texts.collect(relation->oid);
  std::vector<Oid> moved{relation->oid};
  for (const IndexInfo& index : relation->indexes) moved.push_back(index.oid);
  for (const DependRow& row : find_rows<DependRow>(catalog, {{4, kClassTable}, {5, relation->oid}})) {
    if (row.classid != kClassTable || row.refobjsubid == 0) continue;
    const RelationRef sequence = catalog.relation(row.objid);
    if (!sequence || sequence->kind != 'S') continue;
    texts.collect(row.objid);
    moved.push_back(row.objid);
  }
  for (const Oid oid : moved) {
    change_class_row(catalog, oid, [&](ClassRow& row) { row.relnamespace = schema; });
    CatalogScan scan{catalog, kDependTable, std::vector<CatalogKey>{{1, kClassTable}, {2, oid}}};
    while (scan.next()) {
      if (scan.values()[3].as_oid() == kNamespaceTable) delete_tuple(catalog, kDependTable, scan.tuple_id());
    }
    add_dependency(catalog, {kClassTable, oid}, {kNamespaceTable, schema}, DependencyType::kNormal);
  }
  scan_rows<ConstraintRow>(catalog, {{8, relation->oid}}, [&](ConstraintRow& row, TupleId at) {
    row.connamespace = schema;
    update_row(catalog, at, row);
    return true;
  });
  if (is_valid(relation->row_type)) rename_type(catalog, relation->row_type, relation->name, schema);
  texts.store();
  return tag;
}

}  // namespace pinwheel::sql
