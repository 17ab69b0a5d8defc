#pragma once

#include <cstdint>

#include "shm/statistics.h"

namespace pinwheel::shm {

/// Counts one sleep on a latch: total time and its bucket. For everything that is counted like an LwLock.
void record_wait(LwLockStats& stats, std::int64_t waited_ns) noexcept;

}  // namespace pinwheel::shm
