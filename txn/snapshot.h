#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/ids.h"

namespace pinwheel::txn {

/// Number of a commit in their order, from the start of the server (txn/commit_sequence.h); 0 = none.
using Csn = StrongId<struct CsnTag, std::uint64_t>;

/// Which transactions' effects a statement sees: those that were complete when it was taken.
///
/// An xid is "running" for the snapshot if it was running then or had not been given yet. Own changes are
/// told apart before asking the snapshot (Transaction::is_own). Lives in its session's SnapshotStore. With
/// snapshot_method = csn it lists nothing: `csn` says where it stands in the order of commits.
struct Snapshot {
  /// Every xid below was complete.
  Xid xmin;
  /// Every xid from here on counts as running. With csn: no bound, kMaxXid.
  Xid xmax;
  /// Running xids and their subxids, in rising order; none of the own transaction.
  const Xid* running = nullptr;
  std::uint32_t running_count = 0;

  enum class Answer : std::uint8_t { kComplete, kRunning, kAskParent, kAskSequence };  // in this order
  /// The answer for an xid between xmin and xmax that is not listed. kAskParent: some running transaction had
  /// more subxids than its slot holds. kAskSequence: nothing is listed.
  Answer unlisted = Answer::kComplete;
  /// Own changes by earlier commands are visible.
  CommandId command;
  Csn csn;

  std::span<const Xid> running_xids() const noexcept { return {running, running_count}; }

  /// kAskParent: the caller repeats with the topmost parent of `xid`. kAskSequence: it compares the number of
  /// `xid` with `csn`. TransactionManager::is_complete does both.
  Answer find(Xid xid) const noexcept {
    if (xid < xmin) return Answer::kComplete;
    if (xid >= xmax) return Answer::kRunning;
    // Few run at a time: a linear look at a line or two beats a binary search.
    if (running_count <= 16) {
      for (std::uint32_t i = 0; i < running_count; ++i) {
        if (running[i] == xid) return Answer::kRunning;
      }
    } else if (std::binary_search(running, running + running_count, xid)) {
      return Answer::kRunning;
    }
    return unlisted;
  }
};

}  // namespace pinwheel::txn
