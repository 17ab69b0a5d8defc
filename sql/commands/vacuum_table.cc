#include "sql/commands/vacuum_table.h"

#include <algorithm>

#include "clog/xid_allocator.h"
#include "shm/interrupts.h"
#include "sql/catalog/catalog_scan.h"
#include "storage/btree/vacuum.h"
#include "storage/heap/vacuum.h"
#include "storage/storage.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// Dead line pointers kept before indexes must be cleaned: 6 bytes of sense each.
constexpr std::size_t kMaxDead = 10'000'000;

bool is_dead(void* context, TupleId id) {
  const auto& dead = *static_cast<const std::vector<TupleId>*>(context);
  return std::ranges::binary_search(dead, id);
}

/// One VACUUM of one relation.
class Vacuum {
 public:
  Vacuum(Catalog& catalog, const Relation& table, const std::function<void()>& pace)
      : catalog_{catalog},
        table_{table},
        pace_{pace},
        heap_{catalog.services().storage, table.heap},
        oracle_{catalog.services().transactions, nullptr},
        horizon_{catalog.services().transactions.compute_horizon()},
        ring_{storage::BufferRing::Kind::kVacuum, heap_.storage().pool.frame_count()} {}

  VacuumReport run() {
    const PageNumber pages = heap_.page_count();
    const bool has_indexes = !table_.indexes.empty();
    for (PageNumber page{0}; page.value < pages.value; page = next(page)) {
      shm::check_interrupts();
      if (dead_.size() + storage::kMaxSlots > kMaxDead) remove_dead();
      const storage::VacuumPageResult found =
          storage::vacuum_page(heap_, page, oracle_, horizon_, has_indexes, dead_, &ring_, visibility_pin_);
      report_.live_tuples += found.live_tuples;
      report_.recently_dead_tuples += found.recently_dead_tuples;
      report_.removed_tuples += found.removed_tuples;
      report_.all_visible_pages += found.all_visible ? 1 : 0;
      if (found.has_tuples) last_used_ = next(page).value;
      if (pace_) pace_();
    }
    remove_dead();
    if (!cleaned_indexes_) clean_indexes();
    visibility_pin_.release();
    report_.pages = pages.value;
    truncate(pages);
    return report_;
  }

 private:
  void remove_dead() {
    if (dead_.empty()) return;
    // Pages are visited in order and their slots too, so the list is sorted as it is.
    clean_indexes();
    for (std::size_t from = 0; from < dead_.size();) {
      shm::check_interrupts();
      std::size_t to = from;
      while (to < dead_.size() && dead_[to].page == dead_[from].page) ++to;
      storage::vacuum_remove_dead_lines(heap_, dead_[from].page, std::span{dead_}.subspan(from, to - from),
                                        oracle_, horizon_, &ring_, visibility_pin_);
      report_.removed_tuples += to - from;
      from = to;
      if (pace_) pace_();
    }
    dead_.clear();
  }

  void clean_indexes() {
    cleaned_indexes_ = true;
    for (const IndexInfo& index : table_.indexes) {
      const storage::BTree tree{heap_.storage(), index.btree};
      storage::BTreeVacuumOptions options;
      if (!dead_.empty()) {
        options.is_dead = &is_dead;
        options.context = &dead_;
      }
      options.next_xid = catalog_.services().ids.next_xid();
      options.horizon = horizon_;
      options.ring = &ring_;
      const storage::BTreeVacuumResult result = storage::vacuum_btree(tree, options);
      update_relation_statistics(catalog_, index.oid, result.pages, static_cast<double>(result.entries_left),
                                 0);
    }
  }

  /// Cuts pages that hold nothing any more off the end, if the table can be had alone without waiting.
  void truncate(PageNumber pages) {
    constexpr std::uint32_t kWorthwhile = 1000;
    const std::uint32_t empty = pages.value - std::min(last_used_, pages.value);
    if (empty == 0 || (empty < kWorthwhile && empty < pages.value / 16)) return;
    txn::SessionLocks& locks = catalog_.transaction().locks();
    const txn::LockTag tag = txn::LockTag::relation(table_.file.database, table_.oid);
    if (locks.lock(tag, txn::LockMode::kAccessExclusive, txn::LockWait::kTry) ==
        txn::LockResult::kNotAvailable)
      return;
    const PageNumber keep = storage::vacuum_truncation_point(heap_, &ring_);
    if (keep.value < pages.value) {
      report_.pages_cut = pages.value - keep.value;
      report_.pages = keep.value;
      storage::truncate_relation(heap_.storage(), table_.heap, keep);
    }
    locks.unlock(tag, txn::LockMode::kAccessExclusive);
  }

  Catalog& catalog_;
  const Relation& table_;
  const std::function<void()>& pace_;
  storage::Heap heap_;
  txn::HeapOracle oracle_;
  Xid horizon_;
  storage::BufferRing ring_;
  storage::Pin visibility_pin_;
  std::vector<TupleId> dead_;
  std::uint32_t last_used_ = 0;  // pages up to here hold something
  bool cleaned_indexes_ = false;
  VacuumReport report_;
};

}  // namespace

void update_relation_statistics(Catalog& catalog, Oid relation, std::uint32_t pages, double tuples,
                                std::uint32_t all_visible_pages) {
  CatalogScan scan{catalog, kClassTable, std::vector<CatalogKey>{{1, relation}}};
  if (!scan.next()) return;
  ClassRow row;
  scan.read(row);
  const auto new_pages = static_cast<std::int32_t>(pages);
  const auto new_tuples = static_cast<float>(tuples);
  const auto new_visible = static_cast<std::int32_t>(all_visible_pages);
  if (row.relpages == new_pages && row.reltuples == new_tuples && row.relallvisible == new_visible) return;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
  const std::size_t columns = scan.table().columns.size();
  std::copy_n(scan.values(), columns, values);
  std::copy_n(scan.nulls(), columns, nulls);
  values[9] = Datum::from_int32(new_pages);
  values[10] = Datum::from_float4(new_tuples);
  values[11] = Datum::from_int32(new_visible);
  overwrite_values(catalog, kClassTable, scan.tuple_id(), values, nulls);
  if (relation >= kFirstNormalOid) catalog.invalidate_relation(relation);
}

VacuumReport vacuum_relation(Catalog& catalog, const Relation& table, const std::function<void()>& pace) {
  Vacuum vacuum{catalog, table, pace};
  const VacuumReport report = vacuum.run();
  update_relation_statistics(catalog, table.oid, report.pages, static_cast<double>(report.live_tuples),
                             report.all_visible_pages);
  return report;
}

}  // namespace pinwheel::sql
