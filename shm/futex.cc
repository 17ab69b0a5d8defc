#include "shm/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace pinwheel::shm {

static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Deadline deadline) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC; without the PRIVATE flag it works across
  // processes.
  timespec until;
  timespec* limit = nullptr;
  if (!deadline.is_never()) {
    until.tv_sec = static_cast<time_t>(deadline.at_ns / 1'000'000'000);
    until.tv_nsec = static_cast<long>(deadline.at_ns % 1'000'000'000);
    limit = &until;
  }
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT_BITSET, expected, limit, nullptr,
            FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, count, nullptr, nullptr, 0);
}

}  // namespace pinwheel::shm
