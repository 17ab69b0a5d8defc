#include "sql/catalog/bootstrap_internal.h"
#include "storage/btree/build.h"
#include "storage/heap/heap_scan.h"
#include "txn/visibility.h"

namespace pinwheel::sql {
namespace {

void report_duplicate(void* context, const std::uint64_t*, const bool*) {
  const auto& index = *static_cast<const IndexInfo*>(context);
  DB_PANIC("the recorded catalog rows have a duplicate key in " + index.name);
}

void build_one(storage::Storage& storage, const Relation& table, const IndexInfo& index) {
  storage.files.create(index.file, Fork::kMain);
  storage::BTreeBuildOptions options;
  options.temporary_directory = storage.files.data_directory() + "/base/pgsql_tmp";
  options.xid = kBootstrapXid;
  options.report_duplicate = &report_duplicate;
  options.context = const_cast<IndexInfo*>(&index);
  storage::BTreeBuild build{storage, index.btree, options};
  storage::Heap heap{storage, table.heap};
  storage::HeapScan<txn::AnyPredicate> scan{heap, txn::AnyPredicate{}};
  std::vector<std::uint64_t> values(table.columns.size());
  const auto nulls = std::make_unique<bool[]>(table.columns.size());
  for (storage::HeapTupleView tuple = scan.next(); tuple.valid(); tuple = scan.next()) {
    storage::deform(tuple, table.layout, table.columns.size(), values.data(), nulls.get());
    std::uint64_t key_values[storage::kMaxIndexColumns];
    bool key_nulls[storage::kMaxIndexColumns];
    for (std::size_t i = 0; i < index.keys.size(); ++i) {
      const auto column = static_cast<std::size_t>(index.keys[i].column) - 1;
      key_values[i] = values[column];
      key_nulls[i] = nulls[column];
    }
    build.add(key_values, key_nulls, tuple.id());
  }
  build.finish();
}

}  // namespace

void build_system_indexes(CatalogSet& set) {
  const bool shared = !is_valid(set.database());
  for (const SystemRelation& table : system_relations()) {
    if (table.kind != 'r' || table.shared != shared) continue;
    CatalogFiller& filler = set.table(table.oid);
    filler.flush();
    for (const IndexInfo& index : filler.relation().indexes)
      build_one(set.storage(), filler.relation(), index);
  }
}

}  // namespace pinwheel::sql
