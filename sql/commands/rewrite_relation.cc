#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/progress.h"
#include "sql/commands/index_create.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/relation_size.h"
#include "sql/commands/support.h"
#include "sql/commands/vacuum.h"
#include "storage/heap/bulk_writer.h"
#include "storage/heap/vacuum.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

using shm::ClusterProgress;

/// Copies the versions that somebody may still see into a new file, with who made and who deleted them, so
/// that older snapshots see the same rows as before. Returns the number of rows that live on.
std::uint64_t copy_versions(Catalog& catalog, const Relation& from, const storage::HeapRelation& to) {
  storage::Storage& storage = catalog.services().storage;
  txn::HeapOracle oracle{catalog.transaction()};
  const Xid horizon = catalog.services().transactions.compute_horizon();
  storage::HeapBulkWriter writer{
      storage, to, {.xid = {}, .command = {}, .frozen = false, .keep_versions = true}};
  storage::BufferRing ring{storage::BufferRing::Kind::kBulkRead, storage.pool.frame_count()};
  const PageNumber pages = storage.files.size(from.file, Fork::kMain);
  alignas(8) std::byte copy[kPageSize];
  std::uint64_t live = 0;
  for (PageNumber number{0}; number < pages; number = next(number)) {
    shm::check_interrupts();
    shm::set_progress(ClusterProgress::kBlocksTotal, pages.value);
    shm::set_progress(ClusterProgress::kBlocksScanned, number.value + std::int64_t{1});
    {
      const storage::ReadGuard guard = storage.pool.read_page({from.file, Fork::kMain, number}, &ring);
      std::memcpy(copy, guard.page().data(), kPageSize);
    }
    const storage::Page page{copy};
    for (std::uint16_t slot = 1; slot <= page.slot_count(); ++slot) {
      const storage::LinePointer line = page.line(slot);
      if (!line.is_normal()) continue;
      const storage::HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
      const storage::VacuumState state = storage::vacuum_state(tuple, oracle, horizon);
      if (state == storage::VacuumState::kDead) continue;
      const storage::FormedTuple formed{page.item(line), line.length()};
      if (state == storage::VacuumState::kLive) {
        ++live;
        // Whoever locked it is over: our lock on the table waited for them.
        formed.header().xmax = 0;
        formed.header().infomask = static_cast<std::uint16_t>(
            (formed.header().infomask & ~storage::kTupleXmaxBits) | storage::kTupleXmaxInvalid);
        formed.header().infomask2 &= static_cast<std::uint16_t>(~storage::kTupleKeysUpdated);
      }
      writer.add(formed);
      shm::add_progress(ClusterProgress::kTuplesWritten);
    }
  }
  writer.finish();
  return live;
}

/// The table, or its toast table, into a new file; then its indexes. If the process dies before the commit
/// the old files are all there, and the new ones are garbage that the abort of the transaction removes.
std::uint64_t rewrite_one(Catalog& catalog, Oid oid) {
  const RelationRef old = catalog.require_relation(oid);
  replace_relation_file(catalog, oid);
  const RelationRef made = catalog.require_relation(oid);
  const shm::ProgressScope progress{shm::ProgressCommand::kCluster, oid};
  // Numbers of pg_stat_progress_cluster.
  constexpr std::int64_t kVacuumFull = 2, kScanning = 1, kRebuilding = 6, kFinalCleanup = 7;
  shm::set_progress(ClusterProgress::kCommand, kVacuumFull);
  shm::set_progress(ClusterProgress::kPhase, kScanning);
  const std::uint64_t live = copy_versions(catalog, *old, made->heap);
  shm::set_progress(ClusterProgress::kPhase, kRebuilding);
  for (const IndexInfo& index : made->indexes) {
    rebuild_index(catalog, *made, index.oid);
    shm::add_progress(ClusterProgress::kIndexesRebuilt);
  }
  shm::set_progress(ClusterProgress::kPhase, kFinalCleanup);
  const RelationRef done = catalog.require_relation(oid);
  storage::Storage& storage = catalog.services().storage;
  change_class_row(catalog, oid, [&](ClassRow& row) {
    row.relpages = static_cast<std::int32_t>(storage.files.size(done->file, Fork::kMain).value);
    row.reltuples = static_cast<float>(live);
    row.relallvisible = 0;
  });
  for (const IndexInfo& index : done->indexes) {
    change_class_row(catalog, index.oid, [&](ClassRow& row) {
      row.relpages = static_cast<std::int32_t>(storage.files.size(index.file, Fork::kMain).value);
      row.reltuples = index.predicate.empty() ? static_cast<float>(live) : row.reltuples;
    });
  }
  return live;
}

}  // namespace

void rewrite_relation(CommandContext& context, Oid relation, const VacuumOptions& options) {
  Catalog& catalog = context.catalog;
  const RelationRef before = catalog.require_relation(relation);
  const std::uint64_t live = rewrite_one(catalog, relation);
  note_maintenance(catalog, *before, static_cast<double>(live), 0, /*analyzed=*/false);
  if (is_valid(before->toast_table)) rewrite_one(catalog, before->toast_table);
  if (!options.verbose) return;
  const std::string name = "\"" + before->schema_name + "." + before->name + "\"";
  context.client.notice(NoticeLevel::kInfo, SqlError{sqlstate::kSuccessfulCompletion, "vacuuming " + name});
  context.client.notice(
      NoticeLevel::kInfo,
      SqlError{sqlstate::kSuccessfulCompletion, name + ": kept " + std::to_string(live) + " row versions"});
}

}  // namespace pinwheel::sql
