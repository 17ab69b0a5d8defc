#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// A column of a sample, rows in physical order. External and compressed values may be among them.
struct ColumnSample {
  Oid type;
  Oid collation;
  std::int16_t length = 0;  // as in pg_type
  bool by_value = false;
  const Datum* values = nullptr;
  const bool* nulls = nullptr;
  std::size_t rows = 0;
  double total_rows = 0;  // of the table
};

/// What one column's sample says of the column: pg_statistic's numbers.
struct ColumnAnalysis {
  float null_fraction = 0;
  std::int32_t width = 0;
  /// > 0 number of distinct values; < 0 minus their share of the rows; 0 unknown.
  float distinct = 0;
  std::vector<Datum> most_common;
  std::vector<float> frequencies;  // of most_common, as parts of all rows
  std::vector<Datum> histogram;    // bounds of equally full bins, without the most common values
  bool has_correlation = false;
  float correlation = 0;
};

/// Estimates from a sample: most common values and histogram have at most `target` entries (bins), fewer
/// where the values are so wide that pg_statistic's row would not fit a page. Values of more than 1 kB count
/// but are not compared, as in PostgreSQL. The number of distinct values is that of Haas and Stokes,
/// "Estimating the number of classes in a finite population" (1998).
ColumnAnalysis analyze_column(const ColumnSample& sample, int target);

}  // namespace pinwheel::sql
