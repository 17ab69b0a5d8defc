#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/parameters.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "shm/progress.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/column_analysis.h"
#include "sql/commands/relation_size.h"
#include "sql/commands/support.h"
#include "sql/commands/vacuum.h"
#include "sql/commands/vacuum_pacer.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"
#include "storage/heap/vacuum.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// Rows sampled per entry of the statistics target: enough for histograms that err by at most half a bin
/// (Chaudhuri, Motwani, Narasayya, "Random sampling for histogram construction", 1998).
constexpr std::size_t kRowsPerTarget = 300;
constexpr std::int16_t kMostCommonKind = 1, kHistogramKind = 2, kCorrelationKind = 3;

struct SampledRow {
  TupleId id;
  std::byte* bytes = nullptr;
  std::uint16_t length = 0;
  std::uint16_t room = 0;
};

/// Takes rows in two stages: random pages in their order, then a reservoir over the rows on them.
class Sampler {
 public:
  Sampler(CommandContext& context, const Relation& relation, std::size_t wanted)
      : relation_{relation},
        storage_{context.catalog.services().storage},
        oracle_{context.catalog.transaction()},
        horizon_{context.catalog.services().transactions.compute_horizon()},
        ring_{storage::BufferRing::Kind::kVacuum, storage_.pool.frame_count()},
        pacer_{context.settings},
        wanted_{wanted} {}

  void run() {
    pages_ = storage_.files.size(relation_.file, Fork::kMain).value;
    shm::set_progress(shm::AnalyzeProgress::kBlocksTotal,
                      std::min<std::int64_t>(pages_, static_cast<std::int64_t>(wanted_)));
    for (std::uint32_t number = 0; number < pages_; ++number) {
      const std::size_t needed = wanted_ - std::min<std::size_t>(wanted_, visited_);
      const std::uint32_t left = pages_ - number;
      if (needed == 0) break;
      if (left > needed && random_() % left >= needed) continue;
      shm::check_interrupts();
      read_page(PageNumber{number});
      ++visited_;
      shm::set_progress(shm::AnalyzeProgress::kBlocksScanned, visited_);
      pacer_.page_read();
    }
    std::ranges::sort(rows_, [](const SampledRow& a, const SampledRow& b) { return a.id < b.id; });
  }

  const std::vector<SampledRow>& rows() const { return rows_; }
  std::uint32_t pages() const { return pages_; }
  std::uint32_t visited() const { return visited_; }
  std::uint64_t live() const { return live_; }
  std::uint64_t dead() const { return dead_; }
  double total_rows() const {
    return visited_ == 0 ? 0 : std::floor(static_cast<double>(live_) / visited_ * pages_ + 0.5);
  }

 private:
  void read_page(PageNumber number) {
    const storage::ReadGuard guard = storage_.pool.read_page({relation_.file, Fork::kMain, number}, &ring_);
    const storage::ConstPage page = guard.page();
    for (std::uint16_t slot = 1; slot <= page.slot_count(); ++slot) {
      const storage::LinePointer line = page.line(slot);
      if (!line.is_normal()) continue;
      const storage::HeapTupleView tuple{page.item(line), line.length(), {number, slot}};
      switch (storage::vacuum_state(tuple, oracle_, horizon_)) {
        case storage::VacuumState::kLive:
        case storage::VacuumState::kDeleteInProgress:
          consider(tuple);
          break;
        case storage::VacuumState::kInsertInProgress:
          // Rows of our own transaction count: ANALYZE after a load in one transaction.
          if (oracle_.state(tuple.xmin()) == storage::XidState::kSelf) consider(tuple);
          break;
        case storage::VacuumState::kDead:
        case storage::VacuumState::kRecentlyDead:
          ++dead_;
          break;
      }
    }
  }

  void consider(const storage::HeapTupleView& tuple) {
    ++live_;
    SampledRow* row;
    if (rows_.size() < wanted_) {
      row = &rows_.emplace_back();
    } else {
      const std::uint64_t place = random_() % live_;
      if (place >= wanted_) return;
      row = &rows_[place];
    }
    if (row->room < tuple.length()) {
      row->bytes = static_cast<std::byte*>(arena_.allocate(tuple.length()));
      row->room = tuple.length();
    }
    row->id = tuple.id();
    row->length = tuple.length();
    std::memcpy(row->bytes, tuple.bytes(), tuple.length());
  }

