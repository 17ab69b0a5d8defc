#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "clog/clog.h"
#include "shm/lwlock.h"
#include "shm/parking.h"
#include "shm/segment.h"
#include "shm/session_slot.h"
#include "txn/commit_sequence.h"
#include "txn/snapshot.h"

namespace pinwheel::txn {

/// Subxids that a session's slot holds; beyond that snapshots ask pg_subtrans (as in PostgreSQL: 64).
inline constexpr std::uint32_t kSubxidsPerSlot = 64;

/// Names a transaction before (and whether or not) it gets an xid; PostgreSQL's "3/17".
struct VirtualXid {
  std::uint32_t session = 0;  // slot index + 1; 0 = none
  std::uint64_t local = 0;
  friend bool operator==(const VirtualXid&, const VirtualXid&) = default;
};

/// The transactions that run now, one slot per session, and who waits for their end.
///
/// txn/README.md proves what is claimed here: snapshots are consistent cuts, no completed transaction whose
/// end was told to anybody is missing in a later snapshot, and no version that a live snapshot sees is older
/// than a horizon. Nobody takes a latch on any of the paths of a transaction.
///
/// With a CommitSequence (snapshot_method = csn), snapshots are Cuts of it and build() is not to be called;
/// the set still says who runs and gives the horizons, and keeps the sequence going.
class RunningSet : private clog::XidExtender {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t session_capacity);
  /// `sequence` is null but for snapshot_method = csn, and outlives this.
  RunningSet(const shm::Segment& segment, const shm::ProcessTable& processes,
             const shm::SessionTable& sessions, clog::Clog& clog, CommitSequence* sequence);
  RunningSet(const RunningSet&) = delete;
  RunningSet& operator=(const RunningSet&) = delete;

  // ---- Owner of a slot ----

  /// Makes the session's slot part of scans. Once per session object, before anything else here.
  void open_slot(shm::SessionIndex session) noexcept;

  /// Gives the session's transaction its xid and shows it as running, in one step for all observers.
  Xid start_xid(shm::SessionIndex session);
  /// Likewise for a subtransaction; `parent` is its immediate parent.
  Xid start_subxid(shm::SessionIndex session, Xid parent);
  /// After the statuses of aborted subxids are set: keeps the first `kept` and wakes who waits for the rest.
  void drop_subxids(shm::SessionIndex session, std::uint32_t kept) noexcept;
  /// Ends an aborted transaction for all observers and wakes its waiters. After its status is set.
  void finish(shm::SessionIndex session) noexcept;
  /// Likewise for a committed one: it and all `subxids` become visible to new snapshots at once.
  void finish_commit(shm::SessionIndex session, Xid top, std::span<const Xid> subxids) noexcept {
    if (sequence_ == nullptr) return finish(session);
    finish_numbered(session, top, subxids);
  }
  std::uint32_t subxid_count(shm::SessionIndex session) const noexcept;
  bool subxids_overflowed(shm::SessionIndex session) const noexcept;

  void set_virtual_xid(shm::SessionIndex session, std::uint64_t local) noexcept;
  /// Protects all versions that a snapshot with this xmin (or later) sees; kInvalidXid = none. Raising or
  /// clearing needs no fence, setting it from none does and has one: see txn/README.md.
  void publish_xmin(shm::SessionIndex session, Xid xmin) noexcept;
  void raise_xmin(shm::SessionIndex session, Xid xmin) noexcept;
  Xid published_xmin(shm::SessionIndex session) const noexcept;

  /// Brackets the time from before the commit record is inserted until the status is set, see
  /// wait_for_commits().
  void begin_commit(shm::SessionIndex session) noexcept;
  void end_commit(shm::SessionIndex session) noexcept;

  // ---- Everybody ----

  /// Says which transactions had ended when something was looked at. Equal stamps: none has ended between.
  using Stamp = std::uint64_t;
  static constexpr Stamp kNoStamp = ~std::uint64_t{0};
  Stamp stamp() const noexcept;

  /// Finds what is complete now: fills `snapshot` but for `running` and `command`, and `running` with the
  /// sorted xids. Returns the stamp at which the snapshot may be used again (kNoStamp if never). Leaves out
  /// `self`, whose xmin must be published, with any value not above the result's.
  Stamp build(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running);

  // For snapshot_method = cached, where many sessions of a process want the same snapshot.
  void join_process() noexcept { ++sessions_here_; }
  void leave_process() noexcept { --sessions_here_; }
  /// build() for all sessions of this process, when there are several: none is left out, and the result is
  /// kept.
  Stamp build_for_process(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running);
  /// Copies what build_for_process() kept if its stamp is `now`, as stamp() just said; false if not.
  bool copy_kept(Stamp now, Snapshot& snapshot, std::vector<Xid>& running) const;

