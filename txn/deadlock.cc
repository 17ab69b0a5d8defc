#include "txn/deadlock.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "txn/lock_manager_internal.h"
#include "txn/running_set.h"

namespace pinwheel::txn {

/// Freezes the lock table: partitions in rising order, as everybody who takes several does.
class DeadlockSearch::AllLatches {
 public:
  explicit AllLatches(LockManager& manager) noexcept {
    for (std::uint32_t i = 0; i < kLockPartitions; ++i)
      guards_[i] = shm::ExclusiveGuard{manager.partition_latch(i)};
  }

 private:
  shm::ExclusiveGuard guards_[kLockPartitions];
};

void DeadlockSearch::collect_edges(shm::SessionIndex from, std::vector<Edge>& edges) const {
  const LockManager::SessionState& state = manager_.state_of(from);
  if (state.wait_lock != 0) {
    const LockManager::Lock& lock = manager_.locks_[state.wait_lock - 1];
    const LockMask conflicts = conflicts_of(state.wait_mode);
    for (std::uint32_t at = lock.first_holder; at != 0; at = manager_.holders_[at - 1].next) {
      const LockManager::Holder& holder = manager_.holders_[at - 1];
      if (holder.session == from.value || (holder.held & conflicts) == 0) continue;
      edges.push_back({from, shm::SessionIndex{holder.session}, lock.tag, state.wait_mode, 0});
    }
    // Those before us in the queue that conflict: they will be served first.
    for (std::uint32_t at = state.previous; at != 0; at = manager_.states_[at - 1].previous) {
      if ((mask_of(manager_.states_[at - 1].wait_mode) & conflicts) == 0) continue;
      edges.push_back({from, shm::SessionIndex{at - 1}, lock.tag, state.wait_mode, 0});
    }
  }
  const RunningSet::WaitEdge wait = manager_.running().wait_edge(from);
  if (wait.owner != shm::kNoSession) {
    edges.push_back({from, wait.owner, LockTag::transaction(wait.xid), LockMode::kShare, wait.sequence});
  }
}

bool DeadlockSearch::visit(shm::SessionIndex at, shm::SessionIndex target) {
  std::vector<Edge> edges;
  collect_edges(at, edges);
  for (const Edge& edge : edges) {
    path_.push_back(edge);
    if (edge.to == target) return true;
    if (!visited_[edge.to.value]) {
      visited_[edge.to.value] = true;
      if (visit(edge.to, target)) return true;
    }
    path_.pop_back();
  }
  return false;
}

bool DeadlockSearch::still_holds(const Edge& edge) const {
  if (edge.sequence == 0) return true;
  const RunningSet::WaitEdge now = manager_.running().wait_edge(edge.from);
  return now.owner == edge.to && now.sequence == edge.sequence;
}

bool DeadlockSearch::find_cycle(shm::SessionIndex waiter, const std::function<void()>& give_way) {
  AllLatches latches{manager_};
  visited_.assign(manager_.session_count_, false);
  path_.clear();
  visited_[waiter.value] = true;
  if (!visit(waiter, waiter)) return false;
  // Waits for transactions are not frozen by the latches. Each of them was seen before this second look and
  // is the same wait still, so between the two looks all edges stood at once: a true cycle.
  if (!std::ranges::all_of(path_, [this](const Edge& edge) { return still_holds(edge); })) return false;
  give_way();
  return true;
}

std::string DeadlockSearch::detail() const {
  const shm::SessionTable& sessions = manager_.sessions();
  const auto pid = [&sessions](shm::SessionIndex session) {
    return sessions.slot(session).backend_pid.load(std::memory_order_relaxed);
  };
  std::string text;
  for (const Edge& edge : path_) {
    if (!text.empty()) text += '\n';
    text += fmt::format("Process {} waits for {} on {}; blocked by process {}.", pid(edge.from),
                        lock_mode_name(edge.mode), describe(edge.tag), pid(edge.to));
  }
  return text;
}

std::vector<shm::SessionIndex> DeadlockSearch::blockers_of(shm::SessionIndex waiter) {
  AllLatches latches{manager_};
  std::vector<Edge> edges;
  collect_edges(waiter, edges);
  std::vector<shm::SessionIndex> blockers;
  for (const Edge& edge : edges) {
    if (std::ranges::find(blockers, edge.to) == blockers.end()) blockers.push_back(edge.to);
  }
  return blockers;
}

}  // namespace pinwheel::txn
