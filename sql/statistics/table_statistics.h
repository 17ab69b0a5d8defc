#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace pinwheel::shm {
class RegionBuilder;
class Segment;
}  // namespace pinwheel::shm

namespace pinwheel::sql {

/// Which table; database 0 = shared catalogs.
struct TableKey {
  Oid database;
  Oid relation;
  bool operator==(const TableKey&) const = default;
};

/// What happened to a table (or index: scans only), as totals or as what is to be added to them.
struct TableActivity {
  std::int64_t sequential_scans = 0;
  std::int64_t sequential_tuples = 0;  // read by them
  std::int64_t index_scans = 0;
  std::int64_t index_tuples = 0;  // fetched by them
  std::int64_t inserted = 0, updated = 0, deleted = 0, hot_updated = 0;
  std::int64_t live = 0, dead = 0;       // rows now, as far as is known
  std::int64_t changed = 0;              // rows since the last ANALYZE
  std::int64_t inserted_unvacuumed = 0;  // rows since the last VACUUM

  void add(const TableActivity& other) noexcept;
};

/// pg_stat_all_tables' row.
struct TableReport {
  TableActivity activity;
  /// Microseconds since 2000-01-01; 0 = never.
  std::int64_t last_vacuum_us = 0, last_autovacuum_us = 0, last_analyze_us = 0, last_autoanalyze_us = 0;
  std::int64_t vacuum_count = 0, autovacuum_count = 0, analyze_count = 0, autoanalyze_count = 0;
};

/// Statistics about the use of tables, in shared memory: what pg_stat_* shows and autovacuum goes by. Lost in
/// a crash, as PostgreSQL's are. A plain handle; attached once per process.
///
/// Readers and writers take no latch: entries are found by their key, which is set once, and counters are
/// atomics that are added to. A full table forgets new tables. If a process dies in between the segment goes.
class TableStatistics {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t tables);
  explicit TableStatistics(const shm::Segment& segment);

  void add(TableKey key, const TableActivity& delta) noexcept;
  /// Nothing when nothing was ever counted. Fields are read one by one.
  std::optional<TableReport> find(TableKey key) const noexcept;
  /// A VACUUM has found so many rows.
  void note_vacuum(TableKey key, std::int64_t live, std::int64_t dead, bool automatic,
                   std::int64_t now_us) noexcept;
  void note_analyze(TableKey key, std::int64_t live, std::int64_t dead, bool automatic,
                    std::int64_t now_us) noexcept;
  /// Zeroes a table's counters (pg_stat_reset_single_table_counters).
  void reset(TableKey key) noexcept;
  /// The table is gone: its place may be used again.
  void forget(TableKey key) noexcept;
  /// All tables of a database.
  std::vector<std::pair<TableKey, TableReport>> list(Oid database) const;

 private:
  struct Entry;
  Entry* find_entry(TableKey key) const noexcept;
  Entry* find_or_make(TableKey key) noexcept;

  Entry* entries_;
  std::size_t mask_;
};

}  // namespace pinwheel::sql
