#pragma once

#include <cstddef>
#include <cstdint>

#include "storage/buffer/buffer_pool.h"

namespace pinwheel::storage {

/// Checks bytes just read for `tag`; `inside`: the page lies within the fork's length. Errors: XX001.
void verify_read(const PageTag& tag, PageBytes bytes, bool inside, ReadMode mode, bool checksums);

/// What the background writer remembers between rounds.
struct BufferPool::Clean {
  std::uint64_t allocations_seen = 0;
  double smoothed_allocations = 0;
  std::uint32_t next = 0;  // where cleaning ahead goes on
};

}  // namespace pinwheel::storage
