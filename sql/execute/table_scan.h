#pragma once

#include "sql/execute/node_base.h"
#include "sql/execute/recheck.h"
#include "sql/execute/table_state.h"

namespace pinwheel::sql {

/// A slot for rows of a range's table, read lazily from their tuples.
Slot* make_table_slot(RunState& run, int range);

/// A scan of a table's heap: the slot, the substitute in rechecks, the recheck's extra conditions.
template <class Derived>
class TableScanNode : public ScanNode<Derived> {
 public:
  TableScanNode(const ScanPlan& p, RunState& r, ExprList key_quals)
      : ScanNode<Derived>{p, r, make_table_slot(r, p.range)}, table_{r.table(p.range)}, range_{p.range} {
    if (r.recheck != nullptr) recheck_ = this->compiler().condition(key_quals);
  }

 protected:
  /// A row in place of the scan's own.
  bool fetch_substitute() {
    if (!give_substitute(this->run, range_, *this->scan_slot_)) return false;
    return recheck_->empty() || recheck_->test(this->frame_);
  }
  bool substituted() const { return is_substituted(this->run, range_); }

  TableState& table_;
  int range_;
  const Program* recheck_ = nullptr;
};

}  // namespace pinwheel::sql
