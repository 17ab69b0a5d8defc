#include "sql/session/session.h"

#include <algorithm>

#include "base/clock.h"
#include "base/parameters.h"
#include "base/sqlstate.h"
#include "sql/session/functions/session_functions.h"
#include "sql/session/session_catalog.h"
#include "sql/session/session_state.h"
#include "txn/transaction_manager.h"

namespace pinwheel::sql {

/// What the session does at its transaction's turns: settings and portals of savepoints.
class SessionHooks final : public txn::TransactionHooks {
 public:
  explicit SessionHooks(SessionState& session) : session_{session} {}

  void begin_subtransaction(int) override { session_.settings.begin_nest(); }
  void commit_subtransaction(int) noexcept override { session_.settings.end_nest(/*commit=*/true); }
  void abort_subtransaction(int level) noexcept override {
    session_.settings.end_nest(/*commit=*/false);
    std::erase_if(session_.portals, [level](const auto& item) { return item.second->nest_level >= level; });
  }

 private:
  SessionState& session_;
};

SessionState::SessionState(SessionServices& services_given, SessionIdentity identity_given,
                           shm::Parker& parker_given, Client& client_given)
    : services{services_given},
      identity{std::move(identity_given)},
      parker{parker_given},
      client{client_given},
      slot{services.sessions.slot(identity.index)},
      settings{services.settings, this},
      transaction{services.catalog.transactions, services.catalog.locks, identity.index, parker},
      catalog{services.catalog, eval, transaction},
      helpers{std::make_unique<SessionCatalog>(catalog)},
      functions{std::make_unique<SessionFunctions>(*this, helpers->analyzer_view())},
      hooks{std::make_unique<SessionHooks>(*this)},
      execution{services.catalog.storage, services.catalog.transactions, transaction, eval, catalog} {
  eval.catalog = functions.get();
  eval.detoaster = &helpers->detoaster();
  transaction.add_hooks(*hooks);
  if (services.catalog.activity != nullptr) {
    activity = std::make_unique<TransactionActivity>(*services.catalog.activity, transaction);
    transaction.add_hooks(*activity);
    execution.activity = activity.get();
  }
  execution.budget = &budget;
  execution.names = &helpers->analyzer_view();
}

SessionState::~SessionState() {
  // Also reached when the session's start failed half way: the transaction must end while its hooks still
  // stand.
  block.abort_all();
}

namespace {

/// Applies every hook once, so that EvalContext and friends start from the settings in force.
void apply_all_settings(SessionState& state) {
  for (const param::Id id :
       {param::kDateStyle, param::kTimeZone, param::kIntervalStyle, param::kByteaOutput,
        param::kExtraFloatDigits, param::kSearchPath, param::kApplicationName, param::kLockTimeout}) {
    if (const auto assign = parameter_hooks(id).assign) assign(&state, id);
  }
}

}  // namespace

Session::Session(SessionServices& services, SessionIdentity identity, shm::Parker& parker, Client& client,
                 std::span<const std::pair<std::string, std::string>> startup_settings)
    : state_{std::make_unique<SessionState>(services, std::move(identity), parker, client)} {
  SessionState& state = *state_;
  state.eval.statement_timestamp = wall_clock_us();
  state.eval.backend_pid = state.identity.backend_pid;
  state.block.ensure_transaction();
  // A role or database that another process has just made is not yet known to this one's caches.
  state.catalog.accept_invalidations();
  const auto role = state.catalog.find_role(state.identity.user);
  if (!role) {
    throw SqlError{sqlstate::kInvalidAuthorizationSpecification,
                   "role \"" + state.identity.user + "\" does not exist"}
        .fatal();
  }
  if (!role->can_login) {
    throw SqlError{sqlstate::kInvalidAuthorizationSpecification,
                   "role \"" + state.identity.user + "\" is not permitted to log in"}
        .fatal();
  }
  const auto database = state.catalog.find_database(state.identity.database);
  if (!database) {
    throw SqlError{sqlstate::kInvalidCatalogName,
                   "database \"" + state.identity.database + "\" does not exist"}
        .fatal();
  }
  if (!database->allow_connections) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState,
                   "database \"" + state.identity.database + "\" is not currently accepting connections"}
        .fatal();
  }
  state.eval.user = role->oid;
  state.eval.user_name = state.eval.session_user_name = role->name;
  state.eval.database = database->oid;
  state.eval.database_name = database->name;
  state.superuser = role->superuser;
  state.transaction.locks().set_database(database->oid);
  state.settings.set_internal(param::kIsSuperuser, role->superuser ? "on" : "off");
  state.known_roles.emplace(role->name, KnownRole{role->oid, role->superuser});
  state.settings.set_internal(param::kSessionAuthorization, role->name);
  apply_all_settings(state);
  for (const auto& [name, value] : startup_settings) {
    state.settings.set_initial(name, value, SettingSource::kClient, state.authority());
  }
  state.block.end_implicit();
  if (state.activity != nullptr) {
    state.activity->set_session(database->oid, state.slot);
    state.connected_at_us = state.state_since_us = state.eval.statement_timestamp;
    ++state.activity->log().database(database->oid)[DatabaseCounter::kSessions];
  }
  shm::ActivityWriter activity{state.slot};
  activity->session_start_us = state.eval.statement_timestamp;
  activity->database = database->oid;
  activity->user = role->oid;
  activity->state = shm::ActivityState::kIdle;
  activity.set_application_name(state.eval.application_name);
}

