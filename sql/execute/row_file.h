#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "sql/execute/packed_row.h"

namespace pinwheel::sql {

/// Packed rows in a temporary file under base/pgsql_tmp. The name is removed as soon as the file is open, so
/// that nothing is left behind however the process ends. Rows are appended, then read any number of times.
class RowFile {
 public:
  RowFile(const std::string& data_directory, const RowFormat& format);

  /// Returns where the row begins. `row` may lie anywhere; it is not changed.
  std::uint64_t append(const PackedRow& row);
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t row_count() const { return row_count_; }

  /// A place to read from; the row returned lives until the next read with it.
  struct Cursor {
    std::uint64_t offset = 0;
    std::vector<std::byte> buffer;
    std::uint64_t buffer_start = 0;
    std::size_t buffer_size = 0;
    std::vector<std::uint64_t> row;
  };
  /// Null at the end.
  PackedRow* next(Cursor& cursor);

 private:
  void flush();
  const std::byte* fetch(Cursor& cursor, std::uint64_t offset, std::size_t size);
  File file_;
  const RowFormat& format_;
  std::vector<std::byte> pending_;
  std::uint64_t flushed_ = 0;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t row_count_ = 0;
};

/// Rows kept for later: in memory up to a limit, then in a file. Written once, read by any number of readers.
class TupleStore {
 public:
  TupleStore(const RowFormat& format, std::string data_directory, std::int64_t memory_limit_bytes,
             ArenaBudget* budget)
      : format_{format},
        directory_{std::move(data_directory)},
        limit_bytes_{memory_limit_bytes},
        memory_{budget, 8192} {}

  void append(const Datum* values, const bool* nulls);
  void clear();
  std::size_t count() const { return count_; }
  std::int64_t memory_bytes() const { return static_cast<std::int64_t>(used_bytes_); }
  std::int64_t disk_bytes() const { return file_ ? static_cast<std::int64_t>(file_->size_bytes()) : 0; }

  struct Reader {
    std::size_t at = 0;
    RowFile::Cursor cursor;
    void rewind() {
      at = 0;
      cursor.offset = 0;
    }
  };
  /// The next row, or null when all that are there have been read.
  const PackedRow* next(Reader& reader);
  /// Row number `at`; random access costs a seek once rows are on disk.
  const PackedRow* row(std::size_t at, Reader& reader);

 private:
  void spill();
  const RowFormat& format_;
  std::string directory_;
  std::int64_t limit_bytes_;
  Arena memory_;
  std::size_t used_bytes_ = 0;
  std::size_t count_ = 0;
  std::vector<PackedRow*> rows_;
  std::unique_ptr<RowFile> file_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace pinwheel::sql
