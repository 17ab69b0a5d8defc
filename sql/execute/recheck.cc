#include "sql/execute/recheck.h"

#include "sql/execute/program.h"
#include "sql/execute/table_state.h"

namespace pinwheel::sql {

Rechecker::~Rechecker() = default;

bool give_substitute(RunState& run, int range, Slot& slot) {
  RecheckState::Row& row = run.recheck->rows[static_cast<std::size_t>(range)];
  if (row.given || !row.present) return false;
  row.given = true;
  show_tuple(slot, row.tuple);
  return true;
}

void Rechecker::begin() {
  if (state_ == nullptr) {
    state_ = std::make_unique<RecheckState>(run_.plan.ranges.size());
    other_ = std::make_unique<RunState>(run_.plan);
    other_->recheck = state_.get();
  }
  arena_.reset();
  other_->begin(*run_.context);
  for (RecheckState::Row& row : state_->rows) row = {};
  for (int i = 0; i < run_.plan.parameter_slot_count; ++i)
    other_->parameter_slots[i] = run_.parameter_slots[i];
}

void Rechecker::substitute(int range, const storage::HeapTupleView& tuple) {
  // a private copy: the page may be let go of meanwhile
  auto* bytes = static_cast<std::byte*>(arena_.allocate(tuple.length()));
  std::memcpy(bytes, tuple.bytes(), tuple.length());
  RecheckState::Row& row = state_->rows[static_cast<std::size_t>(range)];
  row.substituted = row.present = true;
  row.tuple = storage::HeapTupleView{bytes, tuple.length(), tuple.id()};
}

void Rechecker::substitute_nothing(int range) {
  state_->rows[static_cast<std::size_t>(range)].substituted = true;
}

Slot* Rechecker::evaluate() {
  if (root_ == nullptr) root_ = make_node(subtree_, *other_);
  for (RecheckState::Row& row : state_->rows) row.given = false;
  root_->rewind();
  return root_->next();
}

void Rechecker::close() noexcept {
  if (other_ != nullptr) other_->close_nodes();
}

}  // namespace pinwheel::sql
