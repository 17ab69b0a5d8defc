#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace pinwheel::sql {

/// Where COPY's bytes come from: sets `data` to the next piece, valid until the next call; false at the end.
using CopySource = std::function<bool(std::string_view& data)>;

/// Cuts COPY data in text or CSV format into lines, wherever the pieces it comes in begin and end. A line
/// that lies in one piece is handed out in place; only those that span pieces are copied.
///
/// Ends of lines may be \n, \r or \r\n, but all alike. A line that consists of `\.` ends the data. Lines are
/// checked to be UTF-8. Errors: 22P04 for line ends and end markers, as PostgreSQL words them; 22021.
class CopyLines {
 public:
  struct Format {
    bool csv = false;
    char quote = '"';
    char escape = '"';
  };
  CopyLines(const Format& format, CopySource source);

  /// The next line, without its end; valid until the next call. False at the end of the data.
  bool next(std::string_view& line);
  /// Number of the line last read or being read, from 1; in CSV line ends within quotes count too.
  std::uint64_t number() const { return number_; }
  /// Reads the source to its end, so that the protocol stays in step after `\.`.
  void drain();

 private:
  enum class LineEnd : std::uint8_t { kUnknown, kNewline, kReturn, kReturnNewline };
  enum class Scan : std::uint8_t { kMore, kLine, kMarker };

  bool load();
  bool extend();
  Scan scan(std::string_view data);
  Scan scan_text(std::string_view data);
  Scan scan_csv(std::string_view data);
  Scan end_at_return(std::string_view data, std::size_t at);
  Scan end_at_newline(std::size_t at);
  Scan end_at_marker(std::string_view data, std::size_t at);
  Scan found(Scan what, std::size_t length, std::size_t consumed);
  Scan scanned_all(std::string_view data);

  Format format_;
  CopySource source_;
  std::string_view piece_;                        // not yet handed out
  std::string carry_;                             // begin of a line that goes on in piece_
  bool piece_plain_ = true, carry_plain_ = true;  // ASCII only
  bool source_ended_ = false;
  bool ended_ = false;
  LineEnd line_end_ = LineEnd::kUnknown;
  std::uint64_t number_ = 0;

  // The line being looked for, from its first byte: where to go on once there are more bytes.
  std::size_t position_ = 0;
  bool quoted_ = false;
  bool after_escape_ = false;
  std::size_t length_ = 0;    // found: of the line
  std::size_t consumed_ = 0;  // found: with its end
};

}  // namespace pinwheel::sql
