#include "sql/execute/row_storage.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/commands/index_keys.h"
#include "sql/commands/table_writer.h"
#include "sql/execute/statement_checks.h"
#include "sql/plan/expression_tools.h"
#include "sql/types/type_info.h"
#include "storage/heap/toaster.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

std::uint64_t* raw(Datum* values) { return reinterpret_cast<std::uint64_t*>(values); }

void collect_columns(ExprList exprs, std::vector<int>& columns) {
  for (const Expr* e : exprs) {
    any_node(e, [&](const Expr* n) {
      const auto* c = expr_if<SlotColumnExpr>(n);
      if (c != nullptr && c->index >= 0) columns.push_back(c->index);
      return false;
    });
  }
}

}  // namespace

RowStorage::RowStorage(const ModifyTablePlan& plan, RunState& run)
    : plan_{plan}, run_{run}, table_{run.table(plan.range)}, changer_{run, table_} {
  const Relation& relation = table_.relation;
  Arena& arena = run.state_arena;
  new_row_ = make_slot(arena, static_cast<int>(relation.columns.size()));
  new_row_->valid = new_row_->count;
  new_row_->table = relation.oid;
  frame_.run = &run;
  frame_.arena = &arena_;
  frame_.slots[static_cast<int>(SlotSource::kScan)] = new_row_;
  ProgramCompiler compiler{arena, &run};
  for (const GeneratedColumn& g : plan.generated) generated_.push_back(compiler.scalar(g.value));
  for (const CheckPlan& check : plan.checks) checks_.push_back(compiler.scalar(check.condition));
  for (const IndexInfo& info : relation.indexes) {
    if (!info.ready) continue;
    Index index{};
    index.handle = &table_.index(info);
    index.values = arena.make_array<Datum>(info.keys.size() + 1);
    index.nulls = arena.make_array<bool>(info.keys.size() + 1);
    for (const IndexMaintenancePlan& m : plan.indexes) {
      if (m.index == info.oid) index.expressions = &m;
    }
    for (const auto& key : info.keys) {
      if (key.column > 0) index.columns.push_back(key.column - 1);
    }
    if (index.expressions != nullptr) {
      collect_columns(index.expressions->expressions, index.columns);
      collect_columns(index.expressions->predicate, index.columns);
      if (!index.expressions->predicate.empty())
        index.predicate = compiler.condition(index.expressions->predicate);
    }
    indexed_columns_.insert(indexed_columns_.end(), index.columns.begin(), index.columns.end());
    if (info.unique && info.immediate && index.expressions == nullptr) {
      for (int k = 0; k < info.key_count; ++k)
        key_columns_.push_back(info.keys[static_cast<std::size_t>(k)].column - 1);
    }
    indexes_.push_back(std::move(index));
  }
  for (Index& index : indexes_) {
    if (index.expressions == nullptr || index.expressions->expressions.empty()) continue;
    // each expression writes its own index column
    std::size_t next = 0;
    std::vector<const Program*> parts;
    for (std::size_t k = 0; k < index.handle->info.keys.size(); ++k) {
      if (index.handle->info.keys[k].column != 0) continue;
      const Expr* one[1] = {index.expressions->expressions[next++]};
      parts.push_back(compiler.into(one, index.values + k, index.nulls + k));
    }
    index.parts = std::move(parts);
  }
  may_be_long_ = std::any_of(relation.columns.begin(), relation.columns.end(),
                             [](const Column& c) { return c.length == -1 && !c.dropped; });
}

void RowStorage::rewind() { frame_.eval = run_.eval; }

void RowStorage::close() noexcept {
  version_pin_.release();
  table_.insert_state.pin.release();
  table_.insert_state.visibility_pin.release();
  toast_.reset();
  changer_.leave_queue();
}

IndexHandle* RowStorage::index(Oid oid) {
  for (Index& index : indexes_) {
    if (index.handle->info.oid == oid) return index.handle;
  }
  return nullptr;
}

std::vector<IndexHandle*> RowStorage::unique_indexes() {
  std::vector<IndexHandle*> list;
  for (Index& index : indexes_) {
    if (index.handle->info.unique) list.push_back(index.handle);
  }
  return list;
}

