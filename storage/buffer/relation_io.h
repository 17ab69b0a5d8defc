#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "base/ids.h"
#include "shm/segment.h"

namespace pinwheel::storage {

/// Pages that were asked for: found in the pool, or read.
struct PageRequests {
  std::uint64_t hits = 0;
  std::uint64_t reads = 0;
};

/// How often pages of each file were asked for: what pg_statio_* and pg_stat_database show.
///
/// A process counts in a small table of its own, by files it used lately, and hands over when an entry is
/// needed for another file and about once a second: asking for a page writes no shared memory for it. Shared
/// entries are found by their key, which is set once, and added to by atomics; a full table forgets new
/// files. Counts are hints, lost in a crash. One object per process.
class RelationIo {
 public:
  static void declare(shm::RegionBuilder& builder, std::size_t files);
  explicit RelationIo(const shm::Segment& segment);

  /// `file_word`: AtomicPageTag::file_word of the page's tag.
  void count_hit(std::uint64_t file_word) noexcept { ++recent(file_word).hits; }
  void count_read(std::uint64_t file_word) noexcept { ++recent(file_word).reads; }
  /// What this process has counted is seen by all from now on.
  void hand_over() noexcept;

  /// Since the last reset; zeroes when nothing was counted.
  PageRequests of_file(FileId file) const noexcept;
  /// Of all files of a database, dropped ones included; database 0: shared catalogs.
  PageRequests of_database(Oid database) const noexcept;
  void reset_file(FileId file) noexcept;
  /// The database's sum and all its files'.
  void reset_database(Oid database) noexcept;
  /// The file is gone: its place may be used again.
  void forget_file(FileId file) noexcept;
  /// The database is gone, and all its files.
  void forget_database(Oid database) noexcept;

 private:
  struct Recent {
    std::uint64_t file_word = 0;
    std::uint32_t hits = 0, reads = 0;
  };
  struct Entry;

  Recent& recent(std::uint64_t file_word) noexcept {
    // The constant is MappingTable::hash's, which has just multiplied by it.
    Recent& entry = recent_[file_word * 0x9E3779B97F4A7C15ull >> 57];
    if (entry.file_word != file_word) [[unlikely]]
      replace(entry, file_word);
    return entry;
  }
  void replace(Recent& entry, std::uint64_t file_word) noexcept;
  void add(std::uint64_t file_word, std::uint64_t hits, std::uint64_t reads) noexcept;
  Entry* find(std::uint64_t file_word) const noexcept;
  Entry* find_or_make(std::uint64_t file_word) noexcept;

  std::array<Recent, 128> recent_;
  Entry* entries_;
  std::size_t mask_;
};

}  // namespace pinwheel::storage
