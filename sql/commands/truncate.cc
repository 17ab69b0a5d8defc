#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/commands_list.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/sequences.h"
#include "sql/commands/support.h"
#include "sql/statistics/activity_log.h"

namespace pinwheel::sql {
namespace {

bool is_listed(const std::vector<RelationRef>& tables, Oid oid) {
  return std::ranges::any_of(tables, [&](const RelationRef& table) { return table->oid == oid; });
}

/// Adds the tables that refer to listed ones, or refuses.
void follow_foreign_keys(CommandContext& context, std::vector<RelationRef>& tables, bool cascade) {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const RelationRef table = tables[i];
    for (const ForeignKey& key : table->referenced_by) {
      if (is_listed(tables, key.from_table)) continue;
      if (!cascade) {
        const std::string name = in_quotes(context.catalog.relation_name(key.from_table));
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "cannot truncate a table referenced in a foreign key constraint"}
            .detail("Table " + name + " references " + in_quotes(table->name) + ".")
            .hint("Truncate table " + name + " at the same time, or use TRUNCATE ... CASCADE.");
      }
      const RelationRef other = lock_relation(context.catalog, key.from_table, kAccessExclusiveLock);
      if (!other) continue;
      send_notice(context, "truncate cascades to table " + in_quotes(other->name));
      context.catalog.check_relation_privilege(*other, kTruncatePrivilege);
      tables.push_back(other);
    }
  }
}

void truncate_one(Catalog& catalog, Oid table) {
  const RelationRef relation = catalog.require_relation(table);
  replace_relation_file(catalog, table);
  for (const IndexInfo& index : relation->indexes) rebuild_index(catalog, *relation, index.oid);
  if (is_valid(relation->toast_table)) truncate_one(catalog, relation->toast_table);
}

void restart_sequences(Catalog& catalog, Oid table) {
  for (const DependRow& row : find_rows<DependRow>(catalog, {{4, kClassTable}, {5, table}})) {
    if (row.classid != kClassTable || row.refobjsubid == 0) continue;
    const RelationRef sequence = catalog.relation(row.objid);
    if (!sequence || sequence->kind != 'S') continue;
    static_cast<void>(lock_relation(catalog, row.objid, kAccessExclusiveLock));
    rewrite_sequence(catalog, row.objid, catalog.sequence(row.objid).value().start, false);
  }
}

}  // namespace

std::string run_truncate(CommandContext& context, const TruncateUtility& utility) {
  std::vector<RelationRef> tables;
  for (const QualifiedName& name : utility.tables) {
    const RelationRef table = require_relation(context, name, kAccessExclusiveLock);
    if (is_listed(tables, table->oid)) continue;
    if (table->kind != 'r') {
      throw SqlError{sqlstate::kWrongObjectType, in_quotes(table->name) + " is not a table"};
    }
    refuse_system_relation(*table);
    context.catalog.check_relation_privilege(*table, kTruncatePrivilege);
    tables.push_back(table);
  }
  follow_foreign_keys(context, tables, utility.cascade);
  for (const RelationRef& table : tables) {
    truncate_one(context.catalog, table->oid);
    if (TransactionActivity* activity = context.execution.activity) {
      activity->truncated({table->file.database, table->oid});
    }
    if (utility.restart_identity) restart_sequences(context.catalog, table->oid);
  }
  return "TRUNCATE TABLE";
}

}  // namespace pinwheel::sql
