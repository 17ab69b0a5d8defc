#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/ids.h"

namespace pinwheel::shm {
class RegionBuilder;
class Segment;
}  // namespace pinwheel::shm

namespace pinwheel::sql {

/// What is counted per database. Times are microseconds.
enum class DatabaseCounter : std::uint8_t {
  kCommits,
  kRollbacks,
  kReturned,  // rows that sequential scans read, and entries that index scans read
  kFetched,   // rows that index scans fetched
  kInserted,
  kUpdated,
  kDeleted,
  kTempFiles,
  kTempBytes,
  kDeadlocks,
  kReadNs,   // while track_io_timing is on
  kWriteNs,  // likewise
  kSessions,
  kSessionsAbandoned,
  kSessionsFatal,
  kSessionsKilled,
  kSessionTime,
  kActiveTime,
  kIdleInTransactionTime,
  kCount,
};
inline constexpr std::size_t kDatabaseCounters = static_cast<std::size_t>(DatabaseCounter::kCount);

/// What happened in a database, as totals or as what is to be added to them.
struct DatabaseActivity {
  std::array<std::int64_t, kDatabaseCounters> counts{};

  std::int64_t& operator[](DatabaseCounter which) noexcept { return counts[static_cast<std::size_t>(which)]; }
  std::int64_t operator[](DatabaseCounter which) const noexcept {
    return counts[static_cast<std::size_t>(which)];
  }
};

/// Statistics about whole databases, in shared memory; lost in a crash, as PostgreSQL's are. A plain handle;
/// attached once per process.
///
/// Readers and writers take no latch: an entry is found by its database, which is set once; counters are
/// atomics that are added to. A full table forgets new databases.
class DatabaseStatistics {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t databases);
  explicit DatabaseStatistics(const shm::Segment& segment);

  void add(Oid database, const DatabaseActivity& delta) noexcept;
  /// Zeroes when nothing was counted.
  DatabaseActivity find(Oid database) const noexcept;
  void reset(Oid database, std::int64_t now_us) noexcept;
  /// Microseconds since 2000-01-01; 0 = never.
  std::int64_t reset_at_us(Oid database) const noexcept;
  /// The database is gone.
  void forget(Oid database) noexcept;

 private:
  struct Entry;
  Entry* find_entry(Oid database) const noexcept;
  Entry* find_or_make(Oid database) noexcept;

  Entry* entries_;
  std::size_t count_;
};

}  // namespace pinwheel::sql
