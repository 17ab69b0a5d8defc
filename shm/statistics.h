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
  kBufferWritesByBackend,
  kBufferWritesByCheckpointer,
  kBufferWritesByBgwriter,
  kBufferAllocations,
  kBufferExtends,
  kBufferSyncs,
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
  // snapshots
  kSnapshotsTaken,
  kSnapshotsBuilt,
  kSnapshotsCopied,
  kSnapshotsReused,
  // transactions and locks
  kCommits,
  kRollbacks,
  kLockAcquisitions,
  kLockFastPath,
  kLockWaits,
  kDeadlocks,
  // statements
  kStatements,
  kStatementCacheHits,
  kStatementCacheMisses,
  kTuplesReturned,
  kTuplesFetched,
  kTuplesInserted,
  kTuplesUpdated,
  kTuplesDeleted,
  kTempFiles,
  kTempBytes,
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
