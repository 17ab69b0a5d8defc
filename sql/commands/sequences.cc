#include "sql/commands/sequences.h"

#include <limits>

#include "base/sqlstate.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_lock.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/relation_create.h"
#include "sql/commands/sequence_options.h"
#include "sql/commands/support.h"
#include "sql/types/type_oids.h"
#include "storage/heap/heap.h"
#include "storage/heap/heap_scan.h"
#include "storage/storage.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"
#include "txn/visibility.h"

namespace pinwheel::sql {
namespace {

/// The one row of a sequence.
struct SequenceRowValues {
  std::int64_t last_value = 1;
  std::int64_t log_count = 0;
  bool is_called = false;
};

storage::FormedTuple form(const Relation& sequence, const SequenceRowValues& row, Arena& arena) {
  const std::uint64_t values[3] = {static_cast<std::uint64_t>(row.last_value),
                                   static_cast<std::uint64_t>(row.log_count), row.is_called ? 1u : 0u};
  const bool nulls[3] = {};
  return storage::form_tuple(sequence.layout, values, nulls, arena);
}

struct StoredRow {
  TupleId id;
  SequenceRowValues values;
};

StoredRow read_row(Catalog& catalog, const Relation& sequence) {
  storage::Heap heap{catalog.services().storage, sequence.heap};
  storage::HeapScan<txn::AnyPredicate> scan{heap, txn::AnyPredicate{}};
  const storage::HeapTupleView tuple = scan.next();
  if (!tuple.valid()) {
    throw SqlError{sqlstate::kDataCorrupted, "sequence " + in_quotes(sequence.name) + " has no row"};
  }
  std::uint64_t values[3];
  bool nulls[3];
  storage::deform(tuple, sequence.layout, 3, values, nulls);
  return {tuple.id(),
          {static_cast<std::int64_t>(values[0]), static_cast<std::int64_t>(values[1]), (values[2] & 1) != 0}};
}

void write_row(Catalog& catalog, const Relation& sequence, TupleId id, const SequenceRowValues& values) {
  Arena arena;
  storage::Heap heap{catalog.services().storage, sequence.heap};
  storage::FormedTuple tuple = form(sequence, values, arena);
  heap.overwrite(id, tuple);
}

void insert_first_row(Catalog& catalog, const Relation& sequence, const SequenceRowValues& values) {
  Arena arena;
  storage::Heap heap{catalog.services().storage, sequence.heap};
  txn::Transaction& transaction = catalog.transaction();
  txn::HeapOracle oracle{transaction};
  storage::InsertState state;
  const storage::WriteContext write{transaction.assign_xid(), transaction.use_command(), oracle};
  heap.insert(form(sequence, values, arena), write, state, {.skip_free_space = true, .frozen = true});
}

/// Serialises readers and writers of one sequence's row across processes.
class PageLock {
 public:
  PageLock(Catalog& catalog, const Relation& sequence)
      : locks_{catalog.transaction().locks()},
        tag_{txn::LockTag::page(catalog.eval().database, sequence.oid, PageNumber{0})} {
    locks_.lock(tag_, txn::LockMode::kExclusive);
  }
  ~PageLock() { locks_.unlock(tag_, txn::LockMode::kExclusive); }
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

