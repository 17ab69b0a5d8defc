#include "sql/functions/regexp.h"

#include <re2/re2.h>

#include <cctype>
#include <map>

#include "sql/types/io_errors.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql::functions {

struct Regexp::Compiled {
  Compiled(std::string_view pattern, const RE2::Options& options)
      : re{re2::StringPiece{pattern.data(), pattern.size()}, options} {}
  RE2 re;
};

Regexp::Regexp(std::unique_ptr<Compiled> compiled, int groups)
    : compiled_{std::move(compiled)}, group_count_{groups} {}
Regexp::~Regexp() = default;

RegexpFlags RegexpFlags::parse(std::string_view text) {
  RegexpFlags flags;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case 'g':
        flags.global = true;
        break;
      case 'i':
        flags.ignore_case = true;
        break;
      case 'c':
        flags.ignore_case = false;
        break;
      case 'n':
      case 'm':
        flags.newline_sensitive = true;
        break;
      case 's':
        flags.newline_sensitive = flags.newline_stops_dot = flags.anchors_at_lines = false;
        break;
      case 'p':
        flags.newline_stops_dot = true;
        break;
      case 'w':
        flags.anchors_at_lines = true;
        break;
      case 'x':
        flags.expanded = true;
        break;
      case 't':
        flags.expanded = false;
        break;
      case 'q':
        flags.literal = true;
        break;
      case 'b':
      case 'e':
        break;
      default:
        throw SqlError{
            sqlstate::kInvalidParameterValue,
            "invalid regular expression option: \"" +
                std::string{text.substr(
                    at, static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at]))))} +
                "\""};
    }
  }
  return flags;
}

namespace {

[[noreturn]] void throw_invalid(std::string_view why) {
  throw SqlError{sqlstate::kInvalidRegularExpression, "invalid regular expression: " + std::string{why}};
}

/// Rewrites PostgreSQL's escapes and options into RE2's.
class Translator {
 public:
  Translator(std::string_view pattern, RegexpFlags* flags) : pattern_{pattern}, flags_{flags} {}

  std::string run() {
    director();
    if (flags_->literal)
      return RE2::QuoteMeta(re2::StringPiece{pattern_.data() + at_, pattern_.size() - at_});
    embedded_options();
    while (at_ < pattern_.size()) element();
    return out_;
  }
  bool non_greedy() const { return non_greedy_; }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
  }

  void director() {
    if (!pattern_.starts_with("***")) return;
    if (peek(3) == ':') {
      at_ = 4;
    } else if (peek(3) == '=') {
      at_ = 4;
      flags_->literal = true;
    } else {
      throw_invalid("quantifier operand invalid");
    }
  }

  /// "(?i)" at the front. Elsewhere RE2 reads its own.
  void embedded_options() {
    if (peek() != '(' || peek(1) != '?' || !std::isalpha(static_cast<unsigned char>(peek(2)))) return;
    const std::size_t close = pattern_.find(')', at_);
    if (close == std::string_view::npos) return;
    RegexpFlags more = RegexpFlags::parse(pattern_.substr(at_ + 2, close - at_ - 2));
    flags_->ignore_case |= more.ignore_case;
    flags_->newline_sensitive |= more.newline_sensitive;
    flags_->newline_stops_dot |= more.newline_stops_dot;
    flags_->anchors_at_lines |= more.anchors_at_lines;
    flags_->expanded |= more.expanded;
    at_ = close + 1;
  }

