#include "sql/execute/statement_checks.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/row_unique_visitor.h"
#include "sql/commands/index_keys.h"
#include "sql/execute/deferred_work.h"
#include "sql/execute/executor.h"
#include "sql/execute/node_base.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/row_locking.h"
#include "sql/execute/shared_rows.h"
#include "sql/plan/expression_tools.h"
#include "sql/plan/planner.h"
#include "sql/types/type_info.h"
#include "storage/btree/scan.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"

namespace pinwheel::sql {

/// The other table of a foreign key, opened for the check.
struct StatementChecks::OpenTable {
  OpenTable(RunState& run, RelationRef r)
      : relation{std::move(r)}, state{run.context->storage, *relation}, changer{run, state} {}
  RelationRef relation;
  TableState state;
  RowChanger changer;
};

StatementChecks::StatementChecks(RunState& run) : run_{run}, arena_{nullptr, 1024} {}
StatementChecks::~StatementChecks() = default;

StatementChecks& statement_checks(RunState& run) {
  if (run.checks == nullptr) run.checks = std::make_unique<StatementChecks>(run);
  return *run.checks;
}

Datum StatementChecks::copy(const Relation& table, std::int16_t column, Datum value, bool is_null) {
  const Column& c = table.column(column);
  if (is_null || c.by_value) return value;
  if (c.length == -1 && needs_detoast(value)) return detoast(value, arena_, run_.eval->detoaster);
  return copy_datum(value, c.length, false, arena_);
}

void StatementChecks::add_reference(const Relation& table, const ForeignKey& key, const Datum* values,
                                    const bool* nulls) {
  const std::size_t n = key.from_columns.size();
  Key made{&table, &key, arena_.make_array<Datum>(n), arena_.make_array<bool>(n), nullptr, nullptr, false};
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(key.from_columns[i]) - 1;
    made.nulls[i] = nulls[at];
    made.values[i] = copy(table, key.from_columns[i], values[at], nulls[at]);
  }
  references_.push_back(made);
}

void StatementChecks::add_referenced(const Relation& table, const ForeignKey& key, const Datum* old_values,
                                     const bool* old_nulls, const Datum* new_values, const bool* new_nulls) {
  const std::size_t n = key.to_columns.size();
  Key made{&table,  &key,    arena_.make_array<Datum>(n), arena_.make_array<bool>(n),
           nullptr, nullptr, new_values != nullptr};
  if (new_values != nullptr) {
    made.new_values = arena_.make_array<Datum>(n);
    made.new_nulls = arena_.make_array<bool>(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(key.to_columns[i]) - 1;
    made.nulls[i] = old_nulls[at];
    made.values[i] = copy(table, key.to_columns[i], old_values[at], old_nulls[at]);
    if (new_values != nullptr) {
      made.new_nulls[i] = new_nulls[at];
      made.new_values[i] = copy(table, key.to_columns[i], new_values[at], new_nulls[at]);
    }
  }
  referenced_.push_back(made);
}

void StatementChecks::add_unique(const Relation& table, const IndexInfo& index, const std::uint64_t* values,
                                 const bool* nulls, TupleId id) {
  const std::size_t n = index.keys.size();
  Unique made{&table, &index, arena_.make_array<std::uint64_t>(n), arena_.make_array<bool>(n), id};
  for (std::size_t k = 0; k < n; ++k) {
    made.nulls[k] = nulls[k];
    made.values[k] =
        nulls[k] ? 0
                 : copy_datum(Datum{values[k]}, index.keys[k].length, index.keys[k].by_value, arena_).bits;
  }
  unique_.push_back(made);
}

void StatementChecks::clear() noexcept {
  references_.clear();
  referenced_.clear();
  unique_.clear();
  tables_.clear();
  arena_.reset();
}

StatementChecks::OpenTable& StatementChecks::open(Oid oid, std::uint8_t lock_mode) {
  for (const auto& known : tables_) {
    if (known->relation->oid == oid) return *known;
  }
  ExecutionContext& context = *run_.context;
  context.transaction.locks().lock_relation(context.eval.database, oid,
                                            static_cast<txn::LockMode>(lock_mode));
  context.catalog.accept_invalidations();
  tables_.push_back(std::make_unique<OpenTable>(run_, context.catalog.require_relation(oid)));
  return *tables_.back();
}

namespace {

std::string column_list(const Relation& table, std::span<const std::int16_t> columns) {
  std::string text;
  for (const std::int16_t c : columns) text += (text.empty() ? "" : ", ") + table.column(c).name;
  return text;
}

std::string value_list(RunState& run, const Relation& table, std::span<const std::int16_t> columns,
                       const Datum* values, const bool* nulls) {
  std::string text;
  Arena arena;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i != 0) text += ", ";
    if (nulls[i]) {
      text += "null";
      continue;
    }
    const TypeInfo* type = find_type(table.column(columns[i]).type);
    if (type != nullptr) text += output_value(*type, values[i], arena, *run.eval);
  }
  return text;
}

