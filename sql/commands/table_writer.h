#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/toast_access.h"
#include "sql/commands/command_context.h"
#include "sql/commands/index_keys.h"
#include "storage/buffer/buffer_ring.h"
#include "storage/heap/bulk_writer.h"
#include "storage/heap/heap.h"

namespace pinwheel::sql {

struct TableWriterOptions {
  bool check_constraints = true;  // NOT NULL, CHECK, generated columns, foreign keys
  bool maintain_indexes = true;
  bool frozen = false;  // the file is new in this transaction: rows visible to everyone at once
};

/// Adds many rows to a table, a batch at a time: COPY, CREATE TABLE AS, rewrites. One WAL record per page; a
/// file that this transaction made, without indexes, is filled past the pool and the log (HeapBulkWriter):
/// nobody may read it before finish().
///
/// Errors: 23502, 23514, 23505, 23503 with PostgreSQL's details; current_tag() then tells which row was at
/// fault, but for foreign keys.
class TableWriter {
 public:
  TableWriter(CommandContext& context, RelationRef relation, const TableWriterOptions& options);
  ~TableWriter();
  TableWriter(const TableWriter&) = delete;
  TableWriter& operator=(const TableWriter&) = delete;

  /// Takes a full row (all columns; dropped ones null). Generated columns are computed into `values`. `tag`
  /// comes back with errors: a line number.
  void add(Datum* values, bool* nulls, std::uint64_t tag = 0);
  /// Writes what is left.
  void finish();

  std::uint64_t current_tag() const { return current_tag_; }
  /// The error at hand came from writing earlier rows, not from the row just added.
  bool in_flush() const { return in_flush_; }
  /// The error at hand is a foreign key's.
  bool in_key_checks() const { return in_key_checks_; }
  std::uint64_t rows() const { return rows_; }

 private:
  struct Checks;
  struct IndexWriter;
  struct ForeignKeys;
  void check_keys(bool at_end);
  void check_row(Datum* values, bool* nulls);
  void flush();
  void insert_batch();
  void insert_index_entries(std::size_t row);

  CommandContext& context_;
  RelationRef relation_;
  TableWriterOptions options_;
  storage::Heap heap_;
  storage::InsertState insert_state_;
  std::optional<storage::BufferRing> ring_;
  std::unique_ptr<TableToast> toast_;
  std::unique_ptr<Checks> checks_;
  std::vector<std::unique_ptr<IndexWriter>> indexes_;
  std::unique_ptr<ForeignKeys> keys_;
  std::unique_ptr<storage::HeapBulkWriter> bulk_;
  bool may_be_long_ = false;

  Arena arena_;
  Arena scratch_;
  std::vector<storage::FormedTuple> tuples_;
  std::vector<std::uint64_t> tags_;
  std::vector<TupleId> ids_;
  std::size_t batch_bytes_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t current_tag_ = 0;
  bool in_flush_ = false;
  bool in_key_checks_ = false;
};

/// "(1, abc, null)", long values cut: the detail of constraint violations.
std::string describe_row(Catalog& catalog, const Relation& relation, const Datum* values, const bool* nulls);

}  // namespace pinwheel::sql
