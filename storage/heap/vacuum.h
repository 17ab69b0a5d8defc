#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "storage/heap/heap.h"

namespace pinwheel::storage {

/// Fate of a version for vacuum.
enum class VacuumState : std::uint8_t {
  kDead,          // removable
  kRecentlyDead,  // deleted, but some snapshot may still see it
  kLive,
  kInsertInProgress,
  kDeleteInProgress,
};
/// Classifies one version; sets hint bits. Page latched at least shared.
VacuumState vacuum_state(const HeapTupleView& tuple, TransactionOracle& oracle, Xid horizon);

/// What vacuum_page found and did on one page.
struct VacuumPageResult {
  std::uint32_t live_tuples = 0;
  std::uint32_t recently_dead_tuples = 0;
  std::uint32_t removed_tuples = 0;  // versions that pruning removed
  std::uint32_t dead_lines = 0;      // appended to `dead`
  bool all_visible = false;          // the visibility bit is set now
  bool has_tuples = false;           // not truncatable
  std::size_t free_bytes = 0;
};

/// First pass of VACUUM over one page: prunes, appends the line pointers that indexes may still name to
/// `dead`, sets the visibility bit when it may, records free space. Waits for nobody: a page that others have
/// pinned is not pruned, unless `wait` makes it try for a while.
/// `has_indexes` false: dead line pointers are freed at once.
VacuumPageResult vacuum_page(Heap& heap, PageNumber page, TransactionOracle& oracle, Xid horizon,
                             bool has_indexes, std::vector<TupleId>& dead, BufferRing* ring,
                             Pin& visibility_pin);

/// Second pass, after every index has dropped its entries for them: makes line pointers of one page unused
/// (`dead` all on that page), sets the visibility bit when it may. Returns free bytes.
std::size_t vacuum_remove_dead_lines(Heap& heap, PageNumber page, std::span<const TupleId> dead,
                                     TransactionOracle& oracle, Xid horizon, BufferRing* ring,
                                     Pin& visibility_pin);

/// Pages that VACUUM may cut off: the length after the last page with anything on it. The caller holds a lock
/// that keeps everyone out of the relation.
PageNumber vacuum_truncation_point(Heap& heap, BufferRing* ring);
/// Cuts a relation (main fork and maps) to `pages`: logged, pages dropped, file shortened. Everyone is kept
/// out by the caller's lock. If the process dies after the record, redo cuts again.
void truncate_relation(Storage& storage, const HeapRelation& relation, PageNumber pages);

}  // namespace pinwheel::storage
