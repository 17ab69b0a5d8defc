#include "sql/commands/copy_reader.h"

#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void bad_format(std::string message, std::string hint = {}) {
  throw SqlError{sqlstate::kBadCopyFileFormat, std::move(message)}.hint(std::move(hint));
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool CopyReader::fill() {
  if (source_ended_) return false;
  std::string_view piece;
  if (!source_(piece)) {
    source_ended_ = true;
    return false;
  }
  if (at_ > 0) {
    buffer_.erase(0, at_);
    at_ = 0;
  }
  buffer_.append(piece);
  return true;
}

void CopyReader::take_line(std::size_t end, std::size_t skip) {
  line_ = std::string_view{buffer_}.substr(at_, end - at_);
  at_ = end + skip;
  ++line_number_;
}

bool CopyReader::find_text_line() {
  std::size_t searched = 0;  // from at_
  for (;;) {
    const char* from = buffer_.data() + at_ + searched;
    const std::size_t rest = buffer_.size() - at_ - searched;
    const char* newline = rest > 0 ? static_cast<const char*>(std::memchr(from, '\n', rest)) : nullptr;
    if (newline == nullptr) {
      searched = buffer_.size() - at_;
      const std::size_t before = buffer_.size() - at_;
      if (!fill()) {
        if (at_ == buffer_.size()) return false;
        take_line(buffer_.size(), 0);
        break;
      }
      searched = before;
      continue;
    }
    const auto end = static_cast<std::size_t>(newline - buffer_.data());
    // An odd number of backslashes before it makes the newline data.
    std::size_t slashes = 0;
    while (end - slashes > at_ && buffer_[end - slashes - 1] == '\\') ++slashes;
    if (slashes % 2 == 1) {
      searched = end + 1 - at_;
      continue;
    }
    take_line(end, 1);
    break;
  }
  const bool has_return = !line_.empty() && line_.back() == '\r';
  if (line_end_ == LineEnd::kUnknown) line_end_ = has_return ? LineEnd::kReturnNewline : LineEnd::kNewline;
  if (line_end_ == LineEnd::kReturnNewline) {
    if (has_return) {
      line_.remove_suffix(1);
    } else if (at_ <= buffer_.size() && !source_ended_) {
      bad_format("literal newline found in data", "Use \"\\n\" to represent newline.");
    }
  }
  if (std::memchr(line_.data(), '\r', line_.size()) != nullptr) {
    // Only an escaped one may stand there.
    for (std::size_t i = 0; i < line_.size(); ++i) {
      if (line_[i] == '\\') {
        ++i;
      } else if (line_[i] == '\r') {
        bad_format("literal carriage return found in data", "Use \"\\r\" to represent carriage return.");
      }
    }
  }
  return true;
}

bool CopyReader::find_csv_line() {
  std::size_t i = 0;  // from at_
  bool quoted = false;
  for (;;) {
    if (at_ + i == buffer_.size()) {
      if (!fill()) {
        if (at_ == buffer_.size()) return false;
        if (quoted) {
          take_line(buffer_.size(), 0);
          bad_format("unterminated CSV quoted field");
        }
        take_line(buffer_.size(), 0);
        break;
      }
      continue;
    }
    const char c = buffer_[at_ + i];
    if (quoted && options_.escape != options_.quote && c == options_.escape) {
      // The escaped character is data, whatever it is.
      if (at_ + i + 1 == buffer_.size() && !fill()) break;
      i += at_ + i + 1 < buffer_.size() ? 2 : 1;
      continue;
    }
    if (c == options_.quote) quoted = !quoted;
    if (c == '\n' && !quoted) {
      take_line(at_ + i, 1);
      break;
    }
    ++i;
  }
  if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
  return true;
}

bool CopyReader::next(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                      const std::vector<bool>* force_null) {
  if (ended_) return false;
  if (!(options_.csv ? find_csv_line() : find_text_line())) {
    ended_ = true;
    return false;
  }
  if (line_ == "\\.") {
    ended_ = true;
    return false;
  }
  fields.clear();
  scratch_.clear();
  if (options_.csv) {
    split_csv(fields, force_not_null, force_null);
  } else {
    split_text(fields);
  }
  return true;
}

void CopyReader::drain() {
  std::string_view piece;
  while (!source_ended_ && source_(piece)) {
  }
  source_ended_ = true;
}

