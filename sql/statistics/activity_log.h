#pragma once

#include <cstdint>
#include <vector>

#include "shm/session_slot.h"
#include "sql/statistics/database_statistics.h"
#include "sql/statistics/statement_statistics.h"
#include "sql/statistics/table_statistics.h"
#include "txn/transaction.h"

namespace pinwheel::storage {
class RelationIo;
}

namespace pinwheel::sql {

/// Where an ActivityLog hands over what it keeps; null: that kind is not counted.
struct ActivityTargets {
  TableStatistics& tables;
  DatabaseStatistics* databases = nullptr;
  StatementStatistics* statements = nullptr;
  storage::RelationIo* relation_io = nullptr;
};

/// What this process's sessions did and has not been told to the shared statistics: handed over about once a
/// second, so that short statements write no shared memory for it. Private to the process.
class ActivityLog {
 public:
  explicit ActivityLog(TableStatistics& statistics) noexcept : ActivityLog{ActivityTargets{statistics}} {}
  explicit ActivityLog(const ActivityTargets& targets) noexcept;

  TableStatistics& statistics() noexcept { return targets_.tables; }
  DatabaseStatistics* databases() noexcept { return targets_.databases; }
  storage::RelationIo* relation_io() noexcept { return targets_.relation_io; }
  /// Null when statements are not counted.
  StatementLog* statements() noexcept { return targets_.statements != nullptr ? &statements_ : nullptr; }

  void add(TableKey key, const TableActivity& delta);
  /// What was done in a database and not yet handed over, to be raised; valid until the next call.
  DatabaseActivity& database(Oid database);
  /// True when there is something to hand over.
  bool has_pending() const noexcept { return anything_ || statements_.has_pending(); }
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
  struct PendingDatabase {
    Oid database;
    DatabaseActivity activity;
  };
  ActivityTargets targets_;
  StatementLog statements_;
  std::vector<Pending> pending_;
  std::vector<PendingDatabase> databases_;
  std::int64_t last_flush_us_ = 0;
  bool anything_ = false;
};

/// What one session's transaction did to tables. Changes count for live and dead rows by how the transaction
/// ends. Savepoints that are rolled back count as if they had been kept: VACUUM and ANALYZE put that right.
class TransactionActivity final : public txn::TransactionHooks {
 public:
  TransactionActivity(ActivityLog& log, txn::Transaction& transaction) noexcept
      : log_{log}, transaction_{transaction} {}

  ActivityLog& log() noexcept { return log_; }
  /// The session's database, and the slot where low layers count for the session. Before it nothing is
  /// counted for a database.
  void set_session(Oid database, const shm::SessionSlot& slot) noexcept;
  /// Counters of a table, valid until the next call. Only scans, inserted, updated, deleted and hot_updated
  /// are to be raised.
  TableActivity& table(TableKey key);
  /// The same of an index: scans and what they read.
  TableActivity& index(TableKey key);
  /// TRUNCATE: no rows are left, if the transaction commits.
  void truncated(TableKey key);

  void after_commit() noexcept override { end(true); }
  void after_abort() noexcept override { end(false); }

 private:
  struct Counted {
    TableKey key;
    TableActivity activity;
    bool truncated = false;
    bool is_index = false;
  };
  void end(bool committed) noexcept;
  void end_for_database(bool committed) noexcept;
  void take_session_counts(DatabaseActivity& counts, std::uint64_t sum) noexcept;
  Counted& find(TableKey key);

  ActivityLog& log_;
  txn::Transaction& transaction_;
  std::vector<Counted> tables_;
  Oid database_{};
  const shm::SessionSlot* slot_ = nullptr;
  /// What was taken over of the slot's counts.
  std::uint64_t seen_[shm::kSessionCounters] = {};
  std::uint64_t seen_sum_ = 0;
};

}  // namespace pinwheel::sql
