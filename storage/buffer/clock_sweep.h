#pragma once

#include "shm/statistics.h"
#include "storage/buffer/replacement_policy.h"

namespace pinwheel::storage {

/// The clock's sweep: looks at one frame after another until it has claimed one. `next_position()` gives the
/// number of the frame to look at next, counted without end; how it comes by it is what the clocks differ
/// in. Errors: 53000 when nothing but pinned frames came up `rounds` times round.
template <class NextPosition>
BufferId sweep_clock(BufferDescriptor* descriptors, std::size_t frames, std::size_t rounds,
                     NextPosition next_position) {
  std::size_t pinned_in_a_row = 0;
  std::uint64_t swept = 0;
  while (true) {
    const auto at = static_cast<std::uint32_t>(next_position() % frames);
    ++swept;
    switch (clock_step(descriptors[at])) {
      case ClockStep::kClaimed:
        shm::count(shm::Counter::kFramesSwept, swept);
        return BufferId{at};
      case ClockStep::kAged:
        pinned_in_a_row = 0;
        break;
      case ClockStep::kPinned:
        if (++pinned_in_a_row > rounds * frames) throw_no_unpinned_buffers();
        break;
    }
  }
}

}  // namespace pinwheel::storage
