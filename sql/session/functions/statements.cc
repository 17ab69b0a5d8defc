#include "sql/session/functions/function_tables.h"
#include "sql/types/numeric.h"

/// pg_stat_statements.
namespace pinwheel::sql::session_functions {
namespace {

StatementLog* statement_log(SessionState& session) {
  ActivityLog* log = session.services.catalog.activity;
  return log != nullptr ? log->statements() : nullptr;
}

void show_statements(SessionState& session, Call& call, Rows& rows) {
  StatementLog* log = statement_log(session);
  if (log == nullptr) return;
  log->flush();
  for (const StatementReport& report : log->statistics().list()) {
    const bool visible = may_see_statements_of(session, report.key.user);
    const StatementUse& use = report.use;
    rows.add({oid_value(report.key.user), oid_value(report.key.database), Datum::from_bool(true),
              visible ? int8_value(report.key.query_id) : Value{},
              text_value(call.arena, visible ? std::string_view{report.text} : "<insufficient privilege>"),
              int8_value(use.calls), float8_value(use.total_ms), float8_value(use.min_ms),
              float8_value(use.max_ms), float8_value(use.mean_ms()), float8_value(use.deviation_ms()),
              int8_value(use.rows), int8_value(use.pages_hit), int8_value(use.pages_read),
              int8_value(use.pages_dirtied), int8_value(use.pages_written), int8_value(use.wal_records),
              numeric_from_int64(call.arena, static_cast<std::int64_t>(use.wal_bytes))});
  }
}

void show_statements_info(SessionState& session, Call&, Rows& rows) {
  StatementLog* log = statement_log(session);
  if (log == nullptr) return;
  const std::int64_t reset_us = log->statistics().reset_at_us();
  rows.add({int8_value(log->statistics().evictions()),
            Datum::from_int64(reset_us != 0 ? reset_us : session.services.server.facts().started_at_us)});
}

Datum reset_statements(SessionState& session, Call& call) {
  require_superuser(session, "pg_stat_statements_reset");
  StatementLog* log = statement_log(session);
  if (log == nullptr) return Datum{};
  log->flush();
  log->statistics().reset(call.oid(0), call.oid(1), static_cast<std::uint64_t>(call.args[2].as_int64()),
                          session.eval.statement_timestamp);
  return Datum{};
}

constexpr Function kStatementFunctions[] = {{"pg_stat_statements_reset", reset_statements}};
constexpr SetOf kStatementSets[] = {{"pg_stat_get_statements", 18, show_statements},
                                    {"pg_stat_get_statements_info", 2, show_statements_info}};

}  // namespace

std::span<const Function> statement_functions() { return kStatementFunctions; }
std::span<const SetOf> statement_sets() { return kStatementSets; }

}  // namespace pinwheel::sql::session_functions