/// Compares a value of the key with a column's, whichever types they have.
bool same_value(Oid left, Datum a, Oid right, Datum b, RunState& run, Arena& arena) {
  if (equal_by_bits(left) && equal_by_bits(right)) return a.bits == b.bits;
  const CompareContext context{Oid{}, &arena, run.eval->detoaster};
  if (left == right) {
    const EqualFn equal = find_equal(left);
    if (equal != nullptr) return equal(a, b, context);
  }
  const CompareFn compare = find_cross_compare(left, right);
  return compare != nullptr && compare(a, b, context) == 0;
}

}  // namespace

/// The row of the referenced table with the key, through its unique index.
bool StatementChecks::find_by_index(OpenTable& table, const IndexInfo& index, const Key& key,
                                    std::span<const std::int16_t> key_order, TupleId* id) {
  const Relation& relation = *table.relation;
  storage::BTreeScanKey keys[storage::kMaxIndexColumns];
  KeyComparison comparisons[storage::kMaxIndexColumns];
  std::size_t count = 0;
  const bool from_side =
      key.table->oid == key.key->from_table && key_order.data() == key.key->to_columns.data();
  for (int k = 0; k < index.key_count; ++k) {
    const auto at =
        std::find(key_order.begin(), key_order.end(), index.keys[static_cast<std::size_t>(k)].column);
    if (at == key_order.end()) break;
    const auto position = static_cast<std::size_t>(at - key_order.begin());
    storage::BTreeScanKey& scan_key = keys[count];
    scan_key.column = static_cast<std::uint16_t>(k);
    scan_key.value = key.values[position].bits;
    const Oid value_type = from_side ? key.table->column(key.key->from_columns[position]).type
                                     : key.table->column(key.key->to_columns[position]).type;
    const Oid column_type = index.keys[static_cast<std::size_t>(k)].type;
    if (value_type != column_type && !(equal_by_bits(value_type) && equal_by_bits(column_type))) {
      comparisons[count].compare = find_cross_compare(column_type, value_type);
      if (comparisons[count].compare != nullptr) {
        scan_key.compare = compare_keys;
        scan_key.context = &comparisons[count];
      }
    }
    ++count;
  }
  storage::BTree& tree = table.state.index(index).tree;
  storage::BTreeScan scan;
  scan.open(tree, {keys, count});
  txn::SelfPredicate visible{run_.context->transaction};
  storage::Pin pin;
  Arena scratch;
  Slot* slot = nullptr;
  TupleId entry;
  bool found = false;
  while (!found && scan.next(entry)) {
    const storage::ChainResult result =
        storage::fetch_visible(table.state.heap, entry, visible, pin, &*run_.oracle);
    if (!result.tuple.valid()) continue;
    // An entry may be older than the version it leads to: look at the row itself.
    if (slot == nullptr) {
      slot = make_slot(scratch, static_cast<int>(relation.columns.size()));
      slot->layout = &relation.layout;
    }
    show_tuple(*slot, result.tuple);
    deform_slot(*slot, slot->count);
    bool same = true;
    for (std::size_t i = 0; i < key_order.size() && same; ++i) {
      const auto column = static_cast<std::size_t>(key_order[i]) - 1;
      const Oid value_type = from_side ? key.table->column(key.key->from_columns[i]).type
                                       : key.table->column(key.key->to_columns[i]).type;
      same = !slot->nulls[column] && same_value(value_type, key.values[i], relation.columns[column].type,
                                                slot->values[column], run_, scratch);
    }
    if (!same) continue;
    *id = result.tuple.id();
    found = true;
  }
  scan.close();
  return found;
}

void StatementChecks::check_reference(const Key& key) {
  const ForeignKey& fk = *key.key;
  const auto nulls = std::count(key.nulls, key.nulls + fk.from_columns.size(), true);
  const auto fail = [&](const std::string& detail) {
    throw SqlError{sqlstate::kForeignKeyViolation, "insert or update on table \"" + key.table->name +
                                                       "\" violates foreign key constraint \"" + fk.name +
                                                       "\""}
        .detail(detail)
        .table(key.table->schema_name, key.table->name)
        .constraint(fk.name);
  };
  if (nulls != 0) {
    if (fk.match == 'f' && nulls != static_cast<std::ptrdiff_t>(fk.from_columns.size())) {
      fail("MATCH FULL does not allow mixing of null and nonnull key values.");
    }
    return;
  }
  OpenTable& to = open(fk.to_table, 2);
  const IndexInfo* index = to.relation->find_index(fk.index);
  if (index == nullptr)
    throw SqlError{sqlstate::kInternalError, "foreign key \"" + fk.name + "\" has lost its index"};
  for (;;) {
    TupleId id;
    if (!find_by_index(to, *index, key, fk.to_columns, &id)) {
      fail("Key (" + column_list(*key.table, fk.from_columns) + ")=(" +
           value_list(run_, *key.table, fk.from_columns, key.values, key.nulls) +
           ") is not present in table \"" + to.relation->name + "\".");
    }
    // Nobody may take the key away before we commit. A row that moved meanwhile is looked up again.
    const LockedRow locked = to.changer.lock_newest(id, storage::RowLock::kKeyShare, LockWait::kBlock);
    if (locked.outcome == LockOutcome::kLocked) return;
    shm::check_interrupts();
  }
}

