#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "clog/slru.h"
#include "shm/lwlock.h"
#include "shm/segment.h"
#include "txn/snapshot.h"

namespace pinwheel::txn {

struct CommitSequenceOptions {
  /// Xids whose numbers stay in the ring; rounded up to a power of two, at least 4096.
  std::size_t slots = 262'144;
  std::string data_directory;
};

/// When each transaction committed, as a number: what snapshots compare under snapshot_method = csn.
///
/// A ring of words, one per xid, says for the newest xids: not committed, committing, or the number. Xids
/// that fell out of the ring are in pg_csn as long as some live snapshot could ask for them, and forgotten
/// after that: those are complete for every snapshot. The boundaries only rise:
///
///   ... forgotten ... | kept_from ... pg_csn ... | tail ... ring ... | next_xid
///
/// docs/decisions/0014 has the proofs. RunningSet drives it; nobody else commits or moves the ring.
class CommitSequence {
 public:
  /// Xids that enter and leave the ring together: as many as a page of pg_csn holds.
  static constexpr std::uint64_t kXidsPerChunk = kPageSize / sizeof(std::uint64_t);

  static void declare(shm::RegionBuilder& builder, const CommitSequenceOptions& options);
  CommitSequence(const shm::Segment& segment, const CommitSequenceOptions& options);

  // ---- Snapshots ----

  /// What a snapshot is: every xid below `oldest` had ended, and of the others it holds those that committed
  /// with a number up to `csn`.
  struct Cut {
    Xid oldest;
    Csn csn;
  };
  Cut cut() const noexcept {
    // In this order: what had ended when `oldest` was stored has a number that `last` includes.
    const Xid oldest{header_->oldest.load(std::memory_order_acquire)};
    return {oldest, Csn{header_->last.load(std::memory_order_seq_cst)}};
  }

  /// True when `xid`, top or sub, is complete for a live snapshot with this number; whether a forgotten xid
  /// committed is for the commit log to say, all others did. Spins while the commit is being published.
  /// Errors: those of reading pg_csn.
  bool is_complete(Xid xid, Csn csn) {
    const std::uint64_t word = settled_word(xid);
    return word != kNotCommitted && word <= csn.value;
  }
  /// True when `xid` has committed, or is over for every snapshot. False says nothing about aborted ones.
  bool is_over(Xid xid) { return settled_word(xid) != kNotCommitted; }

  Csn last() const noexcept { return Csn{header_->last.load(std::memory_order_relaxed)}; }

  // ---- Committing (RunningSet::finish_commit) ----

  /// Gives a transaction and its subtransactions their number, after their statuses are set. `top` is not
  /// below moved_until() and stays so: the mover waits for who is in here. It does not block.
  void publish(Xid top, std::span<const Xid> subxids) noexcept;
  /// The same for a transaction older than the ring. Latch: move_latch(). Reads and writes pg_csn; an I/O
  /// error is a panic, as for statuses.
  void publish_old(Xid top, std::span<const Xid> subxids) noexcept;
  /// Xids below have left the ring or are on their way.
  Xid moved_until() const noexcept { return Xid{header_->moved_until.load(std::memory_order_seq_cst)}; }

  // ---- The oldest running transaction ----
  Xid oldest() const noexcept { return Xid{header_->oldest.load(std::memory_order_seq_cst)}; }
  /// Never lowers it.
  void raise_oldest(Xid oldest) noexcept;

  // ---- Moving the ring (RunningSet::extend); one process at a time, under move_latch() ----
  shm::LwLock& move_latch() noexcept { return header_->move_latch; }
  /// At start-up, in a fresh segment. Returns the end of the chunk that `next` is in.
  Xid start(Xid next);
  /// Announces that the chunk that begins at `first` is wanted. Returns the xid up to which transactions that
  /// are publishing must be waited for; nothing if none falls out.
  std::optional<Xid> begin_move(Xid first) noexcept;
  /// Saves what falls out if an xid of it is not below `horizon`, and makes the chunk empty. Returns its end.
  /// Errors: those of writing pg_csn; it may be begun again then.
  Xid finish_move(Xid first, Xid horizon);

  /// For pg_stat_slru.
  const clog::Slru& saved() const noexcept { return saved_; }

 private:
  // Words of the ring and of pg_csn. Greater ones are commit sequence numbers.
  static constexpr std::uint64_t kNotCommitted = 0;
  static constexpr std::uint64_t kCommitting = 1;
  static constexpr std::uint64_t kForgotten = 2;  // not stored: below every number

  struct Header {
    // Line 1: written by every commit, read by every snapshot.
    /// The newest number given.
    alignas(kCacheLine) std::atomic<std::uint64_t> last{kForgotten};
    /// Every xid below has ended; raised when the oldest transaction ends.
    std::atomic<std::uint64_t> oldest{0};
    // Line 2: written once a chunk under `move_latch`, read by all.
    alignas(kCacheLine) std::atomic<std::uint64_t> tail{0};
    std::atomic<std::uint64_t> kept_from{0};
    std::atomic<std::uint64_t> moved_until{0};
    // Line 3: rare. Held by who moves the ring, and by who commits a transaction older than the ring.
    alignas(kCacheLine) shm::LwLock move_latch{shm::Tranche::kXidGen};
    /// First xid of the oldest page in pg_csn; kMaxXid = none. Protected by `move_latch`.
    std::uint64_t saved_from = kMaxXid.value;
  };

  static clog::SlruOptions saved_options(const CommitSequenceOptions& options);
  /// Place of an xid within its chunk: neighbours stand on different cache lines.
  static constexpr std::uint32_t place_in_chunk(Xid xid) noexcept {
    constexpr std::uint64_t kLines = kXidsPerChunk / 8;
    return static_cast<std::uint32_t>(xid.value % kLines * 8 + xid.value / kLines % 8);
  }
  std::atomic<std::uint64_t>* chunk(Xid xid) const noexcept {
    return ring_ + (xid.value / kXidsPerChunk * kXidsPerChunk & ring_mask_);
  }
  std::atomic<std::uint64_t>& word_in_ring(Xid xid) const noexcept { return chunk(xid)[place_in_chunk(xid)]; }

  std::uint64_t load_word(Xid xid) {
    const std::uint64_t word = word_in_ring(xid).load(std::memory_order_acquire);
    // After the word: if it belongs to a later xid already, the tail has passed ours.
    if (xid.value >= header_->tail.load(std::memory_order_acquire)) [[likely]]
      return word;
    return load_saved_word(xid);
  }
  std::uint64_t settled_word(Xid xid) {
    const std::uint64_t word = load_word(xid);
    return word != kCommitting ? word : wait_until_settled(xid);
  }
  std::uint64_t load_saved_word(Xid xid);
  std::uint64_t wait_until_settled(Xid xid);
  void store_old_word(Xid xid, std::uint64_t word);
  void save_chunk(Xid first);

  std::string directory_;
  Header* header_;
  std::atomic<std::uint64_t>* ring_;
  std::uint64_t ring_mask_;
  clog::Slru saved_;
};

}  // namespace pinwheel::txn
