#include "sql/commands/copy_lines.h"

#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void bad_line(std::string message, std::string hint = {}) {
  throw SqlError{sqlstate::kBadCopyFileFormat, std::move(message)}.hint(std::move(hint));
}
[[noreturn]] void bad_marker() { bad_line("end-of-copy marker corrupt"); }
[[noreturn]] void mismatched_marker() {
  bad_line("end-of-copy marker does not match previous newline style");
}

const char* find(const char* from, const char* end, char wanted) {
  return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(end - from)));
}

/// True when all bytes are ASCII other than zero: nothing to verify then.
bool is_plain(std::string_view bytes) {
  constexpr std::uint64_t kHigh = 0x8080808080808080u, kOnes = 0x0101010101010101u;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  std::uint64_t found = 0;
  for (; end - at >= 8; at += 8) {
    const auto word = load<std::uint64_t>(at);
    found |= (word | (word - kOnes)) & kHigh;  // without high bits, word - ones borrows at zero bytes only
  }
  for (; at < end; ++at) found |= static_cast<signed char>(*at) <= 0 ? 1u : 0u;
  return found == 0;
}

}  // namespace

CopyLines::CopyLines(const Format& format, CopySource source) : format_{format}, source_{std::move(source)} {
  // A quote that escapes itself only toggles.
  if (format_.escape == format_.quote) format_.escape = '\0';
}

bool CopyLines::load() {
  while (!source_ended_) {
    if (!source_(piece_)) {
      source_ended_ = true;
      piece_ = {};
      return false;
    }
    if (piece_.empty()) continue;
    piece_plain_ = is_plain(piece_);
    return true;
  }
  return false;
}

/// Gives the unfinished line more bytes: from the piece up to its next newline. False at the end of the data.
bool CopyLines::extend() {
  if (carry_.empty()) {
    carry_plain_ = true;
    if (!piece_.empty()) {
      carry_ = piece_;
      carry_plain_ = piece_plain_;
      piece_ = {};
    }
  }
  if (piece_.empty() && !load()) return false;
  if (carry_.empty()) return true;  // the line begins with the piece
  const char* newline = find(piece_.data(), piece_.data() + piece_.size(), '\n');
  const std::size_t count =
      newline == nullptr ? piece_.size() : static_cast<std::size_t>(newline - piece_.data()) + 1;
  carry_.append(piece_.substr(0, count));
  carry_plain_ = carry_plain_ && piece_plain_;
  piece_.remove_prefix(count);
  return true;
}

bool CopyLines::next(std::string_view& line) {
  if (ended_) return false;
  ++number_;
  carry_.clear();
  position_ = 0;
  quoted_ = after_escape_ = false;
  for (;;) {
    const bool carried = !carry_.empty();
    const std::string_view data = carried ? std::string_view{carry_} : piece_;
    const Scan result = data.empty() && source_ended_ ? Scan::kMore : scan(data);
    if (result == Scan::kMore) {
      if (extend()) continue;
      if (!carry_.empty()) continue;  // scan again: now the end of the data is the end of the line
      ended_ = true;
      return false;
    }
    line = data.substr(0, length_);
    if (!(carried ? carry_plain_ : piece_plain_)) check_utf8(line);
    if (carried) {
      // What was looked at beyond the line's end came from the piece: give it back.
      const std::size_t surplus = carry_.size() - consumed_;
      piece_ = {piece_.data() - surplus, piece_.size() + surplus};
    } else {
      piece_.remove_prefix(consumed_);
    }
    if (result == Scan::kMarker) {
      ended_ = true;
      return length_ > 0;
    }
    return true;
  }
}

void CopyLines::drain() {
  std::string_view rest;
  while (!source_ended_ && source_(rest)) {
  }
  source_ended_ = ended_ = true;
}

CopyLines::Scan CopyLines::scan(std::string_view data) {
  return format_.csv ? scan_csv(data) : scan_text(data);
}

CopyLines::Scan CopyLines::found(Scan what, std::size_t length, std::size_t consumed) {
  length_ = length;
  consumed_ = consumed;
  return what;
}

/// No line end in what there is: at the end of the source that is the last line.
CopyLines::Scan CopyLines::scanned_all(std::string_view data) {
  position_ = data.size();
  if (!source_ended_ || data.empty()) return Scan::kMore;
  return found(Scan::kLine, data.size(), data.size());
}

CopyLines::Scan CopyLines::end_at_newline(std::size_t at) {
  if (line_end_ == LineEnd::kReturn || line_end_ == LineEnd::kReturnNewline) {
    if (format_.csv) {
      bad_line("unquoted newline found in data", "Use quoted CSV field to represent newline.");
    }
    bad_line("literal newline found in data", "Use \"\\n\" to represent newline.");
  }
  line_end_ = LineEnd::kNewline;
  return found(Scan::kLine, at, at + 1);
}

