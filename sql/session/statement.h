#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/arena.h"
#include "sql/execute/executor.h"
#include "sql/parse/parser.h"
#include "sql/session/plan_cache.h"
#include "sql/session/row_store.h"
#include "txn/snapshot_store.h"

namespace pinwheel::sql {

/// A named or unnamed prepared statement.
struct PreparedStatement {
  std::string name;
  std::string text;  ///< the statement's own text
  std::vector<Oid> parameter_types;
  bool from_sql = false;  ///< PREPARE, else the protocol's Parse
  std::int64_t prepared_at_us = 0;

  /// Nothing but space and comments.
  bool is_empty = false;
  /// Optimisable statements: the plan; replaced when it no longer holds.
  PlanRef plan;
  /// Utilities are analyzed anew at each execution.
  std::unique_ptr<ParsedText> parsed;
  bool is_utility = false;
  bool allowed_in_failed_transaction = false;
  /// Columns of a utility that returns rows (SHOW, EXPLAIN, FETCH, EXECUTE).
  std::vector<ResultColumn> utility_columns;
  std::unique_ptr<Arena> column_arena;
  /// What the plan's meaning depends on beside the text: the key under which it was cached.
  std::string plan_key;
};

/// A statement bound to parameters: the protocol's portals and SQL's cursors.
struct Portal {
  std::string name;
  std::string text;
  bool is_cursor = false;  ///< DECLARE
  bool hold = false;
  bool scroll = false;
  bool binary = false;
  std::int64_t created_at_us = 0;
  int nest_level = 1;

  PreparedStatement* statement = nullptr;  ///< utilities; null for plans
  PlanRef plan;
  Arena arena;  ///< parameters
  Datum* parameters = nullptr;
  bool* parameter_nulls = nullptr;
  int parameter_count = 0;
  std::vector<std::int16_t> result_formats;

  txn::SnapshotHandle snapshot;
  std::optional<ExecutorLease> executor;
  bool started = false;
  bool done = false;
  bool failed = false;
  StatementUse use;  ///< of parts that ended with the portal suspended

  /// Cursors keep the rows they have fetched, so that FETCH may go back.
  std::unique_ptr<RowStore> rows;
  std::int64_t position = 0;  ///< row the cursor stands on: 0 before the first, rows+1 after the last
};

}  // namespace pinwheel::sql
