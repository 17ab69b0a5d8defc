#pragma once

#include <atomic>
#include <climits>
#include <cstdint>

#include "shm/futex.h"

namespace pinwheel::wal {

/// The right to do one long piece of work (writing or syncing the log) that many want done but one does for
/// all. Unlike an LwLock its holder may be in a system call, and a loser rather looks again whether the work
/// still needs doing than takes its turn. Lives in shared memory, all zero is free.
///
/// Word: 0 free, 1 held, 2 held and somebody may sleep. A sleeper sets 2 before it sleeps on 2, and release
/// wakes all sleepers when it finds 2, so none is forgotten.
class Claim {
 public:
  bool try_acquire() noexcept {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, 1, std::memory_order_acquire, std::memory_order_relaxed);
  }

  /// True: it is ours. False: it was somebody's, who has released it meanwhile; look again.
  bool acquire_or_wait() noexcept {
    if (try_acquire()) return true;
    std::uint32_t seen = 1;
    if (!word_.compare_exchange_strong(seen, 2, std::memory_order_relaxed) && seen == 0) return try_acquire();
    shm::futex_wait(word_, 2);
    return false;
  }

  void acquire() noexcept {
    while (!acquire_or_wait()) {
    }
  }

  void release() noexcept {
    if (word_.exchange(0, std::memory_order_release) == 2) shm::futex_wake(word_, INT_MAX);
  }

 private:
  std::atomic<std::uint32_t> word_{0};
};

}  // namespace pinwheel::wal
