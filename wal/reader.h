#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/ids.h"
#include "wal/record.h"
#include "wal/segment_files.h"

namespace pinwheel::wal {

/// Why a reader found no further record.
enum class StopReason : std::uint8_t {
  kNone,        // it has not stopped
  kNoSegment,   // the segment's file is not there
  kBadSegment,  // its header is damaged or another segment's
  kZeros,       // nothing was written here
  kBadLength,
  kBadChecksum,
  kBadContent,
  kEndOfFile,  // the record's bytes end with the last segment
};
std::string_view stop_reason_text(StopReason reason) noexcept;

/// Reads records one after the other from segment files, up to the first bytes that are no valid record: in a
/// log that was cut by a crash that is its end.
class Reader {
 public:
  /// Keeps a reference to `files`. `start` is the start of a record.
  Reader(const SegmentFiles& files, Lsn start);

  /// The next record, valid until the next call; null at the end. Errors: 58030 when a file cannot be read.
  const RecordView* next();

  /// Where the next record would start: the end of the last one read.
  Lsn position() const noexcept { return position_; }
  StopReason stop_reason() const noexcept { return stop_; }
  /// "invalid record length at 0/1000028: ..." once it has stopped.
  std::string stop_message() const;

 private:
  /// Makes `size_bytes` bytes at position_ available in buffer_; false sets stop_.
  bool fill(std::size_t size_bytes);

  const SegmentFiles& files_;
  Lsn position_;
  StopReason stop_ = StopReason::kNone;
  std::vector<std::byte> buffer_;  // log bytes [buffer_start_, buffer_start_ + buffer_used_)
  Lsn buffer_start_;
  std::size_t buffer_used_ = 0;
  File file_;
  SegmentNumber file_segment_ = 0;
  RecordView record_;
};

/// "0/15D2A48", as PostgreSQL prints positions.
std::string format_lsn(Lsn lsn);
/// Nothing when `text` is not of that form.
std::optional<Lsn> parse_lsn(std::string_view text) noexcept;

}  // namespace pinwheel::wal
