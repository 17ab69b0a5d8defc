#include "sql/parse/tokenizer.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "sql/types/numbers.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

namespace {

constexpr std::size_t kLongestSource = 16384;
constexpr std::size_t kMostLiterals = 256;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '$'; }
bool is_operator_char(char c) {
  return std::string_view{"+-*/<>=~!@#%^&|`?"}.find(c) != std::string_view::npos;
}

/// Words after which a literal is a plain value.
constexpr std::string_view kBeforeValue[] = {"and",    "between", "case",   "else", "escape", "having",
                                             "ilike",  "like",    "limit",  "not",  "offset", "or",
                                             "select", "then",    "values", "when", "where"};
/// Words that make a statement too clever for this: types written before literals, clauses that compare
/// expressions, or places where only literals may stand.
constexpr std::string_view kRefused[] = {"cast",   "collate", "extract", "fetch",       "grouping",
                                         "over",   "overlay", "rollup",  "tablesample", "treat",
                                         "window", "with",    "xmlparse"};
/// Names whose parentheses hold type modifiers.
constexpr std::string_view kModifiedTypes[] = {
    "bit",    "bpchar",  "char",   "character", "current_time", "current_timestamp",
    "dec",    "decimal", "float",  "interval",  "localtime",    "localtimestamp",
    "nchar",  "numeric", "time",   "timestamp", "timestamptz",  "timetz",
    "varbit", "varchar", "varying"};

