#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "sql/analyze/analyzer.h"
#include "sql/catalog/catalog.h"
#include "sql/execute/program.h"
#include "storage/btree/key.h"
#include "storage/heap/heap.h"

namespace pinwheel::sql {

/// Makes index keys of a table's rows: columns, expressions and the partial index's condition. For builds and
/// checks; one row at a time.
class IndexKeyReader {
 public:
  /// `table` and `index` outlive the reader. Errors: those of analyzing the stored expressions.
  IndexKeyReader(Catalog& catalog, const Relation& table, const IndexInfo& index);
  ~IndexKeyReader();
  IndexKeyReader(const IndexKeyReader&) = delete;
  IndexKeyReader& operator=(const IndexKeyReader&) = delete;

  /// False when the row does not belong in a partial index. Values live until the next call; external and
  /// compressed ones are made plain. Errors: those of the expressions.
  bool read(const storage::HeapTupleView& tuple);
  const std::uint64_t* values() const { return key_values_.data(); }
  const bool* nulls() const { return key_nulls_.data(); }

 private:
  struct Expressions;
  Catalog& catalog_;
  const Relation& table_;
  const IndexInfo& index_;
  std::vector<Datum> row_values_;
  std::unique_ptr<bool[]> row_nulls_;
  std::array<std::uint64_t, storage::kMaxIndexColumns> key_values_{};
  std::array<bool, storage::kMaxIndexColumns> key_nulls_{};
  Arena row_arena_;
  std::unique_ptr<Expressions> expressions_;
};

/// "(a, lower(b))=(1, x)": as details of unique violations name a key.
std::string describe_key(Catalog& catalog, const Relation& table, const IndexInfo& index,
                         const std::uint64_t* values, const bool* nulls);

}  // namespace pinwheel::sql