Session::~Session() = default;

void Session::simple_query(std::string_view text) {
  SessionState& state = *state_;
  state.start_message(text, /*new_statement_time=*/true);
  state.statement_arena.reset();
  // The unnamed statement and portal do not survive a simple query.
  if (const auto at = state.statements.find(""); at != state.statements.end()) close_statement("");
  close_portal("");
  if (state.run_lifted(text)) {
    state.block.end_implicit();
    return;
  }
  const ParsedText parsed = sql::parse(text);
  if (parsed.statements().empty()) {
    state.client.empty_query();
    state.block.end_implicit();
    return;
  }
  const bool several = parsed.statements().size() > 1;
  for (std::size_t i = 0; i < parsed.statements().size(); ++i) {
    if (i > 0) {
      state.statement_arena.reset();
      state.helpers->reset();
    }
    state.run_statement(parsed.statements()[i], parsed.text(), several);
    // A string of several statements is one transaction, unless it contains BEGIN or COMMIT.
    if (i + 1 == parsed.statements().size()) state.block.end_implicit();
  }
  state.helpers->reset();
}

void Session::handle_error() noexcept {
  SessionState& state = *state_;
  state.block.on_error();
  state.helpers->reset();
  state.execution.snapshot = nullptr;
  state.slot.interrupts.fetch_and(~shm::kCancellingInterrupts, std::memory_order_relaxed);
}

char Session::transaction_status() const noexcept { return state_->block.status(); }

void SessionState::count_state_time(std::int64_t now_us, bool becomes_idle) {
  if (connected_at_us == 0) return;
  const std::int64_t passed_us = std::max<std::int64_t>(now_us - state_since_us, 0);
  state_since_us = now_us;
  DatabaseActivity& counts = activity->log().database(eval.database);
  counts[DatabaseCounter::kSessionTime] += passed_us;
  if (becomes_idle) {
    counts[DatabaseCounter::kActiveTime] += passed_us;
    was_in_transaction = block.in_block();
  } else if (was_in_transaction) {
    counts[DatabaseCounter::kIdleInTransactionTime] += passed_us;
  }
}

void Session::become_idle() {
  SessionState& state = *state_;
  if (state.is_idle) return;
  state.is_idle = true;
  const std::int64_t now_us = wall_clock_us();
  state.count_state_time(now_us, /*becomes_idle=*/true);
  if (state.statement_timer_armed) {
    state.services.server.set_timer_statement(Deadline::never());
    state.statement_timer_armed = false;
  }
  if (state.block.in_block()) {
    const std::int64_t timeout_ms = state.settings.get_int(param::kIdleInTransactionSessionTimeout);
    if (timeout_ms > 0) state.services.server.set_timer_idle_in_transaction(Deadline::after_ms(timeout_ms));
  }
  if (!state.settings.get_bool(param::kTrackActivities)) return;
  shm::ActivityWriter activity{state.slot};
  activity->state = state.block.failed()     ? shm::ActivityState::kIdleInTransactionAborted
                    : state.block.in_block() ? shm::ActivityState::kIdleInTransaction
                                             : shm::ActivityState::kIdle;
  activity->state_change_us = now_us;
}

void Session::settings_reloaded() { state_->settings.follow_server(); }

void Session::count_end(SessionEnd how) noexcept {
  SessionState& state = *state_;
  if (state.connected_at_us == 0) return;
  const bool active = !state.is_idle;
  state.count_state_time(wall_clock_us(), active);
  state.connected_at_us = 0;
  constexpr DatabaseCounter kCounters[] = {DatabaseCounter::kCount, DatabaseCounter::kSessionsAbandoned,
                                           DatabaseCounter::kSessionsFatal, DatabaseCounter::kSessionsKilled};
  if (how == SessionEnd::kNormal) return;
  ++state.activity->log().database(state.eval.database)[kCounters[static_cast<std::size_t>(how)]];
}

void Session::end() noexcept {
  SessionState& state = *state_;
  count_end(SessionEnd::kNormal);
  state.block.abort_all();
  state.portals.clear();
  state.statements.clear();
  state.transaction.locks().release_everything();
  if (ActivityLog* log = state.services.catalog.activity) log->flush(state.transaction.start_time_us());
}

SessionSettings& Session::settings() noexcept { return state_->settings; }
EvalContext& Session::eval() noexcept { return state_->eval; }
bool Session::is_superuser() const noexcept { return state_->superuser; }

}  // namespace pinwheel::sql
