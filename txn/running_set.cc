#include "txn/running_set.h"

#include <sched.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/failpoints.h"
#include "txn/running_set_internal.h"

namespace pinwheel::txn {

namespace {
/// Entries of the directory: enough that only a transaction that has outlived thousands of others is
/// overwritten.
std::size_t directory_size(std::size_t sessions) {
  return std::bit_ceil(std::max<std::size_t>(4096, sessions * 16));
}
/// Optimistic attempts before a builder closes the gate.
constexpr int kOptimisticBuilds = 8;
}  // namespace

void RunningSet::declare(shm::RegionBuilder& builder, std::size_t session_capacity) {
  DB_ASSERT(session_capacity < 0xFFFF);
  builder.add_array<Header>("Running transactions", 1);
  builder.add_array<std::atomic<std::uint64_t>>("Running xids", session_capacity);
  builder.add_array<Slot>("Running transaction slots", session_capacity);
  builder.add_array<std::atomic<std::uint64_t>>("Running xid directory", directory_size(session_capacity));
}

RunningSet::RunningSet(const shm::Segment& segment, const shm::ProcessTable& processes,
                       const shm::SessionTable& sessions, clog::Clog& clog, CommitSequence* sequence)
    : header_{segment.as<Header>("Running transactions")},
      xids_{segment.as<std::atomic<std::uint64_t>>("Running xids")},
      directory_{segment.as<std::atomic<std::uint64_t>>("Running xid directory")},
      slots_{segment.as<Slot>("Running transaction slots")},
      capacity_{segment.size_of("Running transaction slots") / sizeof(Slot)},
      directory_mask_{directory_size(capacity_) - 1},
      processes_{processes},
      sessions_{sessions},
      clog_{clog},
      sequence_{sequence} {
  if (sequence != nullptr) clog.xids.set_extender(this);
}

std::uint32_t RunningSet::slot_limit() const noexcept {
  return header_->slot_limit.load(std::memory_order_acquire);
}

void RunningSet::open_slot(shm::SessionIndex session) noexcept {
  DB_ASSERT(session.value < capacity_);
  std::atomic<std::uint32_t>& limit = header_->slot_limit;
  std::uint32_t seen = limit.load();
  while (seen <= session.value && !limit.compare_exchange_weak(seen, session.value + 1)) {
  }
}

// ---- Beginning and ending ----

void RunningSet::note_in_directory(Xid xid, shm::SessionIndex session) noexcept {
  directory_[xid.value & directory_mask_].store(xid.value << 16 | session.value, std::memory_order_release);
}

Xid RunningSet::start_xid(shm::SessionIndex session) {
  Slot& slot = slots_[session.value];
  slot.subxid_count.store(0, std::memory_order_relaxed);
  slot.overflowed.store(0, std::memory_order_relaxed);
  return clog_.xids.allocate([&](Xid xid) {
    note_in_directory(xid, session);
    xids_[session.value].store(xid.value, std::memory_order_release);
  });
}

Xid RunningSet::start_subxid(shm::SessionIndex session, Xid parent) {
  Slot& slot = slots_[session.value];
  const Xid xid = clog_.xids.allocate([&](Xid given) {
    note_in_directory(given, session);
    const std::uint32_t count = slot.subxid_count.load(std::memory_order_relaxed);
    if (count < kSubxidsPerSlot && slot.overflowed.load(std::memory_order_relaxed) == 0) {
      slot.subxids[count].store(given.value, std::memory_order_relaxed);
      slot.subxid_count.store(count + 1, std::memory_order_release);
    } else {
      slot.overflowed.store(1, std::memory_order_release);
    }
  });
  // The xid is on no tuple yet, so nobody has asked for its parent.
  clog_.subtransactions.set_parent(xid, parent);
  return xid;
}

void RunningSet::drop_subxids(shm::SessionIndex session, std::uint32_t kept) noexcept {
  Slot& slot = slots_[session.value];
  if (kept < slot.subxid_count.load(std::memory_order_relaxed)) {
    slot.subxid_count.store(kept, std::memory_order_release);
  }
  // All that still run are in the slot again.
  if (kept <= kSubxidsPerSlot && kept <= slot.subxid_count.load(std::memory_order_relaxed)) {
    slot.overflowed.store(0, std::memory_order_release);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (slot.first_waiter.load(std::memory_order_relaxed) != 0) wake_waiters(slot);
}

void RunningSet::begin_finish() noexcept {
  for (;;) {
    const std::uint64_t before = header_->ends.fetch_add(1, std::memory_order_seq_cst);
    if ((before & kGate) == 0) [[likely]]
      return;
    header_->ends.fetch_sub(1, std::memory_order_release);
    shm::SharedGuard wait{header_->gate};
  }
}

void RunningSet::finish(shm::SessionIndex session) noexcept {
  if (sequence_ != nullptr) {
    return leave_sequence(session, Xid{xids_[session.value].load(std::memory_order_relaxed)});
  }
  Slot& slot = slots_[session.value];
  begin_finish();
  xids_[session.value].store(0, std::memory_order_seq_cst);
  failpoint::hit("transaction_finish");
  header_->ends.fetch_add(kOneEnded - 1, std::memory_order_seq_cst);
  // Either we see the waiter here, or it sees that the xid is gone: both sides are sequentially consistent.
  if (slot.first_waiter.load(std::memory_order_seq_cst) != 0) wake_waiters(slot);
}

std::uint32_t RunningSet::subxid_count(shm::SessionIndex session) const noexcept {
  return slots_[session.value].subxid_count.load(std::memory_order_relaxed);
}

bool RunningSet::subxids_overflowed(shm::SessionIndex session) const noexcept {
  return slots_[session.value].overflowed.load(std::memory_order_relaxed) != 0;
}

void RunningSet::set_virtual_xid(shm::SessionIndex session, std::uint64_t local) noexcept {
  slots_[session.value].local_id.store(local, std::memory_order_relaxed);
}

void RunningSet::publish_xmin(shm::SessionIndex session, Xid xmin) noexcept {
  slots_[session.value].xmin.store(xmin.value, std::memory_order_seq_cst);
}

void RunningSet::raise_xmin(shm::SessionIndex session, Xid xmin) noexcept {
  slots_[session.value].xmin.store(xmin.value, std::memory_order_release);
}

Xid RunningSet::published_xmin(shm::SessionIndex session) const noexcept {
  return Xid{slots_[session.value].xmin.load(std::memory_order_relaxed)};
}

void RunningSet::begin_commit(shm::SessionIndex session) noexcept {
  // Before the insertion, for a checkpointer that fixes its redo point after it.
  slots_[session.value].commit_sequence.fetch_add(1, std::memory_order_seq_cst);
}

void RunningSet::end_commit(shm::SessionIndex session) noexcept {
  std::atomic<std::uint32_t>& sequence = slots_[session.value].commit_sequence;
  sequence.store(sequence.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void RunningSet::wait_for_commits(shm::Parker& parker) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    const std::atomic<std::uint32_t>& sequence = slots_[i].commit_sequence;
    const std::uint32_t seen = sequence.load(std::memory_order_acquire);
    if (seen % 2 == 0) continue;
    // A sync away at most; not worth a wake-up of its own.
    while (sequence.load(std::memory_order_acquire) == seen) {
      parker.park(shm::WaitEvent::kCheckpointStart, Deadline::after_ms(1));
    }
  }
}

// ---- Snapshots ----

RunningSet::Stamp RunningSet::stamp() const noexcept { return header_->ends.load(std::memory_order_seq_cst); }

bool RunningSet::scan(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running) const {
  running.clear();
  snapshot.unlisted = Snapshot::Answer::kComplete;
  // First: an xid below was shown in its slot before next_xid() passed it, so the scan meets it or its end.
  snapshot.xmax = clog_.xids.next_xid();
  Xid xmin = snapshot.xmax;
  const std::uint32_t limit = slot_limit();
  for (std::uint32_t i = 0; i < limit; ++i) {
    const std::uint64_t xid = xids_[i].load(std::memory_order_acquire);
    if (xid == 0 || xid >= snapshot.xmax.value || i == self.value) continue;
    running.push_back(Xid{xid});
    xmin = std::min(xmin, Xid{xid});
    failpoint::hit("snapshot_scan");
    const Slot& slot = slots_[i];
    if (slot.overflowed.load(std::memory_order_acquire) != 0) {
      snapshot.unlisted = Snapshot::Answer::kAskParent;
    }
    const std::uint32_t count = slot.subxid_count.load(std::memory_order_acquire);
    for (std::uint32_t j = 0; j < count; ++j) {
      const std::uint64_t subxid = slot.subxids[j].load(std::memory_order_relaxed);
      if (subxid < snapshot.xmax.value) running.push_back(Xid{subxid});
    }
    if (count == 0) continue;
    // The subxids were those of `xid` only if it is still there.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (xids_[i].load(std::memory_order_relaxed) != xid) return false;
  }
  snapshot.xmin = xmin;
  std::sort(running.begin(), running.end());
  return true;
}

RunningSet::Stamp RunningSet::build(shm::SessionIndex self, Snapshot& snapshot, std::vector<Xid>& running) {
  shm::count(shm::Counter::kSnapshotsBuilt);
  for (int attempt = 0; attempt < kOptimisticBuilds; ++attempt) {
    const std::uint64_t before = header_->ends.load(std::memory_order_seq_cst);
    if (!scan(self, snapshot, running)) continue;
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::uint64_t after = header_->ends.load(std::memory_order_relaxed);
    if (ends_begun(after) != ends_begun(before)) continue;
    return (before & (kEndingMask | kGate)) == 0 ? before : kNoStamp;
  }
  return build_gated(self, snapshot, running);
}

RunningSet::Stamp RunningSet::build_for_process(shm::SessionIndex self, Snapshot& snapshot,
                                                std::vector<Xid>& running) {
  if (sessions_here_ < 2) return build(self, snapshot, running);
  const Stamp built = build(shm::kNoSession, snapshot, running);
  if (built != kNoStamp) {
    kept_ = snapshot;
    kept_running_ = running;
    kept_stamp_ = built;
  }
  return built;
}

bool RunningSet::copy_kept(Stamp now, Snapshot& snapshot, std::vector<Xid>& running) const {
  if (kept_stamp_ != now) return false;
  snapshot = kept_;
  running = kept_running_;
  return true;
}

RunningSet::Stamp RunningSet::build_gated(shm::SessionIndex self, Snapshot& snapshot,
                                          std::vector<Xid>& running) {
  shm::ExclusiveGuard guard{header_->gate};
  header_->ends.fetch_or(kGate, std::memory_order_seq_cst);
  while ((header_->ends.load(std::memory_order_acquire) & kEndingMask) != 0) sched_yield();
  // Nothing can end now. If we die here the launcher stops those who wait.
  const bool whole = scan(self, snapshot, running);
  DB_ASSERT(whole);
  header_->ends.fetch_and(~kGate, std::memory_order_seq_cst);
  return kNoStamp;
}

// ---- Horizons ----

Xid RunningSet::compute_horizon() noexcept {
  const std::uint64_t ended = count_ended();
  // Two passes, xids before xmins: txn/README.md needs this order.
  const Xid running = oldest_running();
  Xid oldest = running;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    const std::uint64_t xmin = slots_[i].xmin.load(std::memory_order_seq_cst);
    if (xmin != 0) oldest = std::min(oldest, Xid{xmin});
  }
  // A provisional xmin may be lower than an older horizon, which stays true.
  horizon_ = std::max(horizon_, oldest);
  horizon_ended_ = ended;
  // Whoever ends as the oldest is on his way to do it; but no snapshot taken after this horizon shall be
  // older.
  if (sequence_ != nullptr && sequence_->oldest() < running) advance_oldest();
  return horizon_;
}

Xid RunningSet::horizon() noexcept {
  // Recomputed once 16 more transactions have ended: the scan is then a small part of their work.
  if (horizon_ended_ == kNever || count_ended() - horizon_ended_ >= 16) return compute_horizon();
  return horizon_;
}

std::uint64_t RunningSet::count_ended() const noexcept {
  return sequence_ != nullptr ? sequence_->last().value : stamp() >> kEndedShift;
}

Xid RunningSet::oldest_running() const noexcept {
  Xid oldest = clog_.xids.next_xid();
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    const std::uint64_t xid = xids_[i].load(std::memory_order_seq_cst);
    if (xid != 0) oldest = std::min(oldest, Xid{xid});
  }
  return oldest;
}

