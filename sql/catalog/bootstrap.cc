#include "sql/catalog/bootstrap.h"

#include "sql/catalog/bootstrap_internal.h"
#include "sql/catalog/relation_builder.h"

namespace pinwheel::sql {

CatalogFiller::CatalogFiller(storage::Storage& storage, const SystemRelation& table, Oid database)
    : table_{table}, relation_{build_system_relation(table, database)}, heap_{storage, relation_->heap} {
  insert_state_.spread_hint = 0;
}

void CatalogFiller::add(const Datum* values, const bool* nulls) {
  tuples_.push_back(
      storage::form_tuple(relation_->layout, reinterpret_cast<const std::uint64_t*>(values), nulls, arena_));
  if (tuples_.size() == kBatch) flush();
}

void CatalogFiller::flush() {
  if (!tuples_.empty()) {
    TupleId ids[kBatch];
    const storage::WriteContext context{kBootstrapXid, CommandId{0}, oracle_};
    const storage::InsertOptions options{.skip_free_space = true, .frozen = true, .skip_wal = true};
    heap_.multi_insert(tuples_, context, insert_state_, options, ids);
    tuples_.clear();
  }
  insert_state_.pin.release();
  insert_state_.visibility_pin.release();
  arena_.reset();
}

CatalogFiller& CatalogSet::table(Oid oid) {
  auto& filler = fillers_[oid];
  if (!filler) filler = std::make_unique<CatalogFiller>(storage_, *find_system_relation(oid), database_);
  return *filler;
}

void CatalogSet::flush() {
  for (auto& [oid, filler] : fillers_) filler->flush();
}

namespace {
void create_files(storage::Storage& storage, Oid database, bool shared) {
  for (const SystemRelation& table : system_relations()) {
    if (table.kind != 'r' || table.shared != shared) continue;
    storage.files.create({database, table.oid}, Fork::kMain);
  }
}
}  // namespace

void bootstrap_catalog(storage::Storage& storage, const BootstrapOptions& options) {
  create_files(storage, kInvalidOid, true);
  CatalogSet shared{storage, kInvalidOid};
  add_shared_objects(shared, options);
  shared.flush();
  build_system_indexes(shared);

  storage.files.create_database_directory(kTemplate1Database);
  create_files(storage, kTemplate1Database, false);
  CatalogSet local{storage, kTemplate1Database};
  add_local_objects(local);
  add_system_relations(local);
  for (const SystemRelation& table : system_relations()) {
    if (table.kind == 'r' && !table.shared) load_recorded_rows(local, table);
  }
  local.flush();
  build_system_indexes(local);

  storage.pool.flush_database(kTemplate1Database);
  storage.files.settle_lengths();
  storage.files.copy_database_directory(kTemplate1Database, kTemplate0Database);
  storage.files.copy_database_directory(kTemplate1Database, kPostgresDatabase);
}

}  // namespace pinwheel::sql
