#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/catalog/ref.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// What ANALYZE found about one column (pg_statistic). Immutable, shared like Relation.
class ColumnStatistics : public RefCounted {
 public:
  float null_fraction = 0;
  std::int32_t average_width = 0;
  /// > 0 number of distinct values; < 0 minus their share of the rows; 0 unknown.
  float distinct = 0;
  Oid type;
  std::vector<Datum> most_common;  // bytes lie in `values`
  std::vector<float> most_common_frequencies;
  std::vector<Datum> histogram;  // bounds of bins that hold equally many rows
  bool has_correlation = false;
  float correlation = 0;  // of value order with physical order

  Arena values;
};

using ColumnStatisticsRef = Ref<ColumnStatistics>;

}  // namespace pinwheel::sql