void RowStorage::check_row() {
  const Relation& relation = table_.relation;
  Slot& row = *new_row_;
  for (std::size_t i = 0; i < generated_.size(); ++i) {
    const auto column = static_cast<std::size_t>(plan_.generated[i].attribute) - 1;
    row.values[column] = generated_[i]->value(frame_, &row.nulls[column]);
  }
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    if (!row.nulls[i]) [[likely]]
      continue;
    const Column& column = relation.columns[i];
    if (!column.not_null || column.dropped) continue;
    throw SqlError{sqlstate::kNotNullViolation, "null value in column \"" + column.name +
                                                    "\" of relation \"" + relation.name +
                                                    "\" violates not-null constraint"}
        .detail("Failing row contains " +
                describe_row(run_.context->catalog, relation, row.values, row.nulls) + ".")
        .table(relation.schema_name, relation.name)
        .column(column.name);
  }
  for (std::size_t i = 0; i < checks_.size(); ++i) {
    bool is_null;
    const Datum result = checks_[i]->value(frame_, &is_null);
    if (is_null || result.as_bool()) continue;
    throw SqlError{sqlstate::kCheckViolation, "new row for relation \"" + relation.name +
                                                  "\" violates check constraint \"" +
                                                  std::string{plan_.checks[i].name} + "\""}
        .detail("Failing row contains " +
                describe_row(run_.context->catalog, relation, row.values, row.nulls) + ".")
        .table(relation.schema_name, relation.name)
        .constraint(std::string{plan_.checks[i].name});
  }
}

/// The tuple to store. Values that lie out of line in other tables come in; what is too long goes out.
storage::FormedTuple RowStorage::form() {
  const Relation& relation = table_.relation;
  Slot& row = *new_row_;
  if (may_be_long_) {
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      const Column& column = relation.columns[i];
      if (column.length != -1 || row.nulls[i] || column.dropped) continue;
      if (is_external(row.values[i].as_pointer()) &&
          external_pointer(row.values[i]).toast_relation != relation.toast_table) {
        row.values[i] = detoast(row.values[i], arena_, run_.eval->detoaster);
      }
    }
    if (storage::formed_size(relation.layout, raw(row.values), row.nulls) > storage::kToastThreshold) {
      if (toast_ == nullptr && is_valid(relation.toast_table))
        toast_ = open_toast(run_.context->catalog, relation);
      storage::toast_values(relation.layout, raw(row.values), row.nulls,
                            toast_ != nullptr ? &toast_->store() : nullptr, toast_.get(),
                            changer_.write_context(), arena_);
    }
  }
  return storage::form_tuple(relation.layout, raw(row.values), row.nulls, arena_);
}

/// Key values of new_row() for an index; false when a partial index does not want the row.
bool RowStorage::index_values(Index& index) {
  if (index.predicate != nullptr && !index.predicate->test(frame_)) return false;
  const auto& keys = index.handle->info.keys;
  for (const Program* part : index.parts) part->run(frame_);
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (keys[k].column > 0) {
      const auto column = static_cast<std::size_t>(keys[k].column) - 1;
      index.values[k] = new_row_->values[column];
      index.nulls[k] = new_row_->nulls[column];
    }
    if (!index.nulls[k] && keys[k].length == -1 && needs_detoast(index.values[k])) {
      index.values[k] = detoast(index.values[k], arena_, run_.eval->detoaster);
    }
  }
  return true;
}

void RowStorage::throw_duplicate(const Index& index) {
  const IndexInfo& info = index.handle->info;
  throw SqlError{sqlstate::kUniqueViolation,
                 "duplicate key value violates unique constraint \"" + info.name + "\""}
      .detail("Key " +
              describe_key(run_.context->catalog, table_.relation, info, raw(index.values), index.nulls) +
              " already exists.")
      .table(table_.relation.schema_name, table_.relation.name)
      .constraint(info.name);
}

InsertConflict RowStorage::insert_entries(const std::vector<IndexHandle*>* arbiters) {
  const Xid xid = run_.context->transaction.assign_xid();
  for (Index& index : indexes_) {
    if (!index_values(index)) continue;
    const IndexInfo& info = index.handle->info;
    const bool arbiter =
        arbiters != nullptr && info.unique &&
        (arbiters->empty() || std::find(arbiters->begin(), arbiters->end(), index.handle) != arbiters->end());
    if (!info.unique) {
      index.handle->tree.insert(raw(index.values), index.nulls, new_row_->tid, xid);
      continue;
    }
    const storage::UniqueCheck check =
        info.immediate ? storage::UniqueCheck::kImmediate : storage::UniqueCheck::kDeferred;
    RowUniqueVisitor visitor{run_.context->catalog, table_.relation.heap};
    for (;;) {
      const storage::InsertOutcome outcome =
          index.handle->tree.insert(raw(index.values), index.nulls, new_row_->tid, xid, check, &visitor);
      if (outcome.result == storage::InsertResult::kInserted) {
        if (outcome.recheck) {
          statement_checks(run_).add_unique(table_.relation, info, raw(index.values), index.nulls,
                                            new_row_->tid);
        }
        break;
      }
      if (arbiter) {
        // The race is lost: nobody can have acted on this row yet.
        table_.heap.abort_speculative(new_row_->tid, changer_.write_context());
        if (outcome.result == storage::InsertResult::kMustWait) {
          run_.context->transaction.locks().wait_for_transaction(outcome.blocker);
        }
        return {true, outcome.conflict};
      }
      if (outcome.result == storage::InsertResult::kDuplicate) throw_duplicate(index);
      run_.context->transaction.locks().wait_for_transaction(outcome.blocker);
    }
  }
  return {};
}

