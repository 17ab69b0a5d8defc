#include "base/parameters.h"
#include "shm/lwlock_tranche.h"
#include "shm/wait_event.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/array.h"
#include "sql/types/type_oids.h"
#include "storage/storage.h"

/// Views that stock 15 has not: wait events, latches, buffer replacement, snapshots, I/O by kind of process.
namespace pinwheel::sql::session_functions {
namespace {

using shm::Counter;
using shm::ProcessKind;
using shm::RingEvent;
using shm::StatisticsGroup;

void show_wait_events(SessionState&, Call& call, Rows& rows) {
  for (std::uint16_t i = 1; i < static_cast<std::uint16_t>(shm::WaitEvent::kCount); ++i) {
    const shm::WaitEventInfo info = shm::wait_event_info(static_cast<shm::WaitEvent>(i));
    rows.add({text_value(call.arena, shm::wait_event_type_name(info.type)), text_value(call.arena, info.name),
              text_value(call.arena, info.summary)});
  }
  for (const shm::TrancheInfo& tranche : shm::kTranches) {
    rows.add({text_value(call.arena, shm::wait_event_type_name(shm::WaitEventType::kLwLock)),
              text_value(call.arena, tranche.name),
              text_value(call.arena, "Waiting for a latch of tranche " + std::string{tranche.name} + ".")});
  }
}

/// Element 1: waits shorter than a microsecond (1.024 to be exact: buckets are powers of two of nanoseconds);
/// element i: of [2^(i-2), 2^(i-1)) such microseconds; the last is open.
Datum histogram_in_microseconds(Arena& arena, const shm::LwLockTotals& total) {
  constexpr std::size_t kBelowOne = 2;  // buckets of 256 and of 512 ns
  std::vector<Datum> elements;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBelowOne; ++i) below += total.histogram[i];
  elements.push_back(*int8_value(below));
  for (std::size_t i = kBelowOne; i < shm::kWaitBuckets; ++i)
    elements.push_back(*int8_value(total.histogram[i]));
  return build_array(arena, kInt8Type, elements.data(), nullptr, static_cast<int>(elements.size()));
}

void show_lwlocks(SessionState& session, Call& call, Rows& rows) {
  const Value since = counted_since(session, StatisticsGroup::kLwLocks);
  for (const shm::TrancheInfo& tranche : shm::kTranches) {
    const shm::LwLockTotals total = session.services.counters.lwlock(tranche.tranche);
    rows.add({text_value(call.arena, tranche.name), int8_value(total.acquired), int8_value(total.waited),
              int8_value(total.spun), float8_value(static_cast<double>(total.wait_ns) / 1e6),
              histogram_in_microseconds(call.arena, total), since});
  }
}

Value setting_value(SessionState& session, Arena& arena, std::string_view name) {
  return text_value(arena, session.settings.show(name, SetAuthority{true}));
}

void show_replacement(SessionState& session, Call& call, Rows& rows) {
  const auto count = [&](Counter counter) {
    return static_cast<std::uint64_t>(counted(session, StatisticsGroup::kBgwriter, counter));
  };
  std::uint64_t reused = 0;
  for (std::size_t ring = 0; ring < 3; ++ring) reused += count(shm::ring_counter(ring, RingEvent::kReuse));
  const storage::BufferPool& pool = session.services.catalog.storage.pool;
  const std::uint64_t allocations = count(Counter::kBufferAllocations);
  const std::uint64_t refilled = count(Counter::kFreelistRefilled);
  rows.add({setting_value(session, call.arena, "buffer_replacement"),
            setting_value(session, call.arena, "buffer_freelist"),
            setting_value(session, call.arena, "bgwriter_mode"), int8_value(pool.frame_count()),
            int8_value(pool.free_frames()), int8_value(allocations),
            int8_value(count(Counter::kVictimsFromFreelist)), int8_value(count(Counter::kVictimsBySweep)),
            int8_value(reused), int8_value(count(Counter::kFramesSwept)),
            int8_value(count(Counter::kFreelistEmpty)), int8_value(refilled),
            allocations == 0 ? Value{}
                             : float8_value(static_cast<double>(refilled) / static_cast<double>(allocations)),
            int8_value(count(Counter::kBgwriterWakeups)), int8_value(count(Counter::kBgwriterRounds)),
            counted_since(session, StatisticsGroup::kBgwriter)});
}

void show_snapshots(SessionState& session, Call& call, Rows& rows) {
  const auto count = [&](Counter counter) {
    return Value{Datum::from_int64(counted(session, StatisticsGroup::kSnapshots, counter))};
  };
  rows.add({setting_value(session, call.arena, "snapshot_method"), count(Counter::kSnapshotsTaken),
            count(Counter::kSnapshotsBuilt), count(Counter::kSnapshotsCopied),
            count(Counter::kSnapshotsReused), counted_since(session, StatisticsGroup::kSnapshots)});
}

/// One row of pg_stat_io, as counts.
struct IoRow {
  std::uint64_t reads = 0, writes = 0, writebacks = 0, extends = 0, hits = 0, evictions = 0, reuses = 0,
                syncs = 0;
  double read_ms = 0, write_ms = 0, extend_ms = 0, sync_ms = 0;
};

/// What a kind of process did in all contexts together.
IoRow io_of_kind(const SessionState& session, ProcessKind kind) {
  const auto total = [&](Counter counter) { return session.services.counters.io_total(counter, kind); };
  const auto ms = [&](Counter counter) { return static_cast<double>(total(counter)) / 1e6; };
  IoRow row;
  row.reads = total(Counter::kBufferReads);
  row.writes = total(Counter::kBufferWritesByBackend) + total(Counter::kBufferWritesByCheckpointer) +
               total(Counter::kBufferWritesByBgwriter);
  row.writebacks = total(Counter::kBufferWritebacks);
  row.extends = total(Counter::kBufferExtends);
  row.hits = total(Counter::kBufferHits);
  row.evictions = total(Counter::kBufferEvictions);
  row.syncs = total(Counter::kBufferSyncs);
  row.read_ms = ms(Counter::kReadNs);
  row.write_ms = ms(Counter::kWriteNs);
  row.extend_ms = ms(Counter::kExtendNs);
  row.sync_ms = ms(Counter::kSyncNs);
  return row;
}

IoRow io_of_ring(const SessionState& session, ProcessKind kind, std::size_t ring) {
  const auto total = [&](RingEvent event) {
    return session.services.counters.io_total(shm::ring_counter(ring, event), kind);
  };
  IoRow row;
  row.reads = total(RingEvent::kRead);
  row.writes = total(RingEvent::kWrite);
  row.extends = total(RingEvent::kExtend);
  row.hits = total(RingEvent::kHit);
  row.evictions = total(RingEvent::kEviction);
  row.reuses = total(RingEvent::kReuse);
  return row;
}

void show_io(SessionState& session, Call& call, Rows& rows) {
  constexpr std::string_view kRingContexts[] = {"bulkread", "bulkwrite", "vacuum"};
  const Value since = counted_since(session, StatisticsGroup::kIo);
  const auto add = [&](ProcessKind kind, std::string_view context, const IoRow& row, bool timed) {
    const auto time = [&](double ms) { return timed ? float8_value(ms) : Value{}; };
    const bool in_ring = !timed;
    rows.add({text_value(call.arena, shm::process_kind_name(kind)), text_value(call.arena, "relation"),
              text_value(call.arena, context), int8_value(row.reads), time(row.read_ms),
              int8_value(row.writes), time(row.write_ms), in_ring ? Value{} : int8_value(row.writebacks),
              kNull, int8_value(row.extends), time(row.extend_ms), int8_value(kPageSize),
              int8_value(row.hits), int8_value(row.evictions), in_ring ? int8_value(row.reuses) : Value{},
              in_ring ? Value{} : int8_value(row.syncs), time(row.sync_ms), since});
  };
  for (const ProcessKind kind :
       {ProcessKind::kAutovacuumLauncher, ProcessKind::kBackend, ProcessKind::kBgwriter,
        ProcessKind::kCheckpointer, ProcessKind::kStartup, ProcessKind::kWalwriter}) {
    // Rings' counts are part of the totals; times are not told apart.
    IoRow normal = io_of_kind(session, kind);
    IoRow rings[3];
    for (std::size_t ring = 0; ring < 3; ++ring) {
      rings[ring] = io_of_ring(session, kind, ring);
      normal.reads -= std::min(normal.reads, rings[ring].reads);
      normal.writes -= std::min(normal.writes, rings[ring].writes);
      normal.extends -= std::min(normal.extends, rings[ring].extends);
      normal.hits -= std::min(normal.hits, rings[ring].hits);
      normal.evictions -= std::min(normal.evictions, rings[ring].evictions);
    }
    add(kind, "normal", normal, /*timed=*/true);
    if (kind != ProcessKind::kBackend && kind != ProcessKind::kAutovacuumLauncher) continue;
    for (std::size_t ring = 0; ring < 3; ++ring) add(kind, kRingContexts[ring], rings[ring], false);
  }
}

constexpr SetOf kEngineSets[] = {{"pg_get_wait_events", 3, show_wait_events},
                                 {"pg_stat_get_lwlocks", 7, show_lwlocks},
                                 {"pg_stat_get_buffer_replacement", 16, show_replacement},
                                 {"pg_stat_get_snapshots", 6, show_snapshots},
                                 {"pg_stat_get_io", 18, show_io}};

}  // namespace

std::span<const SetOf> engine_sets() { return kEngineSets; }

}  // namespace pinwheel::sql::session_functions
