// ANALYZE: a random sample of rows, and what it says about each column. The estimate of distinct values is
// that of Haas and Stokes, "Estimating the number of classes in a finite population" (1998).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "shm/interrupts.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/commands/vacuum_table.h"
#include "sql/types/array.h"
#include "sql/types/compare.h"
#include "sql/types/type_info.h"
#include "storage/heap/heap_scan.h"
#include "storage/storage.h"
#include "txn/transaction.h"
#include "txn/visibility.h"

namespace pinwheel::sql {
namespace {

constexpr int kRowsPerTarget = 300;
/// Longer values are counted but not compared, as in PostgreSQL.
constexpr std::size_t kWidthLimit = 1024;
constexpr std::int16_t kMostCommonKind = 1, kHistogramKind = 2, kCorrelationKind = 3;

struct Sample {
  std::vector<std::vector<Datum>> values;  // by column, then row
  std::vector<std::vector<std::uint8_t>> nulls;
  std::size_t rows = 0;
  double total_rows = 0;
};

/// Takes up to `wanted` rows: random pages in their order, then a reservoir over their rows.
class Sampler {
 public:
  Sampler(Catalog& catalog, const Relation& table, std::size_t wanted, Arena& arena)
      : catalog_{catalog}, table_{table}, wanted_{wanted}, arena_{arena} {
    sample_.values.resize(table.columns.size());
    sample_.nulls.resize(table.columns.size());
    values_.resize(table.columns.size());
    nulls_ = std::make_unique<bool[]>(table.columns.size());
  }

  Sample take() {
    storage::Heap heap{catalog_.services().storage, table_.heap};
    const txn::SnapshotHandle snapshot = catalog_.transaction().take_latest_snapshot();
    const std::uint32_t pages = heap.page_count().value;
    std::uint32_t visited = 0;
    for (std::uint32_t page = 0; page < pages; ++page) {
      // Each page stays in with the chance that leaves `wanted_` of them in the end.
      const std::uint32_t left = pages - page;
      const std::size_t needed = wanted_ - std::min<std::size_t>(wanted_, visited);
      if (needed == 0) break;
      if (left > needed && random_() % left >= needed) continue;
      ++visited;
      storage::HeapScan<txn::MvccPredicate> scan{heap, txn::MvccPredicate{catalog_.transaction(), *snapshot},
                                                 nullptr, PageNumber{page}, PageNumber{page + 1}};
      for (storage::HeapTupleView tuple = scan.next(); tuple.valid(); tuple = scan.next()) consider(tuple);
    }
    sample_.total_rows = visited == 0 ? 0 : std::floor(static_cast<double>(seen_) / visited * pages + 0.5);
    return std::move(sample_);
  }

 private:
  void consider(const storage::HeapTupleView& tuple) {
    ++seen_;
    std::size_t place = sample_.rows;
    if (sample_.rows < wanted_) {
      ++sample_.rows;
      for (std::size_t i = 0; i < values_.size(); ++i) {
        sample_.values[i].emplace_back();
        sample_.nulls[i].push_back(1);
      }
    } else {
      place = random_() % seen_;
      if (place >= wanted_) return;
    }
    storage::deform(tuple, table_.layout, values_.size(), reinterpret_cast<std::uint64_t*>(values_.data()),
                    nulls_.get());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Column& column = table_.columns[i];
      sample_.nulls[i][place] = nulls_[i] || column.dropped;
      if (nulls_[i] || column.dropped) continue;
      Datum value = values_[i];
      if (column.length == -1 && needs_detoast(value)) {
        value = detoast(value, arena_, catalog_.eval().detoaster);
      }
      sample_.values[i][place] = copy_datum(value, column.length, column.by_value, arena_);
    }
  }

  Catalog& catalog_;
  const Relation& table_;
  std::size_t wanted_;
  Arena& arena_;
  Sample sample_;
  std::uint64_t seen_ = 0;
  std::vector<Datum> values_;
  std::unique_ptr<bool[]> nulls_;
  std::mt19937_64 random_{std::random_device{}()};
};

/// A run of equal values in the sorted sample.
struct Run {
  std::size_t first;
  std::size_t count;
};

class ColumnAnalyzer {
 public:
  ColumnAnalyzer(const Relation& table, const Column& column, const Sample& sample, int target, Arena& arena)
      : column_{column}, sample_{sample}, target_{static_cast<std::size_t>(target)}, arena_{arena} {
    row_.starelid = table.oid;
    row_.staattnum = column.number;
    compare_ = find_compare(column.type);
    context_.collation = column.collation;
  }

