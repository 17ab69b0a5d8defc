#include "shm/statistics.h"
#include "clog/clog.h"
#include "clog/slru.h"
#include "shm/segment.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/numeric.h"
#include "txn/transaction_manager.h"

/// Counters of the server as a whole, as stock has them. Processes count for themselves; views sum up. Calls
/// of functions are not counted: those are NULL.
namespace pinwheel::sql::session_functions {
namespace {

using shm::Counter;
using shm::StatisticsGroup;

Datum always_zero(SessionState&, Call&) { return Datum::from_int64(0); }
Datum always_null(SessionState&, Call& call) { return call.null(); }
Datum nothing_to_do(SessionState&, Call&) { return Datum{}; }

template <Counter Which>
Datum bgwriter_count(SessionState& session, Call&) {
  return Datum::from_int64(counted(session, StatisticsGroup::kBgwriter, Which));
}
template <Counter Which>
Datum bgwriter_ms(SessionState& session, Call&) {
  return Datum::from_float8(static_cast<double>(counted(session, StatisticsGroup::kBgwriter, Which)));
}
Datum bgwriter_reset_time(SessionState& session, Call&) {
  return *counted_since(session, StatisticsGroup::kBgwriter);
}

Datum log_statistics(SessionState& session, Call& call) {
  const auto count = [&](Counter counter) {
    return Value{Datum::from_int64(counted(session, StatisticsGroup::kWal, counter))};
  };
  const auto ms = [&](Counter counter) {
    return float8_value(static_cast<double>(counted(session, StatisticsGroup::kWal, counter)) / 1e6);
  };
  return make_record(
      call,
      {count(Counter::kWalRecords), count(Counter::kWalFullPageImages),
       numeric_from_int64(call.arena, counted(session, StatisticsGroup::kWal, Counter::kWalBytes)),
       count(Counter::kWalBuffersFull), count(Counter::kWalWrites), count(Counter::kWalSyncs),
       ms(Counter::kWalWriteNs), ms(Counter::kWalSyncNs), counted_since(session, StatisticsGroup::kWal)});
}

/// Nothing is archived.
Datum archiver_statistics(SessionState& session, Call& call) {
  return make_record(call, {Datum::from_int64(0), kNull, kNull, Datum::from_int64(0), kNull, kNull,
                            counted_since(session, StatisticsGroup::kArchiver)});
}

void show_slrus(SessionState& session, Call& call, Rows& rows) {
  const clog::Clog& clog = session.services.catalog.transactions.clog();
  for (const clog::Slru* slru : {&clog.multixacts.members(), &clog.multixacts.offsets(),
                                 &clog.subtransactions.slru(), &clog.status.slru()}) {
    const clog::SlruStats stats = slru->stats(session.services.processes);
    const std::int64_t since =
        stats.reset_at_us != 0 ? stats.reset_at_us : session.services.server.facts().started_at_us;
    rows.add({text_value(call.arena, slru->options().name), int8_value(stats.zeroed), int8_value(stats.hits),
              int8_value(stats.read), int8_value(stats.written), int8_value(stats.exists),
              int8_value(stats.flushes), int8_value(stats.truncates), Datum::from_int64(since)});
  }
}

void show_shared_memory(SessionState& session, Call& call, Rows& rows) {
  require_superuser(session, "pg_get_shmem_allocations");
  const shm::Segment& segment = session.services.segment;
  std::size_t used = 0;
  std::size_t end = 0;
  for (const shm::Region& region : segment.regions()) {
    // What alignment leaves before the next region belongs to this one.
    const shm::Region* next = &region + 1;
    const bool last = next == segment.regions().data() + segment.regions().size();
    const std::size_t until = last ? region.offset + region.size_bytes : next->offset;
    rows.add({text_value(call.arena, region.name), int8_value(region.offset), int8_value(region.size_bytes),
              int8_value(until - region.offset)});
    used += until - region.offset;
    end = until;
  }
  // As stock shows what is not given to anybody: without a name.
  const std::size_t left = segment.total_bytes() > used ? segment.total_bytes() - used : 0;
  rows.add({kNull, int8_value(end), int8_value(left), int8_value(left)});
}

void no_rows(SessionState&, Call&, Rows&) {}

constexpr Function kStatisticsFunctions[] = {
    // Background writer and checkpointer
    {"pg_stat_get_bgwriter_timed_checkpoints", bgwriter_count<Counter::kCheckpointsTimed>},
    {"pg_stat_get_bgwriter_requested_checkpoints", bgwriter_count<Counter::kCheckpointsRequested>},
    {"pg_stat_get_bgwriter_buf_written_checkpoints", bgwriter_count<Counter::kBufferWritesByCheckpointer>},
    {"pg_stat_get_bgwriter_buf_written_clean", bgwriter_count<Counter::kBufferWritesByBgwriter>},
    {"pg_stat_get_bgwriter_maxwritten_clean", bgwriter_count<Counter::kBgwriterMaxWrittenStops>},
    {"pg_stat_get_bgwriter_stat_reset_time", bgwriter_reset_time},
    {"pg_stat_get_checkpoint_write_time", bgwriter_ms<Counter::kCheckpointWriteMs>},
    {"pg_stat_get_checkpoint_sync_time", bgwriter_ms<Counter::kCheckpointSyncMs>},
    {"pg_stat_get_buf_written_backend", bgwriter_count<Counter::kBufferWritesByBackend>},
    {"pg_stat_get_buf_fsync_backend", always_zero},  // only the checkpointer syncs data files
    {"pg_stat_get_buf_alloc", bgwriter_count<Counter::kBufferAllocations>},
    {"pg_stat_get_wal", log_statistics},
    {"pg_stat_get_archiver", archiver_statistics},
    {"pg_stat_get_wal_receiver", always_null},
    // Functions
    {"pg_stat_get_function_calls", always_null},
    {"pg_stat_get_function_total_time", always_null},
    {"pg_stat_get_function_self_time", always_null},
    {"pg_stat_get_xact_function_calls", always_null},
    {"pg_stat_get_xact_function_total_time", always_null},
    {"pg_stat_get_xact_function_self_time", always_null},
    // Counters are read as they stand: there is no snapshot of them to keep or to drop.
    {"pg_stat_get_snapshot_timestamp", always_null},
    {"pg_stat_clear_snapshot", nothing_to_do},
};
constexpr SetOf kStatisticsSets[] = {{"pg_stat_get_slru", 9, show_slrus},
                                     {"pg_get_shmem_allocations", 4, show_shared_memory},
                                     {"pg_stat_get_wal_senders", 12, no_rows}};

}  // namespace

std::span<const Function> statistics_functions() { return kStatisticsFunctions; }
std::span<const SetOf> statistics_sets() { return kStatisticsSets; }

}  // namespace pinwheel::sql::session_functions
