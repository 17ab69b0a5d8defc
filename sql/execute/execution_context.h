#pragma once

#include <cstdint>

#include "base/arena.h"
#include "sql/types/eval_context.h"

namespace pinwheel::storage {
class Storage;
}
namespace pinwheel::txn {
class Transaction;
class TransactionManager;
struct Snapshot;
}  // namespace pinwheel::txn

namespace pinwheel::sql {

class AnalyzerCatalog;
class Catalog;
class TransactionActivity;

/// How rows leave the executor. `row` is called once per row; the values live until it returns.
struct Slot;
class RowReceiver {
 public:
  virtual ~RowReceiver() = default;
  /// All `slot.count` columns are filled.
  virtual void row(const Slot& slot) = 0;
};
/// For statements whose rows nobody wants.
class DiscardReceiver final : public RowReceiver {
 public:
  void row(const Slot&) override {}
};

/// What a statement's execution may use of its process and session. Made by the session once; the fields
/// below "per statement" are set before each start(). References outlive every execution.
struct ExecutionContext {
  storage::Storage& storage;
  txn::TransactionManager& transactions;
  txn::Transaction& transaction;
  EvalContext& eval;
  Catalog& catalog;

  // per statement
  const txn::Snapshot* snapshot = nullptr;
  const Datum* parameters = nullptr;
  const bool* parameter_nulls = nullptr;
  int parameter_count = 0;
  std::int64_t work_mem_bytes = 4 << 20;
  ArenaBudget* budget = nullptr;
  bool repeatable_read = false;  ///< or serializable: 40001 instead of rechecks
  bool read_only_transaction = false;
  /// Where use of tables is counted; null: not at all.
  TransactionActivity* activity = nullptr;
  /// For foreign-key actions, which are planned when they happen; null: such actions are refused (0A000).
  AnalyzerCatalog* names = nullptr;
};

}  // namespace pinwheel::sql
