#pragma once

#include <cstdint>
#include <memory>

#include "storage/heap/heap.h"

namespace pinwheel::storage {

/// Fills the end of a relation's file page by page in private memory and writes it past the buffer pool and
/// the log: for files that were made in the running transaction, where nobody else can look for rows.
///
/// Nothing of it is in the log; instead finish() syncs the file before the commit record can be written
/// (docs/decisions/0006-bulk-loads-past-the-log.md). If the process dies before, the file is an orphan or is
/// dropped, whatever it holds. Nobody may read, insert or scan through the pool between construction and
/// finish(). Errors: File's; 54000 for tuples that do not fit on a page.
class HeapBulkWriter {
 public:
  struct Options {
    Xid xid;  // inserting transaction and command; unused when versions are kept
    CommandId command;
    bool frozen = false;         // visible to everyone at once; the pages are flagged so
    bool keep_versions = false;  // tuples come with their xmin, xmax and hints: a rewrite
  };

  HeapBulkWriter(Storage& storage, const HeapRelation& relation, const Options& options);
  ~HeapBulkWriter();
  HeapBulkWriter(const HeapBulkWriter&) = delete;
  HeapBulkWriter& operator=(const HeapBulkWriter&) = delete;

  /// Adds one tuple; its transaction fields are filled here unless versions are kept.
  void add(const FormedTuple& tuple);
  /// Writes what is left and, for permanent relations, makes it durable. Once, at the end.
  void finish();
  /// Pages written so far.
  std::uint32_t pages() const noexcept { return written_ + current_; }

 private:
  Page page(std::uint32_t index) const noexcept;
  void begin_page() noexcept;
  void write_pages(std::uint32_t count);
  void set_visible();

  Storage& storage_;
  HeapRelation relation_;
  Options options_;
  std::size_t reserved_;  // bytes of a page that the fill factor keeps free
  std::unique_ptr<std::byte[]> memory_;
  PageNumber first_;           // where the file ended
  std::uint32_t written_ = 0;  // pages on disk
  std::uint32_t current_ = 0;  // index in memory_ of the page being filled
  bool page_open_ = false;
  bool finished_ = false;
};

}  // namespace pinwheel::storage