  StatisticRow run() {
    collect();
    const auto rows = static_cast<double>(sample_.rows);
    if (sample_.rows == 0) return row_;
    row_.stanullfrac = static_cast<float>(static_cast<double>(null_count_) / rows);
    if (column_.length >= 0) {
      row_.stawidth = column_.length;
    } else if (sample_.rows > null_count_) {
      row_.stawidth = static_cast<std::int32_t>(width_ / static_cast<double>(sample_.rows - null_count_));
    }
    if (compare_ == nullptr || values_.empty()) {
      if (null_count_ == sample_.rows) row_.stadistinct = 0;
      return row_;
    }
    sort();
    estimate_distinct();
    store_most_common();
    store_histogram();
    store_correlation();
    return row_;
  }

 private:
  struct Item {
    Datum value;
    std::uint32_t place;  // in physical order
  };

  void collect() {
    const auto& values = sample_.values[static_cast<std::size_t>(column_.number) - 1];
    const auto& nulls = sample_.nulls[static_cast<std::size_t>(column_.number) - 1];
    for (std::size_t i = 0; i < sample_.rows; ++i) {
      if (nulls[i] != 0) {
        ++null_count_;
        continue;
      }
      const std::size_t size = column_.length >= 0 ? static_cast<std::size_t>(column_.length)
                                                   : datum_size(values[i], column_.length);
      width_ += static_cast<double>(size);
      if (size > kWidthLimit) {
        ++wide_count_;
        continue;
      }
      values_.push_back({values[i], static_cast<std::uint32_t>(values_.size())});
    }
  }

  void sort() {
    std::ranges::sort(values_, [&](const Item& a, const Item& b) {
      const int order = compare_(a.value, b.value, context_);
      return order < 0 || (order == 0 && a.place < b.place);
    });
    for (std::size_t i = 0; i < values_.size();) {
      std::size_t j = i + 1;
      while (j < values_.size() && compare_(values_[i].value, values_[j].value, context_) == 0) ++j;
      runs_.push_back({i, j - i});
      i = j;
    }
  }

  void estimate_distinct() {
    const auto distinct = static_cast<double>(runs_.size());
    const auto once =
        static_cast<double>(std::ranges::count_if(runs_, [](const Run& run) { return run.count == 1; })) +
        static_cast<double>(wide_count_);
    const auto sampled = static_cast<double>(values_.size() + wide_count_);
    const double non_null = sample_.total_rows * (1.0 - row_.stanullfrac);
    double estimate = 0;
    if (once == sampled) {
      estimate = non_null;  // all different: a key
    } else if (once == 0) {
      estimate = distinct;  // each value seen again: all are known
    } else {
      const double all = distinct + static_cast<double>(wide_count_);
      const double denominator = (sampled - once) + once * sampled / std::max(non_null, sampled);
      estimate = denominator > 0 ? sampled * all / denominator : all;
      estimate = std::clamp(estimate, all, std::max(non_null, all));
      estimate = std::floor(estimate + 0.5);
    }
    distinct_ = estimate;
    // More than a tenth of the rows: it will grow with the table.
    const bool scales = once == sampled || estimate > 0.1 * sample_.total_rows;
    if (once == sampled) {
      row_.stadistinct = static_cast<float>(-1.0 * (1.0 - row_.stanullfrac));
    } else if (scales && sample_.total_rows > 0) {
      row_.stadistinct = static_cast<float>(-estimate / sample_.total_rows);
    } else {
      row_.stadistinct = static_cast<float>(estimate);
    }
  }

  void store_most_common() {
    std::vector<std::size_t> by_count(runs_.size());
    std::iota(by_count.begin(), by_count.end(), std::size_t{0});
    std::ranges::stable_sort(by_count,
                             [&](std::size_t a, std::size_t b) { return runs_[a].count > runs_[b].count; });
    const bool all_known = wide_count_ == 0 && row_.stadistinct > 0 && runs_.size() <= target_ &&
                           static_cast<double>(runs_.size()) >= distinct_;
    std::size_t keep = 0;
    if (all_known) {
      keep = runs_.size();
    } else {
      // Values clearly more frequent than the average one.
      const double average = static_cast<double>(values_.size()) / std::max(1.0, distinct_);
      double least = std::max(2.0, average * 1.25);
      const double bins_limit = static_cast<double>(values_.size()) / static_cast<double>(target_);
      least = std::min(least, std::max(2.0, bins_limit));
      while (keep < by_count.size() && keep < target_ &&
             static_cast<double>(runs_[by_count[keep]].count) >= least)
        ++keep;
    }
    common_.assign(runs_.size(), false);
    if (keep == 0) return;
    std::vector<Datum> values;
    const int slot = next_slot_++;
    for (std::size_t i = 0; i < keep; ++i) {
      const Run& run = runs_[by_count[i]];
      common_[by_count[i]] = true;
      values.push_back(values_[run.first].value);
      row_.stanumbers[slot].push_back(
          static_cast<float>(static_cast<double>(run.count) / static_cast<double>(sample_.rows)));
    }
    row_.stakind[slot] = kMostCommonKind;
    store_values(slot, values);
    row_.staop[slot] = equality_operator();
  }