 private:
  txn::SessionLocks& locks_;
  txn::LockTag tag_;
};

RelationRef open_sequence(Catalog& catalog, Oid oid, int mode) {
  const RelationRef sequence = lock_relation(catalog, oid, mode);
  if (!sequence) {
    throw SqlError{sqlstate::kUndefinedTable,
                   "could not open relation with OID " + std::to_string(oid.value)};
  }
  if (sequence->kind != 'S') {
    throw SqlError{sqlstate::kWrongObjectType, in_quotes(sequence->name) + " is not a sequence"};
  }
  return sequence;
}

void check_sequence_privilege(Catalog& catalog, const Relation& sequence, Privileges either) {
  for (Privileges bit = 1; bit <= kUsagePrivilege; bit <<= 1) {
    if ((either & bit) != 0 && catalog.has_relation_privilege(catalog.eval().user, sequence, bit)) return;
  }
  throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied for sequence " + sequence.name};
}

void check_writable(Catalog& catalog, const Relation& sequence, std::string_view function) {
  if (catalog.transaction().options().read_only && !sequence.is_temporary()) {
    throw SqlError{sqlstate::kReadOnlySqlTransaction,
                   "cannot execute " + std::string{function} + "() in a read-only transaction"};
  }
}

}  // namespace

Oid create_sequence(CommandContext& context, Oid schema, const std::string& name, char persistence, Oid owner,
                    std::span<const Option> options, Oid default_type) {
  Catalog& catalog = context.catalog;
  const SequenceSettings settings = read_sequence_options(context, options, nullptr, default_type);
  NewRelation relation;
  relation.name = name;
  relation.schema = schema;
  relation.kind = 'S';
  relation.persistence = persistence;
  relation.owner = owner;
  relation.has_row_type = false;
  const auto add_column = [&](const char* column_name, Oid type) {
    NewColumn& column = relation.columns.emplace_back();
    column.name = column_name;
    column.type = type;
    column.not_null = true;
    column.storage = 'p';
  };
  add_column("last_value", kInt8Type);
  add_column("log_cnt", kInt8Type);
  add_column("is_called", kBoolType);
  const Oid oid = create_relation(catalog, relation);
  insert_row(catalog,
             SequenceRow{oid, settings.info.type, settings.info.start, settings.info.increment,
                         settings.info.max, settings.info.min, settings.info.cache, settings.info.cycle});
  insert_first_row(catalog, *catalog.require_relation(oid), {settings.info.start, 0, false});
  return oid;
}

void own_sequence(Catalog& catalog, Oid sequence, Oid table, std::int16_t column, bool internal) {
  add_dependency(catalog, {kClassTable, sequence}, {kClassTable, table, column},
                 internal ? DependencyType::kInternal : DependencyType::kAuto);
}

void rewrite_sequence(Catalog& catalog, Oid oid, std::int64_t last_value, bool is_called) {
  const Oid file = new_oid(catalog);
  Oid old_file;
  change_class_row(catalog, oid, [&](ClassRow& row) {
    old_file = row.relfilenode;
    row.relfilenode = file;
  });
  catalog.transaction().drop_file_at_commit({catalog.eval().database, old_file});
  const RelationRef sequence = catalog.require_relation(oid);
  create_relation_files(catalog, sequence->file, sequence->persistence);
  insert_first_row(catalog, *sequence, {last_value, 0, is_called});
}

std::int64_t SequenceValues::next(Oid oid) {
  const RelationRef sequence = open_sequence(catalog_, oid, kRowExclusiveLock);
  check_sequence_privilege(catalog_, *sequence, kUsagePrivilege | kUpdatePrivilege);
  check_writable(catalog_, *sequence, "nextval");
  Cached& cached = cached_[oid];
  last_used_ = oid;
  if (cached.file == sequence->file && cached.last != cached.until) {
    cached.last += cached.increment;
    return cached.last;
  }
  const SequenceInfo info = catalog_.sequence(oid).value();
  // The commit record that makes the value known must come after the value's own record: this needs an xid.
  if (sequence->logged()) catalog_.transaction().assign_xid();
  const PageLock lock{catalog_, *sequence};
  StoredRow row = read_row(catalog_, *sequence);
  std::int64_t first = 0;
  std::int64_t value = row.values.last_value;
  for (std::int64_t taken = 0; taken < info.cache; ++taken) {
    if (!row.values.is_called && taken == 0) {
      first = value;
      continue;
    }
    std::int64_t next = 0;
    const bool overflow = __builtin_add_overflow(value, info.increment, &next);
    if (overflow || (info.increment > 0 ? next > info.max : next < info.min)) {
      if (taken > 0) break;
      if (!info.cycle) {
        const bool up = info.increment > 0;
        throw SqlError{sqlstate::kSequenceGeneratorLimitExceeded,
                       std::string{"nextval: reached "} + (up ? "maximum" : "minimum") +
                           " value of sequence " + in_quotes(sequence->name) + " (" +
                           std::to_string(up ? info.max : info.min) + ")"};
      }
      next = info.increment > 0 ? info.min : info.max;
    }
    value = next;
    if (taken == 0) first = value;
  }
  write_row(catalog_, *sequence, row.id, {value, 0, true});
  cached = {sequence->file, first, value, info.increment};
  return first;
}

std::int64_t SequenceValues::current(Oid oid) {
  const RelationRef sequence = open_sequence(catalog_, oid, 1);
  check_sequence_privilege(catalog_, *sequence, kUsagePrivilege | kSelectPrivilege);
  const auto found = cached_.find(oid);
  if (found == cached_.end() || found->second.file == FileId{}) {
    throw SqlError{
        sqlstate::kObjectNotInPrerequisiteState,
        "currval of sequence " + in_quotes(sequence->name) + " is not yet defined in this session"};
  }
  return found->second.last;
}

std::int64_t SequenceValues::last() {
  if (!is_valid(last_used_) || !catalog_.relation(last_used_)) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "lastval is not yet defined in this session"};
  }
  return current(last_used_);
}

void SequenceValues::set(Oid oid, std::int64_t value, bool is_called) {
  const RelationRef sequence = open_sequence(catalog_, oid, kRowExclusiveLock);
  check_sequence_privilege(catalog_, *sequence, kUpdatePrivilege);
  check_writable(catalog_, *sequence, "setval");
  const SequenceInfo info = catalog_.sequence(oid).value();
  if (value < info.min || value > info.max) {
    throw SqlError{sqlstate::kNumericValueOutOfRange,
                   "setval: value " + std::to_string(value) + " is out of bounds for sequence " +
                       in_quotes(sequence->name) + " (" + std::to_string(info.min) + ".." +
                       std::to_string(info.max) + ")"};
  }
  if (sequence->logged()) catalog_.transaction().assign_xid();
  const PageLock lock{catalog_, *sequence};
  const StoredRow row = read_row(catalog_, *sequence);
  write_row(catalog_, *sequence, row.id, {value, 0, is_called});
  Cached& cached = cached_[oid];
  if (is_called) {
    cached = {sequence->file, value, value, info.increment};
    last_used_ = oid;
  } else {
    cached.until = cached.last;
  }
}

std::optional<std::int64_t> SequenceValues::last_value(Oid oid) {
  const RelationRef sequence = open_sequence(catalog_, oid, 1);
  const PageLock lock{catalog_, *sequence};
  const StoredRow row = read_row(catalog_, *sequence);
  if (!row.values.is_called) return std::nullopt;
  return row.values.last_value;
}

}  // namespace pinwheel::sql
