#pragma once

#include <cstdint>

#include "base/clock.h"
#include "shm/process.h"
#include "shm/session_slot.h"
#include "shm/wait_event.h"

namespace pinwheel::shm {

enum class WakeReason : std::uint8_t {
  kReady,       // woken, or for no reason: look at your condition again
  kTimeout,     // the deadline has passed
  kCancelled,   // one of kCancellingInterrupts is set: leave the queue you wait in, then check_interrupts()
  kTerminated,  // one of kTerminatingInterrupts is set: likewise
};

/// Where a session stops until another wakes it. The fiber scheduler implements it for sessions, PlainParker
/// for processes with one session and no fibers.
///
/// The pattern, free of lost wake-ups because a wake-up that comes early is kept in the wake word:
///   put yourself where the waker will find you; then
///   loop { look at the condition; if it holds, leave; reason = park(event, deadline); handle reason }
/// Nothing may be latched (debug builds check). Not in a destructor, not in a catch block.
class Parker {
 public:
  virtual ~Parker() = default;
  virtual WakeReason park(WaitEvent event, Deadline deadline) = 0;
};

/// Wakes a session: keeps the wake-up in its wake word, puts it on its process's woken list unless it is
/// there, and writes the process's eventfd if that process sleeps. May be called under latches; never blocks.
void wake(const ProcessTable& processes, const SessionTable& sessions, SessionIndex index) noexcept;

/// Sets interrupt bits of a session and wakes it. Safe on a slot that is being freed: the worst is a spurious
/// interrupt, which acquire() clears.
void interrupt(const ProcessTable& processes, const SessionTable& sessions, SessionIndex index,
               std::uint32_t bits) noexcept;

/// Takes all sessions woken since the last call and calls `resume(SessionIndex)` for each of this process.
/// Owner only.
///
/// Why none is lost: the popper clears kQueued with a read-modify-write before it looks at kWoken, the waker
/// sets both with one read-modify-write. A waker that saw kQueued still set therefore precedes the popper's
/// clear, and the popper sees its kWoken; a waker that saw it clear pushes again.
template <class Resume>
void take_woken(const SessionTable& sessions, Resume resume) {
  std::uint32_t at = self().slot->woken_head.exchange(0, std::memory_order_acq_rel);
  while (at != 0) {
    const SessionIndex index{at - 1};
    SessionSlot& slot = sessions.slot(index);
    at = slot.next_woken.load(std::memory_order_relaxed);
    slot.wake.fetch_and(~WakeWord::kQueued, std::memory_order_acq_rel);
    resume(index);
  }
}

/// Consumes a pending wake-up; true if there was one. For implementations of Parker.
inline bool consume_wake(SessionSlot& slot) noexcept {
  if ((slot.wake.load(std::memory_order_relaxed) & WakeWord::kWoken) == 0) return false;
  return (slot.wake.fetch_and(~WakeWord::kWoken, std::memory_order_acq_rel) & WakeWord::kWoken) != 0;
}

/// What park() must return for the interrupts now set, or kReady when none of them ends a wait.
inline WakeReason interrupt_reason(const SessionSlot& slot) noexcept {
  const std::uint32_t bits = slot.interrupts.load(std::memory_order_acquire);
  if ((bits & kTerminatingInterrupts) != 0) return WakeReason::kTerminated;
  if ((bits & kCancellingInterrupts) != 0) return WakeReason::kCancelled;
  return WakeReason::kReady;
}

/// Announces sleep and tells whether to wait: false when there is news already (then the announcement is
/// taken back). After the wait call end_sleep(). The eventfd to wait on is self().slot->event_fd.
bool begin_sleep() noexcept;
/// Takes the announcement back and empties the eventfd if it was written.
void end_sleep() noexcept;
/// One whole sleep of a process without other descriptors to watch: until its eventfd is written, the
/// deadline, or a signal; returns at once when there is news.
void wait_on_event_fd(Deadline deadline) noexcept;

/// Parks a process that runs one session on its plain stack: background processes and tests.
class PlainParker final : public Parker {
 public:
  PlainParker(const SessionTable& sessions, SessionIndex index) noexcept
      : sessions_{sessions}, index_{index} {}
  WakeReason park(WaitEvent event, Deadline deadline) override;

 private:
  const SessionTable& sessions_;
  SessionIndex index_;
};

}  // namespace pinwheel::shm
