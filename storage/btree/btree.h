#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "storage/btree/key.h"
#include "storage/storage.h"

namespace pinwheel::storage {

/// What a unique check does.
enum class UniqueCheck : std::uint8_t {
  kNone,       // the index is not unique, or the caller has checked
  kImmediate,  // a live equal entry forbids the insertion
  kDeferred,   // inserts in any case and says whether the caller must check again later
};

/// What the heap says of the row behind an equal entry.
struct UniqueCandidate {
  enum class Fate : std::uint8_t {
    kNoConflict,  // no live row: deleted by us, or dead but perhaps visible to some snapshot
    kDead,        // dead to everyone for good: the entry may be marked so
    kLive,        // a conflicting row
    kRunning,     // depends on `blocker`, which runs
  };
  Fate fate = Fate::kNoConflict;
  Xid blocker{};
};

/// Looks at heap rows for unique checks. Called with index pages latched: it may latch heap pages and ask for
/// transaction states, and must not park or touch the index.
class UniqueVisitor {
 public:
  virtual ~UniqueVisitor() = default;
  /// The row whose HOT chain starts at `id`.
  virtual UniqueCandidate examine(TupleId id) = 0;
};

enum class InsertResult : std::uint8_t {
  kInserted,
  kDuplicate,  // nothing was inserted: `conflict` is a live row with the key
  kMustWait,   // nothing was inserted: wait for `blocker` to end (no latch is held now), then insert again
};

struct InsertOutcome {
  InsertResult result = InsertResult::kInserted;
  TupleId conflict;
  Xid blocker{};
  /// kDeferred: an equal entry may conflict; check again when the constraint is due.
  bool recheck = false;
};

/// What this process remembers of an index between calls, to start in the right place. Never trusted: a page
/// found through it is verified on arrival.
struct BTreeHints {
  PageNumber root = kInvalidPage;
  PageNumber rightmost_leaf = kInvalidPage;
};

/// B-tree over one index's file (Lehman and Yao, "Efficient locking for concurrent operations on B-trees",
/// 1981; page deletion after Lanin and Shasha, 1986). Entries are ordered by key columns, then by heap
/// TupleId, so that no two are equal. Rules: storage/btree/README.md.
///
/// Cheap to make; kept with a plan or catalog entry it remembers the root. Values are 8-byte datums as in
/// TupleLayout; varlenas must be plain (neither external nor compressed).
///
/// Snapshots and recycling: a page that vacuum deleted is reused once no snapshot is left that is older than
/// the deletion. So whoever uses a BTree holds a snapshot or an xid meanwhile. An entry's row must be fetched
/// with a snapshot that is not newer than the reading of the entry, or its key must be rechecked.
///
/// Errors: BufferPool's; XX002 `index "x" ...` when the file contradicts itself.
class BTree {
 public:
  BTree(Storage& storage, const BTreeIndex& index) noexcept : storage_{&storage}, index_{&index} {}

  Storage& storage() const noexcept { return *storage_; }
  const BTreeIndex& index() const noexcept { return *index_; }
  BTreeHints& hints() const noexcept { return hints_; }
  PageNumber page_count() const { return storage_->files.size(index_->file, Fork::kMain); }

  /// Adds an entry. `values`, `nulls`: all columns of the layout. `xid`: the inserting transaction, for the
  /// log. `visitor`: needed unless `check` is kNone or the index is not unique.
  ///
  /// The check and the insertion are one step for concurrent inserters of equal keys: the first leaf that may
  /// hold the key stays latched exclusively in between. Errors: 54000 `index row size N exceeds btree version
  /// 4 maximum 2704 for index "x"`.
  InsertOutcome insert(const std::uint64_t* values, const bool* nulls, TupleId id, Xid xid,
                       UniqueCheck check = UniqueCheck::kNone, UniqueVisitor* visitor = nullptr);

  /// A unique check without an insertion: ON CONFLICT before it inserts, deferred constraints (with `own` =
  /// the row's entry, which does not count). kInserted here means: no conflict.
  InsertOutcome check_unique(const std::uint64_t* values, const bool* nulls, UniqueVisitor& visitor,
                             TupleId own = {});

  /// Entries whose key columns all equal `values` (no nulls): the point lookup of unique indexes, without
  /// memory allocation and, when the pages are in the pool, without writing shared memory. Returns how many
  /// there are; when more than `out` has room for, out.size() + 1: use a BTreeScan then.
  std::size_t find_equal(const std::uint64_t* values, std::span<TupleId> out) const;

  /// Levels above the leaves; 0 for an empty index too.
  std::uint32_t level() const;

 private:
  Storage* storage_;
  const BTreeIndex* index_;
  mutable BTreeHints hints_;
};

/// Writes the first page of an empty index into `fork`, whose file exists and is empty. Logged for permanent
/// indexes, and for init forks always.
void create_empty_btree(Storage& storage, FileId file, Fork fork, Persistence persistence, Xid xid);

}  // namespace pinwheel::storage
