#include "sql/types/text_values.h"

#include <cctype>

#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/utf8.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// Bytes of the first `limit` characters; throws 22001 when characters other than blanks are lost.
std::size_t fitting_bytes(std::string_view text, int limit, bool explicit_cast, std::string_view type) {
  const std::size_t bytes = bytes_of_characters(text, static_cast<std::size_t>(limit));
  if (!explicit_cast && text.find_first_not_of(' ', bytes) != std::string_view::npos) {
    throw SqlError{sqlstate::kStringDataRightTruncation,
                   "value too long for type " + std::string{type} + "(" + std::to_string(limit) + ")"};
  }
  return bytes;
}

}  // namespace

Datum coerce_varchar(Arena& arena, std::string_view text, int typmod, bool explicit_cast) {
  const int limit = typmod - kCharTypmodBase;
  if (typmod >= kCharTypmodBase && text.size() > static_cast<std::size_t>(limit)) {
    text = text.substr(0, fitting_bytes(text, limit, explicit_cast, "character varying"));
  }
  return make_var(arena, text);
}

Datum coerce_bpchar(Arena& arena, std::string_view text, int typmod, bool explicit_cast) {
  if (typmod < kCharTypmodBase) return make_var(arena, text);
  const int limit = typmod - kCharTypmodBase;
  std::size_t characters = count_characters(text);
  if (characters > static_cast<std::size_t>(limit)) {
    return make_var(arena, text.substr(0, fitting_bytes(text, limit, explicit_cast, "character")));
  }
  char* to;
  const std::size_t padding = static_cast<std::size_t>(limit) - characters;
  Datum value = new_var(arena, text.size() + padding, &to);
  std::memcpy(to, text.data(), text.size());
  std::memset(to + text.size(), ' ', padding);
  return value;
}

std::string decode_hex(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      ++i;
      continue;
    }
    const auto digit = [&](std::size_t at) {
      const int value = hex_value(text[at]);
      if (value < 0) {
        const std::string shown{
            text.substr(at, static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at]))))};
        throw SqlError{sqlstate::kInvalidParameterValue, "invalid hexadecimal digit: \"" + shown + "\""};
      }
      return value;
    };
    const int high = digit(i);
    if (i + 1 >= text.size()) {
      throw SqlError{sqlstate::kInvalidParameterValue, "invalid hexadecimal data: odd number of digits"};
    }
    bytes += static_cast<char>(high << 4 | digit(i + 1));
    i += 2;
  }
  return bytes;
}

void append_hex(std::string& out, std::string_view bytes) {
  for (unsigned char c : bytes) {
    out += kHexDigits[c >> 4];
    out += kHexDigits[c & 15];
  }
}

std::string parse_bytea(std::string_view text) {
  if (text.substr(0, 2) == "\\x") return decode_hex(text.substr(2));
  std::string bytes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      bytes += text[i++];
    } else if (i + 1 < text.size() && text[i + 1] == '\\') {
      bytes += '\\';
      i += 2;
    } else if (i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3' && is_octal(text[i + 2]) &&
               is_octal(text[i + 3])) {
      bytes += static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 | (text[i + 3] - '0'));
      i += 4;
    } else {
      throw SqlError{sqlstate::kInvalidTextRepresentation, "invalid input syntax for type bytea"};
    }
  }
  return bytes;
}

void append_bytea_hex(std::string& out, std::string_view bytes) {
  out += "\\x";
  append_hex(out, bytes);
}

void append_bytea_escaped(std::string& out, std::string_view bytes) {
  for (unsigned char c : bytes) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c < 0x20 || c > 0x7E) {
      out += '\\';
      out += static_cast<char>('0' + (c >> 6));
      out += static_cast<char>('0' + (c >> 3 & 7));
      out += static_cast<char>('0' + (c & 7));
    } else {
      out += static_cast<char>(c);
    }
  }
}

namespace {

/// Recursive-descent check of RFC 8259 with PostgreSQL's error details.
class JsonChecker {
 public:
  explicit JsonChecker(std::string_view text) : text_{text} {}

  void run() {
    value(0);
    skip_space();
    if (at_ < text_.size()) fail("Expected end of input, but found ");
  }

