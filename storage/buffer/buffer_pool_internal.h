#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "shm/interrupts.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/file/double_write.h"

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

/// Pages on their way to their files. With double writes up to DoubleWrite::kBatch are staged, saved together
/// and then written; without, each is written when it is added. A staged page is pinned and has I/O in
/// progress, so whoever holds a batch that is not empty waits for nothing but content latches, whose holders
/// never wait for I/O on a valid page: finish() before anything else.
class BufferPool::WriteBatch {
 public:
  explicit WriteBatch(BufferPool& pool);
  /// Gives up what is still staged: those pages stay dirty.
  ~WriteBatch();
  WriteBatch(const WriteBatch&) = delete;
  WriteBatch& operator=(const WriteBatch&) = delete;

  /// Stages a pinned page if it is dirty, and may write what is staged. With `wait` false gives up (false)
  /// when its latch is taken. Errors: as finish().
  bool add(Pin pin, bool wait);
  /// Writes what is staged. Errors: File's; the pages not written stay dirty.
  void finish();
  bool empty() const noexcept { return staged_.empty(); }

 private:
  BufferPool& pool_;
  std::size_t capacity_;
  std::unique_ptr<std::byte[]> own_copies_;
  std::byte* copies_;
  std::vector<StagedPage> staged_;
  std::vector<Pin> pins_;
};

/// What the background writer remembers between rounds.
struct BufferPool::Clean {
  std::uint64_t progress_seen = 0;  // of the replacement policy
  double smoothed_allocations = 0;
  std::uint32_t next = 0;  // where cleaning ahead goes on
};

}  // namespace pinwheel::storage