void CopyReader::split_text(std::vector<CopyField>& fields) {
  const bool has_escapes = std::memchr(line_.data(), '\\', line_.size()) != nullptr;
  // Unescaped copies are at most as long as the line: reserving keeps the views into them in place.
  if (has_escapes) scratch_.reserve(line_.size());
  const char* at = line_.data();
  const char* const end = at + line_.size();
  for (;;) {
    const char* stop = nullptr;
    if (!has_escapes) {
      stop =
          static_cast<const char*>(std::memchr(at, options_.delimiter, static_cast<std::size_t>(end - at)));
    } else {
      for (const char* p = at; p < end; ++p) {
        if (*p == '\\' && p + 1 < end) {
          ++p;
        } else if (*p == options_.delimiter) {
          stop = p;
          break;
        }
      }
    }
    const std::string_view field{at, static_cast<std::size_t>((stop != nullptr ? stop : end) - at)};
    if (field == options_.null_text) {
      fields.push_back({{}, true});
    } else if (has_escapes && field.find('\\') != std::string_view::npos) {
      fields.push_back({unescape(field), false});
    } else {
      fields.push_back({field, false});
    }
    if (stop == nullptr) return;
    at = stop + 1;
  }
}

std::string_view CopyReader::unescape(std::string_view field) {
  const std::size_t from = scratch_.size();
  for (std::size_t i = 0; i < field.size(); ++i) {
    char c = field[i];
    if (c != '\\' || i + 1 == field.size()) {
      scratch_ += c;
      continue;
    }
    c = field[++i];
    switch (c) {
      case 'b':
        scratch_ += '\b';
        break;
      case 'f':
        scratch_ += '\f';
        break;
      case 'n':
        scratch_ += '\n';
        break;
      case 'r':
        scratch_ += '\r';
        break;
      case 't':
        scratch_ += '\t';
        break;
      case 'v':
        scratch_ += '\v';
        break;
      case 'x': {
        int value = i + 1 < field.size() ? hex_digit(field[i + 1]) : -1;
        if (value < 0) {
          scratch_ += 'x';
          break;
        }
        ++i;
        if (i + 1 < field.size() && hex_digit(field[i + 1]) >= 0) value = value * 16 + hex_digit(field[++i]);
        scratch_ += static_cast<char>(value);
        break;
      }
      default:
        if (c >= '0' && c <= '7') {
          int value = c - '0';
          for (int digits = 1;
               digits < 3 && i + 1 < field.size() && field[i + 1] >= '0' && field[i + 1] <= '7'; ++digits) {
            value = value * 8 + (field[++i] - '0');
          }
          scratch_ += static_cast<char>(value);
        } else {
          scratch_ += c;
        }
    }
  }
  return std::string_view{scratch_}.substr(from);
}

void CopyReader::split_csv(std::vector<CopyField>& fields, const std::vector<bool>* force_not_null,
                           const std::vector<bool>* force_null) {
  scratch_.reserve(line_.size());
  std::size_t i = 0;
  for (;;) {
    const std::size_t from = scratch_.size();
    bool saw_quote = false;
    bool quoted = false;
    for (; i < line_.size(); ++i) {
      const char c = line_[i];
      if (!quoted) {
        if (c == options_.delimiter) break;
        if (c == options_.quote) {
          quoted = saw_quote = true;
          continue;
        }
        scratch_ += c;
        continue;
      }
      const bool has_next = i + 1 < line_.size();
      if (c == options_.escape && has_next &&
          (line_[i + 1] == options_.escape || line_[i + 1] == options_.quote)) {
        scratch_ += line_[++i];
      } else if (c == options_.quote) {
        quoted = false;
      } else {
        scratch_ += c;
      }
    }
    const std::string_view text = std::string_view{scratch_}.substr(from);
    const std::size_t place = fields.size();
    const bool not_null =
        force_not_null != nullptr && place < force_not_null->size() && (*force_not_null)[place];
    const bool null_too = force_null != nullptr && place < force_null->size() && (*force_null)[place];
    const bool is_null = text == options_.null_text && (saw_quote ? null_too : !not_null);
    fields.push_back({text, is_null});
    if (i >= line_.size()) return;
    ++i;  // the delimiter
    if (i == line_.size()) {
      // A trailing delimiter: one more, empty field.
      const bool last_not_null = force_not_null != nullptr && fields.size() < force_not_null->size() &&
                                 (*force_not_null)[fields.size()];
      fields.push_back({{}, options_.null_text.empty() && !last_not_null});
      return;
    }
  }
}

}  // namespace pinwheel::sql
