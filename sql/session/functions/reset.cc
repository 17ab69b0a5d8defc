#include "base/sqlstate.h"
#include "clog/clog.h"
#include "clog/slru.h"
#include "sql/session/functions/function_tables.h"
#include "sql/session/session_catalog.h"
#include "storage/buffer/relation_io.h"
#include "txn/transaction_manager.h"

/// pg_stat_reset and its kin. Counters of processes only grow; a reset remembers what they had come to.
namespace pinwheel::sql::session_functions {
namespace {

using shm::StatisticsGroup;

struct ResetTarget {
  std::string_view name;
  StatisticsGroup group;
};
constexpr ResetTarget kResetTargets[] = {
    {"archiver", StatisticsGroup::kArchiver}, {"bgwriter", StatisticsGroup::kBgwriter},
    {"wal", StatisticsGroup::kWal},           {"io", StatisticsGroup::kIo},
    {"lwlocks", StatisticsGroup::kLwLocks},   {"snapshots", StatisticsGroup::kSnapshots},
};

Datum reset_shared(SessionState& session, Call& call) {
  require_superuser(session, "pg_stat_reset_shared");
  const std::string_view name = call.text(0);
  for (const ResetTarget& target : kResetTargets) {
    if (target.name != name) continue;
    session.services.counters.reset(target.group, session.eval.statement_timestamp);
    return Datum{};
  }
  if (name == "recovery_prefetch") return Datum{};  // nothing is counted of it
  throw SqlError{sqlstate::kInvalidParameterValue, "unrecognized reset target: \"" + std::string{name} + "\""}
      .hint(
          "Target must be \"archiver\", \"bgwriter\", \"io\", \"lwlocks\", \"recovery_prefetch\", "
          "\"snapshots\" or \"wal\".");
}

/// One SLRU cache by name, or all for NULL. An unknown name means "Other" to stock, which counts nothing
/// here.
Datum reset_slru(SessionState& session, Call& call) {
  require_superuser(session, "pg_stat_reset_slru");
  const clog::Clog& clog = session.services.catalog.transactions.clog();
  for (const clog::Slru* slru : {&clog.multixacts.members(), &clog.multixacts.offsets(),
                                 &clog.subtransactions.slru(), &clog.status.slru()}) {
    if (call.nulls[0] || slru->options().name == call.text(0))
      slru->reset_stats(session.services.processes, session.eval.statement_timestamp);
  }
  return Datum{};
}

/// All of the session's database: its own sums, its tables', its files'.
Datum reset_database(SessionState& session, Call&) {
  require_superuser(session, "pg_stat_reset");
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr) return Datum{};
  const Oid database = session.eval.database;
  log->flush(session.eval.statement_timestamp);
  for (const auto& [key, report] : log->statistics().list(database)) log->statistics().reset(key);
  if (log->databases() != nullptr) log->databases()->reset(database, session.eval.statement_timestamp);
  if (log->relation_io() != nullptr) log->relation_io()->reset_database(database);
  return Datum{};
}

Datum reset_table_counters(SessionState& session, Call& call) {
  require_superuser(session, "pg_stat_reset_single_table_counters");
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr) return Datum{};
  const RelationRef relation = session.catalog.relation(call.oid(0));
  const Oid database = relation && relation->shared ? kInvalidOid : session.eval.database;
  log->flush(session.eval.statement_timestamp);
  log->statistics().reset({database, call.oid(0)});
  if (log->relation_io() != nullptr && relation) log->relation_io()->reset_file(relation->file);
  return Datum{};
}

/// Calls of functions are not counted.
Datum reset_function_counters(SessionState& session, Call&) {
  require_superuser(session, "pg_stat_reset_single_function_counters");
  return Datum{};
}

constexpr Function kResetFunctions[] = {
    {"pg_stat_reset", reset_database},
    {"pg_stat_reset_shared", reset_shared},
    {"pg_stat_reset_slru", reset_slru},
    {"pg_stat_reset_single_table_counters", reset_table_counters},
    {"pg_stat_reset_single_function_counters", reset_function_counters},
};

}  // namespace

std::span<const Function> reset_functions() { return kResetFunctions; }

}  // namespace pinwheel::sql::session_functions
