#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/parameters.h"
#include "base/sqlstate.h"
#include "clog/xid_allocator.h"
#include "shm/interrupts.h"
#include "shm/progress.h"
#include "sql/commands/relation_size.h"
#include "sql/commands/support.h"
#include "sql/commands/vacuum.h"
#include "sql/commands/vacuum_pacer.h"
#include "storage/btree/vacuum.h"
#include "storage/heap/vacuum.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// An empty tail shorter than both is not worth a lock that keeps everybody out.
constexpr std::uint32_t kWorthTruncatingPages = 1000;
constexpr std::uint32_t kWorthTruncatingPart = 16;

using shm::VacuumProgress;

// Phases as pg_stat_progress_vacuum numbers them.
constexpr std::int64_t kScanningHeap = 1, kVacuumingIndexes = 2, kVacuumingHeap = 3, kTruncatingHeap = 5,
                       kFinalCleanup = 6;

/// The rows that indexes must forget, in order of their place.
class DeadRows {
 public:
  explicit DeadRows(std::size_t limit) : limit_{limit} {}

  std::vector<TupleId>& list() { return ids_; }
  bool empty() const { return ids_.empty(); }
  bool full() const { return ids_.size() >= limit_; }
  std::size_t limit() const { return limit_; }
  void clear() { ids_.clear(); }

  static bool contains(void* self, TupleId id) {
    const std::vector<TupleId>& ids = static_cast<DeadRows*>(self)->ids_;
    return std::binary_search(ids.begin(), ids.end(), id);
  }

 private:
  std::vector<TupleId> ids_;
  std::size_t limit_;
};

/// One VACUUM of one heap and its indexes.
class HeapVacuum {
 public:
  HeapVacuum(CommandContext& context, const Relation& relation, const VacuumOptions& options)
      : context_{context},
        relation_{relation},
        options_{options},
        storage_{context.catalog.services().storage},
        transaction_{context.catalog.transaction()},
        oracle_{transaction_},
        horizon_{context.catalog.services().transactions.compute_horizon()},
        heap_{storage_, relation.heap},
        ring_{storage::BufferRing::Kind::kVacuum, storage_.pool.frame_count()},
        pacer_{context.settings},
        dead_{static_cast<std::size_t>(context.settings.get_int(param::kMaintenanceWorkMem)) * 1024 /
              sizeof(TupleId)},
        index_sizes_(relation.indexes.size()) {}

  void run() {
    const shm::ProgressScope progress{shm::ProgressCommand::kVacuum, relation_.oid};
    pages_ = heap_.page_count().value;
    shm::set_progress(VacuumProgress::kBlocksTotal, pages_);
    shm::set_progress(VacuumProgress::kMaxDeadTuples, static_cast<std::int64_t>(dead_.limit()));
    shm::set_progress(VacuumProgress::kPhase, kScanningHeap);
    scan_heap();
    if (!dead_.empty()) remove_dead();
    visibility_pin_.release();
    shm::set_progress(VacuumProgress::kPhase, kTruncatingHeap);
    if (options_.truncate) truncate_tail();
    shm::set_progress(VacuumProgress::kPhase, kFinalCleanup);
    record_sizes();
    if (options_.verbose) report();
  }

 private:
  struct IndexSize {
    bool known = false;
    std::uint32_t pages = 0;
    std::uint64_t entries = 0;
  };

  void scan_heap() {
    const bool has_indexes = !relation_.indexes.empty();
    storage::Pin map_pin;
    for (std::uint32_t number = 0; number < pages_; ++number) {
      shm::check_interrupts();
      shm::set_progress(VacuumProgress::kBlocksScanned, number);
      const PageNumber page{number};
      const bool skippable =
          options_.use_visibility_map && storage_.visibility.is_all_visible(relation_.file, page, map_pin);
      const bool is_probe = skippable && may_probe(number);
      if (skippable && !is_probe) {
        last_used_ = number + 1;
        continue;
      }
      map_pin.release();
      if (dead_.full()) remove_dead();
      const storage::VacuumPageResult found = storage::vacuum_page(
          heap_, page, oracle_, horizon_, has_indexes, dead_.list(), &ring_, visibility_pin_);
      ++scanned_;
      live_ += found.live_tuples;
      if (is_probe) {
        ++probes_;
        probe_live_ += found.live_tuples;
      }
      kept_ += found.recently_dead_tuples;
      removed_ += found.removed_tuples;
      if (found.has_tuples && found.live_tuples + found.recently_dead_tuples > 0) last_used_ = number + 1;
      pacer_.page_read();
      if (found.removed_tuples > 0) pacer_.page_dirtied();
      shm::set_progress(VacuumProgress::kDeadTuples, static_cast<std::int64_t>(dead_.list().size()));
    }
    shm::set_progress(VacuumProgress::kBlocksScanned, pages_);
  }

