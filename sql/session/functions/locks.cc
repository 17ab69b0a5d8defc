#include <algorithm>

#include "base/sqlstate.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/array.h"
#include "sql/types/type_oids.h"
#include "txn/lock_manager.h"
#include "txn/running_set.h"
#include "txn/session_locks.h"
#include "txn/transaction_manager.h"

/// Advisory locks, and who holds and waits for which locks.
namespace pinwheel::sql::session_functions {
namespace {

using txn::LockMode;

/// pg_advisory_lock(bigint) or (int, int).
txn::LockTag advisory_tag(const SessionState& session, const Call& call) {
  const Oid database = session.eval.database;
  return call.nargs == 1 ? txn::LockTag::advisory(database, call.args[0].as_int64())
                         : txn::LockTag::advisory(database, call.args[0].as_int32(), call.args[1].as_int32());
}

template <LockMode Mode, txn::LockOwner Owner>
Datum lock(SessionState& session, Call& call) {
  session.transaction.locks().lock(advisory_tag(session, call), Mode, txn::LockWait::kBlock, Owner);
  return Datum{};
}

template <LockMode Mode, txn::LockOwner Owner>
Datum try_lock(SessionState& session, Call& call) {
  const auto result =
      session.transaction.locks().lock(advisory_tag(session, call), Mode, txn::LockWait::kTry, Owner);
  return Datum::from_bool(result != txn::LockResult::kNotAvailable);
}

template <LockMode Mode>
Datum unlock(SessionState& session, Call& call) {
  if (session.transaction.locks().unlock(advisory_tag(session, call), Mode, txn::LockOwner::kSession)) {
    return Datum::from_bool(true);
  }
  session.client.notice(
      NoticeLevel::kWarning,
      SqlError{sqlstate::kWarning, "you don't own a lock of type " + std::string{txn::lock_mode_name(Mode)}});
  return Datum::from_bool(false);
}

Datum unlock_all(SessionState& session, Call&) {
  session.transaction.locks().release_session_advisory();
  return Datum{};
}

std::vector<std::int32_t> blockers_of(SessionState& session, std::int32_t pid) {
  const shm::SessionIndex waiter = session.services.sessions.find_by_backend_pid(pid);
  if (waiter == shm::kNoSession) return {};
  return session.services.catalog.locks.blocking_pids(waiter);
}

Datum int4_array(Arena& arena, std::span<const std::int32_t> items) {
  std::vector<Datum> values;
  for (const std::int32_t item : items) values.push_back(Datum::from_int32(item));
  return build_array(arena, kInt4Type, values.data(), nullptr, static_cast<int>(values.size()));
}

Datum blocking_pids(SessionState& session, Call& call) {
  return int4_array(call.arena, blockers_of(session, call.args[0].as_int32()));
}

/// SERIALIZABLE's safe snapshots never wait here.
Datum safe_snapshot_blockers(SessionState&, Call& call) { return int4_array(call.arena, {}); }

/// True when one of the given pids blocks the session.
Datum is_blocked_by(SessionState& session, Call& call) {
  const ArrayView view = view_array(detoast(call.args[1], call.arena, session.eval.detoaster));
  ArrayReader reader{view};
  const std::vector<std::int32_t> blockers = blockers_of(session, call.args[0].as_int32());
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    if (!is_null && std::ranges::find(blockers, item.as_int32()) != blockers.end())
      return Datum::from_bool(true);
  }
  return Datum::from_bool(false);
}

std::string virtual_xid_text(std::uint64_t session, std::uint64_t local) {
  return std::to_string(session) + "/" + std::to_string(local);
}

/// The columns of pg_locks that tell what is locked.
struct LockedThing {
  Value database, relation, page, tuple, virtual_xid, xid, class_oid, object, part;
};

LockedThing describe_thing(Arena& arena, const txn::LockTag& tag) {
  LockedThing thing;
  const auto int32 = [](std::uint32_t v) { return Value{Datum::from_int32(static_cast<std::int32_t>(v))}; };
  const auto int16 = [](std::uint16_t v) { return Value{Datum::from_int16(static_cast<std::int16_t>(v))}; };
  switch (tag.kind) {
    case txn::LockKind::kTuple:
      thing.tuple = int16(tag.field4);
      [[fallthrough]];
    case txn::LockKind::kPage:
      thing.page = int32(tag.field3);
      [[fallthrough]];
    case txn::LockKind::kRelation:
    case txn::LockKind::kRelationExtension:
      thing.database = int32(tag.field1);
      thing.relation = int32(tag.field2);
      break;
    case txn::LockKind::kTransaction:
      thing.xid = int32(tag.field1);
      break;
    case txn::LockKind::kVirtualTransaction:
      thing.virtual_xid =
          text_value(arena, virtual_xid_text(tag.field1, tag.field2 | std::uint64_t{tag.field3} << 32));
      break;
    default:
      thing.database = int32(tag.field1);
      thing.class_oid = int32(tag.field2);
      thing.object = int32(tag.field3);
      thing.part = int16(tag.field4);
      break;
  }
  return thing;
}

void show_locks(SessionState& session, Call& call, Rows& rows) {
  Arena& arena = call.arena;
  for (const txn::LockRow& row : session.services.catalog.locks.list()) {
    const LockedThing thing = describe_thing(arena, row.tag);
    const txn::VirtualXid holder =
        session.services.catalog.transactions.running().view(row.session).virtual_xid;
    const std::int32_t pid =
        session.services.sessions.slot(row.session).backend_pid.load(std::memory_order_relaxed);
    rows.add({text_value(arena, txn::lock_kind_name(row.tag.kind)), thing.database, thing.relation,
              thing.page, thing.tuple, thing.virtual_xid, thing.xid, thing.class_oid, thing.object,
              thing.part, text_value(arena, virtual_xid_text(row.session.value + 1, holder.local)),
              pid != 0 ? Value{Datum::from_int32(pid)} : Value{},
              text_value(arena, txn::lock_mode_name(row.mode)), Datum::from_bool(row.granted),
              Datum::from_bool(row.fast_path), time_or_null(row.wait_start_us)});
  }
}

constexpr auto kExclusive = LockMode::kExclusive;
constexpr auto kShare = LockMode::kShare;
constexpr auto kOfSession = txn::LockOwner::kSession;
constexpr auto kOfTransaction = txn::LockOwner::kTransaction;

constexpr Function kLocksFunctions[] = {
    {"pg_advisory_lock_int8", lock<kExclusive, kOfSession>},
    {"pg_advisory_lock_int4", lock<kExclusive, kOfSession>},
    {"pg_advisory_lock_shared_int8", lock<kShare, kOfSession>},
    {"pg_advisory_lock_shared_int4", lock<kShare, kOfSession>},
    {"pg_advisory_xact_lock_int8", lock<kExclusive, kOfTransaction>},
    {"pg_advisory_xact_lock_int4", lock<kExclusive, kOfTransaction>},
    {"pg_advisory_xact_lock_shared_int8", lock<kShare, kOfTransaction>},
    {"pg_advisory_xact_lock_shared_int4", lock<kShare, kOfTransaction>},
    {"pg_try_advisory_lock_int8", try_lock<kExclusive, kOfSession>},
    {"pg_try_advisory_lock_int4", try_lock<kExclusive, kOfSession>},
    {"pg_try_advisory_lock_shared_int8", try_lock<kShare, kOfSession>},
    {"pg_try_advisory_lock_shared_int4", try_lock<kShare, kOfSession>},
    {"pg_try_advisory_xact_lock_int8", try_lock<kExclusive, kOfTransaction>},
    {"pg_try_advisory_xact_lock_int4", try_lock<kExclusive, kOfTransaction>},
    {"pg_try_advisory_xact_lock_shared_int8", try_lock<kShare, kOfTransaction>},
    {"pg_try_advisory_xact_lock_shared_int4", try_lock<kShare, kOfTransaction>},
    {"pg_advisory_unlock_int8", unlock<kExclusive>},
    {"pg_advisory_unlock_int4", unlock<kExclusive>},
    {"pg_advisory_unlock_shared_int8", unlock<kShare>},
    {"pg_advisory_unlock_shared_int4", unlock<kShare>},
    {"pg_advisory_unlock_all", unlock_all},
    {"pg_blocking_pids", blocking_pids},
    {"pg_safe_snapshot_blocking_pids", safe_snapshot_blockers},
    {"pg_isolation_test_session_is_blocked", is_blocked_by},
};
constexpr SetOf kLocksSets[] = {{"pg_lock_status", 16, show_locks}};

}  // namespace

std::span<const Function> lock_functions() { return kLocksFunctions; }
std::span<const SetOf> lock_sets() { return kLocksSets; }

}  // namespace pinwheel::sql::session_functions
