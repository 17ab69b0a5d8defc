#include "base/sqlstate.h"
#include "sql/session/functions/function_tables.h"
#include "storage/storage.h"

/// pg_buffercache: what the frames hold, and emptying them.
namespace pinwheel::sql::session_functions {
namespace {

constexpr Oid kDefaultTablespace{1663};
constexpr Oid kGlobalTablespace{1664};

storage::BufferPool& pool_of(SessionState& session) { return session.services.catalog.storage.pool; }

/// As stock's extension: superusers and those who may monitor.
void require_monitor(SessionState& session, std::string_view function) {
  constexpr Oid kMonitor{3373};
  if (!session.catalog.has_privileges_of(session.eval.user, kMonitor)) require_superuser(session, function);
}

void show_frames(SessionState& session, Call&, Rows& rows) {
  require_monitor(session, "pg_get_buffercache");
  storage::BufferPool& pool = pool_of(session);
  for (std::size_t i = 0; i < pool.frame_count(); ++i) {
    shm::check_interrupts();
    const auto number = Datum::from_int32(static_cast<std::int32_t>(i) + 1);
    const auto view = pool.inspect(BufferId{static_cast<std::uint32_t>(i)});
    if (!view) {
      rows.add({number, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull});
      continue;
    }
    const bool shared = !is_valid(view->tag.file.database);
    rows.add({number, oid_value(view->tag.file.relation),
              oid_value(shared ? kGlobalTablespace : kDefaultTablespace), oid_value(view->tag.file.database),
              Datum::from_int16(static_cast<std::int16_t>(view->tag.fork)), int8_value(view->tag.page.value),
              Datum::from_bool(view->dirty), Datum::from_int16(static_cast<std::int16_t>(view->usage_count)),
              Datum::from_int32(static_cast<std::int32_t>(view->pin_count))});
  }
}

void show_summary(SessionState& session, Call&, Rows& rows) {
  require_monitor(session, "pg_buffercache_summary");
  storage::BufferPool& pool = pool_of(session);
  std::int32_t used = 0, unused = 0, dirty = 0, pinned = 0;
  double usage = 0;
  for (std::size_t i = 0; i < pool.frame_count(); ++i) {
    const auto view = pool.inspect(BufferId{static_cast<std::uint32_t>(i)});
    if (!view) {
      ++unused;
      continue;
    }
    ++used;
    dirty += view->dirty ? 1 : 0;
    pinned += view->pin_count > 0 ? 1 : 0;
    usage += view->usage_count;
  }
  rows.add({Datum::from_int32(used), Datum::from_int32(unused), Datum::from_int32(dirty),
            Datum::from_int32(pinned), used > 0 ? float8_value(usage / used) : Value{}});
}

Datum evict_one(SessionState& session, Call& call) {
  require_superuser(session, "pg_buffercache_evict");
  storage::BufferPool& pool = pool_of(session);
  const std::int32_t number = call.args[0].as_int32();
  if (number < 1 || static_cast<std::size_t>(number) > pool.frame_count()) {
    throw SqlError{sqlstate::kInvalidParameterValue, "bad buffer ID: " + std::to_string(number)};
  }
  return Datum::from_bool(pool.evict(BufferId{static_cast<std::uint32_t>(number) - 1}));
}

void evict_every(SessionState& session, Call&, Rows& rows) {
  require_superuser(session, "pg_buffercache_evict_all");
  const storage::EvictedFrames done = pool_of(session).evict_all();
  rows.add({Datum::from_int32(static_cast<std::int32_t>(done.evicted)),
            Datum::from_int32(static_cast<std::int32_t>(done.flushed)),
            Datum::from_int32(static_cast<std::int32_t>(done.skipped))});
}

constexpr Function kBufferCacheFunctions[] = {{"pg_buffercache_evict", evict_one}};
constexpr SetOf kBufferCacheSets[] = {{"pg_get_buffercache", 9, show_frames},
                                      {"pg_buffercache_summary", 5, show_summary},
                                      {"pg_buffercache_evict_all", 3, evict_every}};

}  // namespace

std::span<const Function> buffer_cache_functions() { return kBufferCacheFunctions; }
std::span<const SetOf> buffer_cache_sets() { return kBufferCacheSets; }

}  // namespace pinwheel::sql::session_functions
