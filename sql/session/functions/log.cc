#include "wal/log.h"
#include "base/sqlstate.h"
#include "sql/session/functions/function_tables.h"
#include "txn/transaction_manager.h"

/// The write-ahead log, and what stock asks of servers in recovery.
namespace pinwheel::sql::session_functions {
namespace {

wal::Log& log_of(SessionState& session) { return session.services.catalog.transactions.log(); }
Datum from_lsn(Lsn lsn) { return Datum::from_int64(static_cast<std::int64_t>(lsn.value)); }

Datum insert_position(SessionState& session, Call&) { return from_lsn(log_of(session).insert_position()); }
Datum written_position(SessionState& session, Call&) { return from_lsn(log_of(session).written_position()); }
Datum flushed_position(SessionState& session, Call&) { return from_lsn(log_of(session).flushed_position()); }

Datum switch_segment(SessionState& session, Call&) {
  require_superuser(session, "pg_switch_wal");
  return from_lsn(log_of(session).switch_segment());
}

Datum segment_name(SessionState& session, Call& call) {
  const std::uint32_t segment_bytes = log_of(session).files().segment_bytes();
  const auto position = static_cast<std::uint64_t>(call.args[0].as_int64());
  // A position on a boundary belongs to the segment before it, as in stock.
  const wal::SegmentNumber segment = position == 0 ? 0 : (position - 1) / segment_bytes;
  return call.make_text_result(wal::segment_file_name(segment, segment_bytes));
}

/// Sessions exist only once recovery is over.
Datum is_in_recovery(SessionState&, Call&) { return Datum::from_bool(false); }
Datum unknown(SessionState&, Call& call) { return call.null(); }

[[noreturn]] Datum no_recovery(SessionState&, Call&) {
  throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "recovery is not in progress"}.hint(
      "Recovery control functions can only be executed during recovery.");
}

constexpr Function kLogFunctions[] = {
    {"pg_current_wal_insert_lsn", insert_position},
    {"pg_current_wal_lsn", written_position},
    {"pg_current_wal_flush_lsn", flushed_position},
    {"pg_switch_wal", switch_segment},
    {"pg_walfile_name", segment_name},
    {"pg_is_in_recovery", is_in_recovery},
    {"pg_last_wal_receive_lsn", unknown},
    {"pg_last_wal_replay_lsn", unknown},
    {"pg_last_xact_replay_timestamp", unknown},
    {"pg_promote", no_recovery},
    // The server logs to standard error or to syslog, never to files of its own.
    {"pg_current_logfile", unknown},
    {"pg_current_logfile_1arg", unknown},
};

}  // namespace

std::span<const Function> log_functions() { return kLogFunctions; }

}  // namespace pinwheel::sql::session_functions
