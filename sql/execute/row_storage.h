#pragma once

#include <memory>
#include <vector>

#include "sql/catalog/row_unique_visitor.h"
#include "sql/catalog/toast_access.h"
#include "sql/execute/node_base.h"
#include "sql/execute/row_locking.h"
#include "sql/plan/plan.h"

namespace pinwheel::sql {

/// Where an insertion met an existing row.
struct InsertConflict {
  bool found = false;
  TupleId id;
};

/// Stores and changes rows of one table with all that belongs to it: NOT NULL, CHECK and generated columns,
/// out-of-line values, index entries with unique checks. Errors: 23502, 23514, 23505 as PostgreSQL words
/// them.
class RowStorage {
 public:
  RowStorage(const ModifyTablePlan& plan, RunState& run);

  Slot& new_row() { return *new_row_; }
  /// Computes generated columns of new_row() and checks it.
  void check_row();

  /// Inserts new_row(); its tid is set. `arbiters` non-null: an equal key in one of them (empty = any unique
  /// index) is returned instead of raised.
  InsertConflict insert(const std::vector<IndexHandle*>* arbiters);
  /// Looks for a row with new_row()'s key in the arbiters.
  InsertConflict find_conflict(const std::vector<IndexHandle*>& arbiters);

  /// Replaces the version at `id` by new_row(); `old` is that version, deformed. The outcome tells whether
  /// somebody was in the way; index entries are made when it worked.
  storage::UpdateOutcome update(TupleId id, const Slot& old);
  storage::ModifyOutcome remove(TupleId id);
  /// After a version is gone: its out-of-line values too, but for those that `kept` still uses.
  void drop_external(const Slot& old, const Slot* kept);

  /// Shows the version at `id` in `slot`, deformed, pinned until the next call. False when nothing is there.
  bool load_version(TupleId id, Slot& slot);

  TableState& table() { return table_; }
  RowChanger& changer() { return changer_; }
  IndexHandle* index(Oid oid);
  std::vector<IndexHandle*> unique_indexes();
  /// Begins a row: frees what the last one took.
  void begin_row() { arena_.reset(); }
  /// Releases pins.
  void close() noexcept;
  /// For a new execution: may belong to another session.
  void rewind();

 private:
  struct Index {
    IndexHandle* handle;
    const IndexMaintenancePlan* expressions;
    std::vector<const Program*> parts;   ///< expression columns, each into its place
    const Program* predicate = nullptr;  ///< null = whole table
    Datum* values;
    bool* nulls;
    std::vector<int> columns;  ///< row attributes it depends on, from 0
  };

  bool index_values(Index& index);
  /// Entries for new_row() in all indexes. With `arbiters`: a conflict there is returned, the row killed.
  InsertConflict insert_entries(const std::vector<IndexHandle*>* arbiters);
  [[noreturn]] void throw_duplicate(const Index& index);
  storage::FormedTuple form();
  bool columns_equal(const Slot& old, const std::vector<int>& columns) const;

  const ModifyTablePlan& plan_;
  RunState& run_;
  TableState& table_;
  RowChanger changer_;
  EvalFrame frame_;
  Arena arena_;
  Slot* new_row_;
  std::vector<const Program*> generated_;
  std::vector<const Program*> checks_;
  std::vector<Index> indexes_;
  std::vector<int> indexed_columns_;  ///< any index
  std::vector<int> key_columns_;      ///< unique indexes that foreign keys may refer to
  std::unique_ptr<TableToast> toast_;
  bool may_be_long_ = false;
  storage::Pin version_pin_;
};

}  // namespace pinwheel::sql