  void store_histogram() {
    std::vector<Datum> rest;
    std::size_t different = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (common_[i]) continue;
      ++different;
      for (std::size_t j = 0; j < runs_[i].count; ++j) rest.push_back(values_[runs_[i].first + j].value);
    }
    if (different < 2) return;
    const std::size_t bounds = std::min(target_ + 1, different);
    std::vector<Datum> values;
    for (std::size_t i = 0; i < bounds; ++i) {
      values.push_back(rest[i * (rest.size() - 1) / (bounds - 1)]);
    }
    const int slot = next_slot_++;
    row_.stakind[slot] = kHistogramKind;
    row_.staop[slot] = less_operator();
    store_values(slot, values);
  }

  void store_correlation() {
    if (values_.size() < 2) return;
    // Places are 0..n-1 in both orders, so sums of them are known.
    double sum_products = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      sum_products += static_cast<double>(i) * static_cast<double>(values_[i].place);
    }
    const auto n = static_cast<double>(values_.size());
    const double sum = (n - 1) * n / 2;
    const double sum_squares = (n - 1) * n * (2 * n - 1) / 6;
    const double correlation = (n * sum_products - sum * sum) / (n * sum_squares - sum * sum);
    const int slot = next_slot_++;
    row_.stakind[slot] = kCorrelationKind;
    row_.staop[slot] = less_operator();
    row_.stacoll[slot] = column_.collation;
    row_.stanumbers[slot] = {static_cast<float>(correlation)};
  }

  void store_values(int slot, const std::vector<Datum>& values) {
    row_.stacoll[slot] = column_.collation;
    row_.stavalues[slot].present = true;
    row_.stavalues[slot].value =
        build_array(arena_, column_.type, values.data(), nullptr, static_cast<int>(values.size()));
  }

  Oid family_member(int strategy) const {
    const BuiltinOperatorClass* operator_class = default_operator_class(column_.type, Oid{403});
    if (operator_class == nullptr) return {};
    return family_operator(operator_class->family, operator_class->input_type, operator_class->input_type,
                           strategy);
  }
  Oid equality_operator() const { return family_member(3); }
  Oid less_operator() const { return family_member(1); }

  const Column& column_;
  const Sample& sample_;
  std::size_t target_;
  Arena& arena_;
  CompareFn compare_ = nullptr;
  CompareContext context_;
  StatisticRow row_;
  std::vector<Item> values_;
  std::vector<Run> runs_;
  std::vector<bool> common_;
  std::size_t null_count_ = 0, wide_count_ = 0;
  double width_ = 0;
  double distinct_ = 0;
  int next_slot_ = 0;
};

void store_statistics(Catalog& catalog, const StatisticRow& row) {
  CatalogScan scan{catalog, kStatisticTable, std::vector<CatalogKey>{{1, row.starelid}, {2, row.staattnum}}};
  if (scan.next()) {
    update_row(catalog, scan.tuple_id(), row);
  } else {
    insert_row(catalog, row);
  }
}

}  // namespace

void analyze_relation(Catalog& catalog, const Relation& table, const std::vector<std::int16_t>& columns,
                      int default_target) {
  std::vector<const Column*> wanted;
  int largest = default_target;
  for (const Column& column : table.columns) {
    const bool listed = columns.empty() || std::ranges::find(columns, column.number) != columns.end();
    if (column.dropped || !listed || column.statistics_target == 0) continue;
    wanted.push_back(&column);
    largest = std::max(largest, column.statistics_target);
  }
  Arena arena;
  Sampler sampler{catalog, table, static_cast<std::size_t>(largest) * kRowsPerTarget, arena};
  const Sample sample = sampler.take();
  for (const Column* column : wanted) {
    shm::check_interrupts();
    const int target = column->statistics_target < 0 ? default_target : column->statistics_target;
    Arena column_arena;
    ColumnAnalyzer analyzer{table, *column, sample, target, column_arena};
    if (sample.rows > 0) store_statistics(catalog, analyzer.run());
  }
  storage::Storage& storage = catalog.services().storage;
  const std::uint32_t pages = storage.files.size(table.file, Fork::kMain).value;
  const auto visible = static_cast<std::uint32_t>(std::max(0, table.all_visible_pages));
  update_relation_statistics(catalog, table.oid, pages, sample.total_rows, std::min(visible, pages));
  for (const IndexInfo& index : table.indexes) {
    const std::uint32_t index_pages = storage.files.size(index.file, Fork::kMain).value;
    update_relation_statistics(catalog, index.oid, index_pages, sample.total_rows, 0);
  }
  catalog.invalidate_statistics(table.oid);
}

}  // namespace pinwheel::sql
