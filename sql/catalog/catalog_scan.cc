#include "sql/catalog/catalog_scan.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/sqlstate.h"
#include "clog/xid_allocator.h"
#include "sql/catalog/catalog_index.h"
#include "sql/types/type_info.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"
#include "storage/heap/toaster.h"
#include "storage/storage.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"
#include "txn/visibility.h"

namespace pinwheel::sql {
namespace {

std::uint64_t* raw(Datum* values) { return reinterpret_cast<std::uint64_t*>(values); }

/// Same bits, or same bytes. Toasted and plain forms of one value count as different, which is safe.
bool same_value(const Column& column, Datum a, Datum b) {
  if (column.by_value) return a.bits == b.bits;
  const std::size_t size = datum_size(a, column.length);
  return size == datum_size(b, column.length) && std::memcmp(a.as_pointer(), b.as_pointer(), size) == 0;
}

storage::InsertState insert_state_for(const storage::Heap& heap) {
  storage::InsertState state;
  const PageNumber pages = heap.page_count();
  if (pages.value > 0) state.target = PageNumber{pages.value - 1};
  return state;
}

storage::FormedTuple form_row(const Relation& table, const Datum* values, const bool* nulls,
                              const storage::WriteContext& context, Arena& arena) {
  const std::size_t count = table.columns.size();
  Datum* stored = arena.make_array<Datum>(count);
  std::copy_n(values, count, stored);
  storage::toast_values(table.layout, raw(stored), nulls, nullptr, nullptr, context, arena);
  return storage::form_tuple(table.layout, raw(stored), nulls, arena);
}

}  // namespace

struct CatalogScan::State {
  State(Catalog& owner, const SystemRelation& table, std::span<const CatalogKey> given)
      : catalog{owner},
        facts{table},
        relation{owner.relation(table.oid)},
        heap{owner.services().storage, relation->heap},
        snapshot{owner.transaction().take_latest_snapshot()},
        predicate{owner.transaction(), *snapshot},
        oracle{owner.transaction()},
        keys{given.begin(), given.end()} {
    if (!find_catalog_rows(catalog, *relation, keys, index_ids, arena)) {
      scan.emplace(heap, predicate, &oracle);
    } else {
      by_index = true;
    }
  }

  bool matches() const {
    for (const CatalogKey& key : keys) {
      const auto at = static_cast<std::size_t>(key.column) - 1;
      if (nulls[at]) return false;
      if (facts.columns[at].type == Oid{19}) {
        if (name_view(values[at]) != key.name) return false;
      } else if (values[at].bits != key.value.bits) {
        return false;
      }
    }
    return true;
  }

