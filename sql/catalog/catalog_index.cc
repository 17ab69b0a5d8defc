#include "sql/catalog/catalog_index.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/catalog/row_unique_visitor.h"
#include "sql/types/type_info.h"
#include "storage/btree/btree.h"
#include "storage/btree/scan.h"
#include "txn/transaction.h"

namespace pinwheel::sql {
namespace {

/// The index with the most leading columns among the keys; null when there is none.
const IndexInfo* choose_index(const Relation& table, std::span<const CatalogKey> keys, std::size_t* usable) {
  const IndexInfo* best = nullptr;
  *usable = 0;
  for (const IndexInfo& index : table.indexes) {
    std::size_t count = 0;
    while (count < index.keys.size() &&
           std::ranges::find(keys, index.keys[count].column, &CatalogKey::column) != keys.end()) {
      ++count;
    }
    if (count > *usable) {
      best = &index;
      *usable = count;
    }
  }
  return best;
}

[[noreturn]] void throw_duplicate(const Relation& table, const IndexInfo& index,
                                  const std::uint64_t* values) {
  std::string names, texts;
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    if (i > 0) names += ", ", texts += ", ";
    names += table.column(index.keys[i].column).name;
    const Datum value{values[i]};
    texts += index.keys[i].by_value ? std::to_string(value.as_int64()) : std::string{name_view(value)};
  }
  throw SqlError{sqlstate::kUniqueViolation,
                 "duplicate key value violates unique constraint \"" + index.name + "\""}
      .detail("Key (" + names + ")=(" + texts + ") already exists.")
      .table(table.schema_name, table.name)
      .constraint(index.name);
}

}  // namespace

bool find_catalog_rows(Catalog& catalog, const Relation& table, std::span<const CatalogKey> keys,
                       std::vector<TupleId>& ids, Arena& arena) {
  std::size_t usable = 0;
  const IndexInfo* index = choose_index(table, keys, &usable);
  if (index == nullptr) return false;
  std::vector<storage::BTreeScanKey> scan_keys;
  for (std::size_t i = 0; i < usable; ++i) {
    const auto key = std::ranges::find(keys, index->keys[i].column, &CatalogKey::column);
    storage::BTreeScanKey& scan_key = scan_keys.emplace_back();
    scan_key.column = static_cast<std::uint16_t>(i);
    scan_key.value = index->keys[i].by_value ? key->value.bits : make_name(arena, key->name).bits;
  }
  const storage::BTree tree{catalog.services().storage, index->btree};
  storage::BTreeScan scan;
  scan.open(tree, scan_keys);
  TupleId id;
  while (scan.next(id)) ids.push_back(id);
  return true;
}

void insert_catalog_entries(Catalog& catalog, const Relation& table, TupleId id, const Datum* values,
                            const bool* nulls) {
  txn::Transaction& transaction = catalog.transaction();
  RowUniqueVisitor visitor{catalog, table.heap};
  for (const IndexInfo& index : table.indexes) {
    std::uint64_t key_values[storage::kMaxIndexColumns];
    bool key_nulls[storage::kMaxIndexColumns];
    for (std::size_t i = 0; i < index.keys.size(); ++i) {
      const auto column = static_cast<std::size_t>(index.keys[i].column) - 1;
      key_values[i] = values[column].bits;
      key_nulls[i] = nulls[column];
    }
    storage::BTree tree{catalog.services().storage, index.btree};
    for (;;) {
      const storage::InsertOutcome outcome = tree.insert(
          key_values, key_nulls, id, transaction.assign_xid(),
          index.unique ? storage::UniqueCheck::kImmediate : storage::UniqueCheck::kNone, &visitor);
      if (outcome.result == storage::InsertResult::kInserted) break;
      if (outcome.result == storage::InsertResult::kDuplicate) throw_duplicate(table, index, key_values);
      transaction.locks().wait_for_transaction(outcome.blocker);
    }
  }
}

}  // namespace pinwheel::sql
