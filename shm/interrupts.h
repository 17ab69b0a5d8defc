#pragma once

#include <cstdint>

#include "shm/parking.h"
#include "shm/session_slot.h"

namespace pinwheel::shm {

class UsageMeter;

/// The session that runs now on this process's thread. The scheduler sets it at each switch of fibers, a
/// background process once.
struct CurrentSession {
  SessionSlot* slot;
  Parker* parker;
  SessionIndex index;
  /// check_interrupts() calls left until the hook is asked whether the quantum is over.
  std::int32_t ticks_left;
  /// Set while the session wants to know what it alone does (usage_meter.h), else null.
  UsageMeter* meter;
};
extern CurrentSession current_session;

/// Calls between two looks at the clock.
inline constexpr std::int32_t kTicksPerQuantumCheck = 1024;

/// Serves what is pending: throws the SqlError of a cancel, timeout or termination, reloads, yields.
/// Installed by server; without it a process throws 57014 or 57P01 by itself.
using InterruptHook = void (*)(std::uint32_t interrupts);
void set_interrupt_hook(InterruptHook hook) noexcept;
void set_current_session(SessionSlot* slot, Parker* parker, SessionIndex index) noexcept;
/// Slow path of check_interrupts(); also what a park's caller uses after kCancelled or kTerminated.
void service_interrupts();

/// Stands in every loop that can run long, and nowhere under a latch. Two loads when nothing is pending.
inline void check_interrupts() {
  CurrentSession& current = current_session;
  if (current.slot->interrupts.load(std::memory_order_relaxed) != 0 || --current.ticks_left < 0)
      [[unlikely]] {
    service_interrupts();
  }
}

/// Parks the running session.
inline WakeReason park(WaitEvent event, Deadline deadline = Deadline::never()) {
  return current_session.parker->park(event, deadline);
}

/// Counts for the running session.
inline void count_for_session(SessionCounter counter, std::uint64_t n = 1) noexcept {
  current_session.slot->counts[static_cast<std::size_t>(counter)].add(n);
}

/// Publishes what the running session waits for in a wait that stops the process (file reads, syncs).
class [[nodiscard]] WaitEventScope {
 public:
  explicit WaitEventScope(WaitEvent event) noexcept : word_{current_session.slot->wait_event} {
    word_.store(published(event), std::memory_order_relaxed);
  }
  ~WaitEventScope() { word_.store(0, std::memory_order_relaxed); }
  WaitEventScope(const WaitEventScope&) = delete;
  WaitEventScope& operator=(const WaitEventScope&) = delete;

 private:
  std::atomic<std::uint32_t>& word_;
};

}  // namespace pinwheel::shm