bool StatementChecks::references_exist(OpenTable& from, const Key& key) {
  const ForeignKey& fk = *key.key;
  for (const IndexInfo& index : from.relation->indexes) {
    if (!index.valid || !index.predicate.empty() || index.keys[0].column == 0) continue;
    if (std::find(fk.from_columns.begin(), fk.from_columns.end(), index.keys[0].column) ==
        fk.from_columns.end())
      continue;
    TupleId id;
    return find_by_index(from, index, key, fk.from_columns, &id);
  }
  const Relation& relation = *from.relation;
  txn::SelfPredicate visible{run_.context->transaction};
  storage::HeapScan<txn::SelfPredicate> scan{from.state.heap, visible, &*run_.oracle};
  Arena scratch;
  Slot* slot = make_slot(scratch, static_cast<int>(relation.columns.size()));
  slot->layout = &relation.layout;
  Arena compare_arena;
  for (;;) {
    const storage::HeapTupleView tuple = scan.next();
    if (!tuple.valid()) return false;
    show_tuple(*slot, tuple);
    deform_slot(*slot, slot->count);
    compare_arena.reset();
    bool same = true;
    for (std::size_t i = 0; i < fk.from_columns.size() && same; ++i) {
      const auto column = static_cast<std::size_t>(fk.from_columns[i]) - 1;
      same = !slot->nulls[column] &&
             same_value(key.table->column(fk.to_columns[i]).type, key.values[i],
                        relation.columns[column].type, slot->values[column], run_, compare_arena);
    }
    if (same) return true;
  }
}

void StatementChecks::check_referenced(const Key& key) {
  const ForeignKey& fk = *key.key;
  if (std::count(key.nulls, key.nulls + fk.to_columns.size(), true) != 0) return;
  const char action = key.is_update ? fk.on_update : fk.on_delete;
  if (action == 'c' || action == 'n' || action == 'd') return act_on_references(key, action);
  OpenTable& from = open(fk.from_table, 2);
  if (action == 'a') {
    // another row may have taken over the key
    OpenTable& to = open(fk.to_table, 2);
    const IndexInfo* index = to.relation->find_index(fk.index);
    TupleId id;
    if (index != nullptr && find_by_index(to, *index, key, std::span<const std::int16_t>(fk.to_columns), &id))
      return;
  }
  if (!references_exist(from, key)) return;
  throw SqlError{sqlstate::kForeignKeyViolation, "update or delete on table \"" + key.table->name +
                                                     "\" violates foreign key constraint \"" + fk.name +
                                                     "\" on table \"" + from.relation->name + "\""}
      .detail("Key (" + column_list(*key.table, fk.to_columns) + ")=(" +
              value_list(run_, *key.table, fk.to_columns, key.values, key.nulls) +
              ") is still referenced from table \"" + from.relation->name + "\".")
      .table(from.relation->schema_name, from.relation->name)
      .constraint(fk.name);
}

