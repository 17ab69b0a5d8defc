#include <cmath>

#include "base/clock.h"
#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/datetime.h"

/// Functions that interrupt other sessions or wait.
namespace pinwheel::sql::session_functions {
namespace {

void warn(SessionState& session, std::string message) {
  session.client.notice(NoticeLevel::kWarning, SqlError{sqlstate::kWarning, std::move(message)});
}

/// The session to interrupt; kNoSession, after a warning, when no session bears the pid. Errors: 42501.
shm::SessionIndex find_target(SessionState& session, std::int32_t pid, std::string_view act,
                              std::string_view superuser_hint) {
  const shm::SessionIndex target = session.services.sessions.find_by_backend_pid(pid);
  shm::Activity activity;
  const auto is_client = [&] {
    const auto kind = session.services.sessions.slot(target).kind.load(std::memory_order_relaxed);
    return kind == static_cast<std::uint8_t>(shm::ProcessKind::kBackend) ||
           kind == static_cast<std::uint8_t>(shm::ProcessKind::kAutovacuumWorker);
  };
  if (target == shm::kNoSession || !is_client() ||
      !session.services.sessions.read_activity(target, activity)) {
    warn(session, "PID " + std::to_string(pid) + " is not a PostgreSQL backend process");
    return shm::kNoSession;
  }
  constexpr Oid kSignalBackend{4200};
  Catalog& catalog = session.catalog;
  if (!session.superuser && catalog.is_superuser(activity.user)) {
    throw SqlError{sqlstate::kInsufficientPrivilege, std::string{superuser_hint}};
  }
  if (!session.superuser && !catalog.has_privileges_of(session.eval.user, activity.user) &&
      !catalog.has_privileges_of(session.eval.user, kSignalBackend)) {
    throw SqlError{
        sqlstate::kInsufficientPrivilege,
        "must be a member of the role whose " + std::string{act} + " or member of pg_signal_backend"};
  }
  return target;
}

/// Whoever interrupts itself is interrupted here and now.
void interrupt(SessionState& session, shm::SessionIndex target, std::uint32_t bits) {
  shm::interrupt(session.services.processes, session.services.sessions, target, bits);
  if (target == session.identity.index) shm::service_interrupts();
}

Datum cancel_backend(SessionState& session, Call& call) {
  const shm::SessionIndex target = find_target(session, call.args[0].as_int32(), "query is being canceled",
                                               "must be a superuser to cancel superuser query");
  if (target == shm::kNoSession) return Datum::from_bool(false);
  interrupt(session, target, shm::kInterruptCancel);
  return Datum::from_bool(true);
}

/// Parks until `done` or the deadline, serving interrupts. False at the deadline.
template <class Done>
bool wait_until(SessionState& session, shm::WaitEvent event, Deadline deadline, std::int64_t poll_ms,
                Done done) {
  while (!done()) {
    if (deadline.passed()) return false;
    const Deadline next = poll_ms > 0 ? deadline.sooner(Deadline::after_ms(poll_ms)) : deadline;
    const shm::WakeReason reason = session.parker.park(event, next);
    if (reason == shm::WakeReason::kCancelled || reason == shm::WakeReason::kTerminated)
      shm::service_interrupts();
  }
  return true;
}

Datum terminate_backend(SessionState& session, Call& call) {
  const std::int64_t timeout_ms = call.nargs > 1 ? call.args[1].as_int64() : 0;
  if (timeout_ms < 0) {
    throw SqlError{sqlstate::kNumericValueOutOfRange, "\"timeout\" must not be negative"};
  }
  const std::int32_t pid = call.args[0].as_int32();
  const shm::SessionIndex target = find_target(session, pid, "process is being terminated",
                                               "must be a superuser to terminate superuser process");
  if (target == shm::kNoSession) return Datum::from_bool(false);
  interrupt(session, target, shm::kInterruptTerminate);
  if (timeout_ms == 0) return Datum::from_bool(true);
  constexpr std::int64_t kPollMs = 10;
  const bool gone =
      wait_until(session, shm::WaitEvent::kBackendTermination, Deadline::after_ms(timeout_ms), kPollMs,
                 [&] { return session.services.sessions.find_by_backend_pid(pid) == shm::kNoSession; });
  if (!gone) {
    warn(session, "backend with PID " + std::to_string(pid) + " did not terminate within " +
                      std::to_string(timeout_ms) + " milliseconds");
  }
  return Datum::from_bool(gone);
}

void sleep_until(SessionState& session, Deadline deadline) {
  wait_until(session, shm::WaitEvent::kPgSleep, deadline, /*poll_ms=*/0, [] { return false; });
}

/// Far enough for any sleep, near enough for arithmetic in nanoseconds.
constexpr std::int64_t kLongestSleepUs = 100LL * 365 * 86'400 * 1'000'000;

Datum sleep_seconds(SessionState& session, Call& call) {
  const double seconds = call.args[0].as_float8();
  if (!(seconds > 0)) return Datum{};
  const double us = std::min(seconds * 1e6, static_cast<double>(kLongestSleepUs));
  sleep_until(session, Deadline::after_us(static_cast<std::int64_t>(us)));
  return Datum{};
}

Datum sleep_for(SessionState& session, Call& call) {
  const Interval interval = load_interval(call.args[0]);
  const std::int64_t days = interval.days + std::int64_t{interval.months} * 30;
  const std::int64_t us = std::min(days, std::int64_t{36'500}) * 86'400'000'000 + interval.us;
  if (us > 0) sleep_until(session, Deadline::after_us(std::min(us, kLongestSleepUs)));
  return Datum{};
}

Datum sleep_until_time(SessionState& session, Call& call) {
  const std::int64_t us = call.args[0].as_int64() - wall_clock_us();
  if (us > 0) sleep_until(session, Deadline::after_us(std::min(us, kLongestSleepUs)));
  return Datum{};
}

constexpr Function kSignalsFunctions[] = {
    {"pg_cancel_backend", cancel_backend}, {"pg_terminate_backend", terminate_backend},
    {"pg_sleep", sleep_seconds},           {"pg_sleep_for", sleep_for},
    {"pg_sleep_until", sleep_until_time},
};

}  // namespace

std::span<const Function> signal_functions() { return kSignalsFunctions; }

}  // namespace pinwheel::sql::session_functions