  /// Null unless snapshot_method = csn. The xmin must be published before a cut is taken, as for build().
  CommitSequence* sequence() const noexcept { return sequence_; }

  /// True while `xid`, top or sub, belongs to a transaction that has not ended. Ask before its status. Once a
  /// snapshot holds it as complete, the answer is false.
  bool is_running(Xid xid) {
    if (sequence_ != nullptr && xid >= horizon_ && sequence_->is_over(xid)) return false;
    return owner_of(xid) != shm::kNoSession;
  }
  /// Whether somebody waits for the transaction of `session` to end. A hint: reads one word, latches nothing.
  bool has_waiters(shm::SessionIndex session) const noexcept;
  /// The session that runs `xid`; kNoSession when it has left it.
  shm::SessionIndex owner_of(Xid xid);

  /// Every xid below is over and no live snapshot sees it as running: what such xids deleted may be removed.
  Xid compute_horizon() noexcept;
  /// The same, possibly older; cheap enough for each page visit.
  Xid horizon() noexcept;
  /// Lowest xid that still runs (or next_xid).
  Xid oldest_running() const noexcept;

  // ---- Waiting for an end (rules in txn/README.md) ----

  /// Registers `waiter` for the end of `xid`; false when it is over already (nothing registered).
  bool enqueue_waiter(Xid xid, shm::SessionIndex waiter);
  /// Takes `waiter` off whatever it waits for. Idempotent; the waiter calls it when it has woken.
  void dequeue_waiter(shm::SessionIndex waiter) noexcept;
  /// What `waiter` waits for and whom; session kNoSession when it waits for no transaction.
  struct WaitEdge {
    Xid xid;
    shm::SessionIndex owner = shm::kNoSession;
    std::uint64_t sequence = 0;
  };
  WaitEdge wait_edge(shm::SessionIndex waiter) const noexcept;

  /// In the checkpointer after it has fixed the redo point: returns when every commit whose record may lie
  /// before it has set its status (a flush of the commit log then holds it).
  void wait_for_commits(shm::Parker& parker);

  /// A look at one slot, for views. Not consistent across fields.
  struct SlotView {
    Xid xid, xmin;
    VirtualXid virtual_xid;
    std::uint32_t subxids;
  };
  SlotView view(shm::SessionIndex session) const noexcept;
  std::size_t capacity() const noexcept { return capacity_; }
  /// Transactions with an xid now; for commit_siblings.
  int count_active() const noexcept;

 private:
  struct Slot;
  struct Header;

  // clog::XidExtender: rooms for numbers of new xids. In running_set_csn.cc, as are the next three.
  Xid start(Xid next) override;
  Xid extend(Xid first) override;
  void finish_numbered(shm::SessionIndex session, Xid top, std::span<const Xid> subxids) noexcept;
  void wait_for_publishers(Xid below) const noexcept;
  void leave_sequence(shm::SessionIndex session, Xid top) noexcept;
  void advance_oldest() noexcept;
  bool scan(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running) const;
  Stamp build_gated(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running);
  void begin_finish() noexcept;
  void wake_waiters(Slot& slot) noexcept;
  void note_in_directory(Xid xid, shm::SessionIndex session) noexcept;
  bool runs_in_slot(std::uint32_t index, Xid xid);
  shm::SessionIndex search_owner(Xid xid);
  std::uint32_t slot_limit() const noexcept;
  /// Transactions that have ended; with csn those that have committed.
  std::uint64_t count_ended() const noexcept;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  Header* header_;
  std::atomic<std::uint64_t>* xids_;       // dense, for scans; written by the owner of the slot, read by all
  std::atomic<std::uint64_t>* directory_;  // xid modulo its size -> xid << 16 | slot that was given it
  Slot* slots_;
  std::size_t capacity_;
  std::uint64_t directory_mask_;
  const shm::ProcessTable& processes_;
  const shm::SessionTable& sessions_;
  clog::Clog& clog_;
  CommitSequence* sequence_;
  // The last snapshot built for several sessions of this process.
  Snapshot kept_;
  std::vector<Xid> kept_running_;
  Stamp kept_stamp_ = kNoStamp;
  std::uint32_t sessions_here_ = 0;
  // This process's last horizon, and how many transactions had ended when it was computed.
  Xid horizon_{kFirstNormalXid};
  std::uint64_t horizon_ended_ = kNever;
};

}  // namespace pinwheel::txn
