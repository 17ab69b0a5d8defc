#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "storage/btree/index_item.h"

namespace pinwheel::storage::btree_detail {

/// Sorts entries by key and id: in memory up to a limit, beyond it in runs in a temporary file that are
/// merged when they are read.
class EntrySorter {
 public:
  /// `directory` is made if missing; the file has no name once it is open.
  EntrySorter(const BTreeIndex& index, std::size_t memory_bytes, std::string directory);
  ~EntrySorter();
  EntrySorter(const EntrySorter&) = delete;
  EntrySorter& operator=(const EntrySorter&) = delete;

  /// Errors: 53100, 58030 of the temporary file.
  void add(IndexItem entry);
  /// After the last add(); then next() gives them in order.
  void sort();
  /// Not valid (null bytes) at the end. Valid until the next call.
  IndexItem next();

 private:
  struct Entry {
    std::uint64_t prefix;  // orders like the first column as far as it goes
    const std::byte* bytes;
    std::uint16_t length;
    bool prefix_is_null;
  };
  /// One sorted run, or the part of it that is in memory.
  struct Run {
    std::uint64_t at = 0;  // in the file
    std::uint64_t end = 0;
    std::vector<std::byte> buffer;
    std::size_t used = 0;  // of the buffer
    std::size_t size = 0;
    IndexItem head;
  };

  bool is_less(const Entry& a, const Entry& b) const noexcept;
  bool is_later(std::size_t a, std::size_t b) const noexcept;
  void sort_memory();
  void spill();
  bool advance(Run& run);
  std::byte* allocate(std::size_t size);

  const BTreeIndex& index_;
  std::size_t memory_bytes_;
  std::string directory_;
  bool has_prefix_;  // the first column is an integer that decides by itself unless equal
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::size_t block_ = 0;  // the one being filled
  std::size_t block_used_ = 0;
  std::size_t used_bytes_ = 0;
  std::vector<Entry> entries_;
  std::size_t next_entry_ = 0;
  File file_;
  std::uint64_t file_size_ = 0;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;  // runs by their heads, the least on top
  std::size_t current_ = ~std::size_t{0};
};

}  // namespace pinwheel::storage::btree_detail
