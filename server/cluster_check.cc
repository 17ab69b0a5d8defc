#include "server/cluster_check.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/error.h"
#include "server/engine.h"
#include "shm/interrupts.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/rows.h"
#include "storage/btree/check.h"
#include "storage/heap/tuple_layout.h"

namespace pinwheel::server {

using namespace storage;

namespace {

constexpr Oid kBtreeMethod{403};
/// Has all shared catalogs' view of the other databases, and is always there.
constexpr Oid kTemplateDatabase{1};

const char* describe(PageError error) {
  switch (error) {
    case PageError::kBadChecksum:
      return "checksum does not match its content";
    case PageError::kBadVersion:
      return "has an unknown version";
    case PageError::kBadLine:
      return "has a damaged line pointer";
    default:
      return "has a damaged header";
  }
}

/// Compares an index's entries with its table's rows.
class IndexToHeap final : public BTreeCheckVisitor {
 public:
  IndexToHeap(Engine& engine, const sql::Relation& table, const sql::IndexInfo& index, const HeapCheck& heap,
              CheckReport& report)
      : engine_{engine}, table_{table}, index_{index}, heap_{heap}, report_{report} {}

  void damage(const std::string& text) override { report_.finding(text); }

  void entry(TupleId id, const std::uint64_t* values, const bool* nulls) override {
    ++report_.index_entries;
    if (!heap_.may_be_indexed(id)) {
      finding(id, "an entry points there, but no row begins there");
      return;
    }
    if (!heap_.is_live(id)) return;
    const std::uint64_t number = std::uint64_t{id.page.value} << 16 | id.slot;
    if (!seen_.insert(number).second) {
      finding(id, "two entries lead to the row");
      return;
    }
    compare_keys(id, values, nulls);
  }

  /// Rows without an entry.
  void finish() {
    if (!index_.predicate.empty() || seen_.size() >= heap_.live_count()) return;
    for (const TupleId id : heap_.live_rows()) {
      if (!seen_.contains(std::uint64_t{id.page.value} << 16 | id.slot)) finding(id, "the row has no entry");
    }
  }

 private:
  void finding(TupleId id, const char* what) {
    report_.finding(
        fmt::format("index \"{}\", table block {}, line {}: {}", index_.name, id.page.value, id.slot, what));
  }

  /// The key must be that of one of the chain's versions. Mostly they share it; an index that was made later
  /// may know only the newest's.
  void compare_keys(TupleId id, const std::uint64_t* values, const bool* nulls) {
    const ReadGuard guard = engine_.storage.pool.read_page({table_.heap.file, Fork::kMain, id.page});
    const ConstPage page = guard.page();
    std::uint16_t slot = page.line(id.slot).is_redirect() ? page.line(id.slot).redirect_to() : id.slot;
    for (unsigned steps = 0; steps <= page.slot_count(); ++steps) {
      if (slot == 0 || slot > page.slot_count() || !page.line(slot).is_normal()) break;
      const HeapTupleView tuple{page.item(slot), page.line(slot).length(), {id.page, slot}};
      if (has_key(tuple, values, nulls)) return;
      if (!tuple.is_hot_updated()) break;
      slot = tuple.next().slot;
    }
    finding(id, "the entry's key is not the row's");
  }

  bool has_key(const HeapTupleView& tuple, const std::uint64_t* values, const bool* nulls) const {
    for (int i = 0; i < index_.key_count; ++i) {
      const sql::IndexKey& key = index_.keys[static_cast<std::size_t>(i)];
      if (key.column <= 0) continue;
      bool is_null = false;
      const std::uint64_t value =
          fetch_attribute(tuple, table_.layout, static_cast<std::size_t>(key.column) - 1, is_null);
      if (is_null != nulls[i]) return false;
      if (is_null) continue;
      if (key.length == -1) {
        // Values that must be fetched or unpacked first are not compared.
        const auto* at = reinterpret_cast<const std::byte*>(value);
        if (varlena_is_external(at) || varlena_is_compressed(at)) continue;
      }
      const KeyColumn& column = index_.btree.keys[static_cast<std::size_t>(i)];
      const bool equal = column.order != KeyOrder::kFunction
                             ? value == values[i]
                             : column.compare(value, values[i], column.context) == 0;
      if (!equal) return false;
    }
    return true;
  }