/// CASCADE, SET NULL, SET DEFAULT: a DELETE or UPDATE of the referencing rows, built as a query tree.
void StatementChecks::act_on_references(const Key& key, char action) {
  ExecutionContext& context = *run_.context;
  const ForeignKey& fk = *key.key;
  if (context.names == nullptr) {
    throw SqlError{sqlstate::kFeatureNotSupported, "foreign key actions are not supported here"};
  }
  OpenTable& from = open(fk.from_table, 3);
  const Relation& relation = *from.relation;
  CachedPlan plan;
  Arena& arena = plan.arena;
  const auto column = [&](std::int16_t number) {
    const Column& c = relation.column(number);
    auto* e = arena.make<ColumnExpr>();
    e->type = {c.type, c.type_modifier, c.collation};
    e->attribute = number;
    return e;
  };
  const std::size_t n = fk.from_columns.size();
  std::vector<Oid> parameter_types;
  std::vector<Datum> values;
  std::vector<char> nulls;
  std::vector<Expr*> conditions;
  const auto parameter = [&](Oid type, Datum value, bool is_null) {
    auto* p = arena.make<ParamExpr>();
    p->type.type = type;
    p->index = static_cast<int>(values.size());
    parameter_types.push_back(type);
    values.push_back(value);
    nulls.push_back(is_null ? 1 : 0);
    return p;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const BuiltinOperator* row = find_operator(fk.pk_fk_equal[i]);
    if (row == nullptr) throw SqlError{sqlstate::kInternalError, "foreign key operator is missing"};
    auto* op = arena.make<OperatorExpr>();
    op->op = row->oid;
    op->function = row->procedure;
    op->type.type = kBoolType;
    op->input_collation = relation.column(fk.from_columns[i]).collation;
    Expr* value = parameter(key.table->column(fk.to_columns[i]).type, key.values[i], false);
    op->args = arena_span(arena, std::vector<Expr*>{value, column(fk.from_columns[i])});
    conditions.push_back(op);
  }
  Query query;
  query.command = action == 'c' && !key.is_update ? CommandKind::kDelete : CommandKind::kUpdate;
  RangeEntry range;
  range.relation = relation.oid;
  range.alias = arena.copy(relation.name);
  range.table_lock = 3;
  std::vector<ColumnDefinition> columns;
  for (const Column& c : relation.columns) {
    columns.push_back(
        {c.dropped ? std::string_view{} : arena.copy(c.name), {c.type, c.type_modifier, c.collation}});
  }
  range.columns = arena_span(arena, columns);
  query.range_table = arena_span(arena, std::vector<RangeEntry>{range});
  auto* item = arena.make<FromItem>();
  item->range_index = 0;
  query.from = arena_span(arena, std::vector<FromItem*>{item});
  query.where = join_and(arena, conditions);
  query.result_range_index = 0;
  if (query.command == CommandKind::kUpdate) {
    const AnalyzeContext analyze{arena, *context.names, context.eval};
    std::vector<Target> targets;
    for (std::size_t i = 0; i < n; ++i) {
      const Column& c = relation.column(fk.from_columns[i]);
      const ExprType type{c.type, c.type_modifier, c.collation};
      Target target;
      target.attribute = fk.from_columns[i];
      target.name = arena.copy(c.name);
      if (action == 'c') {
        Expr* value =
            parameter(key.table->column(fk.to_columns[i]).type, key.new_values[i], key.new_nulls[i]);
        target.expr = value->type.type == c.type ? value : coerce_for_assignment(analyze, value, type);
        if (target.expr == nullptr) target.expr = value;
      } else if (action == 'd' && !c.default_source.empty()) {
        target.expr =
            analyze_column_value(analyze, c.default_source, nullptr, SourceUse::kColumnDefault, c.name, type);
      } else {
        target.expr = make_null(arena, type);
      }
      targets.push_back(target);
    }
    query.targets = arena_span(arena, targets);
  }
  const PlannerInput input{context.catalog, *context.names, context.eval, {}, {}, {}, false};
  plan_query(query, parameter_types, input, plan);
  // The action belongs to the next command: it sees what the statement did.
  context.transaction.advance_command();
  txn::SnapshotHandle snapshot = context.transaction.take_latest_snapshot();
  ExecutionContext nested = context;
  nested.snapshot = snapshot.get();
  nested.parameters = values.data();
  nested.parameter_nulls = reinterpret_cast<const bool*>(nulls.data());
  nested.parameter_count = static_cast<int>(values.size());
  DiscardReceiver nobody;
  execute_plan(plan, nested, nobody);
}

void StatementChecks::run() {
  // Actions may queue nothing here: their own statements check themselves.
  for (const Unique& u : unique_) {
    RowUniqueVisitor visitor{run_.context->catalog, u.table->heap};
    storage::BTree tree{run_.context->storage, u.index->btree};
    for (;;) {
      const storage::InsertOutcome outcome = tree.check_unique(u.values, u.nulls, visitor, u.id);
      if (outcome.result == storage::InsertResult::kInserted) break;
      if (outcome.result == storage::InsertResult::kMustWait) {
        run_.context->transaction.locks().wait_for_transaction(outcome.blocker);
        continue;
      }
      throw SqlError{sqlstate::kUniqueViolation,
                     "duplicate key value violates unique constraint \"" + u.index->name + "\""}
          .detail("Key " + describe_key(run_.context->catalog, *u.table, *u.index, u.values, u.nulls) +
                  " already exists.")
          .table(u.table->schema_name, u.table->name)
          .constraint(u.index->name);
    }
  }
  for (const Key& key : referenced_) check_referenced(key);
  for (const Key& key : references_) check_reference(key);
  clear();
}

void run_statement_checks(RunState& run) {
  if (run.checks != nullptr) run.checks->run();
}

void complete_cte(RunState& run, int subplan) {
  SharedRows& shared = cte_rows(run, subplan);
  while (advance_cte(run, shared)) {
  }
}

}  // namespace pinwheel::sql
