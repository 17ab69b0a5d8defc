#pragma once

#include <atomic>
#include <cstdint>

#include "clog/slru.h"
#include "shm/spin_lock.h"

namespace pinwheel::clog {

// A slot's tag: bits 0..1 state, bits 2..19 a version that each change of the tag raises, bits 20..63 the
// page number. The version makes an optimistic reader notice that its slot was emptied and filled again with
// the same page meanwhile.
inline constexpr std::uint64_t kEmpty = 0;
inline constexpr std::uint64_t kValid = 1;
inline constexpr std::uint64_t kLoading = 2;
inline constexpr std::uint64_t kStateMask = 3;
inline constexpr unsigned kVersionShift = 2;
inline constexpr std::uint64_t kVersionMask = (1u << 18) - 1;
inline constexpr unsigned kPageShift = 20;

constexpr std::uint64_t page_of_tag(std::uint64_t tag) noexcept { return tag >> kPageShift; }
constexpr std::uint64_t state_of_tag(std::uint64_t tag) noexcept { return tag & kStateMask; }

// Values of SlotMeta::io.
inline constexpr std::uint32_t kSlotIdle = 0;
inline constexpr std::uint32_t kSlotBusy = 1;
inline constexpr std::uint32_t kSlotBusyWithWaiters = 2;

struct Slru::Header {
  std::atomic<std::uint64_t> new_from{0};
  // Segments written since the last flush: protected by `written_lock`.
  shm::SpinLock written_lock;
  std::uint64_t first_written = ~std::uint64_t{0};
  std::uint64_t last_written = 0;
  // Rare events of all processes.
  /// Processes' hits when somebody reset, and when that was.
  std::atomic<std::uint64_t> hits_before{0};
  std::atomic<std::int64_t> reset_at_us{0};
  std::atomic<std::uint64_t> zeroed{0}, read{0}, written{0}, exists{0}, flushes{0}, truncates{0};
};

struct Slru::SlotMeta {
  /// kSlotIdle, or who reads or writes the page's file works alone. Set under the bank latch, exclusive;
  /// cleared by the worker; a futex.
  std::atomic<std::uint32_t> io{kSlotIdle};
  /// 1 = differs from disk. Set after a change under the bank latch in any mode; cleared under it, exclusive.
  std::atomic<std::uint32_t> dirty{0};
  /// Bank clock at the last use; racy, only guides replacement.
  std::atomic<std::uint32_t> used{0};
  std::uint32_t unused = 0;
  /// Greatest LSN of a change: raised before the change under the bank latch, any mode.
  std::atomic<std::uint64_t> lsn{0};
};

inline std::uint64_t Slru::page_of_slot(std::uint32_t slot) const noexcept {
  return page_of_tag(tags_[slot].load(std::memory_order_relaxed));
}
inline bool Slru::slot_is_valid(std::uint32_t slot) const noexcept {
  return state_of_tag(tags_[slot].load(std::memory_order_relaxed)) == kValid;
}

}  // namespace pinwheel::clog
