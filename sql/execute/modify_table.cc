#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/node_base.h"
#include "sql/execute/recheck.h"
#include "sql/execute/row_storage.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/statement_checks.h"
#include "sql/types/type_info.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// INSERT, UPDATE and DELETE: applies its input's rows to the table; gives RETURNING rows, if any.
class ModifyTableNode final : public ExpressionNode {
 public:
  ModifyTableNode(const ModifyTablePlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        input_{make_node(p.left, r)},
        storage_{p, r},
        rechecker_{r, p.left},
        old_{make_table_slot(r, p.range)},
        relation_{storage_.table().relation},
        is_root_{r.plan.root == &p} {
    if (p.has_returning) compile_output();
    for (const AssignedColumn& a : p.assigned) input_columns_ = std::max(input_columns_, a.input_column + 1);
    input_columns_ = std::max(input_columns_, p.identity_column + 1);
    for (const RecheckSource& source : p.recheck_sources)
      input_columns_ = std::max(input_columns_, source.identity_column + 1);
    if (p.conflict.action != ConflictAction::kNone) prepare_conflict();
  }

  Slot* next() override {
    unsigned ticks = 0;
    for (;;) {
      Slot* input = pull(*input_);
      if (input == nullptr) return nullptr;
      if ((++ticks & 63) == 0) shm::check_interrupts();
      if (input->valid < input_columns_) deform_slot(*input, input_columns_);
      begin_row();
      storage_.begin_row();
      bool changed = false;
      switch (plan_.command) {
        case CommandKind::kInsert:
          changed = insert(*input);
          break;
        case CommandKind::kUpdate:
          changed = update(input);
          break;
        default:
          changed = remove(input);
          break;
      }
      if (!changed) continue;
      if (is_root_) ++run.processed;
      if (!plan_.has_returning) continue;
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = input;
      frame_.slots[static_cast<int>(SlotSource::kScan)] =
          plan_.command == CommandKind::kDelete ? old_ : &storage_.new_row();
      return project();
    }
  }
  void rewind() override {
    begin_frame();
    storage_.rewind();
    rewind_node(*input_);
  }
  void close() noexcept override {
    storage_.close();
    rechecker_.close();
    pin_.release();
    if (run.checks != nullptr) run.checks->clear();
  }

 private:
  void prepare_conflict() {
    for (const Oid oid : plan_.conflict.arbiter_indexes) {
      if (IndexHandle* index = storage_.index(oid)) arbiters_.push_back(index);
    }
    excluded_ = make_slot(run.state_arena, static_cast<int>(relation_.columns.size()));
    excluded_->valid = excluded_->count;
    const std::size_t n = plan_.conflict.values.size();
    conflict_values_ = run.state_arena.make_array<Datum>(n + 1);
    conflict_nulls_ = run.state_arena.make_array<bool>(n + 1);
    conflict_program_ = compiler().into(std::span<const Expr* const>(plan_.conflict.values.data(), n),
                                        conflict_values_, conflict_nulls_);
    conflict_where_ = compiler().condition(plan_.conflict.where);
  }

  // --- foreign keys

  static bool same(const Relation& relation, std::span<const std::int16_t> columns, const Slot& a,
                   const Slot& b) {
    for (const std::int16_t number : columns) {
      const auto i = static_cast<std::size_t>(number) - 1;
      if (a.nulls[i] != b.nulls[i]) return false;
      if (a.nulls[i] || a.values[i].bits == b.values[i].bits) continue;
      const Column& column = relation.columns[i];
      if (column.by_value) return false;
      const std::size_t size = datum_size(a.values[i], column.length);
      if (size != datum_size(b.values[i], column.length) ||
          std::memcmp(a.values[i].as_pointer(), b.values[i].as_pointer(), size) != 0) {
        return false;
      }
    }
    return true;
  }
  void note_new_references(const Slot& row, const Slot* old) {
    for (const ForeignKey& key : relation_.references) {
      if (old != nullptr && same(relation_, key.from_columns, *old, row)) continue;
      statement_checks(run).add_reference(relation_, key, row.values, row.nulls);
    }
  }
  void note_old_keys(const Slot& old, const Slot* row) {
    for (const ForeignKey& key : relation_.referenced_by) {
      if (row != nullptr && same(relation_, key.to_columns, old, *row)) continue;
      statement_checks(run).add_referenced(relation_, key, old.values, old.nulls,
                                           row != nullptr ? row->values : nullptr,
                                           row != nullptr ? row->nulls : nullptr);
    }
  }

  // --- INSERT

  bool insert(const Slot& input) {
    Slot& row = storage_.new_row();
    std::fill_n(row.nulls, row.count, true);
    for (const AssignedColumn& a : plan_.assigned) {
      const auto to = static_cast<std::size_t>(a.attribute) - 1;
      row.values[to] = input.values[a.input_column];
      row.nulls[to] = input.nulls[a.input_column];
    }
    storage_.check_row();
    if (plan_.conflict.action == ConflictAction::kNone) {
      storage_.insert(nullptr);
    } else if (!insert_or_resolve(row)) {
      return false;
    }
    return note_insert(row);
  }
  bool note_insert(const Slot& row) {
    if (!resolved_by_update_ && !relation_.references.empty()) note_new_references(row, nullptr);
    resolved_by_update_ = false;
    return true;
  }

  /// ON CONFLICT. False when nothing was inserted or updated.
  bool insert_or_resolve(Slot& row) {
    for (;;) {
      InsertConflict conflict = storage_.find_conflict(arbiters_);
      if (!conflict.found) {
        conflict = storage_.insert(&arbiters_);
        if (!conflict.found) return true;
        continue;
      }
      if (plan_.conflict.action == ConflictAction::kNothing) {
        if (run.context->repeatable_read && !visible_to_snapshot(conflict.id))
          storage_.changer().refuse_if_serializable(false);
        return false;
      }
      switch (update_conflicting(conflict.id, row)) {
        case Resolution::kDone:
          resolved_by_update_ = true;
          return true;
        case Resolution::kSkipped:
          return false;
        case Resolution::kAgain:
          break;
      }
    }
  }

  enum class Resolution : std::uint8_t { kDone, kSkipped, kAgain };

  /// The live version behind an index entry.
  TupleId live_version(TupleId root) {
    txn::DirtyPredicate dirty{run.context->transaction};
    const storage::ChainResult found =
        storage::fetch_visible(storage_.table().heap, root, dirty, pin_, nullptr);
    return found.tuple.valid() ? found.tuple.id() : TupleId{};
  }
  bool visible_to_snapshot(TupleId root) {
    return storage::fetch_visible(storage_.table().heap, root, *run.visible, pin_, nullptr).tuple.valid();
  }

  Resolution update_conflicting(TupleId root, Slot& row) {
    const TupleId id = live_version(root);
    if (!id.valid()) return Resolution::kAgain;
    txn::Transaction& transaction = run.context->transaction;
    const storage::WriteContext write = storage_.changer().write_context();
    {
      const storage::HeapTupleView tuple = storage_.table().heap.fetch_version(id, pin_);
      if (tuple.valid() && transaction.is_own(tuple.xmin()) && tuple.header().cmin == write.command.value) {
        throw SqlError{sqlstate::kCardinalityViolation,
                       "ON CONFLICT DO UPDATE command cannot affect row a second time"}
            .hint(
                "Ensure that no rows proposed for insertion within the same command have duplicate "
                "constrained values.");
      }
    }
    const storage::RowLock strength =
        plan_.may_change_keys ? storage::RowLock::kUpdate : storage::RowLock::kNoKeyUpdate;
    const storage::ModifyOutcome locked = storage_.table().heap.lock_row(id, strength, write);
    switch (locked.result) {
      case storage::ModifyResult::kOk:
        storage_.changer().leave_queue();
        break;
      case storage::ModifyResult::kBeingModified:
        storage_.changer().wait_for(id, locked.blocker, LockWait::kBlock);
        return Resolution::kAgain;
      default:
        storage_.changer().refuse_if_serializable(locked.result == storage::ModifyResult::kDeleted);
        return Resolution::kAgain;
    }
    if (run.context->repeatable_read && !visible_to_snapshot(root))
      storage_.changer().refuse_if_serializable(false);
    if (!storage_.load_version(id, *old_)) return Resolution::kAgain;
    std::copy_n(row.values, row.count, excluded_->values);
    std::copy_n(row.nulls, row.count, excluded_->nulls);
    frame_.slots[static_cast<int>(SlotSource::kScan)] = old_;
    frame_.slots[static_cast<int>(SlotSource::kInner)] = excluded_;
    if (!conflict_where_->empty() && !conflict_where_->test(frame_)) return Resolution::kSkipped;
    conflict_program_->run(frame_);
    std::copy_n(old_->values, row.count, row.values);
    std::copy_n(old_->nulls, row.count, row.nulls);
    for (const AssignedColumn& a : plan_.conflict.assigned) {
      const auto to = static_cast<std::size_t>(a.attribute) - 1;
      row.values[to] = conflict_values_[a.input_column];
      row.nulls[to] = conflict_nulls_[a.input_column];
    }
    storage_.check_row();
    const storage::UpdateOutcome outcome = storage_.update(id, *old_);
    if (outcome.result != storage::ModifyResult::kOk) {
      // we hold the row's lock: only our own command can have got in between
      throw SqlError{sqlstate::kInternalError, "locked row changed during ON CONFLICT DO UPDATE"};
    }
    after_update();
    return Resolution::kDone;
  }

  // --- UPDATE and DELETE

  void after_update() {
    const Slot& row = storage_.new_row();
    storage_.drop_external(*old_, &row);
    if (!relation_.references.empty()) note_new_references(row, old_);
    if (!relation_.referenced_by.empty()) note_old_keys(*old_, &row);
  }

  bool update(Slot*& input) {
    TupleId id = unpack_identity(input->values[plan_.identity_column].bits);
    if (input->nulls[plan_.identity_column]) return false;
    const Slot original = *input;
    for (;;) {
      if (!storage_.load_version(id, *old_)) return done(false);
      Slot& row = storage_.new_row();
      std::copy_n(old_->values, row.count, row.values);
      std::copy_n(old_->nulls, row.count, row.nulls);
      for (const AssignedColumn& a : plan_.assigned) {
        const auto to = static_cast<std::size_t>(a.attribute) - 1;
        row.values[to] = input->values[a.input_column];
        row.nulls[to] = input->nulls[a.input_column];
      }
      storage_.check_row();
      const storage::UpdateOutcome outcome = storage_.update(id, *old_);
      if (outcome.result == storage::ModifyResult::kOk) {
        after_update();
        return done(true);
      }
      const storage::RowLock strength =
          plan_.may_change_keys ? storage::RowLock::kUpdate : storage::RowLock::kNoKeyUpdate;
      if (!resolve(outcome, id, strength, input, original)) return done(false);
    }
  }

  bool remove(Slot*& input) {
    TupleId id = unpack_identity(input->values[plan_.identity_column].bits);
    if (input->nulls[plan_.identity_column]) return false;
    const Slot original = *input;
    const bool needs_old =
        plan_.has_returning || !relation_.referenced_by.empty() || is_valid(relation_.toast_table);
    for (;;) {
      const storage::ModifyOutcome outcome = storage_.remove(id);
      if (outcome.result == storage::ModifyResult::kOk) {
        if (needs_old && storage_.load_version(id, *old_)) {
          storage_.drop_external(*old_, nullptr);
          if (!relation_.referenced_by.empty()) note_old_keys(*old_, nullptr);
        }
        return done(true);
      }
      if (!resolve(outcome, id, storage::RowLock::kUpdate, input, original)) return done(false);
    }
  }
  bool done(bool changed) {
    storage_.changer().leave_queue();
    return changed;
  }

  /// Somebody was in the way. True: try again, with `id` and `input` as they are now.
  bool resolve(const storage::ModifyOutcome& outcome, TupleId& id, storage::RowLock strength, Slot*& input,
               const Slot& original) {
    RowChanger& changer = storage_.changer();
    switch (outcome.result) {
      case storage::ModifyResult::kBeingModified:
        changer.wait_for(id, outcome.blocker, LockWait::kBlock);
        return true;
      case storage::ModifyResult::kSelfModified:
        // A join offered the row twice: the first change stands.
        return false;
      case storage::ModifyResult::kDeleted:
        changer.refuse_if_serializable(true);
        return false;
      case storage::ModifyResult::kUpdated: {
        changer.refuse_if_serializable(false);
        TupleId next = id;
        if (!changer.follow(next, outcome)) return false;
        const LockedRow locked = changer.lock_newest(next, strength, LockWait::kBlock);
        if (locked.outcome != LockOutcome::kLocked && locked.outcome != LockOutcome::kMoved) return false;
        id = locked.id;
        input = recheck(id, original);
        return input != nullptr;
      }
      default:
        throw SqlError{sqlstate::kInternalError, plan_.command == CommandKind::kUpdate
                                                     ? "attempted to update invisible tuple"
                                                     : "attempted to delete invisible tuple"};
    }
  }

  /// The input row for the newest version of the target row; null when it no longer qualifies.
  Slot* recheck(TupleId id, const Slot& original) {
    rechecker_.begin();
    const storage::HeapTupleView tuple = storage_.table().heap.fetch_version(id, pin_);
    if (!tuple.valid()) return nullptr;
    rechecker_.substitute(plan_.range, tuple);
    for (const RecheckSource& source : plan_.recheck_sources) {
      if (original.nulls[source.identity_column]) {
        rechecker_.substitute_nothing(source.range);
        continue;
      }
      const TupleId other = unpack_identity(original.values[source.identity_column].bits);
      const storage::HeapTupleView version = run.table(source.range).heap.fetch_version(other, pin_);
      if (!version.valid()) return nullptr;
      rechecker_.substitute(source.range, version);
    }
    Slot* row = rechecker_.evaluate();
    if (row != nullptr && row->valid < input_columns_) deform_slot(*row, input_columns_);
    return row;
  }

  const ModifyTablePlan& plan_;
  Node* input_;
  RowStorage storage_;
  Rechecker rechecker_;
  Slot* old_;
  const Relation& relation_;
  bool is_root_;
  int input_columns_ = 0;
  storage::Pin pin_;
  std::vector<IndexHandle*> arbiters_;
  Slot* excluded_ = nullptr;
  Datum* conflict_values_ = nullptr;
  bool* conflict_nulls_ = nullptr;
  const Program* conflict_program_ = nullptr;
  const Program* conflict_where_ = nullptr;
  bool resolved_by_update_ = false;
};

}  // namespace

std::unique_ptr<Node> make_modify_table(const Plan* plan, RunState& run) {
  return std::make_unique<ModifyTableNode>(*plan_cast<ModifyTablePlan>(plan), run);
}

}  // namespace pinwheel::sql
