#pragma once

#include <cstdint>

#include "storage/btree/btree.h"

namespace pinwheel::storage {

/// What VACUUM asks of an index.
struct BTreeVacuumOptions {
  /// True for rows whose entries must go. Null: nothing is dead, only pages are looked after.
  bool (*is_dead)(void* context, TupleId id) = nullptr;
  void* context = nullptr;
  /// The next xid that will be given out: pages deleted now may be reused when `horizon` has passed it.
  Xid next_xid{};
  /// No snapshot is older: TransactionOracle::removal_horizon().
  Xid horizon{};
  BufferRing* ring = nullptr;
};

struct BTreeVacuumResult {
  std::uint64_t entries_removed = 0;
  std::uint64_t entries_left = 0;
  std::uint32_t pages = 0;          // of the file
  std::uint32_t pages_deleted = 0;  // by this run
  std::uint32_t pages_free = 0;     // ready for reuse
};

/// Removes the entries of dead rows, then deletes leaves that became empty, and hands out for reuse deleted
/// pages that no scan can reach any more. Concurrent scans and insertions go on; the caller's lock keeps
/// other vacuums out. When it returns no scan finds an entry of a dead row that it had not read before
/// (BTree: snapshots). check_interrupts() once per page; if the process dies in between, the next vacuum
/// finishes.
BTreeVacuumResult vacuum_btree(const BTree& tree, const BTreeVacuumOptions& options);

}  // namespace pinwheel::storage