  void element() {
    const char c = peek();
    switch (c) {
      case '\\':
        return escape(false);
      case '[':
        return brackets();
      case '(':
        if (peek(1) == '?' && (peek(2) == '=' || peek(2) == '!' || peek(2) == '<')) {
          throw_unsupported("regular expression lookahead and lookbehind are not supported");
        }
        if (peek(1) == '?' && peek(2) == '#') {
          const std::size_t close = pattern_.find(')', at_);
          at_ = close == std::string_view::npos ? pattern_.size() : close + 1;
          return;
        }
        break;
      case '*':
      case '+':
      case '?':
      case '}':
        if (peek(1) == '?' && (c != '}' || in_bound_)) non_greedy_ = true;
        in_bound_ = false;
        break;
      case '{':
        in_bound_ = std::isdigit(static_cast<unsigned char>(peek(1))) != 0;
        break;
      case ' ':
      case '\t':
      case '\n':
      case '\r':
        if (flags_->expanded) {
          ++at_;
          return;
        }
        break;
      case '#':
        if (flags_->expanded) {
          while (at_ < pattern_.size() && peek() != '\n') ++at_;
          return;
        }
        break;
      default:
        break;
    }
    out_ += c;
    ++at_;
  }

  void escape(bool in_brackets) {
    if (at_ + 1 >= pattern_.size()) throw_invalid("invalid escape \\ sequence");
    const char c = peek(1);
    at_ += 2;
    if (!in_brackets) {
      switch (c) {
        case 'y':
        case 'm':
        case 'M':
          out_ += "\\b";
          return;
        case 'Y':
          out_ += "\\B";
          return;
        case 'A':
          out_ += "\\A";
          return;
        case 'Z':
          out_ += "\\z";
          return;
        default:
          break;
      }
      if (c >= '1' && c <= '9') throw_unsupported("regular expression back references are not supported");
    }
    switch (c) {
      case 'B':
        out_ += "\\\\";
        return;
      case 'e':
        out_ += "\\x1b";
        return;
      case 'b':
        out_ += "\\x08";
        return;
      case '0':
        out_ += "\\x00";
        return;
      case 'u':
        return hex(4);
      case 'U':
        return hex(8);
      case 'x':
        return hex(0);
      case 'd':
      case 'D':
      case 's':
      case 'S':
      case 'w':
      case 'W':
      case 'a':
      case 'f':
      case 'n':
      case 'r':
      case 't':
      case 'v':
        out_ += '\\';
        out_ += c;
        return;
      default:
        break;
    }
    if (std::isalnum(static_cast<unsigned char>(c))) throw_invalid("invalid escape \\ sequence");
    if (static_cast<unsigned char>(c) < 0x80) out_ += '\\';
    out_ += c;
  }

  void hex(int digits) {
    std::size_t end = at_;
    while (end < pattern_.size() && std::isxdigit(static_cast<unsigned char>(pattern_[end])) &&
           (digits == 0 || end - at_ < static_cast<std::size_t>(digits))) {
      ++end;
    }
    if (end == at_) throw_invalid("invalid escape \\ sequence");
    out_.append("\\x{").append(pattern_.substr(at_, end - at_)).append("}");
    at_ = end;
  }

  void brackets() {
    // The old word-boundary spellings stand alone.
    if (pattern_.substr(at_, 7) == "[[:<:]]" || pattern_.substr(at_, 7) == "[[:>:]]") {
      out_ += "\\b";
      at_ += 7;
      return;
    }
    out_ += pattern_[at_++];
    bool negated = false;
    if (peek() == '^') {
      out_ += pattern_[at_++];
      negated = true;
    }
    if (peek() == ']') {
      out_ += "\\]";
      ++at_;
    }
    while (at_ < pattern_.size() && peek() != ']') {
      if (peek() == '[' && peek(1) == ':') {
        const std::size_t close = pattern_.find(":]", at_ + 2);
        if (close == std::string_view::npos) throw_invalid("brackets [] not balanced");
        out_ += pattern_.substr(at_, close + 2 - at_);
        at_ = close + 2;
      } else if (peek() == '\\') {
        escape(true);
      } else {
        if (peek() == '[') out_ += '\\';
        out_ += pattern_[at_++];
      }
    }
    if (at_ >= pattern_.size()) throw_invalid("brackets [] not balanced");
    if (negated && (flags_->newline_sensitive || flags_->newline_stops_dot)) out_ += "\\n";
    out_ += pattern_[at_++];
  }

