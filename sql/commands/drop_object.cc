#include "sql/commands/drop_object.h"

#include "sql/catalog/catalog_scan.h"
#include "sql/commands/relation_create.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

void delete_comments(Catalog& catalog, const ObjectAddress& object) {
  CatalogScan scan{catalog, kDescriptionTable,
                   std::vector<CatalogKey>{{1, object.object}, {2, object.catalog}}};
  while (scan.next()) {
    if (object.part != 0 && scan.values()[2].as_int32() != object.part) continue;
    delete_tuple(catalog, kDescriptionTable, scan.tuple_id());
  }
}

void drop_relation(Catalog& catalog, Oid oid) {
  const auto row = find_row<ClassRow>(catalog, {{1, oid}});
  if (!row) return;
  const RelationRef relation = catalog.relation(oid);
  if (is_valid(row->relfilenode)) {
    catalog.transaction().drop_file_at_commit({catalog.eval().database, row->relfilenode});
  }
  if (row->relkind == 'i') {
    const auto index = find_row<IndexRow>(catalog, {{1, oid}});
    delete_rows<IndexRow>(catalog, {{1, oid}});
    if (index) {
      const bool has_others = find_row<IndexRow>(catalog, {{2, index->indrelid}}).has_value();
      // The table itself may be going in this very command.
      if (!has_others && find_row<ClassRow>(catalog, {{1, index->indrelid}})) {
        change_class_row(catalog, index->indrelid, [](ClassRow& table) { table.relhasindex = false; });
      }
      catalog.invalidate_relation(index->indrelid);
    }
  }
  if (row->relkind == 'S') delete_rows<SequenceRow>(catalog, {{1, oid}});
  if (row->relkind == 'r' || row->relkind == 'm' || row->relkind == 'i') {
    delete_rows<StatisticRow>(catalog, {{1, oid}});
  }
  delete_rows<AttributeRow>(catalog, {{1, oid}});
  delete_rows<ClassRow>(catalog, {{1, oid}});
  if (relation) {
    for (const ForeignKey& key : relation->references) catalog.invalidate_relation(key.to_table);
    for (const ForeignKey& key : relation->referenced_by) catalog.invalidate_relation(key.from_table);
  }
  catalog.invalidate_relation(oid);
}

void drop_column(Catalog& catalog, Oid oid, std::int16_t number) {
  change_attribute_row(catalog, oid, number, [&](AttributeRow& row) {
    row.attname = "........pg.dropped." + std::to_string(number) + "........";
    row.atttypid = kInvalidOid;
    row.attstattarget = 0;
    row.attnotnull = row.atthasdef = row.atthasmissing = false;
    row.attidentity = row.attgenerated = '\0';
    row.attisdropped = true;
    row.attacl.reset();
    row.attoptions.clear();
    row.attmissingval = {};
  });
  CatalogScan scan{catalog, kStatisticTable, std::vector<CatalogKey>{{1, oid}, {2, number}}};
  while (scan.next()) delete_tuple(catalog, kStatisticTable, scan.tuple_id());
  catalog.invalidate_statistics(oid);
}

void drop_constraint(Catalog& catalog, Oid oid) {
  const auto row = find_row<ConstraintRow>(catalog, {{1, oid}});
  if (!row) return;
  delete_rows<ConstraintRow>(catalog, {{1, oid}});
  if (!is_valid(row->conrelid)) return;
  if (row->contype == 'c' && find_row<ClassRow>(catalog, {{1, row->conrelid}})) {
    change_class_row(catalog, row->conrelid, [](ClassRow& table) { --table.relchecks; });
  }
  catalog.invalidate_relation(row->conrelid);
  if (row->contype == 'f') catalog.invalidate_relation(row->confrelid);
}

void drop_default(Catalog& catalog, Oid oid) {
  const auto row = find_row<AttrDefRow>(catalog, {{1, oid}});
  if (!row) return;
  delete_rows<AttrDefRow>(catalog, {{1, oid}});
  const CatalogKey keys[] = {{1, row->adrelid}, {6, row->adnum}};
  bool is_there = false;
  {
    CatalogScan scan{catalog, kAttributeTable, keys};
    is_there = scan.next();
  }
  if (is_there) {
    change_attribute_row(catalog, row->adrelid, row->adnum, [](AttributeRow& column) {
      column.atthasdef = false;
      column.attgenerated = '\0';
    });
  }
  catalog.invalidate_relation(row->adrelid);
}

}  // namespace

void drop_one_object(Catalog& catalog, const ObjectAddress& object) {
  if (object.catalog == kClassTable) {
    if (object.part == 0) {
      drop_relation(catalog, object.object);
    } else {
      drop_column(catalog, object.object, static_cast<std::int16_t>(object.part));
    }
  } else if (object.catalog == kConstraintTable) {
    drop_constraint(catalog, object.object);
  } else if (object.catalog == kAttrDefTable) {
    drop_default(catalog, object.object);
  } else if (object.catalog == kRewriteTable) {
    delete_rows<RewriteRow>(catalog, {{1, object.object}});
  } else if (object.catalog == kTypeTable) {
    delete_rows<TypeRow>(catalog, {{1, object.object}});
    catalog.invalidate_type(object.object);
  } else if (object.catalog == kNamespaceTable) {
    delete_rows<NamespaceRow>(catalog, {{1, object.object}});
    catalog.invalidate_schema();
  }
  remove_dependencies_of(catalog, object);
  delete_comments(catalog, object);
}

}  // namespace pinwheel::sql
