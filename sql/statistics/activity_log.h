#pragma once

#include <cstdint>
#include <vector>

#include "sql/statistics/table_statistics.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

/// What this process's sessions did to tables and has not been told to TableStatistics: handed over about
/// once a second, so that short statements write no shared memory for it. Private to the process.
class ActivityLog {
 public:
  explicit ActivityLog(TableStatistics& statistics) noexcept : statistics_{statistics} {}

  TableStatistics& statistics() noexcept { return statistics_; }
  void add(TableKey key, const TableActivity& delta);
  /// Hands over what is kept if the last time is long enough ago.
  void flush_if_due(std::int64_t now_us) noexcept {
    if (now_us - last_flush_us_ >= kFlushIntervalUs) flush(now_us);
  }
  void flush(std::int64_t now_us) noexcept;

 private:
  static constexpr std::int64_t kFlushIntervalUs = 1'000'000;
  struct Pending {
    TableKey key;
    TableActivity activity;
  };
  TableStatistics& statistics_;
  std::vector<Pending> pending_;
  std::int64_t last_flush_us_ = 0;
};

/// What one session's transaction did to tables. Changes count for live and dead rows by how the transaction
/// ends. Savepoints that are rolled back count as if they had been kept: VACUUM and ANALYZE put that right.
class TransactionActivity final : public txn::TransactionHooks {
 public:
  TransactionActivity(ActivityLog& log, txn::Transaction& transaction) noexcept
      : log_{log}, transaction_{transaction} {}

  ActivityLog& log() noexcept { return log_; }
  /// Counters of a table, valid until the next call. Only scans, inserted, updated, deleted and hot_updated
  /// are to be raised.
  TableActivity& table(TableKey key);
  /// TRUNCATE: no rows are left, if the transaction commits.
  void truncated(TableKey key);

  void after_commit() noexcept override { end(true); }
  void after_abort() noexcept override { end(false); }

 private:
  struct Counted {
    TableKey key;
    TableActivity activity;
    bool truncated = false;
  };
  void end(bool committed) noexcept;
  Counted& find(TableKey key);

  ActivityLog& log_;
  txn::Transaction& transaction_;
  std::vector<Counted> tables_;
};

}  // namespace pinwheel::sql
