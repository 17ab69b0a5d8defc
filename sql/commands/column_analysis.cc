#include "sql/commands/column_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "sql/types/compare.h"
#include "sql/types/type_info.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {

/// Longer values are not compared.
constexpr std::size_t kWidthLimit = 1024;
/// What may be kept of one column: pg_statistic has no TOAST table, so its row must fit a page with all else
/// in it. Any one most common value and two bounds do.
constexpr std::size_t kMaxKeptBytes = 7'500;
static_assert(3 * (kWidthLimit + 8) < kMaxKeptBytes);

struct Item {
  Datum value;
  std::uint32_t place;  // in physical order
};
/// A run of equal values in the sorted sample.
struct Run {
  std::size_t first;
  std::size_t count;
};

class Analyzer {
 public:
  Analyzer(const ColumnSample& sample, int target)
      : sample_{sample},
        target_{static_cast<std::size_t>(std::max(1, target))},
        compare_{find_compare(sample.type)} {
    context_.collation = sample.collation;
  }

  ColumnAnalysis run() {
    if (sample_.rows == 0) return result_;
    collect();
    const std::size_t non_null = sample_.rows - null_count_;
    result_.null_fraction =
        static_cast<float>(static_cast<double>(null_count_) / static_cast<double>(sample_.rows));
    if (sample_.length > 0) {
      result_.width = sample_.length;
    } else if (non_null > 0) {
      result_.width = static_cast<std::int32_t>(width_ / static_cast<double>(non_null));
    }
    if (compare_ == nullptr || non_null == 0) return result_;
    if (items_.empty()) {
      // All too wide: as if all were different.
      result_.distinct = -(1.0F - result_.null_fraction);
      return result_;
    }
    sort();
    estimate_distinct();
    choose_most_common();
    make_histogram();
    while (kept_bytes() > kMaxKeptBytes && target_ > 1) {
      target_ /= 2;
      choose_most_common();
      make_histogram();
    }
    correlate();
    return result_;
  }

 private:
  void collect() {
    items_.reserve(sample_.rows);
    for (std::size_t i = 0; i < sample_.rows; ++i) {
      if (sample_.nulls[i]) {
        ++null_count_;
        continue;
      }
      const Datum value = sample_.values[i];
      const std::size_t size =
          sample_.length > 0 ? static_cast<std::size_t>(sample_.length) : datum_size(value, sample_.length);
      width_ += static_cast<double>(size);
      const bool is_plain = sample_.length != -1 || !needs_detoast(value);
      if (size > kWidthLimit || !is_plain) {
        ++wide_count_;
        continue;
      }
      items_.push_back({value, static_cast<std::uint32_t>(items_.size())});
    }
  }

  /// Equal bytes are equal values in every type: cheaper to see than by comparing, and common.
  bool same_bytes(Datum a, Datum b) const {
    if (a.bits == b.bits) return true;
    if (sample_.by_value) return false;
    const std::size_t size = datum_size(a, sample_.length);
    return size == datum_size(b, sample_.length) && std::memcmp(a.as_pointer(), b.as_pointer(), size) == 0;
  }
  int compare(Datum a, Datum b) const { return same_bytes(a, b) ? 0 : compare_(a, b, context_); }

  void sort() {
    std::ranges::sort(items_, [&](const Item& a, const Item& b) {
      const int order = compare(a.value, b.value);
      return order < 0 || (order == 0 && a.place < b.place);
    });
    for (std::size_t i = 0; i < items_.size();) {
      std::size_t j = i + 1;
      while (j < items_.size() && compare(items_[i].value, items_[j].value) == 0) ++j;
      runs_.push_back({i, j - i});
      repeated_ += j - i > 1 ? 1 : 0;
      i = j;
    }
  }

  void estimate_distinct() {
    const double present = 1.0 - static_cast<double>(result_.null_fraction);
    double distinct;
    if (repeated_ == 0) {
      result_.distinct = static_cast<float>(-present);  // no value twice: a key
      distinct_ = present * sample_.total_rows;
      return;
    }
    if (wide_count_ == 0 && repeated_ == runs_.size()) {
      distinct = static_cast<double>(runs_.size());  // each value came again: all are known
    } else {
      const auto once = static_cast<double>(runs_.size() - repeated_ + wide_count_);
      const double seen = once + static_cast<double>(repeated_);
      const auto sampled = static_cast<double>(sample_.rows - null_count_);
      const double all = sample_.total_rows * present;
      distinct = all > 0 ? sampled * seen / ((sampled - once) + once * sampled / all) : 0;
      distinct = std::floor(std::min(std::max(distinct, seen), std::max(all, seen)) + 0.5);
    }
    distinct_ = distinct;
    // More than a tenth of the rows: it will grow with the table.
    result_.distinct =
        static_cast<float>(distinct > 0.1 * sample_.total_rows ? -distinct / sample_.total_rows : distinct);
  }

