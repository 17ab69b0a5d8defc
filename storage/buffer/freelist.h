#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "shm/segment.h"
#include "storage/buffer/descriptor.h"

namespace pinwheel::storage {

/// Frames that hold no page, ready to be taken: lock-free stacks, one per partition. Filled at start, by
/// dropped relations, and by the background writer up to the high mark when takers fell below the low one.
/// Any replacement policy can sit behind it. A plain handle.
class Freelist {
 public:
  using Waker = void (*)(void* context);

  static void declare(shm::RegionBuilder& builder, std::size_t frames, std::size_t partitions);
  Freelist(const shm::Segment& segment, BufferDescriptor* descriptors, std::size_t low_mark,
           std::size_t high_mark, bool refill);

  /// A frame with no page and no pin, or kInvalidBuffer. Below the low mark it wakes the refiller, once until
  /// take_request().
  BufferId pop() noexcept;
  void push(BufferId buffer) noexcept;
  /// Frames on all stacks; a snapshot.
  std::size_t count() const noexcept;

  bool below_low_mark() const noexcept { return refill_ && count() < low_mark_; }
  std::size_t high_mark() const noexcept { return high_mark_; }
  bool refill_enabled() const noexcept { return refill_; }
  /// Takes back the refill request; true if there was one.
  bool take_request() noexcept;
  /// How takers wake the refiller; none by default.
  void set_waker(Waker waker, void* context) noexcept {
    waker_ = waker;
    waker_context_ = context;
  }

 private:
  /// One stack. `head`: low half BufferId + 1 of the top (0 = empty), high half a count of changes, so that a
  /// head that was popped and pushed again in between does not compare equal.
  struct alignas(kCacheLine) Partition {
    std::atomic<std::uint64_t> head{0};
    std::atomic<std::uint32_t> count{0};
  };
  struct Shared;

  std::size_t home() const noexcept;

  Shared* shared_;
  std::span<Partition> partitions_;
  BufferDescriptor* descriptors_;
  std::size_t low_mark_;
  std::size_t high_mark_;
  bool refill_;
  Waker waker_ = nullptr;
  void* waker_context_ = nullptr;
};

}  // namespace pinwheel::storage
