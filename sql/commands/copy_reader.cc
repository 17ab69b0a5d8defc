#include "sql/commands/copy_reader.h"

#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
bool is_octal(char c) { return c >= '0' && c <= '7'; }

bool is_set(const std::vector<bool>* flags, std::size_t field) {
  return flags != nullptr && field < flags->size() && (*flags)[field];
}

}  // namespace

CopyReader::CopyReader(const CopyOptions& options, CopySource source)
    : options_{options},
      lines_{{options.format == CopyFormat::kCsv, options.quote, options.escape}, std::move(source)} {}

bool CopyReader::next(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                      const std::vector<bool>* force_null) {
  has_line_ = false;
  if (!lines_.next(line_)) return false;
  has_line_ = true;
  fields.clear();
  scratch_.clear();
  if (options_.format == CopyFormat::kCsv) {
    split_csv(fields, force_not_null, force_null);
  } else {
    split_text(fields);
  }
  return true;
}

void CopyReader::split_text(std::vector<CopyField>& fields) {
  const char* at = line_.data();
  const char* const end = at + line_.size();
  const bool has_escapes = std::memchr(at, '\\', line_.size()) != nullptr;
  // Unescaped copies are at most as long as the line: reserving keeps the views into them in place.
  if (has_escapes) scratch_.reserve(line_.size());
  for (;;) {
    const char* stop = at;
    bool escaped = false;
    while (stop < end && *stop != options_.delimiter) {
      if (has_escapes && *stop == '\\') {
        escaped = true;
        if (++stop == end) break;
      }
      ++stop;
    }
    const std::string_view field{at, static_cast<std::size_t>(stop - at)};
    if (field == options_.null_text) {
      fields.push_back({{}, true});
    } else {
      fields.push_back({escaped ? unescape(field) : field, false});
    }
    if (stop == end) return;
    at = stop + 1;
  }
}

/// Copies a field with its escapes replaced. What is written by number may be no character: it is checked.
std::string_view CopyReader::unescape(std::string_view field) {
  const std::size_t from = scratch_.size();
  bool by_number = false;
  for (std::size_t i = 0; i < field.size(); ++i) {
    char c = field[i];
    if (c != '\\' || i + 1 == field.size()) {
      scratch_ += c;
      continue;
    }
    c = field[++i];
    switch (c) {
      case 'b':
        c = '\b';
        break;
      case 'f':
        c = '\f';
        break;
      case 'n':
        c = '\n';
        break;
      case 'r':
        c = '\r';
        break;
      case 't':
        c = '\t';
        break;
      case 'v':
        c = '\v';
        break;
      case 'x': {
        int value = i + 1 < field.size() ? hex_digit(field[i + 1]) : -1;
        if (value < 0) break;
        ++i;
        if (i + 1 < field.size() && hex_digit(field[i + 1]) >= 0) value = value * 16 + hex_digit(field[++i]);
        c = static_cast<char>(value);
        by_number = by_number || c <= 0;
        break;
      }
      default:
        if (!is_octal(c)) break;
        int value = c - '0';
        for (int digits = 1; digits < 3 && i + 1 < field.size() && is_octal(field[i + 1]); ++digits) {
          value = value * 8 + (field[++i] - '0');
        }
        c = static_cast<char>(value);
        by_number = by_number || c <= 0;
    }
    scratch_ += c;
  }
  const std::string_view text = std::string_view{scratch_}.substr(from);
  if (by_number) check_utf8(text);
  return text;
}

/// Reads one field and leaves `at` at its delimiter or the end. `is_null` says that it is the null text,
/// written without quotes.
CopyField CopyReader::take_csv_field(const char*& at, const char* end) {
  const char* const start = at;
  while (at < end && *at != options_.delimiter && *at != options_.quote) ++at;
  if (at == end || *at == options_.delimiter) {
    const std::string_view text{start, static_cast<std::size_t>(at - start)};
    return {text, text == options_.null_text};
  }
  const std::size_t from = scratch_.size();
  scratch_.append(start, at);
  while (at < end && *at != options_.delimiter) {
    if (*at != options_.quote) {
      scratch_ += *at++;
      continue;
    }
    ++at;  // into the quotes
    for (;; ++at) {
      if (at == end) throw SqlError{sqlstate::kBadCopyFileFormat, "unterminated CSV quoted field"};
      const bool escapes =
          *at == options_.escape && at + 1 < end && (at[1] == options_.escape || at[1] == options_.quote);
      if (escapes) {
        ++at;
      } else if (*at == options_.quote) {
        break;
      }
      scratch_ += *at;
    }
    ++at;
  }
  return {std::string_view{scratch_}.substr(from), false};
}

void CopyReader::split_csv(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                           const std::vector<bool>* force_null) {
  scratch_.reserve(line_.size());
  const char* at = line_.data();
  const char* const end = at + line_.size();
  for (;;) {
    CopyField field = take_csv_field(at, end);
    const std::size_t place = fields.size();
    if (field.is_null) {
      field.is_null = !is_set(force_not_null, place);
    } else if (is_set(force_null, place) && field.text == options_.null_text) {
      field.is_null = true;
    }
    fields.push_back(field);
    if (at == end) return;
    ++at;  // the delimiter
  }
}

}  // namespace pinwheel::sql
