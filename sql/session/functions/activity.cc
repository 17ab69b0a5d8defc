#include <optional>

#include "base/clock.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/array.h"
#include "txn/running_set.h"
#include "txn/transaction_manager.h"

/// Who is connected and what they do: pg_stat_activity and the functions around it.
namespace pinwheel::sql::session_functions {
namespace {

constexpr std::string_view kHidden = "<insufficient privilege>";

Value wait_type(Arena& arena, std::uint32_t word) {
  return word == 0 ? Value{}
                   : text_or_null(arena, shm::wait_event_type_name(shm::describe_published_wait(word).type));
}
Value wait_name(Arena& arena, std::uint32_t word) {
  return word == 0 ? Value{} : text_or_null(arena, shm::describe_published_wait(word).name);
}

/// -1 for a Unix socket, as stock shows it.
Value port_value(const shm::Activity& activity) {
  return Datum::from_int32(activity.client_address[0] == '\0' ? -1 : activity.client_port);
}
Value address_value(Arena& arena, const shm::Activity& activity) {
  return text_or_null(arena, activity.client_address);
}

void add_session(SessionState& session, Arena& arena, shm::SessionIndex index, const shm::Activity& activity,
                 Rows& rows) {
  const shm::SessionSlot& slot = session.services.sessions.slot(index);
  const auto kind = static_cast<shm::ProcessKind>(slot.kind.load(std::memory_order_relaxed));
  const Value pid = Datum::from_int32(slot.backend_pid.load(std::memory_order_relaxed));
  const Value database = oid_or_null(activity.database), user = oid_or_null(activity.user);
  const Value kind_name = text_value(arena, shm::process_kind_name(kind));
  if (!may_see_statements_of(session, activity.user)) {
    rows.add({database, pid,   user,  kNull, kNull, text_value(arena, kHidden),
              kNull,    kNull, kNull, kNull, kNull, kNull,
              kNull,    kNull, kNull, kNull, kNull, kind_name,
              kNull,    kNull, kNull, kNull, kNull, kNull,
              kNull,    kNull, kNull, kNull, kNull, kNull});
    return;
  }
  const auto view = session.services.catalog.transactions.running().view(index);
  const std::uint32_t wait = slot.wait_event.load(std::memory_order_relaxed);
  const Value no = Datum::from_bool(false);
  rows.add({database,
            pid,
            user,
            text_value(arena, activity.application_name),
            text_or_null(arena, shm::activity_state_name(activity.state)),
            text_value(arena, {activity.query, activity.query_bytes}),
            wait_type(arena, wait),
            wait_name(arena, wait),
            time_or_null(activity.xact_start_us),
            time_or_null(activity.query_start_us),
            time_or_null(activity.session_start_us),
            time_or_null(activity.state_change_us),
            address_value(arena, activity),
            kNull,
            port_value(activity),
            xid_or_null(view.xid),
            xid_or_null(view.xmin),
            kind_name,
            no,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            no,
            kNull,
            no,
            kNull,
            activity.query_id != 0 ? Value{Datum::from_int64(static_cast<std::int64_t>(activity.query_id))}
                                   : Value{}});
}

void add_process(Arena& arena, const shm::ProcessSlot& process, shm::ProcessKind kind, Rows& rows) {
  const std::uint32_t wait = process.wait_event.load(std::memory_order_relaxed);
  rows.add({kNull,
            Datum::from_int32(process.pid.load(std::memory_order_relaxed)),
            kNull,
            text_value(arena, ""),
            kNull,
            text_value(arena, ""),
            wait_type(arena, wait),
            wait_name(arena, wait),
            kNull,
            kNull,
            time_or_null(process.started_us.load(std::memory_order_relaxed)),
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            text_value(arena, shm::process_kind_name(kind)),
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull,
            kNull});
}

shm::ProcessKind kind_of(const shm::SessionSlot& slot) {
  return static_cast<shm::ProcessKind>(slot.kind.load(std::memory_order_relaxed));
}

/// Shown as processes, although some hold a session slot for waiting.
bool has_no_session(shm::ProcessKind kind) {
  switch (kind) {
    case shm::ProcessKind::kCheckpointer:
    case shm::ProcessKind::kBgwriter:
    case shm::ProcessKind::kWalwriter:
    case shm::ProcessKind::kAutovacuumLauncher:
      return true;
    default:
      return false;
  }
}

void show_activity(SessionState& session, Call& call, Rows& rows) {
  const bool all = call.nulls[0];
  const std::int32_t only = all ? 0 : call.args[0].as_int32();
  for (const shm::ProcessSlot& process : session.services.processes.slots()) {
    const auto kind = static_cast<shm::ProcessKind>(process.kind.load(std::memory_order_relaxed));
    const pid_t pid = process.pid.load(std::memory_order_relaxed);
    if (!has_no_session(kind) || pid == 0 || (!all && only != pid)) continue;
    add_process(call.arena, process, kind, rows);
  }
  const shm::SessionTable& sessions = session.services.sessions;
  shm::Activity activity;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    const shm::SessionIndex index{i};
    const std::int32_t pid = sessions.slot(index).backend_pid.load(std::memory_order_relaxed);
    if (pid == 0 || has_no_session(kind_of(sessions.slot(index))) || (!all && only != pid) ||
        !sessions.read_activity(index, activity))
      continue;
    add_session(session, call.arena, index, activity, rows);
  }
}

/// "Backend ids" are slots counted from 1.
void show_backend_ids(SessionState& session, Call&, Rows& rows) {
  const shm::SessionTable& sessions = session.services.sessions;
  for (std::uint32_t i = 0; i < sessions.capacity(); ++i) {
    if (sessions.slot(shm::SessionIndex{i}).backend_pid.load(std::memory_order_relaxed) == 0) continue;
    rows.add({Datum::from_int32(static_cast<std::int32_t>(i) + 1)});
  }
}

/// One fact of the session with a backend id; NULL when there is none.
template <auto Fact>
Datum backend_fact(SessionState& session, Call& call) {
  const std::int32_t id = call.args[0].as_int32();
  const shm::SessionTable& sessions = session.services.sessions;
  if (id < 1 || static_cast<std::size_t>(id) > sessions.capacity()) return call.null();
  const shm::SessionIndex index{static_cast<std::uint32_t>(id) - 1};
  shm::Activity activity;
  if (!sessions.read_activity(index, activity)) return call.null();
  const Value value = Fact(session, call.arena, sessions.slot(index), activity);
  return value ? *value : call.null();
}

/// Facts that only those may see who may see the statement.
#define PINWHEEL_GUARDED_FACT(expression)                               \
  [](SessionState& session, Arena& arena, const shm::SessionSlot& slot, \
     const shm::Activity& activity) -> Value {                          \
    (void)arena;                                                        \
    (void)slot;                                                         \
    if (!may_see_statements_of(session, activity.user)) return kNull;   \
    return expression;                                                  \
  }

Value pid_fact(SessionState&, Arena&, const shm::SessionSlot& slot, const shm::Activity&) {
  return Datum::from_int32(slot.backend_pid.load(std::memory_order_relaxed));
}
Value database_fact(SessionState&, Arena&, const shm::SessionSlot&, const shm::Activity& activity) {
  return oid_value(activity.database);
}
Value user_fact(SessionState&, Arena&, const shm::SessionSlot&, const shm::Activity& activity) {
  return oid_value(activity.user);
}
Value query_fact(SessionState& session, Arena& arena, const shm::SessionSlot&,
                 const shm::Activity& activity) {
  if (!may_see_statements_of(session, activity.user)) return text_value(arena, kHidden);
  return text_value(arena, {activity.query, activity.query_bytes});
}
constexpr auto kActivityStart = PINWHEEL_GUARDED_FACT(time_or_null(activity.query_start_us));
constexpr auto kTransactionStart = PINWHEEL_GUARDED_FACT(time_or_null(activity.xact_start_us));
constexpr auto kStart = PINWHEEL_GUARDED_FACT(time_or_null(activity.session_start_us));
constexpr auto kAddress = PINWHEEL_GUARDED_FACT(address_value(arena, activity));
constexpr auto kPort = PINWHEEL_GUARDED_FACT(port_value(activity));
constexpr auto kWaitType =
    PINWHEEL_GUARDED_FACT(wait_type(arena, slot.wait_event.load(std::memory_order_relaxed)));
constexpr auto kWaitName =
    PINWHEEL_GUARDED_FACT(wait_name(arena, slot.wait_event.load(std::memory_order_relaxed)));
#undef PINWHEEL_GUARDED_FACT

/// This session's own activity.
shm::Activity own_activity(SessionState& session) {
  shm::Activity activity;
  session.services.sessions.read_activity(session.identity.index, activity);
  return activity;
}

Datum client_address(SessionState& session, Call& call) {
  const Value value = address_value(call.arena, own_activity(session));
  return value ? *value : call.null();
}
Datum client_port(SessionState& session, Call& call) {
  const shm::Activity activity = own_activity(session);
  return activity.client_address[0] == '\0' ? call.null() : Datum::from_int32(activity.client_port);
}
Datum current_query(SessionState& session, Call& call) {
  const shm::Activity activity = own_activity(session);
  return call.make_text_result({activity.query, activity.query_bytes});
}

Datum backend_pid(SessionState& session, Call&) { return Datum::from_int32(session.eval.backend_pid); }
Datum start_time(SessionState& session, Call&) {
  return Datum::from_int64(session.services.server.facts().started_at_us);
}
Datum load_time(SessionState& session, Call&) {
  return Datum::from_int64(session.services.server.facts().configuration_loaded_at_us);
}

constexpr Function kActivityFunctions[] = {
    {"pg_backend_pid", backend_pid},
    {"pg_stat_get_backend_pid", backend_fact<pid_fact>},
    {"pg_stat_get_backend_dbid", backend_fact<database_fact>},
    {"pg_stat_get_backend_userid", backend_fact<user_fact>},
    {"pg_stat_get_backend_activity", backend_fact<query_fact>},
    {"pg_stat_get_backend_activity_start", backend_fact<kActivityStart>},
    {"pg_stat_get_backend_xact_start", backend_fact<kTransactionStart>},
    {"pg_stat_get_backend_start", backend_fact<kStart>},
    {"pg_stat_get_backend_client_addr", backend_fact<kAddress>},
    {"pg_stat_get_backend_client_port", backend_fact<kPort>},
    {"pg_stat_get_backend_wait_event_type", backend_fact<kWaitType>},
    {"pg_stat_get_backend_wait_event", backend_fact<kWaitName>},
    {"inet_client_addr", client_address},
    {"inet_client_port", client_port},
    {"current_query", current_query},
    {"pg_postmaster_start_time", start_time},
    {"pg_conf_load_time", load_time},
};
constexpr SetOf kActivitySets[] = {{"pg_stat_get_activity", 30, show_activity},
                                   {"pg_stat_get_backend_idset", 1, show_backend_ids}};

}  // namespace

std::span<const Function> activity_functions() { return kActivityFunctions; }
std::span<const SetOf> activity_sets() { return kActivitySets; }

}  // namespace pinwheel::sql::session_functions