// ---- Who runs an xid ----

bool RunningSet::runs_in_slot(std::uint32_t index, Xid xid) {
  const std::uint64_t top = xids_[index].load(std::memory_order_acquire);
  if (top == xid.value) return true;
  if (top == 0 || top > xid.value) return false;
  const Slot& slot = slots_[index];
  const bool overflowed = slot.overflowed.load(std::memory_order_acquire) != 0;
  const std::uint32_t count = slot.subxid_count.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (slot.subxids[i].load(std::memory_order_relaxed) == xid.value) return true;
  }
  if (!overflowed) return false;
  // One that the slot had no room for; a rolled back one is known by its status, set before it was dropped.
  if (clog_.subtransactions.top(xid) != Xid{top}) return false;
  return clog_.status.status(xid) != clog::XidStatus::kAborted &&
         xids_[index].load(std::memory_order_acquire) == top;
}

shm::SessionIndex RunningSet::owner_of(Xid xid) {
  if (xid < horizon_) return shm::kNoSession;
  const std::uint64_t entry = directory_[xid.value & directory_mask_].load(std::memory_order_acquire);
  if (entry >> 16 == xid.value) [[likely]] {
    const shm::SessionIndex session{static_cast<std::uint32_t>(entry & 0xFFFF)};
    return runs_in_slot(session.value, xid) ? session : shm::kNoSession;
  }
  // An older entry: the xid was not given since the server started. A newer one: it has replaced ours.
  return entry >> 16 < xid.value ? shm::kNoSession : search_owner(xid);
}

