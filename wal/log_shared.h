#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "shm/lwlock.h"
#include "shm/spin_lock.h"
#include "wal/claim.h"

namespace pinwheel::wal {

/// Value of `flushed` and `written` while no log may be inserted: everything counts as durable.
inline constexpr std::uint64_t kInRecovery = ~std::uint64_t{0};
/// No process has registered for a job.
inline constexpr std::uint32_t kNobody = 0xFFFF;

/// Where one inserter says how far everything below it can be taken for filled.
struct alignas(kCacheLine) InsertionSlot {
  /// A lower bound of the position being filled; 0 = nothing under way. Written by the slot's owner (its
  /// process with wal_insert = reserve, else the holder of `lock`); read by anyone. All stores are releases:
  /// who reads a later value sees the bytes of the earlier insertion.
  std::atomic<std::uint64_t> inserting_at{0};
  /// Insertion lock for the methods `slots` and `single_lock`.
  shm::LwLock lock{shm::Tranche::kWalInsert};
};
static_assert(sizeof(InsertionSlot) == kCacheLine);

/// Where a session that waits for its commit says which position. On its own line: written by its owner only.
struct alignas(kCacheLine) CommitWait {
  std::atomic<std::uint64_t> lsn{0};
};

/// Control part of the log in shared memory. Hot words of different writers stand on different lines. The
/// arrays of insertion slots and commit waits follow it in the region.
///
/// Why a flusher never takes an unfilled byte for filled. filled_position() (1) loads `reserved` with
/// acquire, (2) takes the minimum of it and all nonzero `inserting_at`. An inserter (a) stores into its slot
/// a lower bound of what it will get, (b) reserves by a read-modify-write with release, (c) fills, (d) stores
/// 0 with release. Let a record be [s, e) with e at most the value loaded in (1). Then (1) reads from the
/// record's (b) or a later read-modify-write of its release sequence (for the locked methods: from a later
/// store that the lock orders after it), so (a) happens before (2), and (2) sees in that slot the bound of
/// (a), which is at most s and keeps the minimum at or below s, or something later. Later is the 0 of (d), or
/// the bound of a following insertion, which is at least e because it was read from `reserved` after (b);
/// both are releases after the fill, so the bytes are visible. Hence everything below the minimum is filled.
struct LogShared {
  // Line: every insertion.
  /// Next free position. Changed by the reserving step of the insertion method only.
  alignas(kCacheLine) std::atomic<std::uint64_t> reserved{0};
  /// Protects `reserved` in the method `slots`.
  shm::SpinLock reserve_lock;

  // Line: read by every insertion, written by checkpoints.
  /// Odd while a redo point is being made, and higher for each. See Log::begin_checkpoint.
  alignas(kCacheLine) std::atomic<std::uint64_t> redo_counter{0};
  std::atomic<std::uint64_t> redo{0};
  std::atomic<std::uint32_t> full_page_writes{1};
  /// One more than the highest slot in use; grows only.
  std::atomic<std::uint32_t> slot_high_water{0};

  // Line: written by whoever writes the ring to files, under `write_claim`.
  alignas(kCacheLine) std::atomic<std::uint64_t> written{kInRecovery};
  Claim write_claim;

  // Line: written by whoever syncs, under `sync_claim`. Taken before `write_claim` by who needs both.
  alignas(kCacheLine) std::atomic<std::uint64_t> flushed{kInRecovery};
  Claim sync_claim;

  // Line: requests to background processes.
  /// Greatest position that somebody waits for; grows only.
  alignas(kCacheLine) std::atomic<std::uint64_t> requested{0};
  /// Process slots of the walwriter and the checkpointer, set by themselves.
  std::atomic<std::uint32_t> flusher{kNobody};
  std::atomic<std::uint32_t> checkpointer{kNobody};
  /// SyncMethod. Changed under both claims, read under `write_claim`: no write can escape its sync.
  std::atomic<std::uint8_t> sync_method{0};

  // Constant after creation.
  alignas(kCacheLine) std::uint32_t slot_count = 0;
  std::uint32_t session_count = 0;
  std::uint32_t wait_word_count = 0;  // 64-bit words of `waiting`

  // The arrays, in this order: InsertionSlot[slot_count], CommitWait[session_count], waiting bits.
  InsertionSlot* slots() noexcept { return reinterpret_cast<InsertionSlot*>(this + 1); }
  CommitWait* waits() noexcept { return reinterpret_cast<CommitWait*>(slots() + slot_count); }
  /// Bit s of the whole: session s waits for waits()[s].lsn. Set by the session, cleared by who wakes it or
  /// by itself.
  std::atomic<std::uint64_t>* waiting() noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(waits() + session_count);
  }
  static std::size_t region_bytes(std::uint32_t slot_count, std::uint32_t session_count) noexcept {
    return sizeof(LogShared) + slot_count * sizeof(InsertionSlot) + session_count * sizeof(CommitWait) +
           (session_count / 64 + 1) * sizeof(std::atomic<std::uint64_t>);
  }
};
static_assert(sizeof(LogShared) % kCacheLine == 0);

}  // namespace pinwheel::wal