template <std::size_t N>
bool is_one_of(const std::string_view (&words)[N], std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

enum class Before : std::uint8_t { kValueExpected, kOperand, kModifier };

class Lifter {
 public:
  Lifter(std::string_view source, LiftedStatement& out) : source_{source}, out_{out} {}

  bool run() {
    out_.text.clear();
    out_.key.clear();
    out_.literals.clear();
    if (source_.size() > kLongestSource) return false;
    if (!begins_well()) return false;
    while (at_ < source_.size()) {
      if (!step()) return false;
    }
    if (out_.literals.empty()) return false;
    out_.key = out_.text;
    out_.key += '\0';
    for (const LiftedLiteral& literal : out_.literals) {
      out_.key += literal.type == kInt4Type      ? 'i'
                  : literal.type == kInt8Type    ? 'l'
                  : literal.type == kNumericType ? 'n'
                                                 : 's';
    }
    return true;
  }

 private:
  bool begins_well() {
    while (at_ < source_.size() && is_space(source_[at_])) ++at_;
    const std::size_t start = at_;
    std::size_t end = start;
    while (end < source_.size() && continues_name(source_[end])) ++end;
    const std::string_view word = lower(source_.substr(start, end - start));
    return word == "select" || word == "insert" || word == "update" || word == "delete";
  }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }
  void copy(std::size_t count) {
    out_.text += source_.substr(at_, count);
    at_ += count;
  }

  std::string_view lower(std::string_view word) {
    word_.assign(word);
    for (char& c : word_) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return word_;
  }

  bool step() {
    const char c = source_[at_];
    if (is_space(c)) {
      copy(1);
      return true;
    }
    if (starts_name(c)) return name();
    if (c == '"') return quoted_name();
    if (c == '\'') return string();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number(at_, false);
    switch (c) {
      case '(': {
        const bool modifiers = last_word_is_type_ || after_cast_;
        if (modifiers) return false;
        ++depth_;
        copy(1);
        set(Before::kValueExpected);
        return true;
      }
      case ')':
        --depth_;
        if (by_depth_ > depth_) in_by_ = false;
        copy(1);
        set(Before::kOperand);
        return true;
      case '[':
        copy(1);
        set(Before::kValueExpected);
        return true;
      case ']':
        copy(1);
        set(Before::kOperand);
        return true;
      case ',':
        copy(1);
        set(Before::kValueExpected);
        return true;
      case '.':
        if (peek(1) == '.') return false;
        copy(1);
        set(Before::kOperand);
        return true;
      case ':':
        if (peek(1) != ':') return false;  // array slices and := are left alone
        copy(2);
        set(Before::kOperand);
        after_cast_ = true;
        return true;
      case ';':
        ++at_;
        while (at_ < source_.size() && is_space(source_[at_])) ++at_;
        return at_ == source_.size();
      default:
        return is_operator_char(c) && operation();
    }
  }

  void set(Before before) {
    before_ = before;
    last_word_is_type_ = false;
    after_cast_ = false;
  }

  bool name() {
    std::size_t end = at_;
    while (end < source_.size() && continues_name(source_[end])) ++end;
    const std::string_view word = lower(source_.substr(at_, end - at_));
    if (end < source_.size() && source_[end] == '\'') return false;  // E'', B'', X'', N'' or a type
    if (is_one_of(kRefused, word)) return false;
    if (word == "by") {
      in_by_ = true;
      by_depth_ = depth_;
    } else if (word == "limit" || word == "offset" || word == "having" || word == "for") {
      in_by_ = false;
    } else if (word == "on" && last_was_distinct_) {
      return false;
    }
    const bool cast_target = after_cast_;
    last_was_distinct_ = word == "distinct";
    const bool value_next = is_one_of(kBeforeValue, word);
    const bool modified = is_one_of(kModifiedTypes, word);
    copy(end - at_);
    set(value_next ? Before::kValueExpected : Before::kOperand);
    last_word_is_type_ = modified || cast_target;
    return true;
  }

  bool quoted_name() {
    std::size_t end = at_ + 1;
    for (;;) {
      if (end >= source_.size()) return false;
      if (source_[end] == '"') {
        if (end + 1 < source_.size() && source_[end + 1] == '"') {
          end += 2;
          continue;
        }
        break;
      }
      ++end;
    }
    copy(end + 1 - at_);
    set(Before::kOperand);
    return true;
  }

  bool add(Oid type, std::string_view text, std::size_t offset) {
    if (in_by_ || out_.literals.size() >= kMostLiterals) return false;
    out_.literals.push_back({type, text, static_cast<int>(offset)});
    out_.text += '$';
    char digits[8];
    const auto [end, problem] = std::to_chars(digits, digits + sizeof digits, out_.literals.size());
    out_.text.append(digits, end);
    set(Before::kOperand);
    return true;
  }

  bool string() {
    if (before_ != Before::kValueExpected) return false;
    const std::size_t start = at_ + 1;
    std::size_t end = start;
    while (end < source_.size() && source_[end] != '\'') {
      if (source_[end] == '\0') return false;
      ++end;
    }
    if (end >= source_.size()) return false;
    // Doubled quotes and strings continued on the next line need building: leave those.
    std::size_t after = end + 1;
    if (after < source_.size() && source_[after] == '\'') return false;
    while (after < source_.size() && is_space(source_[after])) ++after;
    if (after < source_.size() && source_[after] == '\'') return false;
    const std::size_t offset = at_;
    at_ = end + 1;
    return add(Oid{}, source_.substr(start, end - start), offset);
  }

  /// A number that begins at `start` (its sign, when there is one) and whose digits begin at at_.
  bool number(std::size_t start, bool negative) {
    if (before_ != Before::kValueExpected && !negative) return false;
    std::size_t end = at_;
    bool integer = true;
    while (end < source_.size() && is_digit(source_[end])) ++end;
    if (end < source_.size() && source_[end] == '.') {
      integer = false;
      ++end;
      if (end < source_.size() && source_[end] == '.') return false;
      while (end < source_.size() && is_digit(source_[end])) ++end;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      integer = false;
      ++end;
      if (end < source_.size() && (source_[end] == '+' || source_[end] == '-')) ++end;
      if (end >= source_.size() || !is_digit(source_[end])) return false;
      while (end < source_.size() && is_digit(source_[end])) ++end;
    }
    if (end < source_.size() && continues_name(source_[end])) return false;
    if (negative && source_.substr(at_ - 1, 1) != "-") return false;
    const std::string_view text = source_.substr(start, end - start);
    Oid type = kNumericType;
    if (integer) {
      std::int64_t value = 0;
      const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (problem == std::errc{} && stop == text.data() + text.size()) {
        type = value >= INT32_MIN && value <= INT32_MAX ? kInt4Type : kInt8Type;
      }
    }
    at_ = end;
    return add(type, text, start);
  }

  bool operation() {
    std::size_t end = at_;
    while (end < source_.size() && is_operator_char(source_[end])) {
      const std::string_view pair = source_.substr(end, 2);
      if (pair == "--" || pair == "/*") return false;  // a comment
      ++end;
    }
    // "+" or "-" at the end belongs to what follows, unless the operator has one of the unusual characters.
    std::size_t length = end - at_;
    const std::string_view run = source_.substr(at_, length);
    if (run.find_first_of("~!@#%^&|`?") == std::string_view::npos) {
      while (length > 1 && (run[length - 1] == '-' || run[length - 1] == '+')) --length;
    }
    const bool sign = length == 1 && run[0] == '-' && before_ == Before::kValueExpected;
    if (sign && (is_digit(peek(1)) || (peek(1) == '.' && is_digit(peek(2))))) {
      // The grammar folds a minus into a number, unless a cast binds tighter.
      std::size_t stop = at_ + 1;
      while (stop < source_.size() && (is_digit(source_[stop]) || source_[stop] == '.' ||
                                       source_[stop] == 'e' || source_[stop] == 'E')) {
        ++stop;
      }
      while (stop < source_.size() && is_space(source_[stop])) ++stop;
      if (source_.substr(stop, 2) == "::") {
        copy(1);
        return number(at_, false);
      }
      const std::size_t start = at_;
      ++at_;
      return number(start, true);
    }
    copy(length);
    set(Before::kValueExpected);
    return true;
  }

  std::string_view source_;
  LiftedStatement& out_;
  std::string word_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int by_depth_ = 0;
  bool in_by_ = false;  ///< within ORDER BY or GROUP BY, whose expressions may be ordinals or match others
  Before before_ = Before::kOperand;
  bool last_word_is_type_ = false;
  bool after_cast_ = false;
  bool last_was_distinct_ = false;
};

}  // namespace

bool lift_literals(std::string_view source, LiftedStatement& out) { return Lifter{source, out}.run(); }

}  // namespace pinwheel::sql
