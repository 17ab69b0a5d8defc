#include "sql/execute/row_file.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "shm/interrupts.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kBufferBytes = 64 * 1024;

/// Differs for every temporary file of the process.
std::string temporary_path(const std::string& data_directory) {
  static std::uint64_t next_number = 0;  // process-wide: one thread
  const std::string directory = data_directory + "/base/pgsql_tmp";
  if (!file_exists(directory)) make_directory(directory);
  return directory + "/pgsql_tmp" + std::to_string(getpid()) + "." + std::to_string(next_number++);
}

}  // namespace

RowFile::RowFile(const std::string& data_directory, const RowFormat& format) : format_{format} {
  const std::string path = temporary_path(data_directory);
  file_ = File::open(path, OpenMode::kTruncate);
  remove_file(path);
  shm::count_for_session(shm::SessionCounter::kTempFiles);
  pending_.reserve(kBufferBytes);
}

void RowFile::flush() {
  if (pending_.empty()) return;
  const shm::WaitEventScope waiting{shm::WaitEvent::kBufFileWrite};
  file_.write_at(flushed_, pending_);
  shm::count_for_session(shm::SessionCounter::kTempBytes, pending_.size());
  flushed_ += pending_.size();
  pending_.clear();
}

std::uint64_t RowFile::append(const PackedRow& row) {
  if (pending_.size() + row.size_bytes > kBufferBytes) flush();
  const std::uint64_t at = size_bytes_;
  const std::size_t start = pending_.size();
  pending_.resize(start + row.size_bytes);
  std::memcpy(pending_.data() + start, &row, row.size_bytes);
  // the copy's pointers still point into `row`: make them offsets from its start
  format_.detach(*reinterpret_cast<PackedRow*>(pending_.data() + start),
                 reinterpret_cast<std::uintptr_t>(&row));
  size_bytes_ += row.size_bytes;
  ++row_count_;
  return at;
}

const std::byte* RowFile::fetch(Cursor& cursor, std::uint64_t offset, std::size_t size) {
  if (offset >= cursor.buffer_start && offset + size <= cursor.buffer_start + cursor.buffer_size) {
    return cursor.buffer.data() + (offset - cursor.buffer_start);
  }
  cursor.buffer.resize(std::max(kBufferBytes, size));
  cursor.buffer_start = offset;
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::uint64_t>(cursor.buffer.size(), size_bytes_ - offset));
  const shm::WaitEventScope waiting{shm::WaitEvent::kBufFileRead};
  file_.read_exactly_at(offset, {cursor.buffer.data(), wanted});
  cursor.buffer_size = wanted;
  return cursor.buffer.data();
}

PackedRow* RowFile::next(Cursor& cursor) {
  flush();
  if (cursor.offset >= size_bytes_) return nullptr;
  PackedRow head;
  std::memcpy(&head, fetch(cursor, cursor.offset, sizeof head), sizeof head);
  const std::byte* bytes = fetch(cursor, cursor.offset, head.size_bytes);
  cursor.row.resize(head.size_bytes / 8);
  std::memcpy(cursor.row.data(), bytes, head.size_bytes);
  cursor.offset += head.size_bytes;
  auto* row = reinterpret_cast<PackedRow*>(cursor.row.data());
  format_.attach(*row);
  return row;
}

void TupleStore::append(const Datum* values, const bool* nulls) {
  const std::size_t size = format_.packed_size(values, nulls);
  if (file_ == nullptr && used_bytes_ + size > static_cast<std::size_t>(limit_bytes_) && !rows_.empty())
    spill();
  if (file_ != nullptr) {
    std::vector<std::uint64_t> scratch(size / 8);
    offsets_.push_back(file_->append(*format_.pack(values, nulls, size, scratch.data())));
  } else {
    rows_.push_back(format_.pack(values, nulls, size, memory_.allocate(size)));
    used_bytes_ += size + sizeof(void*);
  }
  ++count_;
}

void TupleStore::spill() {
  file_ = std::make_unique<RowFile>(directory_, format_);
  for (const PackedRow* row : rows_) offsets_.push_back(file_->append(*row));
  // Readers may still hold pointers to the row they are on: memory goes with clear() only.
}

void TupleStore::clear() {
  rows_.clear();
  offsets_.clear();
  file_.reset();
  memory_.reset();
  used_bytes_ = 0;
  count_ = 0;
}

const PackedRow* TupleStore::next(Reader& reader) {
  if (reader.at == count_) return nullptr;
  return row(reader.at++, reader);
}

const PackedRow* TupleStore::row(std::size_t at, Reader& reader) {
  if (at < rows_.size()) return rows_[at];
  reader.cursor.offset = offsets_[at];
  return file_->next(reader.cursor);
}

}  // namespace pinwheel::sql