  const Relation& relation_;
  storage::Storage& storage_;
  txn::HeapOracle oracle_;
  Xid horizon_;
  storage::BufferRing ring_;
  VacuumPacer pacer_;
  std::size_t wanted_;
  Arena arena_;
  std::vector<SampledRow> rows_;
  std::uint32_t pages_ = 0, visited_ = 0;
  std::uint64_t live_ = 0, dead_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
};

/// One column of the sampled rows as datums.
class ColumnReader {
 public:
  ColumnReader(Catalog& catalog, const Relation& relation, const std::vector<SampledRow>& rows)
      : catalog_{catalog},
        relation_{relation},
        rows_{rows},
        values_(rows.size()),
        nulls_{new bool[rows.size() + 1]} {}

  ColumnSample read(const Column& column, double total_rows) {
    arena_.reset();
    constexpr std::size_t kWorthFetching = 1024;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const storage::HeapTupleView tuple{rows_[i].bytes, rows_[i].length, rows_[i].id};
      bool is_null = false;
      Datum value{storage::fetch_attribute(tuple, relation_.layout,
                                           static_cast<std::size_t>(column.number) - 1, is_null)};
      if (!is_null && column.length == -1 && needs_detoast(value) && var_raw_size(value) <= kWorthFetching) {
        value = detoast(value, arena_, catalog_.eval().detoaster);
      }
      values_[i] = value;
      nulls_[i] = is_null;
    }
    return {column.type,    column.collation, column.length, column.by_value,
            values_.data(), nulls_.get(),     rows_.size(),  total_rows};
  }

 private:
  Catalog& catalog_;
  const Relation& relation_;
  const std::vector<SampledRow>& rows_;
  Arena arena_;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
};

Oid order_operator(Oid type, int strategy) {
  const BuiltinOperatorClass* order = default_operator_class(type, kBtreeMethod);
  if (order == nullptr) return {};
  return family_operator(order->family, order->input_type, order->input_type, strategy);
}

StatisticRow make_row(Oid relation, const Column& column, const ColumnAnalysis& found, Arena& arena) {
  constexpr int kLess = 1, kEqual = 3;  // strategies
  StatisticRow row;
  row.starelid = relation;
  row.staattnum = column.number;
  row.stanullfrac = found.null_fraction;
  row.stawidth = found.width;
  row.stadistinct = found.distinct;
  int slot = 0;
  const auto begin_slot = [&](std::int16_t kind, int strategy) {
    row.stakind[slot] = kind;
    row.staop[slot] = order_operator(column.type, strategy);
    row.stacoll[slot] = column.collation;
  };
  const auto put_values = [&](const std::vector<Datum>& values) {
    row.stavalues[slot] = {
        true, build_array(arena, column.type, values.data(), nullptr, static_cast<int>(values.size()))};
  };
  const bool has_array_type = find_type(column.type) != nullptr;
  if (!found.most_common.empty() && has_array_type) {
    begin_slot(kMostCommonKind, kEqual);
    put_values(found.most_common);
    row.stanumbers[slot++] = found.frequencies;
  }
  if (!found.histogram.empty() && has_array_type) {
    begin_slot(kHistogramKind, kLess);
    put_values(found.histogram);
    ++slot;
  }
  if (found.has_correlation) {
    begin_slot(kCorrelationKind, kLess);
    row.stanumbers[slot++] = {found.correlation};
  }
  return row;
}

void store_row(Catalog& catalog, const StatisticRow& row) {
  CatalogScan scan{catalog, kStatisticTable, std::vector<CatalogKey>{{1, row.starelid}, {2, row.staattnum}}};
  if (scan.next()) {
    update_row(catalog, scan.tuple_id(), row);
  } else {
    insert_row(catalog, row);
  }
}

