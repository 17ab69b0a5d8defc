#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/ids.h"

namespace pinwheel::txn {

/// Which transactions' effects a statement sees: those that were complete when it was taken.
///
/// An xid is "running" for the snapshot if it was running then or had not been given yet. Own changes are
/// told apart before asking the snapshot (Transaction::is_own). Lives in its session's SnapshotStore.
struct Snapshot {
  /// Every xid below was complete.
  Xid xmin;
  /// Every xid from here on counts as running.
  Xid xmax;
  /// Running xids and their subxids, in rising order; none of the own transaction.
  const Xid* running = nullptr;
  std::uint32_t running_count = 0;
  /// Some running transaction had more subxids than its slot holds: an xid in doubt is looked up through its
  /// parents.
  bool overflowed = false;
  /// Own changes by earlier commands are visible.
  CommandId command;

  std::span<const Xid> running_xids() const noexcept { return {running, running_count}; }

  enum class Answer : std::uint8_t { kComplete, kRunning, kAskParent };

  /// kAskParent only when `overflowed`: the caller repeats with the topmost parent of `xid`.
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
    return overflowed ? Answer::kAskParent : Answer::kComplete;
  }
};

}  // namespace pinwheel::txn
