#include "shm/spin_lock.h"

#include <sched.h>

namespace pinwheel::shm {

void SpinLock::lock_slow() noexcept {
  constexpr int kSpinsBeforeYield = 100;
  for (int spins = 0;; ++spins) {
    // Read before the exchange: waiting reads share the line, a failed exchange takes it away from the
    // holder.
    if (word_.load(std::memory_order_relaxed) == 0 && word_.exchange(1, std::memory_order_acquire) == 0)
      return;
    if (spins < kSpinsBeforeYield) {
      cpu_pause();
    } else {
      // The holder was probably preempted: on few cores spinning on would only keep it from running.
      ::sched_yield();
      spins = 0;
    }
  }
}

}  // namespace pinwheel::shm
