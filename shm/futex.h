#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace pinwheel::shm {

/// Sleeps while `word` equals `expected`; works between processes that share the word. Returns on a wake,
/// when the value differs, on a signal or at the deadline: callers look again.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                Deadline deadline = Deadline::never()) noexcept;

/// Wakes up to `count` sleepers.
void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept;

}  // namespace pinwheel::shm
