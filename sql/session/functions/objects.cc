#include "base/clock.h"
#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/rows.h"
#include "sql/parse/keywords.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/array.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"
#include "sql/types/type_oids.h"

/// Sets of things that are no rows of a catalog: prepared statements, cursors, time zones, keywords.
namespace pinwheel::sql::session_functions {
namespace {

void show_prepared(SessionState& session, Call& call, Rows& rows) {
  for (const auto& [name, statement] : session.statements) {
    if (name.empty()) continue;
    std::vector<Datum> types;
    for (const Oid type : statement->parameter_types) types.push_back(Datum::from_oid(type));
    rows.add({text_value(call.arena, name), text_value(call.arena, statement->text),
              Datum::from_int64(statement->prepared_at_us),
              build_array(call.arena, kRegTypeType, types.data(), nullptr, static_cast<int>(types.size())),
              // Plans serve all values of their parameters and are not counted.
              Datum::from_bool(statement->from_sql), Datum::from_int64(0), Datum::from_int64(0)});
  }
}

void show_cursors(SessionState& session, Call& call, Rows& rows) {
  for (const auto& [name, portal] : session.portals) {
    rows.add({text_value(call.arena, name), text_value(call.arena, portal->text),
              Datum::from_bool(portal->hold), Datum::from_bool(portal->binary),
              Datum::from_bool(portal->scroll), Datum::from_int64(portal->created_at_us)});
  }
}

void show_time_zones(SessionState& session, Call& call, Rows& rows) {
  const std::int64_t now = session.eval.transaction_timestamp;
  for (const std::string& name : TimeZone::names()) {
    const TimeZone* zone = TimeZone::find(name);
    if (zone == nullptr) continue;
    const TimeZone::Moment moment = zone->at(now);
    rows.add({text_value(call.arena, name), text_value(call.arena, moment.abbreviation),
              make_interval(call.arena, Interval{moment.offset_s * std::int64_t{1'000'000}, 0, 0}),
              Datum::from_bool(moment.daylight)});
  }
}

void show_keywords(SessionState&, Call& call, Rows& rows) {
  static constexpr std::string_view kKinds[] = {"unreserved", "unreserved (cannot be function or type name)",
                                                "reserved (can be function or type name)", "reserved"};
  static constexpr std::string_view kLetters = "UCTR";
  for (const Keyword& keyword : keywords()) {
    const auto kind = static_cast<std::size_t>(keyword.kind);
    rows.add({text_value(call.arena, keyword.word), Datum::from_char(kLetters[kind]),
              Datum::from_bool(keyword.bare_label), text_value(call.arena, kKinds[kind]),
              text_value(call.arena, keyword.bare_label ? "can be bare label" : "requires AS")});
  }
}

void show_tablespace_databases(SessionState& session, Call& call, Rows& rows) {
  scan_rows<DatabaseRow>(session.catalog, {}, [&](DatabaseRow& row, TupleId) {
    if (row.dattablespace == call.oid(0)) rows.add({Datum::from_oid(row.oid)});
    return true;
  });
}

/// Of features that are not there: extensions, partitions, prepared transactions, LISTEN.
void nothing(SessionState&, Call&, Rows&) {}

Datum sequence_parameters(SessionState& session, Call& call) {
  const auto sequence = session.catalog.sequence(call.oid(0));
  if (!sequence) {
    throw SqlError{sqlstate::kWrongObjectType,
                   "\"" + session.catalog.relation_name(call.oid(0)) + "\" is not a sequence"};
  }
  return make_record(call, {Datum::from_int64(sequence->start), Datum::from_int64(sequence->min),
                            Datum::from_int64(sequence->max), Datum::from_int64(sequence->increment),
                            Datum::from_bool(sequence->cycle), Datum::from_int64(sequence->cache),
                            Datum::from_oid(sequence->type)});
}

constexpr Function kObjectsFunctions[] = {{"pg_sequence_parameters", sequence_parameters}};
constexpr SetOf kObjectsSets[] = {
    {"pg_prepared_statement", 7, show_prepared},
    {"pg_cursor", 6, show_cursors},
    {"pg_timezone_names", 4, show_time_zones},
    {"pg_get_keywords", 5, show_keywords},
    {"pg_tablespace_databases", 1, show_tablespace_databases},
    {"pg_available_extensions", 3, nothing},
    {"pg_available_extension_versions", 8, nothing},
    {"pg_partition_ancestors", 1, nothing},
    {"pg_partition_tree", 4, nothing},
    {"pg_prepared_xact", 5, nothing},
    {"pg_listening_channels", 1, nothing},
    {"pg_get_publication_tables", 4, nothing},
};

}  // namespace

std::span<const Function> object_functions() { return kObjectsFunctions; }
std::span<const SetOf> object_sets() { return kObjectsSets; }

}  // namespace pinwheel::sql::session_functions
