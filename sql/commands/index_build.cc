#include "sql/commands/index_build.h"

#include <array>

#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/progress.h"
#include "sql/commands/index_keys.h"
#include "sql/commands/support.h"
#include "storage/btree/btree.h"
#include "storage/btree/build.h"
#include "storage/heap/vacuum.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

struct DuplicateReport {
  Catalog& catalog;
  const Relation& table;
  const IndexInfo& index;
};

void report_duplicate(void* context, const std::uint64_t* values, const bool* nulls) {
  const auto& report = *static_cast<const DuplicateReport*>(context);
  throw SqlError{sqlstate::kUniqueViolation, "could not create unique index " + in_quotes(report.index.name)}
      .detail("Key " + describe_key(report.catalog, report.table, report.index, values, nulls) +
              " is duplicated.")
      .table(report.table.schema_name, report.table.name)
      .constraint(report.index.name);
}

/// A version of a page to be indexed, and the slot that index entries of its chain name.
struct Entry {
  std::uint16_t slot;
  std::uint16_t root;
  bool is_live;
};

/// Finds on one latched page which versions an index must have. All that some snapshot may see, but of a HOT
/// chain only the newest that counts: older ones may have other keys, and their snapshots are older than the
/// index.
class PageReader {
 public:
  PageReader(txn::Transaction& transaction, Xid horizon)
      : transaction_{transaction}, oracle_{transaction}, horizon_{horizon} {}

  void read(storage::ConstPage page, PageNumber number, std::vector<Entry>& entries) {
    entries.clear();
    const std::uint16_t slots = page.slot_count();
    roots_.fill(0);
    for (std::uint16_t slot = 1; slot <= slots; ++slot) {
      const storage::LinePointer line = page.line(slot);
      if (line.is_normal()) {
        const storage::HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
        if (!tuple.is_heap_only()) follow(page, number, slot, slot);
      } else if (line.is_redirect()) {
        follow(page, number, slot, line.redirect_to());
      }
    }
    for (std::uint16_t slot = 1; slot <= slots; ++slot) {
      const storage::LinePointer line = page.line(slot);
      if (!line.is_normal() || roots_[slot] == 0) continue;
      const storage::HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
      bool is_live = false;
      if (is_wanted(tuple, &is_live)) entries.push_back({slot, roots_[slot], is_live});
    }
  }

 private:
  void follow(storage::ConstPage page, PageNumber number, std::uint16_t root, std::uint16_t slot) {
    while (slot != 0 && slot <= page.slot_count() && page.line(slot).is_normal() && roots_[slot] == 0) {
      roots_[slot] = root;
      const storage::HeapTupleView tuple{
          page.item(page.line(slot)), page.line(slot).length(), {number, slot}};
      if (!tuple.is_hot_updated()) return;
      slot = tuple.next().slot;
    }
  }

  bool is_wanted(const storage::HeapTupleView& tuple, bool* is_live) {
    switch (storage::vacuum_state(tuple, oracle_, horizon_)) {
      case storage::VacuumState::kDead:
        return false;
      case storage::VacuumState::kRecentlyDead:
        return !tuple.is_hot_updated();
      case storage::VacuumState::kLive:
      case storage::VacuumState::kInsertInProgress:
        *is_live = true;
        return true;
      case storage::VacuumState::kDeleteInProgress:
        if (tuple.is_hot_updated()) return false;
        *is_live = !transaction_.is_own(tuple.xmax());
        return true;
    }
    return false;
  }

  txn::Transaction& transaction_;
  txn::HeapOracle oracle_;
  Xid horizon_;
  std::array<std::uint16_t, storage::kMaxSlots + 2> roots_{};
};

}  // namespace

void build_empty_index(Catalog& catalog, const IndexInfo& index, Fork fork) {
  storage::create_empty_btree(catalog.services().storage, index.file, fork, index.btree.persistence,
                              catalog.transaction().assign_xid());
}

void build_index(Catalog& catalog, const Relation& table, const IndexInfo& index, bool again) {
  storage::Storage& storage = catalog.services().storage;
  txn::Transaction& transaction = catalog.transaction();
  DuplicateReport report{catalog, table, index};
  storage::BTreeBuildOptions options;
  options.temporary_directory = storage.files.data_directory() + "/base/pgsql_tmp";
  options.xid = transaction.assign_xid();
  options.report_duplicate = &report_duplicate;
  options.context = &report;
  storage::BTreeBuild build{storage, index.btree, options};
  storage::Heap heap{storage, table.heap};
  PageReader reader{transaction, catalog.services().transactions.compute_horizon()};
  IndexKeyReader keys{catalog, table, index};
  std::vector<Entry> entries;
  const PageNumber pages = heap.page_count();
  const shm::ProgressScope progress{shm::ProgressCommand::kCreateIndex, table.oid};
  using shm::CreateIndexProgress;
  // Numbers of pg_stat_progress_create_index: CREATE INDEX or REINDEX; building; scanning, then loading.
  constexpr std::int64_t kCreate = 1, kReindex = 3, kBuilding = 2, kScanning = 2, kLoading = 5;
  shm::set_progress(CreateIndexProgress::kCommand, again ? kReindex : kCreate);
  shm::set_progress(CreateIndexProgress::kIndex, index.oid.value);
  shm::set_progress(CreateIndexProgress::kPhase, kBuilding);
  shm::set_progress(CreateIndexProgress::kSubphase, kScanning);
  shm::set_progress(CreateIndexProgress::kBlocksTotal, pages.value);
  std::optional<storage::BufferRing> ring;
  if (pages.value > storage.pool.frame_count() / 4) {
    ring.emplace(storage::BufferRing::Kind::kBulkRead, storage.pool.frame_count());
  }
  for (PageNumber page{0}; page.value < pages.value; page = next(page)) {
    shm::check_interrupts();
    shm::set_progress(CreateIndexProgress::kBlocksDone, page.value);
    const storage::Pin pin =
        storage.pool.pin({table.file, Fork::kMain, page}, ring.has_value() ? &*ring : nullptr);
    {
      storage::ReadGuard guard = pin.read();
      reader.read(guard.page(), page, entries);
    }
    // The pin keeps the versions where they are: pruning needs the page for itself.
    for (const Entry& entry : entries) {
      const storage::LinePointer line = pin.unlatched().line(entry.slot);
      const storage::HeapTupleView tuple{pin.unlatched().item(line), line.length(), {page, entry.slot}};
      if (!keys.read(tuple)) continue;
      build.add(keys.values(), keys.nulls(), {page, entry.root}, entry.is_live);
    }
  }
  shm::set_progress(CreateIndexProgress::kBlocksDone, pages.value);
  shm::set_progress(CreateIndexProgress::kSubphase, kLoading);
  build.finish();
}

}  // namespace pinwheel::sql
