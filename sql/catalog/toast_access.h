#pragma once

#include <memory>

#include "sql/catalog/catalog.h"
#include "sql/types/varlena.h"
#include "storage/heap/toaster.h"
#include "storage/toast/toast_store.h"

namespace pinwheel::sql {

/// The out-of-line store of one table: its toast heap and the B-tree over it. Made per statement; the
/// relation must be held by the caller.
class TableToast final : public storage::ToastIndex, public storage::ToastIdSource {
 public:
  /// The toast relation itself (kind 't'); null relation is not allowed.
  TableToast(Catalog& catalog, RelationRef toast);

  storage::ToastStore& store() { return store_; }

  // storage::ToastIndex
  void insert(std::uint32_t value_id, std::int32_t sequence, TupleId id) override;
  void find(std::uint32_t value_id, std::vector<TupleId>& ids) override;
  // storage::ToastIdSource
  std::uint32_t next_value_id() override;

 private:
  Catalog& catalog_;
  RelationRef toast_;
  storage::ToastStore store_;
};

/// Null when the table has no toast table.
std::unique_ptr<TableToast> open_toast(Catalog& catalog, const Relation& table);

/// Fetches external values for one session (EvalContext::detoaster).
class SessionDetoaster final : public Detoaster {
 public:
  explicit SessionDetoaster(Catalog& catalog) : catalog_{catalog} {}
  void fetch(const ExternalPointer& pointer, std::uint8_t* to) override;

 private:
  Catalog& catalog_;
};

}  // namespace pinwheel::sql
