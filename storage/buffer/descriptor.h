#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "base/bytes.h"
#include "base/ids.h"

namespace pinwheel::storage {

/// Fields of BufferDescriptor::state.
namespace buffer_state {
inline constexpr std::uint64_t kPinOne = 1;
inline constexpr std::uint64_t kPinMask = (1ull << 18) - 1;
inline constexpr int kUsageShift = 18;
inline constexpr std::uint64_t kUsageOne = 1ull << kUsageShift;
inline constexpr std::uint64_t kUsageMask = 7ull << kUsageShift;
inline constexpr std::uint64_t kUsageMax = 5ull << kUsageShift;
inline constexpr std::uint64_t kTagValid = 1ull << 21;          // in the mapping table
inline constexpr std::uint64_t kValid = 1ull << 22;             // bytes are those of the tag's page
inline constexpr std::uint64_t kDirty = 1ull << 23;             // must be written before reuse
inline constexpr std::uint64_t kJustDirtied = 1ull << 24;       // dirtied since the running write copied it
inline constexpr std::uint64_t kIoInProgress = 1ull << 25;      // one process reads or writes it
inline constexpr std::uint64_t kIoError = 1ull << 26;           // the last read or write failed
inline constexpr std::uint64_t kCheckpointNeeded = 1ull << 27;  // the running checkpoint must write it
inline constexpr std::uint64_t kSharedOne = 1ull << 32;         // content latch: shared holders
inline constexpr std::uint64_t kSharedMask = 0xFFFFull << 32;
inline constexpr std::uint64_t kExclusive = 1ull << 48;  // content latch: held exclusively
inline constexpr std::uint64_t kLatchWaiters = 1ull << 49;
inline constexpr std::uint64_t kIoWaiters = 1ull << 50;
}  // namespace buffer_state

/// A PageTag as two words that may be read while they change: a reader that has not pinned the frame pins it
/// and compares again.
struct AtomicPageTag {
  std::atomic<std::uint64_t> file{0};
  std::atomic<std::uint64_t> page_and_fork{~0ull};

  static std::uint64_t file_word(const PageTag& tag) noexcept {
    return static_cast<std::uint64_t>(tag.file.database.value) << 32 | tag.file.relation.value;
  }
  static std::uint64_t page_word(const PageTag& tag) noexcept {
    return static_cast<std::uint64_t>(tag.fork) << 32 | tag.page.value;
  }
  bool equals(std::uint64_t file_bits, std::uint64_t page_bits) const noexcept {
    return page_and_fork.load(std::memory_order_relaxed) == page_bits &&
           file.load(std::memory_order_relaxed) == file_bits;
  }
  void store(const PageTag& tag) noexcept {
    file.store(file_word(tag), std::memory_order_relaxed);
    page_and_fork.store(page_word(tag), std::memory_order_relaxed);
  }
  void clear() noexcept {
    file.store(0, std::memory_order_relaxed);
    page_and_fork.store(~0ull, std::memory_order_relaxed);
  }
  PageTag load() const noexcept {
    const std::uint64_t f = file.load(std::memory_order_relaxed);
    const std::uint64_t p = page_and_fork.load(std::memory_order_relaxed);
    return PageTag{FileId{Oid{static_cast<std::uint32_t>(f >> 32)}, Oid{static_cast<std::uint32_t>(f)}},
                   static_cast<Fork>(p >> 32), PageNumber{static_cast<std::uint32_t>(p)}};
  }
};

/// Shared-memory state of one frame; its array index is its BufferId.
///
/// To...                  hold...
/// pin the page           nothing: one compare-exchange that requires kTagValid, then compare the tag again
/// unpin                  nothing: one subtraction
/// read `tag` for sure    a pin
/// change `tag`, `next`   the mapping partition of the tag, exclusive, with no other pin
/// read page bytes        a pin and the content latch; or validate `version` afterwards
/// change page bytes      a pin and the content latch, exclusive (hint bits: shared)
struct alignas(kCacheLine) BufferDescriptor {
  /// Pins, usage, flags and content latch in one word, so that "pin unless being evicted, and latch shared"
  /// is one compare-exchange. Written by atomic operations only.
  std::atomic<std::uint64_t> state{0};
  /// Odd while the bytes may change: content latch held exclusively, or the frame changes its page. Written
  /// by the holder of the exclusive latch, or by the only pinner of a frame that is not valid.
  std::atomic<std::uint64_t> version{0};
  AtomicPageTag tag;
  /// Next frame of the same mapping bucket (BufferId + 1, 0 = end); see `tag`. Walked without a latch.
  std::atomic<std::uint32_t> next{0};
  /// Next frame of the freelist (BufferId + 1); owned by whoever has the frame off the list.
  std::atomic<std::uint32_t> next_free{0};
  /// Futex words: bumped when a latch is freed (an I/O ends) while somebody waits.
  std::atomic<std::uint32_t> latch_wakes{0};
  std::atomic<std::uint32_t> io_wakes{0};
};
static_assert(sizeof(BufferDescriptor) == 64, "one cache line, so neighbours never share");
static_assert(std::is_standard_layout_v<BufferDescriptor>);

}  // namespace pinwheel::storage