  std::string_view pattern_;
  RegexpFlags* flags_;
  std::size_t at_ = 0;
  std::string out_;
  bool non_greedy_ = false;
  bool in_bound_ = false;
};

std::string_view describe(RE2::ErrorCode code) {
  switch (code) {
    case RE2::ErrorMissingBracket:
      return "brackets [] not balanced";
    case RE2::ErrorMissingParen:
    case RE2::ErrorUnexpectedParen:
      return "parentheses () not balanced";
    case RE2::ErrorBadEscape:
    case RE2::ErrorTrailingBackslash:
      return "invalid escape \\ sequence";
    case RE2::ErrorBadCharClass:
      return "invalid character class";
    case RE2::ErrorBadCharRange:
      return "invalid character range";
    case RE2::ErrorRepeatArgument:
    case RE2::ErrorRepeatOp:
      return "quantifier operand invalid";
    case RE2::ErrorRepeatSize:
      return "invalid repetition count(s)";
    case RE2::ErrorPatternTooLarge:
      return "regular expression is too complex";
    default:
      return "invalid regexp (reg version 0.8)";
  }
}

std::unique_ptr<Regexp> compile(std::string_view pattern, RegexpFlags flags) {
  Translator translator{pattern, &flags};
  std::string translated = translator.run();
  RE2::Options options;
  options.set_log_errors(false);
  options.set_longest_match(!translator.non_greedy());
  options.set_case_sensitive(!flags.ignore_case);
  options.set_dot_nl(!flags.newline_sensitive && !flags.newline_stops_dot);
  options.set_max_mem(64 << 20);
  if (flags.newline_sensitive || flags.anchors_at_lines) translated.insert(0, "(?m)");
  auto compiled = std::make_unique<Regexp::Compiled>(translated, options);
  if (!compiled->re.ok()) throw_invalid(describe(compiled->re.error_code()));
  const int groups = compiled->re.NumberOfCapturingGroups();
  return std::make_unique<Regexp>(std::move(compiled), groups);
}

}  // namespace

const Regexp& Regexp::find(std::string_view pattern, const RegexpFlags& flags) {
  // Shared by the sessions of a process; emptied when full rather than aged, since a statement uses few
  // patterns.
  static std::map<std::string, std::unique_ptr<Regexp>, std::less<>> cache;
  constexpr std::size_t kMost = 256;
  const char bits =
      static_cast<char>(flags.ignore_case | flags.newline_sensitive << 1 | flags.newline_stops_dot << 2 |
                        flags.anchors_at_lines << 3 | flags.expanded << 4 | flags.literal << 5);
  std::string key{bits};
  key += pattern;
  const auto known = cache.find(key);
  if (known != cache.end()) return *known->second;
  auto made = compile(pattern, flags);
  if (cache.size() >= kMost) cache.clear();
  return *(cache[std::move(key)] = std::move(made));
}

bool Regexp::matches(std::string_view text) const {
  return compiled_->re.Match(re2::StringPiece{text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED,
                             nullptr, 0);
}

bool Regexp::search(std::string_view text, std::size_t from, std::vector<MatchRange>* groups) const {
  std::vector<re2::StringPiece> pieces(static_cast<std::size_t>(group_count_) + 1);
  if (!compiled_->re.Match(re2::StringPiece{text.data(), text.size()}, from, text.size(), RE2::UNANCHORED,
                           pieces.data(), static_cast<int>(pieces.size()))) {
    return false;
  }
  groups->assign(pieces.size(), {});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (!pieces[i].data()) continue;
    (*groups)[i].begin = pieces[i].data() - text.data();
    (*groups)[i].end = (*groups)[i].begin + static_cast<std::int64_t>(pieces[i].size());
  }
  return true;
}

}  // namespace pinwheel::sql::functions
