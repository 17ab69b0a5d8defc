#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/row_codec.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

/// column = value, for by-value columns and names.
struct CatalogKey {
  std::int16_t column;  // from 1
  Datum value;
  std::string_view name;  // instead of value, for columns of type name

  CatalogKey(int number, Oid oid) : column{static_cast<std::int16_t>(number)}, value{Datum::from_oid(oid)} {}
  CatalogKey(int number, std::int16_t v)
      : column{static_cast<std::int16_t>(number)}, value{Datum::from_int16(v)} {}
  CatalogKey(int number, std::int32_t v)
      : column{static_cast<std::int16_t>(number)}, value{Datum::from_int32(v)} {}
  CatalogKey(int number, std::string_view text) : column{static_cast<std::int16_t>(number)}, name{text} {}
};

/// Reads the rows of one catalog that agree with `keys`, under a snapshot of what is committed now and of the
/// transaction's own changes so far. Uses a system index whose leading columns are among the keys, when there
/// is one. Rows that this session changes while it scans are seen as they were when the scan began.
class CatalogScan {
 public:
  CatalogScan(Catalog& catalog, Oid table, std::span<const CatalogKey> keys);
  ~CatalogScan();
  CatalogScan(const CatalogScan&) = delete;
  CatalogScan& operator=(const CatalogScan&) = delete;

  /// False at the end. The values live until the next call.
  bool next();
  const Datum* values() const;
  const bool* nulls() const;
  TupleId tuple_id() const;
  const SystemRelation& table() const;
  Arena& arena();
  Detoaster* detoaster();

  template <class Row>
  void read(Row& row) {
    row.visit(RowReader{table().columns, values(), nulls(), arena(), detoaster()});
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Calls `take(row, tuple_id)` for each row; `take` returns false to stop.
template <class Row, class Take>
void scan_rows(Catalog& catalog, std::initializer_list<CatalogKey> keys, Take take) {
  CatalogScan scan{catalog, Row::kTable, {keys.begin(), keys.size()}};
  while (scan.next()) {
    Row row;
    scan.read(row);
    if (!take(row, scan.tuple_id())) return;
  }
}

/// The first such row; `*where`, when given, gets its address. Values of AnyValue fields do not survive the
/// call.
template <class Row>
std::optional<Row> find_row(Catalog& catalog, std::initializer_list<CatalogKey> keys,
                            TupleId* where = nullptr) {
  std::optional<Row> found;
  scan_rows<Row>(catalog, keys, [&](Row& row, TupleId at) {
    found = std::move(row);
    if (where != nullptr) *where = at;
    return false;
  });
  return found;
}

template <class Row>
std::vector<Row> find_rows(Catalog& catalog, std::initializer_list<CatalogKey> keys) {
  std::vector<Row> rows;
  scan_rows<Row>(catalog, keys, [&](Row& row, TupleId) {
    rows.push_back(std::move(row));
    return true;
  });
  return rows;
}

/// Writes: heap, system indexes, WAL, and the command counter, so that the next scan sees them. Unique
/// violations of system indexes raise 23505. A row that another transaction is changing or has changed raises
/// XX000 "tuple concurrently updated", as in PostgreSQL.
TupleId insert_values(Catalog& catalog, Oid table, const Datum* values, const bool* nulls);
void update_values(Catalog& catalog, Oid table, TupleId at, const Datum* values, const bool* nulls);
void delete_tuple(Catalog& catalog, Oid table, TupleId at);
/// Overwrites statistics-like fields in place, without a new version (relpages...): as in VACUUM.
void overwrite_values(Catalog& catalog, Oid table, TupleId at, const Datum* values, const bool* nulls);

inline constexpr std::size_t kMaxCatalogColumns = 64;

template <class Row>
TupleId insert_row(Catalog& catalog, const Row& row) {
  Arena arena;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
  const_cast<Row&>(row).visit(RowWriter{find_system_relation(Row::kTable)->columns, values, nulls, arena});
  return insert_values(catalog, Row::kTable, values, nulls);
}

template <class Row>
void update_row(Catalog& catalog, TupleId at, const Row& row) {
  Arena arena;
  Datum values[kMaxCatalogColumns];
  bool nulls[kMaxCatalogColumns];
  const_cast<Row&>(row).visit(RowWriter{find_system_relation(Row::kTable)->columns, values, nulls, arena});
  update_values(catalog, Row::kTable, at, values, nulls);
}

template <class Row>
void delete_rows(Catalog& catalog, std::initializer_list<CatalogKey> keys) {
  CatalogScan scan{catalog, Row::kTable, {keys.begin(), keys.size()}};
  while (scan.next()) delete_tuple(catalog, Row::kTable, scan.tuple_id());
}

/// The next free oid for a new object (of any catalog).
Oid new_oid(Catalog& catalog);

}  // namespace pinwheel::sql
