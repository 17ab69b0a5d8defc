#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shm/process.h"
#include "txn/lock_manager.h"
#include "txn/lock_tag.h"

namespace pinwheel::txn {

/// Looks for cycles in who waits for whom, over heavyweight locks and transaction ends. Run by a waiter once
/// it has waited for deadlock_timeout. Latches: all partitions of the lock table, exclusive, while it looks.
class DeadlockSearch {
 public:
  explicit DeadlockSearch(LockManager& manager) noexcept : manager_{manager} {}

  /// True when `waiter` waits, over others, for itself. detail() then tells how. `give_way` runs before the
  /// latches are released and takes the waiter out of its queue, so that of two sessions in one cycle that
  /// look at the same time only the first finds it.
  bool find_cycle(shm::SessionIndex waiter, const std::function<void()>& give_way);

  /// "Process 123 waits for ShareLock on transaction 456; blocked by process 789.", a line per edge.
  std::string detail() const;

  /// Sessions that `waiter` waits for directly.
  std::vector<shm::SessionIndex> blockers_of(shm::SessionIndex waiter);

 private:
  struct Edge {
    shm::SessionIndex from, to;
    LockTag tag;
    LockMode mode;
    std::uint64_t sequence;  // of a wait for a transaction; 0 = for a lock
  };
  class AllLatches;

  void collect_edges(shm::SessionIndex from, std::vector<Edge>& edges) const;
  bool visit(shm::SessionIndex at, shm::SessionIndex target);
  bool still_holds(const Edge& edge) const;

  LockManager& manager_;
  std::vector<bool> visited_;
  std::vector<Edge> path_;
};

}  // namespace pinwheel::txn