 private:
  static constexpr int kMaxDepth = 6000;

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) {
      ++at_;
    }
  }

  std::string token() const {
    std::size_t end = at_;
    const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_' || c >= 0x80; };
    while (end < text_.size() && is_word(static_cast<unsigned char>(text_[end]))) ++end;
    if (end == at_ && end < text_.size()) ++end;
    return std::string{text_.substr(at_, end - at_)};
  }

  [[noreturn]] void fail_detail(std::string detail) const {
    std::string context = "JSON data, line ";
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        line_start = i + 1;
      }
    }
    const std::size_t end = std::min(at_ + token().size(), text_.size());
    context += std::to_string(line) + ": " + std::string{text_.substr(line_start, end - line_start)};
    if (end < text_.size()) context += "...";
    throw SqlError{sqlstate::kInvalidTextRepresentation, "invalid input syntax for type json"}
        .detail(std::move(detail))
        .context(std::move(context));
  }

  [[noreturn]] void fail(std::string_view expected) const {
    if (at_ >= text_.size()) fail_detail("The input string ended unexpectedly.");
    fail_detail(std::string{expected} + "\"" + token() + "\".");
  }
  [[noreturn]] void fail_token() const { fail_detail("Token \"" + token() + "\" is invalid."); }

  void value(int depth) {
    if (depth > kMaxDepth) {
      throw SqlError{sqlstate::kStatementTooComplex, "stack depth limit exceeded"};
    }
    skip_space();
    if (at_ >= text_.size()) fail("");
    switch (text_[at_]) {
      case '{':
        return object(depth);
      case '[':
        return array(depth);
      case '"':
        return string();
      default:
        break;
    }
    if (text_[at_] == '-' || (text_[at_] >= '0' && text_[at_] <= '9')) return number();
    const std::string word = token();
    if (word == "true" || word == "false" || word == "null") {
      at_ += word.size();
      return;
    }
    if (std::isalpha(static_cast<unsigned char>(word[0]))) fail_token();
    if (std::string_view{"]},:"}.find(word[0]) != std::string_view::npos) {
      fail("Expected JSON value, but found ");
    }
    fail_token();
  }

  void object(int depth) {
    ++at_;
    skip_space();
    if (at_ < text_.size() && text_[at_] == '}') {
      ++at_;
      return;
    }
    for (;;) {
      skip_space();
      if (at_ >= text_.size() || text_[at_] != '"') fail("Expected string or \"}\", but found ");
      string();
      skip_space();
      if (at_ >= text_.size() || text_[at_] != ':') fail("Expected \":\", but found ");
      ++at_;
      value(depth + 1);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ >= text_.size() || text_[at_] != '}') fail("Expected \",\" or \"}\", but found ");
      ++at_;
      return;
    }
  }

  void array(int depth) {
    ++at_;
    skip_space();
    if (at_ < text_.size() && text_[at_] == ']') {
      ++at_;
      return;
    }
    for (;;) {
      value(depth + 1);
      skip_space();
      if (at_ < text_.size() && text_[at_] == ',') {
        ++at_;
        continue;
      }
      if (at_ >= text_.size() || text_[at_] != ']') fail("Expected \",\" or \"]\", but found ");
      ++at_;
      return;
    }
  }

  void string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c < 0x20)
        fail_detail("Character with value 0x" + std::string{kHexDigits[c >> 4], 1} + " must be escaped.");
      if (c != '\\') {
        ++at_;
        continue;
      }
      if (at_ + 1 >= text_.size()) fail("");
      const char escape = text_[at_ + 1];
      if (escape == 'u') {
        for (std::size_t i = 2; i < 6; ++i) {
          if (at_ + i >= text_.size() || hex_value(text_[at_ + i]) < 0) {
            fail_detail("\"\\u\" must be followed by four hexadecimal digits.");
          }
        }
        at_ += 6;
      } else if (std::string_view{"\"\\/bfnrt"}.find(escape) != std::string_view::npos) {
        at_ += 2;
      } else {
        fail_detail("Escape sequence \"\\" + std::string{escape} + "\" is invalid.");
      }
    }
    if (at_ >= text_.size()) fail("");
    ++at_;
  }

  void number() {
    const std::size_t start = at_;
    const auto digits = [&] {
      const std::size_t from = at_;
      while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
      return at_ - from;
    };
    bool good = true;
    if (text_[at_] == '-') ++at_;
    if (at_ < text_.size() && text_[at_] == '0') {
      ++at_;
    } else {
      good &= digits() > 0;
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      good &= digits() > 0;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      good &= digits() > 0;
    }
    if (!good || (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])))) {
      at_ = start;
      fail_token();
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

void check_json(std::string_view text) { JsonChecker{text}.run(); }

}  // namespace pinwheel::sql
