#pragma once

#include "sql/execute/row_file.h"
#include "sql/execute/run_state.h"
#include "storage/storage.h"

namespace pinwheel::sql {

/// Rows that several nodes read: those of a CTE, made on demand by whoever reads furthest, or a recursive
/// query's work table.
struct SharedRows {
  SharedRows(RunState& run, std::span<Expr* const> columns)
      : format{columns},
        rows{format, run.context->storage.files.data_directory(), run.work_mem_bytes, &run.budget} {}

  RowFormat format;
  TupleStore rows;
  Node* source = nullptr;  ///< CTE: makes more rows; null once it has ended
  bool started = false;
  std::uint64_t generation = 0;  ///< work tables: changes when the rows are replaced

  void reset() {
    rows.clear();
    started = false;
    ++generation;
  }
};

/// The shared rows of a CTE.
SharedRows& cte_rows(RunState& run, int subplan);
/// Fetches one more row of a CTE; false at its end.
bool advance_cte(RunState& run, SharedRows& shared);
/// The work table of a recursive union, made with the columns of the scan that asks first.
SharedRows& work_table(RunState& run, int index, std::span<Expr* const> columns);

}  // namespace pinwheel::sql
