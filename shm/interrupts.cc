#include "shm/interrupts.h"

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::shm {
namespace {

/// Stands in while no session runs, so that check_interrupts() and wait scopes need no test for null.
SessionSlot no_session_slot;

/// What a process without fibers does about its interrupts.
void plain_hook(std::uint32_t interrupts) {
  SessionSlot& slot = *current_session.slot;
  if ((interrupts & kTerminatingInterrupts) != 0) {
    throw SqlError{sqlstate::kAdminShutdown, "terminating connection due to administrator command"}.fatal();
  }
  slot.interrupts.fetch_and(~kCancellingInterrupts, std::memory_order_acq_rel);
  if ((interrupts & kInterruptStatementTimeout) != 0) {
    throw SqlError{sqlstate::kQueryCanceled, "canceling statement due to statement timeout"};
  }
  if ((interrupts & kInterruptLockTimeout) != 0) {
    throw SqlError{sqlstate::kLockNotAvailable, "canceling statement due to lock timeout"};
  }
  if ((interrupts & kInterruptAutovacuumCancel) != 0) {
    throw SqlError{sqlstate::kQueryCanceled, "canceling autovacuum task"};
  }
  if ((interrupts & kCancellingInterrupts) != 0) {
    throw SqlError{sqlstate::kQueryCanceled, "canceling statement due to user request"};
  }
}

InterruptHook installed_hook = plain_hook;

}  // namespace

CurrentSession current_session{&no_session_slot, nullptr, kNoSession, kTicksPerQuantumCheck, nullptr};

void set_interrupt_hook(InterruptHook hook) noexcept { installed_hook = hook == nullptr ? plain_hook : hook; }

void set_current_session(SessionSlot* slot, Parker* parker, SessionIndex index) noexcept {
  current_session = {slot == nullptr ? &no_session_slot : slot, parker, index, kTicksPerQuantumCheck,
                     nullptr};
}

void service_interrupts() {
  current_session.ticks_left = kTicksPerQuantumCheck;
  installed_hook(current_session.slot->interrupts.load(std::memory_order_acquire));
}

}  // namespace pinwheel::shm
