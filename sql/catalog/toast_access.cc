#include "sql/catalog/toast_access.h"

#include "base/sqlstate.h"
#include "clog/xid_allocator.h"
#include "storage/btree/btree.h"
#include "storage/btree/scan.h"
#include "txn/heap_oracle.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

TableToast::TableToast(Catalog& catalog, RelationRef toast)
    : catalog_{catalog},
      toast_{std::move(toast)},
      store_{storage::Heap{catalog.services().storage, toast_->heap}, toast_->oid, *this} {
  if (toast_->indexes.empty()) {
    throw SqlError{sqlstate::kDataCorrupted, "toast table \"" + toast_->name + "\" has no index"};
  }
}

void TableToast::insert(std::uint32_t value_id, std::int32_t sequence, TupleId id) {
  const std::uint64_t values[2] = {Datum::from_oid(Oid{value_id}).bits, Datum::from_int32(sequence).bits};
  const bool nulls[2] = {};
  storage::BTree tree{catalog_.services().storage, toast_->indexes.front().btree};
  // Value ids are never given twice, so nothing can be equal.
  tree.insert(values, nulls, id, catalog_.transaction().assign_xid());
}

void TableToast::find(std::uint32_t value_id, std::vector<TupleId>& ids) {
  storage::BTreeScanKey key;
  key.value = Datum::from_oid(Oid{value_id}).bits;
  const storage::BTree tree{catalog_.services().storage, toast_->indexes.front().btree};
  storage::BTreeScan scan;
  scan.open(tree, {&key, 1});
  TupleId id;
  while (scan.next(id)) ids.push_back(id);
}

std::uint32_t TableToast::next_value_id() { return catalog_.services().ids.allocate_oid().value; }

std::unique_ptr<TableToast> open_toast(Catalog& catalog, const Relation& table) {
  if (!is_valid(table.toast_table)) return nullptr;
  return std::make_unique<TableToast>(catalog, catalog.require_relation(table.toast_table));
}

void SessionDetoaster::fetch(const ExternalPointer& pointer, std::uint8_t* to) {
  TableToast toast{catalog_, catalog_.require_relation(pointer.toast_relation)};
  txn::HeapOracle oracle{catalog_.transaction()};
  const storage::ToastPointer where{pointer.toast_relation, pointer.value_id,    pointer.raw_size,
                                    pointer.stored_size,    pointer.compression, 0};
  toast.store().fetch(where, reinterpret_cast<std::byte*>(to), oracle);
}

}  // namespace pinwheel::sql