shm::SessionIndex RunningSet::search_owner(Xid xid) {
  compute_horizon();
  if (xid < horizon_) return shm::kNoSession;
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    if (runs_in_slot(i, xid)) return shm::SessionIndex{i};
  }
  return shm::kNoSession;
}

// ---- Waiting ----

bool RunningSet::has_waiters(shm::SessionIndex session) const noexcept {
  return slots_[session.value].first_waiter.load(std::memory_order_relaxed) != 0;
}

bool RunningSet::enqueue_waiter(Xid xid, shm::SessionIndex waiter) {
  const shm::SessionIndex owner = owner_of(xid);
  if (owner == shm::kNoSession) return false;
  Slot& slot = slots_[owner.value];
  Slot& mine = slots_[waiter.value];
  {
    shm::SpinGuard guard{slot.waiters_lock};
    mine.next_waiter = 0;
    mine.waiting_xid.store(xid.value, std::memory_order_relaxed);
    mine.wait_sequence.store(mine.wait_sequence.load(std::memory_order_relaxed) + 1,
                             std::memory_order_relaxed);
    mine.waiting_owner.store(owner.value + 1, std::memory_order_release);
    if (slot.first_waiter.load(std::memory_order_relaxed) == 0) {
      slot.first_waiter.store(waiter.value + 1, std::memory_order_seq_cst);
    } else {
      slots_[slot.last_waiter - 1].next_waiter = waiter.value + 1;
    }
    slot.last_waiter = waiter.value + 1;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  try {
    if (runs_in_slot(owner.value, xid)) return true;
  } catch (...) {
    dequeue_waiter(waiter);
    throw;
  }
  dequeue_waiter(waiter);
  return false;
}

void RunningSet::dequeue_waiter(shm::SessionIndex waiter) noexcept {
  Slot& mine = slots_[waiter.value];
  const std::uint32_t owner = mine.waiting_owner.load(std::memory_order_acquire);
  if (owner == 0) return;
  Slot& slot = slots_[owner - 1];
  shm::SpinGuard guard{slot.waiters_lock};
  if (mine.waiting_owner.load(std::memory_order_relaxed) == 0) return;
  std::uint32_t before = 0;
  for (std::uint32_t at = slot.first_waiter.load(std::memory_order_relaxed); at != waiter.value + 1;
       at = slots_[at - 1].next_waiter) {
    DB_ASSERT(at != 0);
    before = at;
  }
  if (before == 0) {
    slot.first_waiter.store(mine.next_waiter, std::memory_order_relaxed);
  } else {
    slots_[before - 1].next_waiter = mine.next_waiter;
  }
  if (slot.last_waiter == waiter.value + 1) slot.last_waiter = before;
  mine.waiting_owner.store(0, std::memory_order_release);
}

void RunningSet::wake_waiters(Slot& slot) noexcept {
  // Those who wait for an xid of the slot that still runs (another subtransaction's) queue again. In batches:
  // once it is off the list a waiter may queue elsewhere, so its links are not followed after the lock.
  constexpr std::size_t kBatch = 32;
  std::uint32_t batch[kBatch];
  std::size_t count;
  do {
    count = 0;
    {
      shm::SpinGuard guard{slot.waiters_lock};
      std::uint32_t at = slot.first_waiter.load(std::memory_order_relaxed);
      while (at != 0 && count < kBatch) {
        batch[count++] = at - 1;
        const std::uint32_t next = slots_[at - 1].next_waiter;
        slots_[at - 1].waiting_owner.store(0, std::memory_order_release);
        at = next;
      }
      slot.first_waiter.store(at, std::memory_order_relaxed);
      if (at == 0) slot.last_waiter = 0;
    }
    for (std::size_t i = 0; i < count; ++i) shm::wake(processes_, sessions_, shm::SessionIndex{batch[i]});
  } while (count == kBatch);
}

RunningSet::WaitEdge RunningSet::wait_edge(shm::SessionIndex waiter) const noexcept {
  const Slot& slot = slots_[waiter.value];
  WaitEdge edge;
  edge.sequence = slot.wait_sequence.load(std::memory_order_acquire);
  const std::uint32_t owner = slot.waiting_owner.load(std::memory_order_acquire);
  if (owner == 0) return edge;
  edge.owner = shm::SessionIndex{owner - 1};
  edge.xid = Xid{slot.waiting_xid.load(std::memory_order_relaxed)};
  return edge;
}

// ---- Views ----

RunningSet::SlotView RunningSet::view(shm::SessionIndex session) const noexcept {
  const Slot& slot = slots_[session.value];
  const std::uint64_t local = slot.local_id.load(std::memory_order_relaxed);
  return {.xid = Xid{xids_[session.value].load(std::memory_order_relaxed)},
          .xmin = Xid{slot.xmin.load(std::memory_order_relaxed)},
          .virtual_xid = local == 0 ? VirtualXid{} : VirtualXid{session.value + 1, local},
          .subxids = slot.subxid_count.load(std::memory_order_relaxed)};
}

int RunningSet::count_active() const noexcept {
  int count = 0;
  for (std::uint32_t i = 0; i < slot_limit(); ++i) {
    count += xids_[i].load(std::memory_order_relaxed) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace pinwheel::txn
