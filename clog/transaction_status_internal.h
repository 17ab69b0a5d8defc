#pragma once

#include <atomic>
#include <cstdint>

#include "clog/transaction_status.h"

namespace pinwheel::clog {

/// Where the two bits of an xid are.
struct StatusPosition {
  std::uint64_t page;
  std::uint32_t word;
  std::uint32_t lsn_group;
  unsigned shift;

  explicit StatusPosition(Xid xid) noexcept
      : page{TransactionStatus::page_of(xid)},
        word{static_cast<std::uint32_t>(xid.value % kXidsPerPage / kXidsPerWord)},
        lsn_group{static_cast<std::uint32_t>(xid.value % kXidsPerPage / 32)},
        shift{static_cast<unsigned>(xid.value % kXidsPerWord) * 2} {}
};

/// Sets the bits of one xid, whatever they were. One fetch-or unless something else stood there, which only
/// redo over a page from before the crash meets.
inline void set_status_bits(std::span<std::atomic<std::uint64_t>> words, Xid xid, XidStatus status) noexcept {
  const StatusPosition at{xid};
  const std::uint64_t bits = static_cast<std::uint64_t>(status) << at.shift;
  const std::uint64_t mask = std::uint64_t{3} << at.shift;
  std::atomic<std::uint64_t>& word = words[at.word];
  // Release: who reads the status reads the LSN that was raised before.
  std::uint64_t seen = word.fetch_or(bits, std::memory_order_acq_rel) | bits;
  while ((seen & mask) != bits && !word.compare_exchange_weak(seen, (seen & ~mask) | bits)) {
  }
}

/// Processes whose update waits for the latch of one bank: the list's head is a process index + 1, 0 = empty.
/// Pushed by anyone, taken as a whole by the leader.
struct alignas(kCacheLine) TransactionStatus::GroupHead {
  std::atomic<std::uint32_t> first{0};
};

/// One process's update, written by it before it pushes itself, read by its leader after it took the list.
struct alignas(kCacheLine) TransactionStatus::GroupMember {
  std::atomic<std::uint32_t> next{0};
  /// Futex: 0 while the update waits, 1 once the leader has done it.
  std::atomic<std::uint32_t> done{0};
  std::uint64_t xid = 0;
  std::uint64_t lsn = 0;
  XidStatus status{};
};

}  // namespace pinwheel::clog
