#include "shm/session_slot.h"
#include "sql/session/functions/function_tables.h"
#include "storage/buffer/relation_io.h"

/// pg_stat_get_db_*: what sql/statistics has counted per database, and pages from storage.
namespace pinwheel::sql::session_functions {
namespace {

using D = DatabaseCounter;

Datum no_count(SessionState&, Call&) { return Datum::from_int64(0); }
Datum no_time(SessionState&, Call& call) { return call.null(); }

DatabaseActivity find_database_activity(SessionState& session, Oid database) {
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr || log->databases() == nullptr) return {};
  return log->databases()->find(database);
}

template <D Which>
Datum database_counter(SessionState& session, Call& call) {
  return Datum::from_int64(find_database_activity(session, call.oid(0))[Which]);
}
/// Of what is counted in microseconds or nanoseconds.
template <D Which, int UnitsPerMs>
Datum database_ms(SessionState& session, Call& call) {
  return Datum::from_float8(static_cast<double>(find_database_activity(session, call.oid(0))[Which]) /
                            UnitsPerMs);
}

storage::PageRequests page_requests(SessionState& session, Oid database) {
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr || log->relation_io() == nullptr) return {};
  return log->relation_io()->of_database(database);
}
Datum pages_fetched(SessionState& session, Call& call) {
  const storage::PageRequests pages = page_requests(session, call.oid(0));
  return *int8_value(pages.hits + pages.reads);
}
Datum pages_hit(SessionState& session, Call& call) {
  return *int8_value(page_requests(session, call.oid(0)).hits);
}

Datum sessions_connected(SessionState& session, Call& call) {
  const shm::SessionTable& sessions = session.services.sessions;
  shm::Activity activity;
  std::int32_t count = 0;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    if (sessions.read_activity(shm::SessionIndex{i}, activity) && activity.database == call.oid(0)) ++count;
  }
  return Datum::from_int32(count);
}

/// NULL until somebody resets.
Datum database_reset_time(SessionState& session, Call& call) {
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr || log->databases() == nullptr) return call.null();
  const std::int64_t at_us = log->databases()->reset_at_us(call.oid(0));
  return at_us == 0 ? call.null() : Datum::from_int64(at_us);
}

constexpr int kPerMsOfUs = 1000;
constexpr int kPerMsOfNs = 1'000'000;

constexpr Function kDatabaseFunctions[] = {
    {"pg_stat_get_db_numbackends", sessions_connected},
    {"pg_stat_get_db_xact_commit", database_counter<D::kCommits>},
    {"pg_stat_get_db_xact_rollback", database_counter<D::kRollbacks>},
    {"pg_stat_get_db_blocks_fetched", pages_fetched},
    {"pg_stat_get_db_blocks_hit", pages_hit},
    {"pg_stat_get_db_tuples_returned", database_counter<D::kReturned>},
    {"pg_stat_get_db_tuples_fetched", database_counter<D::kFetched>},
    {"pg_stat_get_db_tuples_inserted", database_counter<D::kInserted>},
    {"pg_stat_get_db_tuples_updated", database_counter<D::kUpdated>},
    {"pg_stat_get_db_tuples_deleted", database_counter<D::kDeleted>},
    {"pg_stat_get_db_temp_files", database_counter<D::kTempFiles>},
    {"pg_stat_get_db_temp_bytes", database_counter<D::kTempBytes>},
    {"pg_stat_get_db_deadlocks", database_counter<D::kDeadlocks>},
    {"pg_stat_get_db_stat_reset_time", database_reset_time},
    // Nothing conflicts with recovery: there are no standbys.
    {"pg_stat_get_db_conflict_all", no_count},
    {"pg_stat_get_db_conflict_bufferpin", no_count},
    {"pg_stat_get_db_conflict_lock", no_count},
    {"pg_stat_get_db_conflict_snapshot", no_count},
    {"pg_stat_get_db_conflict_startup_deadlock", no_count},
    {"pg_stat_get_db_conflict_tablespace", no_count},
    // A page that does not verify is an error each time, and not counted.
    {"pg_stat_get_db_checksum_failures", no_count},
    {"pg_stat_get_db_checksum_last_failure", no_time},
    {"pg_stat_get_db_blk_read_time", database_ms<D::kReadNs, kPerMsOfNs>},
    {"pg_stat_get_db_blk_write_time", database_ms<D::kWriteNs, kPerMsOfNs>},
    {"pg_stat_get_db_session_time", database_ms<D::kSessionTime, kPerMsOfUs>},
    {"pg_stat_get_db_active_time", database_ms<D::kActiveTime, kPerMsOfUs>},
    {"pg_stat_get_db_idle_in_transaction_time", database_ms<D::kIdleInTransactionTime, kPerMsOfUs>},
    {"pg_stat_get_db_sessions", database_counter<D::kSessions>},
    {"pg_stat_get_db_sessions_abandoned", database_counter<D::kSessionsAbandoned>},
    {"pg_stat_get_db_sessions_fatal", database_counter<D::kSessionsFatal>},
    {"pg_stat_get_db_sessions_killed", database_counter<D::kSessionsKilled>},
};

}  // namespace

std::span<const Function> database_statistics_functions() { return kDatabaseFunctions; }

}  // namespace pinwheel::sql::session_functions
