#include "wal/reader.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/bytes.h"

namespace pinwheel::wal {
namespace {
constexpr std::size_t kReadChunk = 256u << 10;
}

std::string_view stop_reason_text(StopReason reason) noexcept {
  switch (reason) {
    case StopReason::kNone:
      return "not at the end";
    case StopReason::kNoSegment:
      return "log segment file is missing";
    case StopReason::kBadSegment:
      return "log segment file has an invalid header";
    case StopReason::kZeros:
      return "invalid record length: got 0";
    case StopReason::kBadLength:
      return "invalid record length";
    case StopReason::kBadChecksum:
      return "incorrect checksum";
    case StopReason::kBadContent:
      return "invalid record structure";
    case StopReason::kEndOfFile:
      return "log segment file ends within the record";
  }
  return "unknown";
}

std::string format_lsn(Lsn lsn) {
  char text[32];
  std::snprintf(text, sizeof text, "%X/%X", static_cast<unsigned>(lsn.value >> 32),
                static_cast<unsigned>(lsn.value & 0xFFFFFFFFu));
  return text;
}

std::optional<Lsn> parse_lsn(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash > 8 || text.size() - slash - 1 > 8) {
    return std::nullopt;
  }
  std::uint32_t high = 0;
  std::uint32_t low = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), text.data() + slash, high, 16);
  const auto second = std::from_chars(text.data() + slash + 1, end, low, 16);
  if (first.ec != std::errc{} || first.ptr != text.data() + slash) return std::nullopt;
  if (second.ec != std::errc{} || second.ptr != end) return std::nullopt;
  return Lsn{(std::uint64_t{high} << 32) | low};
}

Reader::Reader(const SegmentFiles& files, Lsn start)
    : files_{files}, position_{start}, buffer_start_{start} {}

bool Reader::fill(std::size_t size_bytes) {
  const std::size_t consumed = position_ - buffer_start_;
  if (buffer_used_ - consumed >= size_bytes) return true;
  if (buffer_used_ != consumed)
    std::memmove(buffer_.data(), buffer_.data() + consumed, buffer_used_ - consumed);
  buffer_used_ -= consumed;
  buffer_start_ = position_;
  while (buffer_used_ < size_bytes) {
    const Lsn at = buffer_start_ + buffer_used_;
    const SegmentNumber segment = files_.segment_of(at);
    if (!file_.is_open() || file_segment_ != segment) {
      std::optional<File> file = files_.open_for_read(segment);
      if (!file) {
        stop_ = files_.exists(segment) ? StopReason::kBadSegment : StopReason::kNoSegment;
        return false;
      }
      file_ = std::move(*file);
      file_segment_ = segment;
    }
    const std::uint64_t offset = at.value % files_.segment_bytes();
    const std::size_t chunk = std::min<std::uint64_t>(kReadChunk, files_.segment_bytes() - offset);
    // Grows with what is there, not with what a damaged length claims.
    if (buffer_.size() < buffer_used_ + chunk) buffer_.resize(buffer_used_ + chunk);
    const std::size_t got =
        file_.read_at(kSegmentHeaderBytes + offset, {buffer_.data() + buffer_used_, chunk});
    buffer_used_ += got;
    if (got < chunk && buffer_used_ < size_bytes) {
      stop_ = StopReason::kEndOfFile;
      return false;
    }
  }
  return true;
}

const RecordView* Reader::next() {
  if (stop_ != StopReason::kNone) return nullptr;
  if (!fill(sizeof(RecordHeader))) return nullptr;
  const auto header = load<RecordHeader>(buffer_.data() + (position_ - buffer_start_));
  if (header.total_length == 0) {
    stop_ = StopReason::kZeros;
    return nullptr;
  }
  if (header.total_length < sizeof(RecordHeader) || header.total_length > kMaxRecordBytes) {
    stop_ = StopReason::kBadLength;
    return nullptr;
  }
  const std::size_t whole = align_record(header.total_length);
  if (!fill(whole)) return nullptr;
  const std::span<const std::byte> bytes{buffer_.data() + (position_ - buffer_start_), whole};
  switch (decode_record(bytes, position_, record_)) {
    case DecodeError::kNone:
      position_ = record_.end();
      return &record_;
    case DecodeError::kBadContent:
      stop_ = StopReason::kBadContent;
      return nullptr;
    default:
      stop_ = StopReason::kBadChecksum;
      return nullptr;
  }
}

std::string Reader::stop_message() const {
  return std::string{stop_reason_text(stop_)} + " at " + format_lsn(position_);
}

}  // namespace pinwheel::wal
