#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "shm/process.h"

namespace pinwheel::shm {

/// What can be reset by itself (pg_stat_reset_shared and kin).
enum class StatisticsGroup : std::uint8_t { kBgwriter, kWal, kArchiver, kIo, kLwLocks, kSnapshots, kCount };

/// One tranche's statistics over all processes.
struct LwLockTotals {
  std::uint64_t acquired = 0, waited = 0, spun = 0, wait_ns = 0;
  std::uint64_t histogram[kWaitBuckets] = {};
};

/// Statistics of all processes since somebody reset them. Processes' counters only grow, each written by its
/// own process; a reset remembers what they had come to. A plain handle; attached once per process.
class StatisticsView {
 public:
  static void declare(RegionBuilder& builder);
  StatisticsView(const Segment& segment, const ProcessTable& processes);

  /// Sum over all processes since the last reset of `group`.
  std::uint64_t total(StatisticsGroup group, Counter counter) const noexcept;
  /// Over processes of one kind. Group kIo only.
  std::uint64_t io_total(Counter counter, ProcessKind kind) const noexcept;
  LwLockTotals lwlock(Tranche tranche) const noexcept;

  /// Two sessions that reset at once leave one of their times. A process that dies meanwhile takes the
  /// segment along.
  void reset(StatisticsGroup group, std::int64_t now_us) noexcept;
  /// Microseconds since 2000-01-01; 0 = never.
  std::int64_t reset_at_us(StatisticsGroup group) const noexcept;

 private:
  struct Baselines;
  LwLockTotals lwlock_since_start(Tranche tranche) const noexcept;

  const ProcessTable& processes_;
  Baselines* baselines_;
};

}  // namespace pinwheel::shm
