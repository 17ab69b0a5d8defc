#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/file.h"
#include "base/ids.h"

namespace pinwheel::wal {

/// Number of a segment: LSN / segment size.
using SegmentNumber = std::uint64_t;

/// First bytes of a segment file; the header block is zero after it.
struct SegmentHeader {
  static constexpr std::uint64_t kMagic = 0x3147534C41575750;  // "PWWALSG1"
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t segment_bytes;
  std::uint64_t segment;  // its number; a recycled file gets the new one
  std::uint64_t system_identifier;
  std::uint32_t checksum;  // CRC-32C of the bytes before
  std::uint32_t reserved;
};
static_assert(sizeof(SegmentHeader) == 40);

/// Bytes before the log's own in each file. A whole page, so that log pages stay aligned in the file.
inline constexpr std::uint64_t kSegmentHeaderBytes = 8192;
/// Unit of writes: the log is written in whole blocks, so the kernel never has to read one first.
inline constexpr std::uint64_t kWriteBlock = 4096;

/// How written log is made durable (setting wal_sync_method).
enum class SyncMethod : std::uint8_t { kFdatasync, kFsync, kOpenDatasync, kOpenSync };

/// "000000010000000000000001": PostgreSQL's naming, timeline 1.
std::string segment_file_name(SegmentNumber segment, std::uint32_t segment_bytes);
/// Nothing when the name is no segment's.
std::optional<SegmentNumber> parse_segment_file_name(std::string_view name,
                                                     std::uint32_t segment_bytes) noexcept;

/// The files of DIR/pg_wal: byte `lsn` of the log is at kSegmentHeaderBytes + lsn % segment_bytes of file
/// lsn / segment_bytes. Private to a process; keeps one file open for writing. Errors: as File's; a log that
/// cannot be written or synced is a panic.
class SegmentFiles {
 public:
  SegmentFiles(std::string data_directory, std::uint32_t segment_bytes, std::uint64_t system_identifier);

  /// Writes bytes of the log at `at`; they may cross segments. A file that does not exist yet is made.
  void write(Lsn at, std::span<const std::byte> bytes, SyncMethod method) noexcept;
  /// Makes everything in [from, to) durable. Not for the open_* methods, whose writes already are.
  void sync(Lsn from, Lsn to, SyncMethod method) noexcept;

  /// Before replay: syncs the segments from `first` on up to the first that is missing.
  void sync_existing(SegmentNumber first);

  /// Makes the file of `segment` if there is none: zero-filled and synced before it gets its name, so a later
  /// fdatasync has no metadata to write. If the process dies in here, a file "xlogtemp.PID" is left, which
  /// remove_leftovers() takes. True when it was made.
  bool create(SegmentNumber segment);
  /// Setting wal_init_zero: when off, a new file has its length but no blocks yet, and the disk may turn out
  /// to be full when log is written to it.
  void set_zero_fill(bool on) noexcept { zero_fill_ = on; }
  bool exists(SegmentNumber segment) const;

  /// Opens for reading and verifies the header; nothing when absent or not this segment's.
  std::optional<File> open_for_read(SegmentNumber segment) const;

  /// Removes or renames to future numbers all files before `keep_from`, so that about `spare` files stand
  /// ready after `current`.
  struct Recycled {
    unsigned removed = 0;
    unsigned recycled = 0;
  };
  Recycled recycle(SegmentNumber keep_from, SegmentNumber current, unsigned spare);

  /// At the end of recovery: zeroes everything from `end` to the end of its segment and removes all later
  /// segments, durably. Records beyond a hole could otherwise become reachable when the hole is filled with
  /// new records. Idempotent.
  void truncate_after(Lsn end);
  void remove_leftovers() noexcept;

  std::uint32_t segment_bytes() const noexcept { return segment_bytes_; }
  std::uint64_t system_identifier() const noexcept { return system_identifier_; }
  const std::string& directory() const noexcept { return directory_; }
  SegmentNumber segment_of(Lsn lsn) const noexcept { return lsn.value / segment_bytes_; }
  std::string path_of(SegmentNumber segment) const;

 private:
  File& writable(SegmentNumber segment, SyncMethod method);
  void write_header(const File& file, SegmentNumber segment) const;

  std::string directory_;  // DIR/pg_wal
  std::uint32_t segment_bytes_;
  std::uint64_t system_identifier_;
  bool zero_fill_ = true;
  File open_;
  SegmentNumber open_segment_ = 0;
  int open_flags_ = 0;  // of open(2), which the method and the setting fsync decide
};

/// First position of a new log: segment 1 begins here, so that 0 stays "none".
constexpr Lsn first_lsn(std::uint32_t segment_bytes) noexcept { return Lsn{segment_bytes}; }

}  // namespace pinwheel::wal