  /// A page that is read though nothing is to be done there: some must tell how many rows a page has.
  bool may_probe(std::uint32_t number) const {
    constexpr std::uint32_t kProbes = 32;
    return relation_.tuples < 0 && number % std::max(1u, pages_ / kProbes) == 0;
  }

  /// Indexes forget the dead rows, then the heap may use their line pointers again. If the process dies in
  /// between, the pointers are still there and the next VACUUM finds them.
  void remove_dead() {
    if (options_.index_cleanup == VacuumOptions::IndexCleanup::kOff) {
      dead_.clear();
      return;
    }
    visibility_pin_.release();
    shm::set_progress(VacuumProgress::kPhase, kVacuumingIndexes);
    for (std::size_t i = 0; i < relation_.indexes.size(); ++i) {
      const IndexInfo& index = relation_.indexes[i];
      const storage::BTree tree{storage_, index.btree};
      storage::BTreeVacuumOptions options;
      options.is_dead = &DeadRows::contains;
      options.context = &dead_;
      options.next_xid = context_.catalog.services().ids.next_xid();
      options.horizon = horizon_;
      options.ring = &ring_;
      const storage::BTreeVacuumResult result = storage::vacuum_btree(tree, options);
      index_sizes_[i] = {true, result.pages, result.entries_left};
    }
    shm::set_progress(VacuumProgress::kIndexPasses, ++index_scans_);
    shm::set_progress(VacuumProgress::kPhase, kVacuumingHeap);
    const std::vector<TupleId>& ids = dead_.list();
    std::size_t at = 0;
    while (at < ids.size()) {
      shm::check_interrupts();
      std::size_t end = at;
      while (end < ids.size() && ids[end].page == ids[at].page) ++end;
      storage::vacuum_remove_dead_lines(heap_, ids[at].page, std::span{ids}.subspan(at, end - at), oracle_,
                                        horizon_, &ring_, visibility_pin_);
      pacer_.page_dirtied();
      shm::set_progress(VacuumProgress::kBlocksVacuumed, ids[at].page.value + std::int64_t{1});
      at = end;
    }
    visibility_pin_.release();
    dead_.clear();
    shm::set_progress(VacuumProgress::kDeadTuples, 0);
    shm::set_progress(VacuumProgress::kPhase, kScanningHeap);
  }

  void truncate_tail() {
    const std::uint32_t empty = pages_ - std::min(last_used_, pages_);
    if (empty == 0 || (empty < kWorthTruncatingPages && empty < pages_ / kWorthTruncatingPart)) return;
    const Oid database = relation_.shared ? kInvalidOid : context_.catalog.eval().database;
    // Whoever uses the table has precedence.
    const txn::LockResult got = transaction_.locks().lock_relation(
        database, relation_.oid, txn::LockMode::kAccessExclusive, txn::LockWait::kTry);
    if (got == txn::LockResult::kNotAvailable) return;
    if (heap_.page_count().value == pages_) {
      const PageNumber keep = storage::vacuum_truncation_point(heap_, &ring_);
      if (keep.value < pages_) {
        storage::truncate_relation(storage_, relation_.heap, keep);
        truncated_ = pages_ - keep.value;
        pages_ = keep.value;
      }
    }
    transaction_.locks().unlock(txn::LockTag::relation(database, relation_.oid),
                                txn::LockMode::kAccessExclusive);
  }

