#include "sql/statistics/activity_log.h"

#include "storage/buffer/relation_io.h"

namespace pinwheel::sql {

ActivityLog::ActivityLog(const ActivityTargets& targets) noexcept
    : targets_{targets}, statements_{targets.statements} {}

void ActivityLog::add(TableKey key, const TableActivity& delta) {
  anything_ = true;
  for (Pending& each : pending_) {
    if (each.key == key) return each.activity.add(delta);
  }
  pending_.push_back({key, delta});
}

DatabaseActivity& ActivityLog::database(Oid database) {
  anything_ = true;
  for (PendingDatabase& each : databases_) {
    if (each.database == database) return each.activity;
  }
  databases_.push_back({database, {}});
  return databases_.back().activity;
}

void ActivityLog::flush(std::int64_t now_us) noexcept {
  for (const Pending& each : pending_) targets_.tables.add(each.key, each.activity);
  pending_.clear();
  if (targets_.databases != nullptr) {
    for (const PendingDatabase& each : databases_) targets_.databases->add(each.database, each.activity);
  }
  databases_.clear();
  if (targets_.relation_io != nullptr) targets_.relation_io->hand_over();
  statements_.flush();
  anything_ = false;
  last_flush_us_ = now_us;
}

TransactionActivity::Counted& TransactionActivity::find(TableKey key) {
  for (Counted& each : tables_) {
    if (each.key == key) return each;
  }
  tables_.push_back({key, {}, false, false});
  return tables_.back();
}

void TransactionActivity::set_session(Oid database, const shm::SessionSlot& slot) noexcept {
  database_ = database;
  slot_ = &slot;
  seen_sum_ = 0;
  for (std::size_t i = 0; i < shm::kSessionCounters; ++i) {
    seen_[i] = slot.counts[i].read();
    seen_sum_ += seen_[i];
  }
}

TableActivity& TransactionActivity::table(TableKey key) { return find(key).activity; }

TableActivity& TransactionActivity::index(TableKey key) {
  Counted& counted = find(key);
  counted.is_index = true;
  return counted.activity;
}

void TransactionActivity::truncated(TableKey key) {
  // What this transaction put in before goes with the rest; the counts of its acts stay.
  find(key).truncated = true;
}

/// What low layers have counted for the session since the last time; rarely anything.
void TransactionActivity::take_session_counts(DatabaseActivity& counts, std::uint64_t sum) noexcept {
  using D = DatabaseCounter;
  constexpr D kTargets[] = {D::kTempFiles, D::kTempBytes, D::kDeadlocks, D::kReadNs, D::kWriteNs};
  static_assert(std::size(kTargets) == shm::kSessionCounters, "in the order of SessionCounter");
  for (std::size_t i = 0; i < shm::kSessionCounters; ++i) {
    const std::uint64_t now = slot_->counts[i].read();
    counts[kTargets[i]] += static_cast<std::int64_t>(now - seen_[i]);
    seen_[i] = now;
  }
  seen_sum_ = sum;
}

void TransactionActivity::end_for_database(bool committed) noexcept {
  using D = DatabaseCounter;
  DatabaseActivity& counts = log_.database(database_);
  ++counts[committed ? D::kCommits : D::kRollbacks];
  for (const Counted& each : tables_) {
    const TableActivity& activity = each.activity;
    if (each.is_index) {
      counts[D::kReturned] += activity.index_tuples;
      continue;
    }
    counts[D::kReturned] += activity.sequential_tuples;
    counts[D::kFetched] += activity.index_tuples;
    counts[D::kInserted] += activity.inserted;
    counts[D::kUpdated] += activity.updated;
    counts[D::kDeleted] += activity.deleted;
  }
  std::uint64_t all = 0;
  for (const shm::OwnedCounter& count : slot_->counts) all += count.read();
  if (all != seen_sum_) take_session_counts(counts, all);
}

void TransactionActivity::end(bool committed) noexcept {
  if (slot_ != nullptr) end_for_database(committed);
  const std::int64_t now_us = transaction_.start_time_us();
  for (Counted& each : tables_) {
    TableActivity& activity = each.activity;
    if (committed) {
      activity.live += activity.inserted - activity.deleted;
      activity.dead += activity.updated + activity.deleted;
      activity.changed += activity.inserted + activity.updated + activity.deleted;
    } else {
      activity.dead += activity.inserted + activity.updated;
    }
    activity.inserted_unvacuumed += activity.inserted;
    if (committed && each.truncated) {
      const auto known = log_.statistics().find(each.key);
      if (known) {
        activity.live -= known->activity.live;
        activity.dead -= known->activity.dead;
      }
    }
    log_.add(each.key, activity);
  }
  tables_.clear();
  log_.flush_if_due(now_us);
}

}  // namespace pinwheel::sql