InsertConflict RowStorage::insert(const std::vector<IndexHandle*>* arbiters) {
  const storage::FormedTuple tuple = form();
  new_row_->tid = table_.heap.insert(tuple, changer_.write_context(), table_.insert_state);
  ++table_.activity.inserted;
  new_row_->tuple = tuple.bytes;
  new_row_->tuple_size = tuple.length;
  return insert_entries(arbiters);
}

InsertConflict RowStorage::find_conflict(const std::vector<IndexHandle*>& arbiters) {
  for (Index& index : indexes_) {
    if (!index.handle->info.unique) continue;
    if (!arbiters.empty() && std::find(arbiters.begin(), arbiters.end(), index.handle) == arbiters.end())
      continue;
    if (!index_values(index)) continue;
    RowUniqueVisitor visitor{run_.context->catalog, table_.relation.heap};
    for (;;) {
      const storage::InsertOutcome outcome =
          index.handle->tree.check_unique(raw(index.values), index.nulls, visitor);
      if (outcome.result == storage::InsertResult::kInserted) break;
      if (outcome.result == storage::InsertResult::kDuplicate) return {true, outcome.conflict};
      run_.context->transaction.locks().wait_for_transaction(outcome.blocker);
    }
  }
  return {};
}

/// Bit-equal values: what decides about HOT and lock strength may err on the side of "changed".
bool RowStorage::columns_equal(const Slot& old, const std::vector<int>& columns) const {
  for (const int i : columns) {
    if (old.nulls[i] != new_row_->nulls[i]) return false;
    if (old.nulls[i] || old.values[i].bits == new_row_->values[i].bits) continue;
    const Column& column = table_.relation.columns[static_cast<std::size_t>(i)];
    if (column.by_value) return false;
    const std::size_t size = datum_size(old.values[i], column.length);
    if (size != datum_size(new_row_->values[i], column.length) ||
        std::memcmp(old.values[i].as_pointer(), new_row_->values[i].as_pointer(), size) != 0) {
      // the same text under a short and a long header is equal too
      if (column.length != -1 || needs_detoast(old.values[i]) || needs_detoast(new_row_->values[i]) ||
          var_view(old.values[i]) != var_view(new_row_->values[i])) {
        return false;
      }
    }
  }
  return true;
}

storage::UpdateOutcome RowStorage::update(TupleId id, const Slot& old) {
  storage::UpdateOptions options;
  options.indexed_columns_unchanged = !plan_.may_change_keys || columns_equal(old, indexed_columns_);
  options.key_columns_changed =
      plan_.may_change_keys && !options.indexed_columns_unchanged && !columns_equal(old, key_columns_);
  const storage::FormedTuple tuple = form();
  const storage::UpdateOutcome outcome =
      table_.heap.update(id, tuple, changer_.write_context(), options, table_.insert_state);
  if (outcome.result != storage::ModifyResult::kOk) return outcome;
  ++table_.activity.updated;
  if (outcome.is_hot) ++table_.activity.hot_updated;
  new_row_->tid = outcome.new_id;
  new_row_->tuple = tuple.bytes;
  new_row_->tuple_size = tuple.length;
  if (!outcome.is_hot) insert_entries(nullptr);
  return outcome;
}

storage::ModifyOutcome RowStorage::remove(TupleId id) {
  const storage::ModifyOutcome outcome = table_.heap.remove(id, changer_.write_context());
  if (outcome.result == storage::ModifyResult::kOk) ++table_.activity.deleted;
  return outcome;
}

void RowStorage::drop_external(const Slot& old, const Slot* kept) {
  if (!may_be_long_ || old.tuple == nullptr || !is_valid(table_.relation.toast_table)) return;
  const storage::HeapTupleView tuple = tuple_view(old);
  if ((tuple.infomask() & storage::kTupleHasExternal) == 0) return;
  if (toast_ == nullptr) toast_ = open_toast(run_.context->catalog, table_.relation);
  storage::remove_toasted(table_.relation.layout, tuple, kept != nullptr ? raw(kept->values) : nullptr,
                          kept != nullptr ? kept->nulls : nullptr, toast_->store(), changer_.write_context());
}

bool RowStorage::load_version(TupleId id, Slot& slot) {
  const storage::HeapTupleView tuple = table_.heap.fetch_version(id, version_pin_);
  if (!tuple.valid()) return false;
  show_tuple(slot, tuple);
  deform_slot(slot, slot.count);
  return true;
}

}  // namespace pinwheel::sql
