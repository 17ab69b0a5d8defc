#include "sql/statistics/activity_log.h"

namespace pinwheel::sql {

void ActivityLog::add(TableKey key, const TableActivity& delta) {
  for (Pending& each : pending_) {
    if (each.key == key) return each.activity.add(delta);
  }
  pending_.push_back({key, delta});
}

void ActivityLog::flush(std::int64_t now_us) noexcept {
  for (const Pending& each : pending_) statistics_.add(each.key, each.activity);
  pending_.clear();
  last_flush_us_ = now_us;
}

TransactionActivity::Counted& TransactionActivity::find(TableKey key) {
  for (Counted& each : tables_) {
    if (each.key == key) return each;
  }
  tables_.push_back({key, {}, false});
  return tables_.back();
}

TableActivity& TransactionActivity::table(TableKey key) { return find(key).activity; }

void TransactionActivity::truncated(TableKey key) {
  // What this transaction put in before goes with the rest; the counts of its acts stay.
  find(key).truncated = true;
}

void TransactionActivity::end(bool committed) noexcept {
  if (tables_.empty()) return;
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
