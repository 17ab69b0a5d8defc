#pragma once

#include <atomic>
#include <cstdint>

#include "shm/lwlock.h"
#include "shm/spin_lock.h"
#include "txn/running_set.h"

namespace pinwheel::txn {

// RunningSet::Header::ends: how many transactions have ended, and how many are ending now.
//   bits 0..14   transactions between begin_finish() and the end of finish()
//   bit 15       gate: a snapshot builder asks enders to stand back
//   bits 16..63  transactions that have ended
inline constexpr std::uint64_t kEndingMask = 0x7FFF;
inline constexpr std::uint64_t kGate = 0x8000;
inline constexpr unsigned kEndedShift = 16;
inline constexpr std::uint64_t kOneEnded = std::uint64_t{1} << kEndedShift;

/// Ends that have at least begun.
constexpr std::uint64_t ends_begun(std::uint64_t ends) noexcept {
  return (ends >> kEndedShift) + (ends & kEndingMask);
}

struct RunningSet::Header {
  /// Changed by every transaction that ends, read by every snapshot.
  alignas(kCacheLine) std::atomic<std::uint64_t> ends{0};
  /// Highest slot index ever used + 1: where scans stop. Only grows.
  alignas(kCacheLine) std::atomic<std::uint32_t> slot_limit{0};
  /// Held exclusively by a builder that has set kGate; enders that met the gate wait on it, shared.
  shm::LwLock gate{shm::Tranche::kProcArray};
};

struct RunningSet::Slot {
  // Line 1: written by the session that owns the slot.
  alignas(kCacheLine) std::atomic<std::uint64_t> xmin{0};
  std::atomic<std::uint64_t> local_id{0};
  /// Odd from before the commit record is inserted until its status is set.
  std::atomic<std::uint32_t> commit_sequence{0};
  /// Valid subxids; more are running if `overflowed`.
  std::atomic<std::uint32_t> subxid_count{0};
  std::atomic<std::uint32_t> overflowed{0};
  /// 1 while the owner publishes a commit in the ring of the commit sequence.
  std::atomic<std::uint32_t> publishing{0};

  // Line 2: the list of sessions that wait for the transaction in this slot, by index + 1. Protected by
  // `waiters_lock`; `first_waiter` is also looked at without it by who ends the transaction.
  alignas(kCacheLine) shm::SpinLock waiters_lock;
  std::atomic<std::uint32_t> first_waiter{0};
  std::uint32_t last_waiter = 0;

  // Line 3: what the session that owns this slot waits for. `waiting_owner` (index + 1) and `next_waiter` are
  // protected by the waiters_lock of the slot that `waiting_owner` names; read by deadlock searches.
  alignas(kCacheLine) std::atomic<std::uint32_t> waiting_owner{0};
  std::uint32_t next_waiter = 0;
  std::atomic<std::uint64_t> waiting_xid{0};
  std::atomic<std::uint64_t> wait_sequence{0};

  // Written by the owner under the xid allocator's spin lock, before the count.
  alignas(kCacheLine) std::atomic<std::uint64_t> subxids[kSubxidsPerSlot]{};
};

}  // namespace pinwheel::txn
