#include "sql/session/functions/function_tables.h"
#include "sql/statistics/activity_log.h"
#include "storage/buffer/relation_io.h"

/// pg_stat_get_* of tables and indexes: what sql/statistics has counted.
namespace pinwheel::sql::session_functions {
namespace {

/// Nothing when nothing was counted, or nobody counts.
std::optional<TableReport> find_report(SessionState& session, Oid relation) {
  const ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr) return std::nullopt;
  const RelationRef known = session.catalog.relation(relation);
  const Oid database = known && known->shared ? kInvalidOid : session.eval.database;
  return session.services.catalog.activity->statistics().find({database, relation});
}

template <std::int64_t TableActivity::*... Counters>
Datum counter(SessionState& session, Call& call) {
  const std::optional<TableReport> report = find_report(session, call.oid(0));
  return Datum::from_int64(report ? ((report->activity.*Counters) + ...) : 0);
}

/// Sequential and index scans share functions: a table is asked for the former, an index for the latter.
template <std::int64_t TableActivity::*OfTable, std::int64_t TableActivity::*OfIndex>
Datum scan_counter(SessionState& session, Call& call) {
  const std::optional<TableReport> report = find_report(session, call.oid(0));
  if (!report) return Datum::from_int64(0);
  const RelationRef relation = session.catalog.relation(call.oid(0));
  const bool is_index = relation && relation->kind == 'i';
  return Datum::from_int64(is_index ? report->activity.*OfIndex : report->activity.*OfTable);
}

template <std::int64_t TableReport::*Count>
Datum count(SessionState& session, Call& call) {
  const std::optional<TableReport> report = find_report(session, call.oid(0));
  return Datum::from_int64(report ? (*report).*Count : 0);
}

template <std::int64_t TableReport::*Time>
Datum time(SessionState& session, Call& call) {
  const std::optional<TableReport> report = find_report(session, call.oid(0));
  if (!report || (*report).*Time == 0) return call.null();
  return Datum::from_int64((*report).*Time);
}

/// What the running transaction has done so far.
template <std::int64_t TableActivity::*Counter>
Datum own_counter(SessionState& session, Call& call) {
  if (session.activity == nullptr) return Datum::from_int64(0);
  return Datum::from_int64(session.activity->table({session.eval.database, call.oid(0)}).*Counter);
}

/// What this process has yet to hand over is seen by all from now on.
Datum force_flush(SessionState& session, Call&) {
  if (ActivityLog* log = session.services.catalog.activity) log->flush(session.eval.statement_timestamp);
  return Datum{};
}

/// Pages of a table's or index's file. A rewrite (TRUNCATE, VACUUM FULL) gives it another file, and counting
/// begins anew.
storage::PageRequests page_requests_of(SessionState& session, Oid oid) {
  ActivityLog* log = session.services.catalog.activity;
  if (log == nullptr || log->relation_io() == nullptr || !is_valid(oid)) return {};
  const RelationRef relation = session.catalog.relation(oid);
  return relation ? log->relation_io()->of_file(relation->file) : storage::PageRequests{};
}
Datum blocks_fetched(SessionState& session, Call& call) {
  const storage::PageRequests pages = page_requests_of(session, call.oid(0));
  return *int8_value(pages.hits + pages.reads);
}
Datum blocks_hit(SessionState& session, Call& call) {
  return *int8_value(page_requests_of(session, call.oid(0)).hits);
}
/// Pages are counted per process, not per transaction.
Datum uncounted(SessionState&, Call&) { return Datum::from_int64(0); }

using A = TableActivity;
constexpr Function kTableStatisticsFunctions[] = {
    {"pg_stat_get_live_tuples", counter<&A::live>},
    {"pg_stat_get_dead_tuples", counter<&A::dead>},
    {"pg_stat_get_numscans", scan_counter<&A::sequential_scans, &A::index_scans>},
    {"pg_stat_get_tuples_returned", scan_counter<&A::sequential_tuples, &A::index_tuples>},
    {"pg_stat_get_tuples_fetched", counter<&A::index_tuples>},
    {"pg_stat_get_tuples_inserted", counter<&A::inserted>},
    {"pg_stat_get_tuples_updated", counter<&A::updated>},
    {"pg_stat_get_tuples_deleted", counter<&A::deleted>},
    {"pg_stat_get_tuples_hot_updated", counter<&A::hot_updated>},
    {"pg_stat_get_mod_since_analyze", counter<&A::changed>},
    {"pg_stat_get_ins_since_vacuum", counter<&A::inserted_unvacuumed>},
    {"pg_stat_get_vacuum_count", count<&TableReport::vacuum_count>},
    {"pg_stat_get_autovacuum_count", count<&TableReport::autovacuum_count>},
    {"pg_stat_get_analyze_count", count<&TableReport::analyze_count>},
    {"pg_stat_get_autoanalyze_count", count<&TableReport::autoanalyze_count>},
    {"pg_stat_get_last_vacuum_time", time<&TableReport::last_vacuum_us>},
    {"pg_stat_get_last_autovacuum_time", time<&TableReport::last_autovacuum_us>},
    {"pg_stat_get_last_analyze_time", time<&TableReport::last_analyze_us>},
    {"pg_stat_get_last_autoanalyze_time", time<&TableReport::last_autoanalyze_us>},
    {"pg_stat_get_xact_numscans", own_counter<&A::sequential_scans>},
    {"pg_stat_get_xact_tuples_returned", own_counter<&A::sequential_tuples>},
    {"pg_stat_get_xact_tuples_fetched", own_counter<&A::index_tuples>},
    {"pg_stat_get_xact_tuples_inserted", own_counter<&A::inserted>},
    {"pg_stat_get_xact_tuples_updated", own_counter<&A::updated>},
    {"pg_stat_get_xact_tuples_deleted", own_counter<&A::deleted>},
    {"pg_stat_get_xact_tuples_hot_updated", own_counter<&A::hot_updated>},
    {"pg_stat_force_next_flush", force_flush},
    {"pg_stat_get_blocks_fetched", blocks_fetched},
    {"pg_stat_get_blocks_hit", blocks_hit},
    {"pg_stat_get_xact_blocks_fetched", uncounted},
    {"pg_stat_get_xact_blocks_hit", uncounted},
};

}  // namespace

std::span<const Function> table_statistics_functions() { return kTableStatisticsFunctions; }

}  // namespace pinwheel::sql::session_functions