  /// Rows of the whole table, when pages were left out: those have as many rows as was known before, or as
  /// the probes have. -1 when nothing tells.
  double estimate_tuples() const {
    const std::uint32_t total = pages_ + truncated_;
    if (scanned_ >= total) return static_cast<double>(live_);
    const std::uint32_t skipped = total - scanned_;
    if (relation_.tuples < 0 || relation_.pages <= 0) {
      if (probes_ == 0) return -1;
      return static_cast<double>(live_) + static_cast<double>(probe_live_) / probes_ * skipped;
    }
    // A few pages at the same length say nothing new about the rest.
    constexpr double kFewPages = 0.02;
    if (scanned_ < total * kFewPages && static_cast<std::uint32_t>(relation_.pages) == total)
      return relation_.tuples;
    return static_cast<double>(relation_.tuples) / relation_.pages * skipped + static_cast<double>(live_);
  }

  void record_sizes() {
    Catalog& catalog = context_.catalog;
    const double tuples = estimate_tuples();
    const auto visible = static_cast<std::int64_t>(storage_.visibility.count(relation_.file));
    note_maintenance(catalog, relation_, std::max(tuples, 0.0), static_cast<double>(kept_),
                     /*analyzed=*/false);
    record_relation_size(catalog, relation_.oid, pages_, tuples, std::min<std::int64_t>(visible, pages_));
    for (std::size_t i = 0; i < relation_.indexes.size(); ++i) {
      const IndexInfo& index = relation_.indexes[i];
      const IndexSize& size = index_sizes_[i];
      const std::int64_t pages = size.known ? size.pages : storage_.files.size(index.file, Fork::kMain).value;
      const double entries = size.known                ? static_cast<double>(size.entries)
                             : index.predicate.empty() ? tuples
                                                       : -1.0;
      record_relation_size(catalog, index.oid, pages, entries, 0);
    }
  }

  void report() {
    const std::string name =
        context_.catalog.eval().database_name + "." + relation_.schema_name + "." + relation_.name;
    const std::uint32_t total = pages_ + truncated_;
    const double part = total == 0 ? 100.0 : 100.0 * scanned_ / total;
    context_.client.notice(
        NoticeLevel::kInfo,
        SqlError{sqlstate::kSuccessfulCompletion,
                 fmt::format("finished vacuuming \"{}\": index scans: {}\n"
                             "pages: {} removed, {} remain, {} scanned ({:.2f}% of total)\n"
                             "tuples: {} removed, {} remain, {} are dead but not yet removable",
                             name, index_scans_, truncated_, pages_, scanned_, part, removed_,
                             static_cast<std::uint64_t>(std::max(0.0, estimate_tuples())) + kept_, kept_)});
  }

  CommandContext& context_;
  const Relation& relation_;
  const VacuumOptions& options_;
  storage::Storage& storage_;
  txn::Transaction& transaction_;
  txn::HeapOracle oracle_;
  Xid horizon_;
  storage::Heap heap_;
  storage::BufferRing ring_;
  storage::Pin visibility_pin_;
  VacuumPacer pacer_;
  DeadRows dead_;
  std::vector<IndexSize> index_sizes_;
  std::uint32_t pages_ = 0;
  std::uint32_t scanned_ = 0;
  std::uint32_t last_used_ = 0;  // pages up to the last with rows that stay
  std::uint32_t truncated_ = 0;
  std::uint32_t index_scans_ = 0;
  std::uint32_t probes_ = 0;  // all-visible pages read to see how many rows such a page has
  std::uint64_t probe_live_ = 0;
  std::uint64_t live_ = 0, kept_ = 0, removed_ = 0;
};

}  // namespace

void vacuum_relation(CommandContext& context, const Relation& relation, const VacuumOptions& options) {
  if (options.verbose) {
    context.client.notice(NoticeLevel::kInfo,
                          SqlError{sqlstate::kSuccessfulCompletion,
                                   "vacuuming \"" + context.catalog.eval().database_name + "." +
                                       relation.schema_name + "." + relation.name + "\""});
  }
  HeapVacuum{context, relation, options}.run();
}

}  // namespace pinwheel::sql