  Catalog& catalog;
  const SystemRelation& facts;
  RelationRef relation;
  storage::Heap heap;
  txn::SnapshotHandle snapshot;
  txn::MvccPredicate predicate;
  txn::HeapOracle oracle;  // lets pages be pruned on the way: catalogs see many updates
  std::vector<CatalogKey> keys;
  Arena arena;
  bool by_index = false;
  std::vector<TupleId> index_ids;
  std::size_t next_id = 0;
  std::optional<storage::HeapScan<txn::MvccPredicate>> scan;
  storage::Pin pin;
  storage::HeapTupleView tuple;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
};

CatalogScan::CatalogScan(Catalog& catalog, Oid table, std::span<const CatalogKey> keys)
    : state_{std::make_unique<State>(catalog, *find_system_relation(table), keys)} {}
CatalogScan::~CatalogScan() = default;

bool CatalogScan::next() {
  State& state = *state_;
  const std::size_t columns = state.facts.columns.size();
  for (;;) {
    if (state.by_index) {
      if (state.next_id == state.index_ids.size()) return false;
      const TupleId root = state.index_ids[state.next_id++];
      state.tuple = storage::fetch_visible(state.heap, root, state.predicate, state.pin, &state.oracle).tuple;
      if (!state.tuple.valid()) continue;
    } else {
      state.tuple = state.scan->next();
      if (!state.tuple.valid()) return false;
    }
    storage::deform(state.tuple, state.relation->layout, columns, raw(state.values), state.nulls);
    if (state.matches()) return true;
  }
}

const Datum* CatalogScan::values() const { return state_->values; }
const bool* CatalogScan::nulls() const { return state_->nulls; }
TupleId CatalogScan::tuple_id() const { return state_->tuple.id(); }
const SystemRelation& CatalogScan::table() const { return state_->facts; }
Arena& CatalogScan::arena() { return state_->arena; }
Detoaster* CatalogScan::detoaster() { return nullptr; }

TupleId insert_values(Catalog& catalog, Oid table_oid, const Datum* values, const bool* nulls) {
  const RelationRef table = catalog.relation(table_oid);
  txn::Transaction& transaction = catalog.transaction();
  txn::HeapOracle oracle{transaction};
  storage::Heap heap{catalog.services().storage, table->heap};
  storage::InsertState insert_state = insert_state_for(heap);
  Arena arena;
  const storage::WriteContext context{transaction.assign_xid(), transaction.use_command(), oracle};
  const TupleId id = heap.insert(form_row(*table, values, nulls, context, arena), context, insert_state);
  insert_state.pin.release();
  insert_state.visibility_pin.release();
  insert_catalog_entries(catalog, *table, id, values, nulls);
  transaction.advance_command();
  return id;
}

void update_values(Catalog& catalog, Oid table_oid, TupleId at, const Datum* values, const bool* nulls) {
  const RelationRef table = catalog.relation(table_oid);
  txn::Transaction& transaction = catalog.transaction();
  txn::HeapOracle oracle{transaction};
  storage::Heap heap{catalog.services().storage, table->heap};
  Arena arena;
  storage::UpdateOptions options{.indexed_columns_unchanged = true, .key_columns_changed = true};
  {
    storage::Pin pin;
    const storage::HeapTupleView old = heap.fetch_version(at, pin);
    Datum old_values[kMaxCatalogColumns];
    bool old_nulls[kMaxCatalogColumns];
    storage::deform(old, table->layout, table->columns.size(), raw(old_values), old_nulls);
    for (const IndexInfo& index : table->indexes) {
      for (const IndexKey& key : index.keys) {
        const auto i = static_cast<std::size_t>(key.column) - 1;
        if (old_nulls[i] != nulls[i] ||
            (!nulls[i] && !same_value(table->columns[i], old_values[i], values[i]))) {
          options.indexed_columns_unchanged = false;
        }
      }
    }
  }
  storage::InsertState insert_state = insert_state_for(heap);
  const storage::WriteContext context{transaction.assign_xid(), transaction.use_command(), oracle};
  const storage::FormedTuple tuple = form_row(*table, values, nulls, context, arena);
  for (;;) {
    const storage::UpdateOutcome outcome = heap.update(at, tuple, context, options, insert_state);
    insert_state.pin.release();
    insert_state.visibility_pin.release();
    if (outcome.result == storage::ModifyResult::kBeingModified) {
      transaction.locks().wait_for_transaction(outcome.blocker);
      continue;
    }
    if (outcome.result != storage::ModifyResult::kOk) {
      throw SqlError{sqlstate::kInternalError, "tuple concurrently updated"};
    }
    if (!outcome.is_hot) insert_catalog_entries(catalog, *table, outcome.new_id, values, nulls);
    break;
  }
  transaction.advance_command();
}

void delete_tuple(Catalog& catalog, Oid table_oid, TupleId at) {
  const RelationRef table = catalog.relation(table_oid);
  txn::Transaction& transaction = catalog.transaction();
  txn::HeapOracle oracle{transaction};
  storage::Heap heap{catalog.services().storage, table->heap};
  const storage::WriteContext context{transaction.assign_xid(), transaction.use_command(), oracle};
  for (;;) {
    const storage::ModifyOutcome outcome = heap.remove(at, context);
    if (outcome.result == storage::ModifyResult::kBeingModified) {
      transaction.locks().wait_for_transaction(outcome.blocker);
      continue;
    }
    if (outcome.result != storage::ModifyResult::kOk) {
      throw SqlError{sqlstate::kInternalError, "tuple concurrently deleted"};
    }
    break;
  }
  transaction.advance_command();
}

void overwrite_values(Catalog& catalog, Oid table_oid, TupleId at, const Datum* values, const bool* nulls) {
  const RelationRef table = catalog.relation(table_oid);
  txn::HeapOracle oracle{catalog.transaction()};
  storage::Heap heap{catalog.services().storage, table->heap};
  Arena arena;
  const storage::WriteContext context{catalog.transaction().assign_xid(), catalog.transaction().command(),
                                      oracle};
  heap.overwrite(at, form_row(*table, values, nulls, context, arena));
}

Oid new_oid(Catalog& catalog) { return catalog.services().ids.allocate_oid(); }

}  // namespace pinwheel::sql
