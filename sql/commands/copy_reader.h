#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/commands/copy_options.h"

namespace pinwheel::sql {

/// Where COPY's bytes come from: sets `data` to the next piece, valid until the next call; false at the end.
using CopySource = std::function<bool(std::string_view& data)>;

/// One field of a line. `text` lives until the next line is read.
struct CopyField {
  std::string_view text;
  bool is_null = false;
};

/// Splits COPY data into lines and fields, in text or CSV format. Lines are found in the received bytes and
/// read in place; only fields with escapes are copied.
class CopyReader {
 public:
  CopyReader(const CopyOptions& options, CopySource source) : options_{options}, source_{std::move(source)} {}

  /// Reads the next line's fields into `fields`; false at the end of data. Errors: 22P04
  /// bad_copy_file_format. `force_not_null` and `force_null` by field (CSV; may be null).
  bool next(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
            const std::vector<bool>* force_null);
  /// Number of the line last read, from 1.
  std::uint64_t line_number() const { return line_number_; }
  /// Its text, without the line end.
  std::string_view line() const { return line_; }
  /// Reads on to the end of the source (after `\.`), so that the protocol stays in step.
  void drain();

 private:
  enum class LineEnd : std::uint8_t { kUnknown, kNewline, kReturn, kReturnNewline };

  bool fill();
  bool find_text_line();
  bool find_csv_line();
  void take_line(std::size_t end, std::size_t skip);
  void split_text(std::vector<CopyField>& fields);
  void split_csv(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                 const std::vector<bool>* force_null);
  std::string_view unescape(std::string_view field);

  const CopyOptions& options_;
  CopySource source_;
  std::string buffer_;
  std::size_t at_ = 0;  // start of what is not yet given out
  bool source_ended_ = false;
  bool ended_ = false;
  LineEnd line_end_ = LineEnd::kUnknown;
  std::string_view line_;
  std::uint64_t line_number_ = 0;
  std::string scratch_;
};

}  // namespace pinwheel::sql
