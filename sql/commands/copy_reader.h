#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sql/commands/copy_lines.h"
#include "sql/commands/copy_options.h"

namespace pinwheel::sql {

/// One field of a line. `text` lives until the next line is read; a null field keeps it too.
struct CopyField {
  std::string_view text;
  bool is_null = false;
};

/// Splits COPY data into lines and fields, in text or CSV format. Fields without escapes are handed out in
/// place. No memory is allocated per line or field in the steady state.
class CopyReader {
 public:
  CopyReader(const CopyOptions& options, CopySource source);

  /// Reads the next line's fields into `fields`; false at the end of data. `force_not_null` and `force_null`
  /// by field (CSV; may be null). Errors: those of CopyLines; 22P04 `unterminated CSV quoted field`; 22021.
  bool next(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
            const std::vector<bool>* force_null);
  /// Number of the line last read, from 1.
  std::uint64_t line_number() const { return lines_.number(); }
  /// Its text, without the line end; meaningless unless has_line().
  std::string_view line() const { return line_; }
  /// A whole line has been read, and its fields are being worked on.
  bool has_line() const { return has_line_; }
  void drain() { lines_.drain(); }

 private:
  void split_text(std::vector<CopyField>& fields);
  void split_csv(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                 const std::vector<bool>* force_null);
  CopyField take_csv_field(const char*& at, const char* end);
  std::string_view unescape(std::string_view field);

  const CopyOptions& options_;
  CopyLines lines_;
  std::string_view line_;
  bool has_line_ = false;
  std::string scratch_;
};

}  // namespace pinwheel::sql
