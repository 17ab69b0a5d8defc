#include "sql/commands/table_writer.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "shm/interrupts.h"
#include "sql/catalog/row_unique_visitor.h"
#include "sql/commands/bound_expressions.h"
#include "sql/commands/support.h"
#include "sql/execute/run_state.h"
#include "sql/execute/statement_checks.h"
#include "sql/statistics/activity_log.h"
#include "sql/types/type_info.h"
#include "storage/btree/btree.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kBatchRows = 1000;
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr std::size_t kMaxShownBytes = 64;

std::uint64_t* raw(Datum* values) { return reinterpret_cast<std::uint64_t*>(values); }

}  // namespace

/// Programs that each row goes through.
struct TableWriter::Checks {
  Checks(Catalog& catalog, const Relation& relation) : expressions{catalog, relation} {}

  struct Generated {
    std::size_t column;
    const Program* value;
  };
  struct Check {
    const CheckConstraint* constraint;
    const Program* test;
  };
  BoundExpressions expressions;
  std::vector<Generated> generated;
  std::vector<Check> checks;
  std::vector<std::size_t> not_null;  // columns from 0
  Slot slot;
  EvalFrame frame;
};

struct TableWriter::IndexWriter {
  IndexWriter(Catalog& catalog, const Relation& relation, const IndexInfo& info)
      : index{info}, keys{catalog, relation, info}, tree{catalog.services().storage, info.btree} {}
  const IndexInfo& index;
  IndexKeyReader keys;
  storage::BTree tree;
};

/// Foreign keys of the rows: those to other tables are checked batch by batch, those to the table itself once
/// all rows are in, since a row may refer to a later one.
struct TableWriter::ForeignKeys {
  ForeignKeys(CommandContext& context, const Relation& relation) : run{no_plan} {
    run.begin(context.execution);
    for (const ForeignKey& key : relation.references) waits_for_end |= key.to_table == relation.oid;
  }
  CachedPlan no_plan;
  RunState run;
  bool waits_for_end = false;
};

TableWriter::TableWriter(CommandContext& context, RelationRef relation, const TableWriterOptions& options)
    : context_{context},
      relation_{std::move(relation)},
      options_{options},
      heap_{context.catalog.services().storage, relation_->heap},
      toast_{open_toast(context.catalog, *relation_)} {
  ring_.emplace(storage::BufferRing::Kind::kBulkWrite, heap_.storage().pool.frame_count());
  insert_state_.ring = &*ring_;
  may_be_long_ =
      std::ranges::any_of(relation_->columns, [](const Column& c) { return c.length == -1 && !c.dropped; });
  if (options.maintain_indexes) {
    for (const IndexInfo& index : relation_->indexes) {
      if (index.ready) indexes_.push_back(std::make_unique<IndexWriter>(context.catalog, *relation_, index));
    }
  }
  txn::Transaction& transaction = context.catalog.transaction();
  if (indexes_.empty() && context.catalog.is_new_file(relation_->file)) {
    const storage::HeapBulkWriter::Options bulk{
        .xid = transaction.assign_xid(), .command = transaction.use_command(), .frozen = options.frozen};
    bulk_ = std::make_unique<storage::HeapBulkWriter>(heap_.storage(), relation_->heap, bulk);
  }
  if (!options.check_constraints) return;
  if (!relation_->references.empty()) keys_ = std::make_unique<ForeignKeys>(context, *relation_);
  checks_ = std::make_unique<Checks>(context.catalog, *relation_);
  for (std::size_t i = 0; i < relation_->columns.size(); ++i) {
    const Column& column = relation_->columns[i];
    if (column.dropped) continue;
    if (column.generated != 0) {
      checks_->generated.push_back(
          {i, checks_->expressions.value(column.default_source, SourceUse::kGenerated, column)});
    }
    if (column.not_null) checks_->not_null.push_back(i);
  }
  for (const CheckConstraint& check : relation_->checks) {
    checks_->checks.push_back({&check, checks_->expressions.expression(check.source, SourceUse::kCheck)});
  }
  checks_->slot.count = checks_->slot.valid = static_cast<int>(relation_->columns.size());
  checks_->slot.table = relation_->oid;
  checks_->frame.slots[static_cast<int>(SlotSource::kScan)] = &checks_->slot;
  checks_->frame.arena = &scratch_;
  checks_->frame.eval = &context.catalog.eval();
}

TableWriter::~TableWriter() = default;

void TableWriter::check_row(Datum* values, bool* nulls) {
  Checks& all = *checks_;
  all.slot.values = values;
  all.slot.nulls = nulls;
  for (const Checks::Generated& generated : all.generated) {
    values[generated.column] = generated.value->value(all.frame, &nulls[generated.column]);
  }
  for (const std::size_t column : all.not_null) {
    if (!nulls[column]) continue;
    throw SqlError{sqlstate::kNotNullViolation,
                   "null value in column " + in_quotes(relation_->columns[column].name) + " of relation " +
                       in_quotes(relation_->name) + " violates not-null constraint"}
        .detail("Failing row contains " + describe_row(context_.catalog, *relation_, values, nulls) + ".")
        .table(relation_->schema_name, relation_->name)
        .column(relation_->columns[column].name);
  }
  for (const Checks::Check& check : all.checks) {
    bool is_null = false;
    const Datum result = check.test->value(all.frame, &is_null);
    if (is_null || result.as_bool()) continue;
    throw SqlError{sqlstate::kCheckViolation, "new row for relation " + in_quotes(relation_->name) +
                                                  " violates check constraint " +
                                                  in_quotes(check.constraint->name)}
        .detail("Failing row contains " + describe_row(context_.catalog, *relation_, values, nulls) + ".")
        .table(relation_->schema_name, relation_->name)
        .constraint(check.constraint->name);
  }
}