std::vector<const Column*> choose_columns(const Relation& relation, std::span<std::string_view> names) {
  std::vector<const Column*> columns;
  if (names.empty()) {
    for (const Column& column : relation.columns) {
      if (!column.dropped && column.statistics_target != 0) columns.push_back(&column);
    }
    return columns;
  }
  for (const std::string_view name : names) {
    const Column* column = relation.find_column(name);
    if (column == nullptr) {
      throw SqlError{sqlstate::kUndefinedColumn, "column " + in_quotes(name) + " of relation " +
                                                     in_quotes(relation.name) + " does not exist"};
    }
    if (std::ranges::find(columns, column) != columns.end()) {
      throw SqlError{sqlstate::kDuplicateColumn, "column " + in_quotes(name) + " of relation " +
                                                     in_quotes(relation.name) + " appears more than once"};
    }
    if (column->statistics_target != 0) columns.push_back(column);
  }
  return columns;
}

}  // namespace

void analyze_relation(CommandContext& context, const Relation& relation, std::span<std::string_view> names,
                      const VacuumOptions& options) {
  Catalog& catalog = context.catalog;
  const std::vector<const Column*> columns = choose_columns(relation, names);
  const std::string full_name = relation.schema_name + "." + relation.name;
  const auto inform = [&](std::string text) {
    if (!options.verbose) return;
    context.client.notice(NoticeLevel::kInfo, SqlError{sqlstate::kSuccessfulCompletion, std::move(text)});
  };
  inform("analyzing \"" + full_name + "\"");
  const shm::ProgressScope progress{shm::ProgressCommand::kAnalyze, relation.oid};
  // Phases as pg_stat_progress_analyze numbers them.
  constexpr std::int64_t kAcquiringRows = 1, kComputing = 3, kFinalizing = 5;
  shm::set_progress(shm::AnalyzeProgress::kPhase, kAcquiringRows);
  const int default_target = static_cast<int>(context.settings.get_int(param::kDefaultStatisticsTarget));
  const auto target_of = [&](const Column& column) {
    return column.statistics_target < 0 ? default_target : column.statistics_target;
  };
  int largest = default_target;
  for (const Column* column : columns) largest = std::max(largest, target_of(*column));
  Sampler sampler{context, relation, static_cast<std::size_t>(largest) * kRowsPerTarget};
  sampler.run();
  inform(fmt::format(
      "\"{}\": scanned {} of {} pages, containing {} live rows and {} dead rows; {} rows in sample, {} "
      "estimated total rows",
      relation.name, sampler.visited(), sampler.pages(), sampler.live(), sampler.dead(),
      sampler.rows().size(), sampler.total_rows()));
  shm::set_progress(shm::AnalyzeProgress::kPhase, kComputing);
  if (!sampler.rows().empty()) {
    ColumnReader reader{catalog, relation, sampler.rows()};
    for (const Column* column : columns) {
      shm::check_interrupts();
      Arena arena;
      const ColumnAnalysis found =
          analyze_column(reader.read(*column, sampler.total_rows()), target_of(*column));
      store_row(catalog, make_row(relation.oid, *column, found, arena));
    }
    catalog.invalidate_statistics(relation.oid);
  }
  shm::set_progress(shm::AnalyzeProgress::kPhase, kFinalizing);
  const double dead =
      sampler.visited() == 0 ? 0 : static_cast<double>(sampler.dead()) / sampler.visited() * sampler.pages();
  note_maintenance(catalog, relation, sampler.total_rows(), dead, /*analyzed=*/true);
  storage::Storage& storage = catalog.services().storage;
  const auto visible = static_cast<std::int64_t>(storage.visibility.count(relation.file));
  record_relation_size(catalog, relation.oid, sampler.pages(), sampler.total_rows(),
                       std::min<std::int64_t>(visible, sampler.pages()));
  for (const IndexInfo& index : relation.indexes) {
    const double tuples = index.predicate.empty() ? sampler.total_rows() : -1;
    record_relation_size(catalog, index.oid, storage.files.size(index.file, Fork::kMain).value, tuples, -1);
  }
}

}  // namespace pinwheel::sql
