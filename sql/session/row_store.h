#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "sql/execute/execution_context.h"
#include "sql/execute/slot.h"
#include "sql/plan/cached_plan.h"

namespace pinwheel::sql {

/// Rows copied into memory, for cursors that go back or outlive their transaction.
class RowStore final : public RowReceiver {
 public:
  RowStore(std::span<const ResultColumn> columns, ArenaBudget* budget);

  void row(const Slot& slot) override;
  std::size_t size() const { return rows_.size(); }
  /// Row `index`, from 0; values live as long as the store.
  Slot at(std::size_t index) const;
  std::span<const ResultColumn> columns() const { return columns_; }

 private:
  struct Width {
    std::int16_t length;
    bool by_value;
  };
  struct Row {
    Datum* values;
    bool* nulls;
  };
  Arena arena_;
  std::span<ResultColumn> columns_;
  std::vector<Width> widths_;
  std::vector<Row> rows_;
};

}  // namespace pinwheel::sql