  Engine& engine_;
  const sql::Relation& table_;
  const sql::IndexInfo& index_;
  const HeapCheck& heap_;
  CheckReport& report_;
  std::unordered_set<std::uint64_t> seen_;  // visible rows that had an entry
};

}  // namespace

void ClusterCheck::run() {
  std::vector<std::pair<Oid, std::string>> databases;
  {
    sql::EvalContext eval;
    eval.database = kTemplateDatabase;
    txn::Transaction transaction{engine_.transactions, engine_.locks, session_, parker_};
    sql::Catalog catalog{engine_.catalog_services, eval, transaction};
    transaction.begin({});
    for (const sql::DatabaseRow& row : sql::find_rows<sql::DatabaseRow>(catalog, {})) {
      databases.emplace_back(row.oid, row.datname);
    }
    transaction.abort();
  }
  bool with_shared = true;
  for (const auto& [oid, name] : databases) {
    check_database(oid, name, with_shared);
    with_shared = false;
  }
}

void ClusterCheck::check_database(Oid database, const std::string& name, bool with_shared) {
  ++report_.databases;
  sql::EvalContext eval;
  eval.database = database;
  eval.database_name = name;
  // The catalog is a hook of the transaction, which therefore outlives it and serves no other.
  txn::Transaction transaction{engine_.transactions, engine_.locks, session_, parker_};
  sql::Catalog catalog{engine_.catalog_services, eval, transaction};
  transaction.begin({});
  std::string current;
  try {
    for (const sql::ClassRow& row : sql::find_rows<sql::ClassRow>(catalog, {})) {
      current = row.relname;
      const bool has_rows =
          row.relkind == 'r' || row.relkind == 't' || row.relkind == 'm' || row.relkind == 'S';
      if (!has_rows || row.relpersistence == 't' || (row.relisshared && !with_shared)) continue;
      const sql::RelationRef relation = catalog.relation(row.oid);
      if (relation) check_relation(*relation);
    }
  } catch (const SqlError& error) {
    report_.finding(fmt::format("database \"{}\", relation \"{}\": {}", name, current, error.message()));
  }
  transaction.abort();
}

void ClusterCheck::check_relation(const sql::Relation& relation) {
  ++report_.relations;
  check_pages(fmt::format("table \"{}.{}\"", relation.schema_name, relation.name), relation.file);
  if (relation.kind == 'S') return;
  HeapCheck heap{engine_, relation, xids_, report_};
  heap.run();
  for (const sql::IndexInfo& index : relation.indexes) {
    ++report_.relations;
    check_pages(fmt::format("index \"{}\"", index.name), index.file);
    if (index.access_method == kBtreeMethod && index.ready) check_index(relation, index, heap);
  }
}

/// Checksums, headers and line pointers of all forks.
void ClusterCheck::check_pages(const std::string& name, FileId file) {
  static constexpr std::pair<Fork, const char*> kForks[] = {{Fork::kMain, ""},
                                                            {Fork::kFreeSpace, " (fsm)"},
                                                            {Fork::kVisibility, " (vm)"},
                                                            {Fork::kInit, " (init)"}};
  RelationFiles& files = engine_.storage.files;
  if (!files.exists(file, Fork::kMain)) {
    report_.finding(fmt::format("{}: file {} is missing", name, relation_name(file, Fork::kMain)));
    return;
  }
  alignas(8) std::byte bytes[kPageSize];
  const PageBytes page{bytes, kPageSize};
  for (const auto& [fork, label] : kForks) {
    const std::uint32_t pages = files.size(file, fork).value;
    for (std::uint32_t i = 0; i < pages; ++i) {
      shm::check_interrupts();
      ++report_.pages;
      files.read({file, fork, PageNumber{i}}, page);
      PageError error = check_page(page, PageNumber{i}, checksums_);
      if (error == PageError::kNone) error = check_header(page);
      if (error != PageError::kNone) {
        report_.finding(fmt::format("{}{}, block {}: {}", name, label, i, describe(error)));
      }
    }
  }
}

void ClusterCheck::check_index(const sql::Relation& table, const sql::IndexInfo& index,
                               const HeapCheck& heap) {
  const BTree tree{engine_.storage, index.btree};
  IndexToHeap visitor{engine_, table, index, heap, report_};
  if (verify_btree(tree, visitor).problems == 0) visitor.finish();
}

}  // namespace pinwheel::server
