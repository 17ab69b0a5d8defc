#include <sched.h>

#include "base/failpoints.h"
#include "txn/running_set.h"
#include "txn/running_set_internal.h"

namespace pinwheel::txn {

// RunningSet's part under snapshot_method = csn. docs/decisions/0014 has the proofs.

void RunningSet::finish_numbered(shm::SessionIndex session, Xid top, std::span<const Xid> subxids) noexcept {
  Slot& slot = slots_[session.value];
  // Either we see that the ring moves past us, or the mover sees that we publish and waits.
  slot.publishing.store(1, std::memory_order_seq_cst);
  if (top >= sequence_->moved_until()) [[likely]] {
    sequence_->publish(top, subxids);
    slot.publishing.store(0, std::memory_order_release);
  } else {
    slot.publishing.store(0, std::memory_order_release);
    sequence_->publish_old(top, subxids);
  }
  leave_sequence(session, top);
}

void RunningSet::leave_sequence(shm::SessionIndex session, Xid top) noexcept {
  Slot& slot = slots_[session.value];
  xids_[session.value].store(0, std::memory_order_seq_cst);
  failpoint::hit("transaction_finish");
  // As in finish().
  if (slot.first_waiter.load(std::memory_order_seq_cst) != 0) wake_waiters(slot);
  // Either we see that we are the oldest, or who has just called us so sees that we have left.
  if (sequence_->oldest() == top) advance_oldest();
}

void RunningSet::advance_oldest() noexcept {
  for (;;) {
    // First, as in scan().
    const Xid next = clog_.xids.next_xid();
    std::uint64_t oldest = next.value;
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < slot_limit(); ++i) {
      const std::uint64_t xid = xids_[i].load(std::memory_order_acquire);
      if (xid == 0 || xid >= oldest) continue;
      oldest = xid;
      at = i;
    }
    failpoint::hit("csn_oldest_found");
    sequence_->raise_oldest(Xid{oldest});
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const bool still_true = oldest == next.value ? clog_.xids.next_xid() == next
                                                 : xids_[at].load(std::memory_order_relaxed) == oldest;
    if (still_true) return;
  }
}

Xid RunningSet::start(Xid next) { return sequence_->start(next); }

Xid RunningSet::extend(Xid first) {
  shm::ExclusiveGuard guard{sequence_->move_latch()};
  const std::optional<Xid> below = sequence_->begin_move(first);
  if (below) wait_for_publishers(*below);
  return sequence_->finish_move(first, compute_horizon());
}

void RunningSet::wait_for_publishers(Xid below) const noexcept {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    const std::uint64_t xid = xids_[i].load(std::memory_order_acquire);
    if (xid == 0 || xid >= below.value) continue;
    // They are few stores away from the end. One that begins after the fence takes publish_old().
    while (slots_[i].publishing.load(std::memory_order_acquire) != 0) sched_yield();
  }
}

}  // namespace pinwheel::txn
