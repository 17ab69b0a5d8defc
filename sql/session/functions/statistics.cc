#include "shm/statistics.h"
#include "clog/clog.h"
#include "clog/slru.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/numeric.h"
#include "txn/transaction_manager.h"

/// Counters of what the server has done. Processes count for themselves; views sum up. Blocks per table and
/// calls of functions are not counted yet: those are 0. What stock counts per database is counted for the
/// whole server and shown with the session's own database.
namespace pinwheel::sql::session_functions {
namespace {

using shm::Counter;

std::int64_t total(const SessionState& session, Counter counter) {
  return static_cast<std::int64_t>(session.services.processes.sum(counter));
}

Datum zero(SessionState&, Call&) { return Datum::from_int64(0); }
Datum zero_time(SessionState&, Call&) { return Datum::from_float8(0); }
Datum never(SessionState&, Call& call) { return call.null(); }
Datum done(SessionState&, Call&) { return Datum{}; }

template <Counter Which>
Datum server_count(SessionState& session, Call&) {
  return Datum::from_int64(total(session, Which));
}
template <Counter Which>
Datum server_ms(SessionState& session, Call&) {
  return Datum::from_float8(static_cast<double>(total(session, Which)));
}

template <Counter... Which>
Datum database_count(SessionState& session, Call& call) {
  if (call.oid(0) != session.eval.database) return Datum::from_int64(0);
  return Datum::from_int64((total(session, Which) + ...));
}

Datum database_sessions_now(SessionState& session, Call& call) {
  const shm::SessionTable& sessions = session.services.sessions;
  shm::Activity activity;
  std::int32_t count = 0;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    if (sessions.read_activity(shm::SessionIndex{i}, activity) && activity.database == call.oid(0)) ++count;
  }
  return Datum::from_int32(count);
}

Datum timed_checkpoints(SessionState& session, Call&) {
  return Datum::from_int64(session.services.server.facts().timed_checkpoints);
}
Datum requested_checkpoints(SessionState& session, Call&) {
  return Datum::from_int64(session.services.server.facts().requested_checkpoints);
}
/// Counters begin anew with the server.
Datum counted_since(SessionState& session, Call&) {
  return Datum::from_int64(session.services.server.facts().started_at_us);
}

Datum log_statistics(SessionState& session, Call& call) {
  const auto count = [&](Counter counter) { return Value{Datum::from_int64(total(session, counter))}; };
  const auto ms = [&](Counter counter) {
    return Value{Datum::from_float8(static_cast<double>(total(session, counter)) / 1e6)};
  };
  return make_record(call, {count(Counter::kWalRecords), count(Counter::kWalFullPageImages),
                            numeric_from_int64(call.arena, total(session, Counter::kWalBytes)),
                            count(Counter::kWalBuffersFull), count(Counter::kWalWrites),
                            count(Counter::kWalSyncs), ms(Counter::kWalWriteNs), ms(Counter::kWalSyncNs),
                            Datum::from_int64(session.services.server.facts().started_at_us)});
}

Datum archiver_statistics(SessionState& session, Call& call) {
  return make_record(call, {Datum::from_int64(0), kNull, kNull, Datum::from_int64(0), kNull, kNull,
                            Datum::from_int64(session.services.server.facts().started_at_us)});
}

void show_slrus(SessionState& session, Call& call, Rows& rows) {
  const clog::Clog& clog = session.services.catalog.transactions.clog();
  const Value since = Datum::from_int64(session.services.server.facts().started_at_us);
  const auto int64 = [](std::uint64_t n) { return Value{Datum::from_int64(static_cast<std::int64_t>(n))}; };
  for (const clog::Slru* slru : {&clog.multixacts.members(), &clog.multixacts.offsets(),
                                 &clog.subtransactions.slru(), &clog.status.slru()}) {
    const clog::SlruStats stats = slru->stats();
    rows.add({text_value(call.arena, slru->options().name), int64(stats.zeroed),
              Datum::from_int64(total(session, slru->options().hits)), int64(stats.read),
              int64(stats.written), int64(stats.exists), int64(stats.flushes), int64(stats.truncates),
              since});
  }
}

void nothing(SessionState&, Call&, Rows&) {}

constexpr Function kStatisticsFunctions[] = {
    // Background writer and checkpointer
    {"pg_stat_get_bgwriter_timed_checkpoints", timed_checkpoints},
    {"pg_stat_get_bgwriter_requested_checkpoints", requested_checkpoints},
    {"pg_stat_get_bgwriter_buf_written_checkpoints", server_count<Counter::kBufferWritesByCheckpointer>},
    {"pg_stat_get_bgwriter_buf_written_clean", server_count<Counter::kBufferWritesByBgwriter>},
    {"pg_stat_get_bgwriter_maxwritten_clean", server_count<Counter::kBgwriterMaxWrittenStops>},
    {"pg_stat_get_bgwriter_stat_reset_time", counted_since},
    {"pg_stat_get_checkpoint_write_time", server_ms<Counter::kCheckpointWriteMs>},
    {"pg_stat_get_checkpoint_sync_time", server_ms<Counter::kCheckpointSyncMs>},
    {"pg_stat_get_buf_written_backend", server_count<Counter::kBufferWritesByBackend>},
    {"pg_stat_get_buf_fsync_backend", zero},  // only the checkpointer syncs data files
    {"pg_stat_get_buf_alloc", server_count<Counter::kBufferAllocations>},
    {"pg_stat_get_wal", log_statistics},
    {"pg_stat_get_archiver", archiver_statistics},
    {"pg_stat_get_wal_receiver", never},
    // Databases
    {"pg_stat_get_db_numbackends", database_sessions_now},
    {"pg_stat_get_db_xact_commit", database_count<Counter::kCommits>},
    {"pg_stat_get_db_xact_rollback", database_count<Counter::kRollbacks>},
    {"pg_stat_get_db_blocks_fetched", database_count<Counter::kBufferHits, Counter::kBufferReads>},
    {"pg_stat_get_db_blocks_hit", database_count<Counter::kBufferHits>},
    {"pg_stat_get_db_tuples_returned", zero},
    {"pg_stat_get_db_tuples_fetched", zero},
    {"pg_stat_get_db_tuples_inserted", zero},
    {"pg_stat_get_db_tuples_updated", zero},
    {"pg_stat_get_db_tuples_deleted", zero},
    {"pg_stat_get_db_temp_files", zero},
    {"pg_stat_get_db_temp_bytes", zero},
    {"pg_stat_get_db_deadlocks", database_count<Counter::kDeadlocks>},
    {"pg_stat_get_db_stat_reset_time", counted_since},
    {"pg_stat_get_db_conflict_all", zero},
    {"pg_stat_get_db_conflict_bufferpin", zero},
    {"pg_stat_get_db_conflict_lock", zero},
    {"pg_stat_get_db_conflict_snapshot", zero},
    {"pg_stat_get_db_conflict_startup_deadlock", zero},
    {"pg_stat_get_db_conflict_tablespace", zero},
    {"pg_stat_get_db_checksum_failures", zero},
    {"pg_stat_get_db_checksum_last_failure", never},
    {"pg_stat_get_db_blk_read_time", zero_time},
    {"pg_stat_get_db_blk_write_time", zero_time},
    {"pg_stat_get_db_session_time", zero_time},
    {"pg_stat_get_db_active_time", zero_time},
    {"pg_stat_get_db_idle_in_transaction_time", zero_time},
    {"pg_stat_get_db_sessions", zero},
    {"pg_stat_get_db_sessions_abandoned", zero},
    {"pg_stat_get_db_sessions_fatal", zero},
    {"pg_stat_get_db_sessions_killed", zero},
    // Relations and functions
    {"pg_stat_get_blocks_fetched", zero},
    {"pg_stat_get_blocks_hit", zero},
    {"pg_stat_get_function_calls", never},
    {"pg_stat_get_function_total_time", never},
    {"pg_stat_get_function_self_time", never},
    {"pg_stat_get_xact_blocks_fetched", zero},
    {"pg_stat_get_xact_blocks_hit", zero},
    {"pg_stat_get_xact_function_calls", never},
    {"pg_stat_get_xact_function_total_time", never},
    {"pg_stat_get_xact_function_self_time", never},
    // Counters are read as they stand: there is no snapshot of them to keep or to drop.
    {"pg_stat_get_snapshot_timestamp", never},
    {"pg_stat_clear_snapshot", done},
};
constexpr SetOf kStatisticsSets[] = {{"pg_stat_get_slru", 9, show_slrus},
                                     {"pg_stat_get_wal_senders", 12, nothing},
                                     {"pg_stat_get_progress_info", 24, nothing}};

}  // namespace

std::span<const Function> statistics_functions() { return kStatisticsFunctions; }
std::span<const SetOf> statistics_sets() { return kStatisticsSets; }

}  // namespace pinwheel::sql::session_functions
