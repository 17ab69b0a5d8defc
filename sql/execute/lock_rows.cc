#include "sql/execute/node_base.h"
#include "sql/execute/recheck.h"
#include "sql/execute/row_locking.h"
#include "sql/execute/scan_nodes.h"

namespace pinwheel::sql {

storage::RowLock row_lock_of(LockStrength strength) {
  switch (strength) {
    case LockStrength::kKeyShare:
      return storage::RowLock::kKeyShare;
    case LockStrength::kShare:
      return storage::RowLock::kShare;
    case LockStrength::kNoKeyUpdate:
      return storage::RowLock::kNoKeyUpdate;
    default:
      return storage::RowLock::kUpdate;
  }
}

namespace {

/// SELECT ... FOR UPDATE and the like: locks the rows that pass. A row that somebody changed meanwhile is
/// looked at again in its newest version (READ COMMITTED).
class LockRowsNode final : public Node {
 public:
  LockRowsNode(const LockRowsPlan& p, RunState& r)
      : Node{p, r}, plan_{p}, input_{make_node(p.left, r)}, rechecker_{r, p.left} {
    for (const LockTarget& lock : p.locks)
      changers_.push_back(std::make_unique<RowChanger>(r, r.table(lock.range)));
    for (const LockTarget& lock : p.locks) columns_ = std::max(columns_, lock.identity_column + 1);
    for (const RecheckSource& source : p.recheck_sources)
      columns_ = std::max(columns_, source.identity_column + 1);
  }
  Slot* next() override {
    for (;;) {
      Slot* row = pull(*input_);
      if (row == nullptr) return nullptr;
      if (row->valid < columns_) deform_slot(*row, columns_);
      bool keep = true;
      bool moved = false;
      locked_.assign(plan_.locks.size(), {});
      for (std::size_t i = 0; i < plan_.locks.size() && keep; ++i) {
        const LockTarget& lock = plan_.locks[i];
        if (row->nulls[lock.identity_column]) continue;  // an outer join's empty side
        const TupleId id = unpack_identity(row->values[lock.identity_column].bits);
        const LockedRow result = changers_[i]->lock_newest(id, row_lock_of(lock.strength), lock.wait);
        locked_[i] = result.id;
        keep = result.outcome == LockOutcome::kLocked || result.outcome == LockOutcome::kMoved;
        moved = moved || result.outcome == LockOutcome::kMoved;
      }
      if (!keep) continue;
      if (!moved) return row;
      if (Slot* rechecked = recheck(*row)) return rechecked;
    }
  }
  void rewind() override { rewind_node(*input_); }
  void close() noexcept override {
    rechecker_.close();
    pin_.release();
  }

 private:
  Slot* recheck(const Slot& row) {
    rechecker_.begin();
    for (const RecheckSource& source : plan_.recheck_sources) {
      if (row.nulls[source.identity_column]) {
        rechecker_.substitute_nothing(source.range);
        continue;
      }
      TupleId id = unpack_identity(row.values[source.identity_column].bits);
      for (std::size_t i = 0; i < plan_.locks.size(); ++i) {
        if (plan_.locks[i].range == source.range && locked_[i].valid()) id = locked_[i];
      }
      const storage::HeapTupleView tuple = run.table(source.range).heap.fetch_version(id, pin_);
      if (!tuple.valid()) return nullptr;
      rechecker_.substitute(source.range, tuple);
    }
    return rechecker_.evaluate();
  }
  const LockRowsPlan& plan_;
  Node* input_;
  Rechecker rechecker_;
  std::vector<std::unique_ptr<RowChanger>> changers_;
  std::vector<TupleId> locked_;
  storage::Pin pin_;
  int columns_ = 0;
};

}  // namespace

std::unique_ptr<Node> make_lock_rows(const Plan* plan, RunState& run) {
  return std::make_unique<LockRowsNode>(*plan_cast<LockRowsPlan>(plan), run);
}

}  // namespace pinwheel::sql
