#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "shm/lwlock_tranche.h"

namespace pinwheel::shm {

/// Event counters that every process keeps for itself and views sum up. Owners add theirs here.
enum class Counter : std::uint8_t {
  // buffer pool
  kBufferHits,
  kBufferReads,
  kBuffersDirtied,
  kBufferWritesByBackend,
  kBufferWritesByCheckpointer,
  kBufferWritesByBgwriter,
  kBufferAllocations,
  kBufferExtends,
  kBufferEvictions,
  kBufferWritebacks,
  kBufferSyncs,
  // time in the system's calls for files of relations, while track_io_timing is on
  kReadNs,
  kWriteNs,
  kExtendNs,
  kSyncNs,
  // what of the above was done through a ring of frames: RingEvent by kind of ring, see ring_counter()
  kRingFirst,
  kRingLast = kRingFirst + 3 * 6 - 1,
  kVictimsFromFreelist,
  kVictimsBySweep,
  kFramesSwept,
  kFreelistEmpty,
  kFreelistRefilled,
  kBgwriterWakeups,
  kBgwriterRounds,
  kBgwriterMaxWrittenStops,
  // wal
  kWalRecords,
  kWalBytes,
  kWalFullPageImages,
  kWalBuffersFull,
  kWalWrites,
  kWalSyncs,
  kWalWriteNs,
  kWalSyncNs,
  kWalFlushRequests,
  kWalCommitsFlushed,
  // clog and other SLRUs
  kClogHits,
  kClogReads,
  kClogWrites,
  kClogEvictions,
  kClogGroupUpdates,
  kClogGroupMembers,
  kSubtransHits,
  kSubtransReads,
  kMultixactHits,
  kMultixactReads,
  kMultixactMemberHits,
  kMultixactMemberReads,
  // snapshots: taken = built + copied + reused
  kSnapshotsTaken,
  kSnapshotsBuilt,   // by a scan of the running transactions
  kSnapshotsCopied,  // from the process's last (cached), or the two words of the commit sequence (csn)
  kSnapshotsReused,  // the session's own last one, nothing shared read but the word that says so
  kCsnWaits,         // a visibility test that met a commit half published
  kCsnPagesSaved,    // pages of the commit sequence ring moved to pg_csn for an old snapshot
  kCsnHits,          // reads of pg_csn
  kCsnReads,
  // transactions and locks
  kCommits,
  kRollbacks,
  kLockAcquisitions,
  kLockFastPath,
  kLockWaits,
  kDeadlocks,
  // statements
  kStatements,
  // checkpoints
  kCheckpointsTimed,
  kCheckpointsRequested,
  kCheckpointWriteMs,
  kCheckpointSyncMs,
  // scheduler
  kFiberSwitches,
  kWakeSystemCalls,
  kWakesWithoutSystemCall,
  kCount,
};
inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(Counter::kCount);

/// What is counted once more when a bulk operation does it through its ring.
enum class RingEvent : std::uint8_t { kHit, kRead, kWrite, kExtend, kEviction, kReuse };
inline constexpr std::size_t kRingEvents = 6;
/// `ring` numbers the kinds of rings: 0 bulk read, 1 bulk write, 2 vacuum.
constexpr Counter ring_counter(std::size_t ring, RingEvent event) noexcept {
  return static_cast<Counter>(static_cast<std::size_t>(Counter::kRingFirst) + ring * kRingEvents +
                              static_cast<std::size_t>(event));
}
static_assert(ring_counter(2, RingEvent::kReuse) == Counter::kRingLast);

/// A counter that one process writes and all may read.
class OwnedCounter {
 public:
  void add(std::uint64_t n) noexcept {
    // One writer: a plain load and store, no locked instruction.
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Buckets of wait time: bucket i counts waits of [2^(i+8), 2^(i+9)) ns; the first and last are open.
inline constexpr std::size_t kWaitBuckets = 24;

/// What one process did with the locks of one tranche.
struct LwLockStats {
  OwnedCounter acquired;
  OwnedCounter waited;  // slept on the futex at least once
  OwnedCounter spun;    // had to spin, whether it slept or not
  OwnedCounter wait_ns;
  OwnedCounter histogram[kWaitBuckets];
};

/// One process's counters; only that process writes them, any may read.
struct alignas(kCacheLine) ProcessStats {
  /// ProcessKind of all processes that ever counted here: ProcessTable::reserve sees to it.
  std::atomic<std::uint8_t> kind{0};
  OwnedCounter counters[kCounterCount];
  LwLockStats lwlocks[kTrancheCount];
};

/// Statistics block of this process: its own in shared memory once it has a process slot, before that a
/// private one. Process-wide handle.
extern ProcessStats* process_stats;

inline void count(Counter counter, std::uint64_t n = 1) noexcept {
  process_stats->counters[static_cast<std::size_t>(counter)].add(n);
}

}  // namespace pinwheel::shm
