#pragma once

#include <memory>
#include <vector>

#include "sql/execute/index_handle.h"
#include "sql/execute/packed_row.h"
#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// Checks that a statement's changes ask for and that wait for its end: foreign keys from both sides,
/// deferrable unique constraints. One per running state.
class StatementChecks {
 public:
  explicit StatementChecks(RunState& run);
  ~StatementChecks();

  /// A row of the referencing table was stored: `values` are all its columns.
  void add_reference(const Relation& table, const ForeignKey& key, const Datum* values, const bool* nulls);
  /// A row of the referenced table went, or got other key values (`new_values`, null for a deletion).
  void add_referenced(const Relation& table, const ForeignKey& key, const Datum* old_values,
                      const bool* old_nulls, const Datum* new_values, const bool* new_nulls);
  void add_unique(const Relation& table, const IndexInfo& index, const std::uint64_t* values,
                  const bool* nulls, TupleId id);

  /// Works everything off. Errors: 23503, 23505.
  void run();
  void clear() noexcept;

 private:
  struct Key {
    const Relation* table;
    const ForeignKey* key;
    Datum* values;  ///< key columns only
    bool* nulls;
    Datum* new_values;  ///< referenced side, update
    bool* new_nulls;
    bool is_update;
  };
  struct Unique {
    const Relation* table;
    const IndexInfo* index;
    std::uint64_t* values;
    bool* nulls;
    TupleId id;
  };
  struct OpenTable;

  OpenTable& open(Oid relation, std::uint8_t lock_mode);
  void check_reference(const Key& key);
  void check_referenced(const Key& key);
  bool find_by_index(OpenTable& table, const IndexInfo& index, const Key& key,
                     std::span<const std::int16_t> key_order, TupleId* id);
  bool references_exist(OpenTable& table, const Key& key);
  void act_on_references(const Key& key, char action);
  Datum copy(const Relation& table, std::int16_t column, Datum value, bool is_null);

  RunState& run_;
  Arena arena_;
  std::vector<Key> references_;
  std::vector<Key> referenced_;
  std::vector<Unique> unique_;
  std::vector<std::unique_ptr<OpenTable>> tables_;
};

StatementChecks& statement_checks(RunState& run);

}  // namespace pinwheel::sql
