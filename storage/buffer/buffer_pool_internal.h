#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "shm/interrupts.h"
#include "storage/buffer/buffer_pool.h"

namespace pinwheel::storage {

/// Counts once more what was done through a ring.
inline void count_in_ring(const BufferRing* ring, shm::RingEvent event) noexcept {
  if (ring == nullptr) return;
  shm::count(shm::ring_counter(static_cast<std::size_t>(ring->kind()), event));
}

/// Adds the nanoseconds until its end to a counter of the process and one of the session, if time is taken.
class [[nodiscard]] IoTimer {
 public:
  IoTimer(bool timed, shm::Counter counter, shm::SessionCounter of_session) noexcept
      : counter_{counter}, of_session_{of_session}, started_ns_{timed ? monotonic_ns() : 0} {}
  ~IoTimer() {
    if (started_ns_ == 0) return;
    const auto ns = static_cast<std::uint64_t>(monotonic_ns() - started_ns_);
    shm::count(counter_, ns);
    shm::count_for_session(of_session_, ns);
  }
  IoTimer(const IoTimer&) = delete;
  IoTimer& operator=(const IoTimer&) = delete;

 private:
  shm::Counter counter_;
  shm::SessionCounter of_session_;
  std::int64_t started_ns_;
};

/// Checks bytes just read for `tag`; `inside`: the page lies within the fork's length. Errors: XX001.
void verify_read(const PageTag& tag, PageBytes bytes, bool inside, ReadMode mode, bool checksums);

/// What the background writer remembers between rounds.
struct BufferPool::Clean {
  std::uint64_t allocations_seen = 0;
  double smoothed_allocations = 0;
  std::uint32_t next = 0;  // where cleaning ahead goes on
};

}  // namespace pinwheel::storage
