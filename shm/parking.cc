#include "shm/parking.h"

namespace pinwheel::shm {
namespace {

/// Puts a session whose kQueued bit we have just set on its owner's list.
void push_woken(ProcessSlot& owner, SessionSlot& slot, SessionIndex index) noexcept {
  std::uint32_t head = owner.woken_head.load(std::memory_order_relaxed);
  do {
    slot.next_woken.store(head, std::memory_order_relaxed);
  } while (!owner.woken_head.compare_exchange_weak(head, index.value + 1, std::memory_order_acq_rel));
  wake_if_asleep(owner);
}

}  // namespace

void wake(const ProcessTable& processes, const SessionTable& sessions, SessionIndex index) noexcept {
  SessionSlot& slot = sessions.slot(index);
  std::uint32_t seen = slot.wake.load(std::memory_order_relaxed);
  std::uint32_t wanted;
  do {
    if ((seen & WakeWord::kOwnerMask) == WakeWord::kFree) return;
    wanted = seen | WakeWord::kQueued | WakeWord::kWoken;
    // Even when both bits are set the exchange is needed: it orders what we published before the owner's next
    // look.
  } while (!slot.wake.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel));
  if ((seen & WakeWord::kQueued) != 0) return;  // whoever set it pushes and wakes
  push_woken(processes.slot(ProcessIndex{static_cast<std::uint16_t>(seen & WakeWord::kOwnerMask)}), slot,
             index);
}

void interrupt(const ProcessTable& processes, const SessionTable& sessions, SessionIndex index,
               std::uint32_t bits) noexcept {
  sessions.slot(index).interrupts.fetch_or(bits, std::memory_order_acq_rel);
  wake(processes, sessions, index);
}

WakeReason PlainParker::park(WaitEvent event, Deadline deadline) {
  assert_nothing_latched();
  SessionSlot& slot = sessions_.slot(index_);
  slot.wait_event.store(published(event), std::memory_order_relaxed);
  WakeReason reason = WakeReason::kReady;
  for (;;) {
    take_woken(sessions_, [](SessionIndex) {});
    if (consume_wake(slot)) break;
    reason = interrupt_reason(slot);
    if (reason != WakeReason::kReady) break;
    if (deadline.passed()) {
      reason = WakeReason::kTimeout;
      break;
    }
    // A request to the process as a whole also ends the wait: the caller's loop serves it.
    if (self().slot->requests.load(std::memory_order_relaxed) != 0) break;
    wait_on_event_fd(deadline);
  }
  slot.wait_event.store(0, std::memory_order_relaxed);
  return reason;
}

}  // namespace pinwheel::shm
