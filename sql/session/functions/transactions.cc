#include "base/sqlstate.h"
#include "clog/xid_allocator.h"
#include "sql/session/functions/function_tables.h"
#include "txn/transaction_manager.h"

/// Transaction ids and what became of them.
namespace pinwheel::sql::session_functions {
namespace {

Datum from_xid(Xid xid) { return Datum::from_int64(static_cast<std::int64_t>(xid.value)); }

/// Also txid_current(): gives the transaction an id.
Datum current_xid(SessionState& session, Call&) {
  session.transaction.assign_xid();
  return from_xid(session.transaction.top_xid());
}

Datum current_xid_if_assigned(SessionState& session, Call& call) {
  const Xid xid = session.transaction.top_xid();
  return is_valid(xid) ? from_xid(xid) : call.null();
}

Datum xact_status(SessionState& session, Call& call) {
  const Xid xid{static_cast<std::uint64_t>(call.args[0].as_int64())};
  if (xid >= session.services.catalog.ids.next_xid()) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "transaction ID " + std::to_string(xid.value) + " is in the future"};
  }
  if (!is_valid(xid)) return call.null();
  if (!is_normal(xid)) return call.make_text_result("committed");
  using State = txn::TransactionManager::State;
  switch (session.services.catalog.transactions.state(xid)) {
    case State::kRunning:
      return call.make_text_result("in progress");
    case State::kCommitted:
      return call.make_text_result("committed");
    case State::kAborted:
      break;
  }
  return call.make_text_result("aborted");
}

/// age(xid): how many transactions ago, of ids cut to 32 bits.
Datum xid_age(SessionState& session, Call& call) {
  const Xid current = is_valid(session.transaction.top_xid()) ? session.transaction.top_xid()
                                                              : session.services.catalog.ids.next_xid();
  const auto xid = static_cast<std::uint32_t>(call.args[0].as_int32());
  if (xid < kFirstNormalXid.value) return Datum::from_int32(INT32_MAX);
  return Datum::from_int32(static_cast<std::int32_t>(static_cast<std::uint32_t>(current.value) - xid));
}

[[noreturn]] Datum no_commit_timestamps(SessionState&, Call&) {
  throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "could not get commit timestamp data"}.hint(
      "Make sure the configuration parameter \"track_commit_timestamp\" is set.");
}

[[noreturn]] Datum no_snapshot_export(SessionState&, Call&) {
  throw SqlError{sqlstate::kFeatureNotSupported, "exporting snapshots is not supported"};
}

[[noreturn]] Datum no_notifications(SessionState&, Call&) {
  throw SqlError{sqlstate::kFeatureNotSupported, "NOTIFY is not supported"};
}

/// There are no triggers that could call us.
Datum trigger_depth(SessionState&, Call&) { return Datum::from_int32(0); }

constexpr Function kTransactionsFunctions[] = {
    {"pg_current_xact_id", current_xid},
    {"pg_current_xact_id_if_assigned", current_xid_if_assigned},
    {"pg_xact_status", xact_status},
    {"xid_age", xid_age},
    {"pg_xact_commit_timestamp", no_commit_timestamps},
    {"pg_last_committed_xact", no_commit_timestamps},
    {"pg_export_snapshot", no_snapshot_export},
    {"pg_notify", no_notifications},
    {"pg_trigger_depth", trigger_depth},
};

}  // namespace

std::span<const Function> transaction_functions() { return kTransactionsFunctions; }

}  // namespace pinwheel::sql::session_functions
