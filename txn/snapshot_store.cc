#include "txn/snapshot_store.h"

#include <algorithm>

#include "base/error.h"
#include "shm/statistics.h"
#include "txn/running_set.h"

namespace pinwheel::txn {

SnapshotStore::SnapshotStore(RunningSet& running, shm::SessionIndex session, SnapshotMethod method) noexcept
    : running_{running}, session_{session}, method_{method} {
  running_.join_process();
}

SnapshotStore::~SnapshotStore() {
  DB_ASSERT(live_count_ == 0);
  running_.leave_process();
}

SnapshotHandle SnapshotStore::take(CommandId command) {
  shm::count(shm::Counter::kSnapshotsTaken);
  if (live_count_ == 0) {
    // Before looking at anything: from here on no horizon passes what we are about to see. Any value that is
    // not above the result's xmin will do; the last one's saves a second store if it can be used again.
    const Xid provisional = last_ == kNone ? kFirstNormalXid : entries_[last_]->snapshot.xmin;
    running_.publish_xmin(session_, provisional);
  }
  if (method_ == SnapshotMethod::kCsn) return take_cut(command);
  const bool may_reuse = method_ == SnapshotMethod::kCached;
  const RunningSet::Stamp now = may_reuse ? running_.stamp() : RunningSet::kNoStamp;
  if (may_reuse && last_ != kNone && entries_[last_]->stamp == now) {
    shm::count(shm::Counter::kSnapshotsReused);
    return hand_out(last_, command);
  }
  const std::uint32_t at = find_unused_entry();
  Entry& entry = *entries_[at];
  if (may_reuse && running_.copy_kept(now, entry.snapshot, entry.running)) {
    shm::count(shm::Counter::kSnapshotsCopied);
    entry.stamp = now;
  } else if (may_reuse) {
    entry.stamp = running_.build_for_process(session_, entry.snapshot, entry.running);
  } else {
    entry.stamp = running_.build(session_, entry.snapshot, entry.running);
  }
  entry.snapshot.running = entry.running.data();
  entry.snapshot.running_count = static_cast<std::uint32_t>(entry.running.size());
  return hand_out_newest(at, command);
}

SnapshotHandle SnapshotStore::take_cut(CommandId command) {
  const CommitSequence::Cut cut = running_.sequence()->cut();
  if (last_ != kNone) {
    const Snapshot& last = entries_[last_]->snapshot;
    if (last.csn == cut.csn && last.xmin == cut.oldest) {
      shm::count(shm::Counter::kSnapshotsReused);
      return hand_out(last_, command);
    }
  }
  shm::count(shm::Counter::kSnapshotsCopied);
  const std::uint32_t at = find_unused_entry();
  Snapshot& snapshot = entries_[at]->snapshot;
  snapshot.xmin = cut.oldest;
  snapshot.xmax = kMaxXid;
  snapshot.unlisted = Snapshot::Answer::kAskSequence;
  snapshot.csn = cut.csn;
  return hand_out_newest(at, command);
}

SnapshotHandle SnapshotStore::hand_out_newest(std::uint32_t at, CommandId command) noexcept {
  last_ = at;
  SnapshotHandle handle = hand_out(at, command);
  publish_oldest();
  return handle;
}

SnapshotHandle SnapshotStore::hand_out(std::uint32_t at, CommandId command) noexcept {
  Entry& entry = *entries_[at];
  ++entry.uses;
  ++live_count_;
  SnapshotHandle handle;
  handle.store_ = this;
  handle.entry_ = at;
  handle.view_ = entry.snapshot;
  handle.view_.command = command;
  return handle;
}

std::uint32_t SnapshotStore::find_unused_entry() {
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i]->uses == 0) {
      if (i == last_) last_ = kNone;  // a failed build must not leave half of it for reuse
      return i;
    }
  }
  entries_.push_back(std::make_unique<Entry>());
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

void SnapshotStore::release(std::uint32_t at) noexcept {
  --entries_[at]->uses;
  --live_count_;
  if (live_count_ == 0) {
    running_.raise_xmin(session_, kInvalidXid);
  } else if (entries_[at]->uses == 0) {
    publish_oldest();
  }
}

void SnapshotStore::publish_oldest() noexcept {
  Xid oldest = kMaxXid;
  for (const std::unique_ptr<Entry>& entry : entries_) {
    if (entry->uses != 0) oldest = std::min(oldest, entry->snapshot.xmin);
  }
  if (running_.published_xmin(session_) != oldest) running_.raise_xmin(session_, oldest);
}

SnapshotHandle SnapshotHandle::share(CommandId command) const noexcept {
  return store_ == nullptr ? SnapshotHandle{} : store_->hand_out(entry_, command);
}

}  // namespace pinwheel::txn
