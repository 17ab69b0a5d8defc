#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace pinwheel::shm {
class RegionBuilder;
class Segment;
}  // namespace pinwheel::shm

namespace pinwheel::sql {

/// Which statement: who ran it where, and the hash of its text with literals as $n.
struct StatementKey {
  Oid user;
  Oid database;
  std::uint64_t query_id = 0;
  bool operator==(const StatementKey&) const = default;
};

/// What executions of a statement came to. Pages are shared buffers.
struct StatementUse {
  std::uint64_t calls = 0;
  std::uint64_t rows = 0;
  double total_ms = 0, min_ms = 0, max_ms = 0;
  double sum_of_squares = 0;  // of each execution's milliseconds
  std::uint64_t pages_hit = 0, pages_read = 0, pages_dirtied = 0, pages_written = 0;
  std::uint64_t wal_records = 0, wal_bytes = 0;

  void add(const StatementUse& other) noexcept;
  double mean_ms() const noexcept { return calls == 0 ? 0 : total_ms / static_cast<double>(calls); }
  /// Of the population: what all executions differed by.
  double deviation_ms() const noexcept;
};

/// pg_stat_statements' row.
struct StatementReport {
  StatementKey key;
  StatementUse use;
  std::string text;
};

/// Statements' statistics in shared memory: `pg_stat_statements_max` of them; a new one takes the place of
/// the one that was least used of late. Everything stands under one LwLock (tranche PgStatsData), which
/// processes take about once a second each (StatementLog), never per statement. A plain handle.
class StatementStatistics {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t statements);
  explicit StatementStatistics(const shm::Segment& segment);

  /// Bytes of text that are kept.
  static constexpr std::size_t kTextBytes = 1024;

  /// One statement's uses since the last time; `text` for when it is new, cut to fit.
  struct Delta {
    StatementKey key;
    StatementUse use;
    std::string_view text;
  };
  void add(const std::vector<Delta>& deltas) noexcept;
  std::vector<StatementReport> list() const;
  /// Forgets statements: all, or those that match; 0 matches all.
  void reset(Oid user, Oid database, std::uint64_t query_id, std::int64_t now_us) noexcept;

  /// Statements that had to make place for others.
  std::uint64_t evictions() const noexcept;
  /// When all was forgotten, in microseconds since 2000-01-01; 0 = never.
  std::int64_t reset_at_us() const noexcept;

 private:
  struct Header;
  struct Entry;
  std::uint32_t find(const StatementKey& key) const noexcept;
  Entry& take_place(const Delta& delta) noexcept;
  void unlink(std::uint32_t index) noexcept;
  std::size_t bucket_of(const StatementKey& key) const noexcept;

  Header* header_;
  std::uint32_t* buckets_;  // index of a chain's first entry + 1
  Entry* entries_;
  std::size_t capacity_;
};

/// Where a plan's statement stands in the process's StatementLog; `epoch` says whether it still does.
struct StatementTicket {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
};

/// What this process's sessions ran and has not been told to StatementStatistics. Private to the process.
class StatementLog {
 public:
  explicit StatementLog(StatementStatistics* statistics) noexcept : statistics_{statistics} {}

  /// Not to be called when the log was made with null: nothing is counted then.
  StatementStatistics& statistics() noexcept { return *statistics_; }
  /// Counts one execution. `ticket` is kept with the statement's plan and spares the search from the second
  /// time on.
  void add(StatementTicket& ticket, const StatementKey& key, std::string_view text, double ms,
           const StatementUse& once) {
    Pending* pending = ticket.epoch == epoch_ ? &pending_[ticket.index] : nullptr;
    if (pending == nullptr || pending->key != key) [[unlikely]]
      pending = &find_or_make(ticket, key, text);
    StatementUse& use = pending->use;
    if (use.calls == 0 || ms < use.min_ms) use.min_ms = ms;
    if (ms > use.max_ms) use.max_ms = ms;
    use.total_ms += ms;
    use.sum_of_squares += ms * ms;
    ++use.calls;
    use.rows += once.rows;
    use.pages_hit += once.pages_hit;
    use.pages_read += once.pages_read;
    use.pages_dirtied += once.pages_dirtied;
    use.pages_written += once.pages_written;
    use.wal_records += once.wal_records;
    use.wal_bytes += once.wal_bytes;
    any_ = true;
  }
  bool has_pending() const noexcept { return any_; }
  void flush() noexcept;

 private:
  /// Statements kept apart at once; beyond it all is handed over and forgotten.
  static constexpr std::size_t kMostPending = 2000;
  struct Pending {
    StatementKey key;
    StatementUse use;
    std::string text;
  };
  Pending& find_or_make(StatementTicket& ticket, const StatementKey& key, std::string_view text);

  StatementStatistics* statistics_;
  std::vector<Pending> pending_;
  std::vector<StatementStatistics::Delta> deltas_;
  std::uint32_t epoch_ = 1;
  bool any_ = false;
};

}  // namespace pinwheel::sql
