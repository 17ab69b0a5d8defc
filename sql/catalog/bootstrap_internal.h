#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "sql/catalog/bootstrap.h"
#include "sql/catalog/relation.h"
#include "sql/catalog/row_codec.h"
#include "sql/catalog/system_tables.h"
#include "storage/heap/heap.h"
#include "storage/storage.h"

namespace pinwheel::sql {

/// Everything is committed while the cluster is made.
class BootstrapOracle final : public storage::TransactionOracle {
 public:
  storage::XidState state(Xid) override { return storage::XidState::kCommitted; }
  bool is_durable(Xid) override { return true; }
  void multixact_members(Xid, std::vector<storage::MultixactMember>& members) override { members.clear(); }
  Xid make_multixact(std::span<const storage::MultixactMember>) override { return kInvalidXid; }
  Xid removal_horizon() override { return kBootstrapXid; }
};

/// Appends rows to one catalog, page by page.
class CatalogFiller {
 public:
  CatalogFiller(storage::Storage& storage, const SystemRelation& table, Oid database);
  ~CatalogFiller() { flush(); }
  CatalogFiller(const CatalogFiller&) = delete;
  CatalogFiller& operator=(const CatalogFiller&) = delete;

  const SystemRelation& table() const { return table_; }
  const Relation& relation() const { return *relation_; }
  void add(const Datum* values, const bool* nulls);
  void flush();
  Arena& arena() { return arena_; }

 private:
  static constexpr std::size_t kBatch = 256;
  const SystemRelation& table_;
  std::unique_ptr<Relation> relation_;
  storage::Heap heap_;
  BootstrapOracle oracle_;
  storage::InsertState insert_state_;
  Arena arena_;
  std::vector<storage::FormedTuple> tuples_;
};

/// The catalogs of one database (or the shared ones, database 0) being filled.
class CatalogSet {
 public:
  CatalogSet(storage::Storage& storage, Oid database) : storage_{storage}, database_{database} {}
  CatalogFiller& table(Oid oid);
  Oid database() const { return database_; }
  storage::Storage& storage() { return storage_; }

  template <class Row>
  void add(const Row& row) {
    CatalogFiller& filler = table(Row::kTable);
    Datum values[64];
    bool nulls[64];
    const_cast<Row&>(row).visit(RowWriter{filler.table().columns, values, nulls, filler.arena()});
    filler.add(values, nulls);
  }
  void flush();

 private:
  storage::Storage& storage_;
  Oid database_;
  std::map<Oid, std::unique_ptr<CatalogFiller>> fillers_;
};

/// Inserts the recorded rows of one catalog (recorded_rows.h), and their descriptions.
void load_recorded_rows(CatalogSet& set, const SystemRelation& table);
/// Rows of pg_class, pg_attribute, pg_index... that describe the system's own relations.
void add_system_relations(CatalogSet& set);
/// Namespaces, descriptions.
void add_local_objects(CatalogSet& set);
/// Roles, databases, tablespaces.
void add_shared_objects(CatalogSet& set, const BootstrapOptions& options);
/// Builds the system indexes of the set's database from its heaps.
void build_system_indexes(CatalogSet& set);

}  // namespace pinwheel::sql
