#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace pinwheel::txn {

/// How transactions ended, as this process has found out: the outcome of an xid never changes and no xid
/// comes twice, so an entry is right for ever. Direct-mapped: an xid may push out one that is a multiple of
/// the size away. Private to the process; nothing waits.
///
/// What it saves is the walk to the commit log for versions whose hint bits may not be set yet, because
/// their commits are not on disk: with synchronous_commit off those are the hot ones.
class OutcomeCache {
 public:
  struct Entry {
    Xid xid{};
    /// What must be on disk before hint bits may tell of the commit; invalid when it is.
    Lsn commit_lsn{};
    bool committed = false;
  };

  /// `size` is rounded up to a power of two; 1 remembers the last one only.
  explicit OutcomeCache(std::size_t size) : entries_(std::bit_ceil(size)), mask_{entries_.size() - 1} {}

  /// Null when it is not known. Valid until the next remember().
  Entry* find(Xid xid) noexcept {
    Entry& entry = entries_[xid.value & mask_];
    return entry.xid == xid && is_valid(xid) ? &entry : nullptr;
  }
  Entry& remember(const Entry& entry) noexcept { return entries_[entry.xid.value & mask_] = entry; }

 private:
  std::vector<Entry> entries_;
  std::uint64_t mask_;
};

}  // namespace pinwheel::txn
