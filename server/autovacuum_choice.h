#pragma once

#include <string>
#include <vector>

#include "base/settings.h"
#include "sql/catalog/catalog.h"
#include "sql/statistics/table_statistics.h"

namespace pinwheel::server {

/// What one table needs.
struct AutovacuumTask {
  std::string schema, table;
  bool vacuum = false;
  bool analyze = false;
};

/// The thresholds of one table: the server's settings, or the table's own storage parameters.
struct AutovacuumLimits {
  bool enabled = true;
  double vacuum_threshold, vacuum_scale;
  double insert_threshold, insert_scale;  // threshold < 0: inserts alone never ask for a vacuum
  double analyze_threshold, analyze_scale;

  /// `options`: "name=value", as in pg_class.reloptions.
  AutovacuumLimits(const Settings& settings, const std::vector<std::string>& options);
  /// `tuples` < 0: never counted.
  bool needs_vacuum(const sql::TableActivity& activity, double tuples) const;
  bool needs_analyze(const sql::TableActivity& activity, double tuples) const;
};

/// Looks through the catalog of the session's database for tables whose counters have passed their limits,
/// and forgets counters of relations that are gone. A transaction is open.
std::vector<AutovacuumTask> choose_autovacuum_tasks(sql::Catalog& catalog, sql::TableStatistics& statistics,
                                                    const Settings& settings);

}  // namespace pinwheel::server