CopyLines::Scan CopyLines::end_at_return(std::string_view data, std::size_t at) {
  const auto refuse = [&] {
    if (format_.csv) {
      bad_line("unquoted carriage return found in data",
               "Use quoted CSV field to represent carriage return.");
    }
    bad_line("literal carriage return found in data", "Use \"\\r\" to represent carriage return.");
  };
  if (line_end_ == LineEnd::kNewline) refuse();
  if (line_end_ != LineEnd::kReturn) {
    if (at + 1 == data.size() && !source_ended_) {
      position_ = at;
      return Scan::kMore;
    }
    if (at + 1 < data.size() && data[at + 1] == '\n') {
      line_end_ = LineEnd::kReturnNewline;
      return found(Scan::kLine, at, at + 2);
    }
    if (line_end_ == LineEnd::kReturnNewline) refuse();
    line_end_ = LineEnd::kReturn;
  }
  return found(Scan::kLine, at, at + 1);
}

/// `\.` stands at `at`. kMarker when it ends the data; kLine never; kMore with position_ at `at` when more
/// bytes are needed, and past it when it is only data (CSV).
CopyLines::Scan CopyLines::end_at_marker(std::string_view data, std::size_t at) {
  const auto not_a_marker = [&] {
    if (!format_.csv) bad_marker();
    position_ = at + 1;
    return Scan::kMore;
  };
  std::size_t next = at + 2;
  const auto must_wait = [&] { return next >= data.size() && !source_ended_; };
  position_ = at;
  if (line_end_ == LineEnd::kReturnNewline) {
    if (must_wait()) return Scan::kMore;
    const char c = next < data.size() ? data[next] : '\0';
    if (c == '\n' && !format_.csv) mismatched_marker();
    if (c != '\r') return not_a_marker();
    ++next;
  }
  if (must_wait()) return Scan::kMore;
  const char c = next < data.size() ? data[next] : '\0';
  if (c != '\r' && c != '\n') return not_a_marker();
  const bool matches =
      line_end_ == LineEnd::kUnknown || (line_end_ == LineEnd::kReturn ? c == '\r' : c == '\n');
  if (!matches) mismatched_marker();
  return found(Scan::kMarker, at, next + 1);
}

CopyLines::Scan CopyLines::scan_text(std::string_view data) {
  const char* const begin = data.data();
  const char* const end = begin + data.size();
  const char* newline = nullptr;
  bool newline_known = false;
  while (position_ < data.size()) {
    const char* const from = begin + position_;
    if (!newline_known || (newline != nullptr && newline < from)) {
      newline = find(from, end, '\n');
      newline_known = true;
    }
    const char* const stop = newline != nullptr ? newline : end;
    const char* const backslash = find(from, stop, '\\');
    const char* const carriage = find(from, backslash != nullptr ? backslash : stop, '\r');
    if (carriage != nullptr) return end_at_return(data, static_cast<std::size_t>(carriage - begin));
    if (backslash == nullptr) {
      if (newline != nullptr) return end_at_newline(static_cast<std::size_t>(newline - begin));
      return scanned_all(data);
    }
    const auto at = static_cast<std::size_t>(backslash - begin);
    if (at + 1 == data.size()) {
      if (!source_ended_) {
        position_ = at;
        return Scan::kMore;
      }
      return scanned_all(data);
    }
    if (data[at + 1] == '.') return end_at_marker(data, at);
    position_ = at + 2;  // whatever follows a backslash is data, a line end too
  }
  return scanned_all(data);
}

CopyLines::Scan CopyLines::scan_csv(std::string_view data) {
  if (position_ == 0 && !data.empty() && data[0] == '\\') {
    if (data.size() == 1 && !source_ended_) return Scan::kMore;
    if (data.size() > 1 && data[1] == '.') {
      const Scan result = end_at_marker(data, 0);
      if (result != Scan::kMore || position_ == 0) return result;
    }
  }
  const bool has_escape = format_.escape != '\0';
  for (; position_ < data.size(); ++position_) {
    const char c = data[position_];
    if (quoted_ && has_escape && c == format_.escape) after_escape_ = !after_escape_;
    if (c == format_.quote && !after_escape_) quoted_ = !quoted_;
    if (c != format_.escape || !has_escape) after_escape_ = false;
    if (quoted_) {
      if (c == (line_end_ == LineEnd::kNewline ? '\n' : '\r')) ++number_;
      continue;
    }
    if (c == '\r') return end_at_return(data, position_);
    if (c == '\n') return end_at_newline(position_);
  }
  return scanned_all(data);
}

}  // namespace pinwheel::sql
