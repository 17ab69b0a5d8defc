#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "storage/heap/transaction_oracle.h"
#include "storage/heap/tuple.h"
#include "storage/heap/tuple_layout.h"
#include "storage/storage.h"

namespace pinwheel::storage {

/// What the heap must know of a relation. Held by the catalog entry; cheap to copy.
struct HeapRelation {
  FileId file;
  Persistence persistence = Persistence::kPermanent;
  std::uint16_t fill_factor = 100;  // percent of a page that inserts fill
};

/// Who changes rows, and as which command.
struct WriteContext {
  Xid xid;
  CommandId command;
  TransactionOracle& oracle;
};

/// Where this process inserts into a relation; kept by the caller between inserts (one per relation and
/// process: sessions of a process share the page, processes spread).
struct InsertState {
  PageNumber target = kInvalidPage;
  Pin pin;  // bulk loads keep the target pinned
  Pin visibility_pin;
  BufferRing* ring = nullptr;
  std::uint32_t spread_hint = 0;  // differs between processes
};

struct InsertOptions {
  bool skip_free_space = false;  // always at the end: bulk loads
  bool frozen = false;    // COPY FREEZE: visible to everyone at once; the relation is new in this transaction
  bool skip_wal = false;  // the caller flushes and syncs the new relation before it commits
};

enum class ModifyResult : std::uint8_t {
  kOk,
  kInvisible,      // the version was never visible to us (inserter aborted or runs)
  kSelfModified,   // changed by a command of our own transaction: see `command`
  kUpdated,        // a committed transaction made a newer version: `next`
  kDeleted,        // a committed transaction deleted it
  kBeingModified,  // `blocker` runs and is in the way: wait for it, then call again
};

struct ModifyOutcome {
  ModifyResult result = ModifyResult::kOk;
  /// Newer version (kUpdated), else the tuple itself.
  TupleId next;
  /// Updater or deleter (kUpdated, kDeleted, kSelfModified).
  Xid xmax;
  /// One running transaction to wait for (kBeingModified).
  Xid blocker;
  /// kSelfModified: the command that changed it (cmax).
  CommandId command;
};

struct UpdateOptions {
  /// No index needs a new entry: HOT is possible when the new version fits on the page.
  bool indexed_columns_unchanged = false;
  /// Columns of unique keys change: takes the strongest row lock.
  bool key_columns_changed = true;
};

struct UpdateOutcome : ModifyOutcome {
  /// Where the new version is (kOk).
  TupleId new_id;
  /// True: heap-only, so no index entries are to be made.
  bool is_hot = false;
};

/// Row store of one relation. Cheap to make: per statement, or kept with the catalog entry.
///
/// One WAL record and one latch per change. Waiting for other transactions, rechecks and index maintenance
/// are the caller's. Errors: BufferPool's; 54000 for tuples that do not fit on a page
/// (`row is too big: size N, maximum size M`).
class Heap {
 public:
  Heap(Storage& storage, const HeapRelation& relation) noexcept : storage_{storage}, relation_{relation} {}

  Storage& storage() const noexcept { return storage_; }
  const HeapRelation& relation() const noexcept { return relation_; }
  PageNumber page_count() const { return storage_.files.size(relation_.file, Fork::kMain); }

  /// Stores a tuple; its header's transaction fields are filled here (in `tuple` too).
  TupleId insert(const FormedTuple& tuple, const WriteContext& context, InsertState& state,
                 const InsertOptions& options = {});
  /// Stores many, with one WAL record per page. `ids` has room for all.
  void multi_insert(std::span<const FormedTuple> tuples, const WriteContext& context, InsertState& state,
                    const InsertOptions& options, TupleId* ids);

  /// Deletes one version. `is_move`: reserved for partition moves.
  ModifyOutcome remove(TupleId id, const WriteContext& context);
  /// Replaces one version by `tuple`. `state`: as for insert, used when the page is full.
  UpdateOutcome update(TupleId id, const FormedTuple& tuple, const WriteContext& context,
                       const UpdateOptions& options, InsertState& state);
  /// Overwrites a version in place, same length, without transaction semantics: for catalog counters.
  void overwrite(TupleId id, const FormedTuple& tuple);

  /// Locks one version. kOk also when our transaction already has a lock at least as strong.
  ModifyOutcome lock_row(TupleId id, RowLock strength, const WriteContext& context);
  /// What update (or remove, lock_row) would answer now, without doing it.
  ModifyOutcome check_modifiable(TupleId id, RowLock strength, const WriteContext& context);

  /// Takes back an insert of the own transaction that nobody may have acted on (ON CONFLICT lost the race):
  /// the version becomes dead at once.
  void abort_speculative(TupleId id, const WriteContext& context);

  /// The raw version at `id`, pinned; not valid when the slot holds none (then nothing is pinned).
  HeapTupleView fetch_version(TupleId id, Pin& pin) const;

  /// Removes dead versions from a page if it is short of room and nobody else uses it. Cheap when there is
  /// nothing to do; called on the way to a tuple, with the page pinned once by the caller.
  void prune_if_worthwhile(const Pin& pin, TransactionOracle& oracle) const {
    const PageHeader& header = pin.unlatched().header();
    if (header.prune_xid == 0) [[likely]]
      return;
    prune_opportunistically(pin, oracle);
  }

 private:
  void prune_opportunistically(const Pin& pin, TransactionOracle& oracle) const;

  Storage& storage_;
  HeapRelation relation_;
};

}  // namespace pinwheel::storage
