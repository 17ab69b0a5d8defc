#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "shm/segment.h"
#include "storage/page/page.h"

namespace pinwheel::storage {

/// How a relation's content outlives crashes and sessions.
enum class Persistence : std::uint8_t {
  kPermanent,  // logged
  kUnlogged,   // not logged; emptied after a crash
  kTemporary,  // not logged; one session's
};
constexpr bool is_logged(Persistence persistence) noexcept { return persistence == Persistence::kPermanent; }

/// Pages per segment file: 1 GiB.
inline constexpr std::uint32_t kPagesPerSegment = 131'072;
inline constexpr std::uint32_t kMaxPages = 0xFFFFFFFEu;

struct RelationFilesOptions {
  std::string data_directory;
  std::size_t max_open_files = 1000;      // max_files_per_process
  std::size_t size_cache_entries = 8192;  // forks whose length is kept in shared memory
  std::size_t sync_request_entries = 16'384;
};

/// "base/5/16384_fsm.1", relative to the data directory.
std::string relation_path(FileId file, Fork fork, std::uint32_t segment = 0);
/// As error messages name it: without the segment.
std::string relation_name(FileId file, Fork fork);

/// The files of relations: names, segments, lengths, open descriptors and what must be synced at the next
/// checkpoint. One object per process. Errors: File's.
///
/// Lengths are kept in shared memory, so that asking costs no system call, and may run ahead of the file:
/// extend() only hands out numbers (and reserves disk space in chunks); the file grows when pages are
/// written. A page between the file's end and the length reads as zeroes.
class RelationFiles {
 public:
  static void declare(shm::RegionBuilder& builder, const RelationFilesOptions& options);
  RelationFiles(const shm::Segment& segment, RelationFilesOptions options);
  ~RelationFiles();
  RelationFiles(const RelationFiles&) = delete;
  RelationFiles& operator=(const RelationFiles&) = delete;

  const std::string& data_directory() const noexcept;

  bool exists(FileId file, Fork fork);
  /// Makes an empty fork (and the database's directory, when it is missing). `allow_existing`: in redo.
  /// Errors: 58P02 when it exists.
  void create(FileId file, Fork fork, bool allow_existing = false);
  /// Removes all forks and segments, whatever exists. The first segment is emptied first, so that disk space
  /// returns though other processes still have it open.
  void unlink(FileId file);
  void unlink_fork(FileId file, Fork fork);
  /// Cuts a fork to `pages`. The caller has dropped the pages beyond from the pool.
  void truncate(FileId file, Fork fork, PageNumber pages);
  void create_database_directory(Oid database);
  void remove_database_directory(Oid database);
  void copy_database_directory(Oid from, Oid to);

  /// Length in pages; 0 when there is no such file. No system call when cached.
  PageNumber size(FileId file, Fork fork);
  /// Hands out `count` pages at the end: the first's number.
  PageNumber extend(FileId file, Fork fork, std::uint32_t count = 1);
  /// Redo: makes the fork at least `pages` long, and creates it if it is missing.
  void ensure_size(FileId file, Fork fork, PageNumber pages);
  /// Bytes on disk of all forks (pg_total_relation_size's parts).
  std::uint64_t size_bytes(FileId file, Fork fork);

  /// Reads one page, zero-filled beyond the file's end. False when the page is beyond the fork's length.
  bool read(const PageTag& tag, PageBytes bytes);
  /// Writes one page and asks for a sync at the next checkpoint.
  void write(const PageTag& tag, ConstPageBytes bytes);
  /// Writes `count` consecutive pages of one segment.
  void write_many(const PageTag& first, const std::byte* bytes, std::uint32_t count);
  void prefetch(const PageTag& tag, std::uint32_t count = 1) noexcept;
  /// Asks the system to begin writing what was written to `count` pages from `tag` on (within one segment),
  /// so that the sync at the checkpoint's end finds little to do.
  void start_writeback(const PageTag& tag, std::uint32_t count) noexcept;

  /// Syncs one fork now, its name in the directory included (bulk load that skipped the log).
  void sync_now(FileId file, Fork fork);
  /// Makes what was written to a segment durable; nothing to do when it is gone.
  void sync_segment(FileId file, Fork fork, std::uint32_t segment);
  /// Checkpointer: makes all writes that were requested before this call durable. Returns files synced.
  /// Panics when a sync fails.
  std::size_t sync_pending();
  /// Syncs every file of every database: after a crash, when nobody knows what was written and not synced,
  /// and before replay, which does not write again what it finds in place.
  void sync_everything();
  /// Makes every file as long as its cached length: at a shutdown checkpoint.
  void settle_lengths();

  /// At start-up after a crash: empties every unlogged relation by copying its init fork over its main fork,
  /// and removes its other forks. Run before redo with `before_redo` true (removes), and after it with false
  /// (copies).
  void reset_unlogged(bool before_redo);
  /// Removes files of temporary relations left by a crash: the caller names them (catalog). Closes all
  /// descriptors of this process.
  void close_all() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pinwheel::storage
