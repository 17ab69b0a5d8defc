#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/index_create.h"
#include "sql/commands/support.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

void reindex_table(Catalog& catalog, Oid oid) {
  const RelationRef table = lock_relation(catalog, oid, kShareLock);
  if (!table) return;
  refuse_system_relation(*table);
  for (const IndexInfo& index : table->indexes) {
    static_cast<void>(lock_relation(catalog, index.oid, kAccessExclusiveLock));
    rebuild_index(catalog, *table, index.oid);
  }
  if (is_valid(table->toast_table)) reindex_table(catalog, table->toast_table);
}

}  // namespace

std::string run_reindex(CommandContext& context, const ReindexUtility& utility) {
  Catalog& catalog = context.catalog;
  for (const Option& option : utility.options) {
    if (option.name == "concurrently" && option_bool(option)) continue;  // done with locks, to the same end
    if (option.name != "verbose" && option.name != "concurrently") {
      throw SqlError{sqlstate::kSyntaxError, "unrecognized REINDEX option " + in_quotes(option.name)};
    }
  }
  switch (utility.object) {
    case ObjectKind::kIndex: {
      const RelationRef index = catalog.find_relation(utility.name.schema, utility.name.name);
      if (!index) catalog.throw_no_relation(utility.name.schema, utility.name.name);
      if (index->kind != 'i')
        throw SqlError{sqlstate::kWrongObjectType, in_quotes(index->name) + " is not an index"};
      refuse_system_relation(*index);
      catalog.check_relation_owner(*index);
      const RelationRef table = lock_relation(catalog, index->self_index.front().table, kShareLock);
      static_cast<void>(lock_relation(catalog, index->oid, kAccessExclusiveLock));
      if (table) rebuild_index(catalog, *table, index->oid);
      break;
    }
    case ObjectKind::kTable: {
      const RelationRef table = require_relation(context, utility.name, kShareLock);
      if (table->kind != 'r') {
        throw SqlError{sqlstate::kWrongObjectType,
                       in_quotes(table->name) + " is not a table or materialized view"};
      }
      catalog.check_relation_owner(*table);
      if (table->indexes.empty())
        send_notice(context, "table " + in_quotes(table->name) + " has no indexes to reindex");
      reindex_table(catalog, table->oid);
      break;
    }
    case ObjectKind::kSchema:
    case ObjectKind::kDatabase: {
      const Oid schema =
          utility.object == ObjectKind::kSchema ? catalog.require_schema(utility.name.name) : kInvalidOid;
      for (const ClassRow& row : find_rows<ClassRow>(catalog, {})) {
        if (row.relkind != 'r' || row.oid < kFirstNormalOid) continue;
        if (is_valid(schema) && row.relnamespace != schema) continue;
        if (!catalog.has_privileges_of(catalog.eval().user, row.relowner)) continue;
        reindex_table(catalog, row.oid);
        context.restart_transaction();
      }
      break;
    }
    default:
      throw SqlError{sqlstate::kFeatureNotSupported, "REINDEX of this kind of object is not supported"};
  }
  return "REINDEX";
}

}  // namespace pinwheel::sql