  /// How many of the most frequent values are clearly more frequent than the rest would be on average. The
  /// counts are drawn without replacement, so their deviation is that of the hypergeometric distribution; two
  /// of it count as clear.
  std::size_t count_clear(const std::vector<std::size_t>& order, std::size_t count) const {
    const auto n = static_cast<double>(sample_.rows);
    const double total = sample_.total_rows;
    if (n >= total) return count;  // nothing was left out: all counts are exact
    double in_list = 0;
    for (std::size_t i = 0; i < count; ++i) in_list += static_cast<double>(runs_[order[i]].count);
    while (count > 0) {
      const auto least = static_cast<double>(runs_[order[count - 1]].count);
      in_list -= least;
      const double others = std::max(1.0, distinct_ - static_cast<double>(count - 1));
      const double rest =
          std::clamp(1.0 - in_list / n - static_cast<double>(result_.null_fraction), 0.0, 1.0);
      const double with_value = total * least / n;
      const double variance =
          total > 1 ? n * with_value * (total - with_value) * (total - n) / (total * total * (total - 1)) : 0;
      if (least > rest / others * n + 2 * std::sqrt(std::max(0.0, variance)) + 0.5) break;
      --count;
    }
    return count;
  }

  void choose_most_common() {
    result_.most_common.clear();
    result_.frequencies.clear();
    is_common_.assign(runs_.size(), false);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].count > 1) order.push_back(i);
    }
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return runs_[a].count > runs_[b].count; });
    const bool all_known = order.size() == runs_.size() && wide_count_ == 0 && result_.distinct > 0;
    std::size_t keep = std::min(order.size(), target_);
    if (!(all_known && order.size() <= target_)) keep = count_clear(order, keep);
    for (std::size_t i = 0; i < keep; ++i) {
      const Run& run = runs_[order[i]];
      is_common_[order[i]] = true;
      result_.most_common.push_back(items_[run.first].value);
      result_.frequencies.push_back(
          static_cast<float>(static_cast<double>(run.count) / static_cast<double>(sample_.rows)));
    }
  }

  void make_histogram() {
    result_.histogram.clear();
    std::vector<Datum> rest;
    std::size_t different = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (is_common_[i]) continue;
      ++different;
      for (std::size_t j = 0; j < runs_[i].count; ++j) rest.push_back(items_[runs_[i].first + j].value);
    }
    if (different < 2) return;
    const std::size_t bounds = std::min(target_ + 1, different);
    for (std::size_t i = 0; i < bounds; ++i) {
      result_.histogram.push_back(rest[i * (rest.size() - 1) / (bounds - 1)]);
    }
  }

  /// As elements of arrays, where each is aligned.
  std::size_t kept_bytes() const {
    constexpr std::size_t kAlignment = 8;
    std::size_t bytes = result_.frequencies.size() * sizeof(float);
    for (const auto* values : {&result_.most_common, &result_.histogram}) {
      for (const Datum value : *values) {
        const std::size_t size =
            sample_.length > 0 ? static_cast<std::size_t>(sample_.length) : datum_size(value, sample_.length);
        bytes += sample_.by_value ? size : (size + kAlignment - 1) / kAlignment * kAlignment;
      }
    }
    return bytes;
  }

  /// Pearson's coefficient of the places in both orders. Both are 0..n-1, so their sums are known.
  void correlate() {
    if (items_.size() < 2) return;
    double products = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      products += static_cast<double>(i) * static_cast<double>(items_[i].place);
    }
    const auto n = static_cast<double>(items_.size());
    const double sum = (n - 1) * n / 2;
    const double squares = (n - 1) * n * (2 * n - 1) / 6;
    result_.has_correlation = true;
    result_.correlation = static_cast<float>((n * products - sum * sum) / (n * squares - sum * sum));
  }

  const ColumnSample& sample_;
  std::size_t target_;
  CompareFn compare_;
  CompareContext context_;
  ColumnAnalysis result_;
  std::vector<Item> items_;
  std::vector<Run> runs_;
  std::vector<bool> is_common_;
  std::size_t null_count_ = 0, wide_count_ = 0, repeated_ = 0;
  double width_ = 0;
  double distinct_ = 0;
};

}  // namespace

ColumnAnalysis analyze_column(const ColumnSample& sample, int target) {
  return Analyzer{sample, target}.run();
}

}  // namespace pinwheel::sql