void TableWriter::add(Datum* values, bool* nulls, std::uint64_t tag) {
  current_tag_ = tag;
  if (checks_ != nullptr) check_row(values, nulls);
  if (keys_ != nullptr) {
    for (const ForeignKey& key : relation_->references) {
      statement_checks(keys_->run).add_reference(*relation_, key, values, nulls);
    }
  }
  if (may_be_long_ &&
      storage::formed_size(relation_->layout, raw(values), nulls) > storage::kToastThreshold) {
    txn::HeapOracle oracle{context_.catalog.transaction()};
    const storage::WriteContext write{context_.catalog.transaction().assign_xid(),
                                      context_.catalog.transaction().use_command(), oracle};
    storage::toast_values(relation_->layout, raw(values), nulls, toast_ ? &toast_->store() : nullptr,
                          toast_.get(), write, arena_);
  }
  const storage::FormedTuple tuple = storage::form_tuple(relation_->layout, raw(values), nulls, arena_);
  tuples_.push_back(tuple);
  tags_.push_back(tag);
  batch_bytes_ += tuple.length;
  scratch_.reset();
  if (tuples_.size() >= kBatchRows || batch_bytes_ >= kBatchBytes) flush();
}

void TableWriter::flush() {
  if (tuples_.empty()) return;
  shm::check_interrupts();
  in_flush_ = true;
  if (bulk_ != nullptr) {
    for (const storage::FormedTuple& tuple : tuples_) bulk_->add(tuple);
  } else {
    insert_batch();
  }
  if (TransactionActivity* activity = context_.execution.activity) {
    activity->table({relation_->file.database, relation_->oid}).inserted +=
        static_cast<std::int64_t>(tuples_.size());
  }
  rows_ += tuples_.size();
  tuples_.clear();
  tags_.clear();
  batch_bytes_ = 0;
  arena_.reset();
  in_flush_ = false;
  if (keys_ != nullptr) check_keys(false);
}

void TableWriter::insert_batch() {
  txn::Transaction& transaction = context_.catalog.transaction();
  txn::HeapOracle oracle{transaction};
  const storage::WriteContext write{transaction.assign_xid(), transaction.use_command(), oracle};
  storage::InsertOptions options;
  options.skip_free_space = options_.frozen || context_.catalog.is_new_file(relation_->file);
  options.frozen = options_.frozen;
  ids_.resize(tuples_.size());
  heap_.multi_insert(tuples_, write, insert_state_, options, ids_.data());
  // Index work may wait for others: a pinned page cannot be pruned.
  insert_state_.pin.release();
  insert_state_.visibility_pin.release();
  for (std::size_t row = 0; row < tuples_.size() && !indexes_.empty(); ++row) insert_index_entries(row);
}

void TableWriter::check_keys(bool at_end) {
  if (keys_->waits_for_end && !at_end) return;
  in_key_checks_ = true;
  statement_checks(keys_->run).run();
  in_key_checks_ = false;
}

void TableWriter::insert_index_entries(std::size_t row) {
  Catalog& catalog = context_.catalog;
  current_tag_ = tags_[row];
  const storage::HeapTupleView tuple{tuples_[row].bytes, static_cast<std::uint16_t>(tuples_[row].length),
                                     ids_[row]};
  RowUniqueVisitor visitor{catalog, relation_->heap};
  for (const auto& writer : indexes_) {
    if (!writer->keys.read(tuple)) continue;
    const IndexInfo& index = writer->index;
    for (;;) {
      const storage::InsertOutcome outcome = writer->tree.insert(
          writer->keys.values(), writer->keys.nulls(), ids_[row], catalog.transaction().assign_xid(),
          index.unique ? storage::UniqueCheck::kImmediate : storage::UniqueCheck::kNone, &visitor);
      if (outcome.result == storage::InsertResult::kInserted) break;
      if (outcome.result == storage::InsertResult::kMustWait) {
        catalog.transaction().locks().wait_for_transaction(outcome.blocker);
        continue;
      }
      throw SqlError{sqlstate::kUniqueViolation,
                     "duplicate key value violates unique constraint " + in_quotes(index.name)}
          .detail("Key " +
                  describe_key(catalog, *relation_, index, writer->keys.values(), writer->keys.nulls()) +
                  " already exists.")
          .table(relation_->schema_name, relation_->name)
          .constraint(index.name);
    }
  }
}

void TableWriter::finish() {
  flush();
  if (bulk_ != nullptr) bulk_->finish();
  if (keys_ != nullptr) check_keys(true);
}

std::string describe_row(Catalog& catalog, const Relation& relation, const Datum* values, const bool* nulls) {
  Arena arena;
  std::string text = "(";
  bool first = true;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    if (relation.columns[i].dropped) continue;
    if (!first) text += ", ";
    first = false;
    const TypeInfo* type = find_type(relation.columns[i].type);
    if (nulls[i] || type == nullptr) {
      text += "null";
      continue;
    }
    std::string value = output_value(*type, values[i], arena, catalog.eval());
    if (value.size() > kMaxShownBytes) {
      std::size_t keep = kMaxShownBytes;
      while (keep > 0 && (static_cast<unsigned char>(value[keep]) & 0xC0) == 0x80) --keep;
      value.resize(keep);
      value += "...";
    }
    text += value;
  }
  return text + ")";
}

}  // namespace pinwheel::sql
