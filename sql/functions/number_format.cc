#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"

/// to_char() of numbers and to_number().
namespace pinwheel::sql::functions {

namespace {

enum class Part : std::uint8_t {
  kLiteral,
  kNine,
  kZero,
  kPoint,
  kGroup,
  kCurrency,
  kSign,       // S
  kMinus,      // MI
  kPlus,       // PL
  kPlusMinus,  // SG
  kOrdinalUpper,
  kOrdinalLower,
};

struct Node {
  Part part;
  std::string text;
};

/// A format picture, read once per call.
struct Picture {
  std::vector<Node> nodes;
  int before = 0;           // digits before the point
  int after = 0;            // digits after it
  int shifted = 0;          // digits after V
  int first_zero = -1;      // index of the first 0 among the digits before the point
  int last_zero_after = 0;  // digits after the point that FM must keep
  bool fill = true;         // no FM
  bool has_point = false;
  bool sign_before = false;
  bool sign_after = false;
  bool brackets = false;
  bool minus = false;
  bool plus = false;
  bool roman = false;
  bool roman_lower = false;
  bool exponent = false;
};

[[noreturn]] void throw_syntax(std::string message) {
  throw SqlError{sqlstate::kSyntaxError, std::move(message)};
}

class PictureReader {
 public:
  explicit PictureReader(std::string_view text) : text_{text} {}

  Picture run() {
    while (at_ < text_.size()) step();
    return std::move(p_);
  }

 private:
  bool take(std::string_view word) {
    if (text_.size() - at_ < word.size() || strncasecmp(text_.data() + at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }
  void add(Part part, std::string text = {}) { p_.nodes.push_back({part, std::move(text)}); }

  void digit(bool zero) {
    if (p_.brackets) throw_syntax(zero ? "\"0\" must be ahead of \"PR\"" : "\"9\" must be ahead of \"PR\"");
    if (in_shift_) {
      ++p_.shifted;
    } else if (p_.has_point) {
      ++p_.after;
      if (zero) p_.last_zero_after = p_.after;
    } else {
      if (zero && p_.first_zero < 0) p_.first_zero = p_.before;
      ++p_.before;
    }
    add(zero ? Part::kZero : Part::kNine);
    any_digit_ = true;
  }

  void point() {
    if (p_.has_point) throw_syntax("multiple decimal points");
    if (in_shift_) throw_syntax("cannot use \"V\" and decimal point together");
    p_.has_point = true;
    add(Part::kPoint);
  }

  void sign() {
    if (p_.sign_before || p_.sign_after) throw_syntax("cannot use \"S\" twice");
    if (p_.plus || p_.minus || p_.brackets)
      throw_syntax("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together");
    (any_digit_ || p_.has_point ? p_.sign_after : p_.sign_before) = true;
    add(Part::kSign);
  }

  void step() {
    if (text_[at_] == '"') {
      std::string literal;
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        literal += text_[at_];
      }
      ++at_;
      return add(Part::kLiteral, literal);
    }
    if (take("9")) return digit(false);
    if (take("0")) return digit(true);
    if (take(".") || take("D")) return point();
    if (take(",") || take("G")) return add(Part::kGroup);
    if (take("FM")) {
      p_.fill = false;
      return;
    }
    if (take("MI")) {
      if (p_.sign_before || p_.sign_after) throw_syntax("cannot use \"S\" and \"MI\" together");
      p_.minus = true;
      return add(Part::kMinus);
    }
    if (take("PL")) {
      if (p_.sign_before || p_.sign_after) throw_syntax("cannot use \"S\" and \"PL\" together");
      p_.plus = true;
      return add(Part::kPlus);
    }
    if (take("SG")) {
      if (p_.sign_before || p_.sign_after) throw_syntax("cannot use \"S\" and \"SG\" together");
      p_.minus = p_.plus = true;
      return add(Part::kPlusMinus);
    }
    if (take("PR")) {
      if (p_.sign_before || p_.sign_after || p_.plus || p_.minus) {
        throw_syntax("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together");
      }
      p_.brackets = true;
      return;
    }
    if (take("EEEE")) {
      p_.exponent = true;
      return;
    }
    if (text_.substr(at_, 2) == "TH" || text_.substr(at_, 2) == "th") {
      add(text_[at_] == 'T' ? Part::kOrdinalUpper : Part::kOrdinalLower);
      at_ += 2;
      return;
    }
    if (text_.substr(at_, 2) == "RN" || text_.substr(at_, 2) == "rn") {
      p_.roman = true;
      p_.roman_lower = text_[at_] == 'r';
      at_ += 2;
      return;
    }
    if (take("S")) return sign();
    if (take("V")) {
      if (p_.has_point) throw_syntax("cannot use \"V\" and decimal point together");
      in_shift_ = true;
      return;
    }
    if (take("L")) return add(Part::kCurrency, " ");
    if (take("B")) return;
    add(Part::kLiteral, std::string{text_[at_++]});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Picture p_;
  bool in_shift_ = false;
  bool any_digit_ = false;
};

/// The digits that a picture prints.
struct Digits {
  bool negative = false;
  std::string before;  // "0" for values below one
  std::string after;   // exactly picture.after digits
  bool word = false;   // "NaN" or "Infinity" stands in `before`
};

std::string_view ordinal_of(std::string_view digits) {
  const char last = digits.empty() ? '0' : digits.back();
  const char tens = digits.size() > 1 ? digits[digits.size() - 2] : '0';
  if (tens == '1') return "th";
  return last == '1' ? "st" : last == '2' ? "nd" : last == '3' ? "rd" : "th";
}

class Printer {
 public:
  Printer(const Picture& picture, Digits digits) : p_{picture}, d_{std::move(digits)} {
    const int width = p_.before + p_.shifted;
    pad_ = width - static_cast<int>(d_.before.size());
    if (pad_ < 0) {
      d_.before.assign(static_cast<std::size_t>(width), '#');
      d_.after.assign(static_cast<std::size_t>(p_.after), '#');
      pad_ = 0;
      hashes_ = true;
    }
    kept_after_ = d_.word && !hashes_ ? 0 : p_.after;
    if (!p_.fill && !hashes_ && !d_.word) {
      while (kept_after_ > p_.last_zero_after && d_.after[static_cast<std::size_t>(kept_after_ - 1)] == '0')
        --kept_after_;
    }
    // "0.5" in 9.9 prints no zero before the point, unless FM would leave nothing behind it.
    hide_zero_ = !hashes_ && p_.has_point && d_.before == "0" && p_.first_zero < 0 && p_.after > 0;
    if (hide_zero_ && !p_.fill && kept_after_ == 0) hide_zero_ = false;
  }

  std::string run() {
    int last_digit = -1;
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      if (p_.nodes[i].part == Part::kNine || p_.nodes[i].part == Part::kZero ||
          p_.nodes[i].part == Part::kPoint) {
        last_digit = static_cast<int>(i);
      }
    }
    for (std::size_t i = 0; i < p_.nodes.size(); ++i) {
      node(p_.nodes[i]);
      if (static_cast<int>(i) == last_digit && p_.brackets) {
        if (d_.negative) {
          out_ += '>';
        } else {
          blank();
        }
      }
    }
    return out_;
  }

 private:
  /// The sign floats to the first character of the number.
  void sign() {
    if (sign_done_) return;
    sign_done_ = true;
    if (p_.sign_before) {
      out_ += d_.negative ? '-' : '+';
    } else if (p_.brackets) {
      if (d_.negative) {
        out_ += '<';
      } else {
        blank();
      }
    } else if (p_.sign_after || p_.minus || (p_.plus && !p_.minus && !d_.negative)) {
      if (p_.plus && !p_.minus && p_.fill) out_ += ' ';
    } else if (d_.negative) {
      out_ += '-';
    } else if (p_.fill) {
      out_ += ' ';
    }
  }

  void blank() {
    if (p_.fill) out_ += ' ';
  }

  void digit(bool zero) {
    const int width = p_.before + p_.shifted;
    const int index = digit_index_++;
    if (index < width) {
      if (index < pad_) {
        if (p_.first_zero >= 0 && index >= p_.first_zero) {
          sign();
          out_ += '0';
          printed_ = true;
        } else {
          blank();
        }
      } else if (hide_zero_) {
        blank();
      } else {
        sign();
        out_ += d_.before[static_cast<std::size_t>(index - pad_)];
        printed_ = true;
      }
      return;
    }
    const int after = index - width;
    if (after < kept_after_ || (zero && !d_.word)) {
      sign();
      out_ += d_.after[static_cast<std::size_t>(after)];
      printed_ = true;
    }
  }

  void node(const Node& n) {
    switch (n.part) {
      case Part::kLiteral:
      case Part::kCurrency:
        out_ += n.text;
        return;
      case Part::kNine:
        return digit(false);
      case Part::kZero:
        return digit(true);
      case Part::kPoint:
        if ((p_.after == 0 || d_.word) && !hashes_) return;
        sign();
        out_ += '.';
        printed_ = true;
        return;
      case Part::kGroup:
        if (printed_) {
          out_ += ',';
        } else {
          blank();
        }
        return;
      case Part::kSign:
        if (p_.sign_after) out_ += d_.negative ? '-' : '+';
        return;
      case Part::kMinus:
        if (d_.negative) {
          out_ += '-';
        } else {
          blank();
        }
        return;
      case Part::kPlus:
        if (!d_.negative) {
          out_ += '+';
        } else {
          blank();
        }
        return;
      case Part::kPlusMinus:
        out_ += d_.negative ? '-' : '+';
        return;
      case Part::kOrdinalUpper:
      case Part::kOrdinalLower: {
        if (d_.negative || hashes_ || p_.has_point) return;
        std::string word{ordinal_of(d_.before)};
        if (n.part == Part::kOrdinalUpper) {
          for (char& c : word) c = static_cast<char>(c - 32);
        }
        out_ += word;
        return;
      }
    }
  }

  const Picture& p_;
  Digits d_;
  int pad_ = 0;
  int kept_after_ = 0;
  int digit_index_ = 0;
  bool hide_zero_ = false;
  bool hashes_ = false;
  bool printed_ = false;
  bool sign_done_ = false;
  std::string out_;
};

std::string roman(std::int64_t number, const Picture& p) {
  static constexpr struct {
    int value;
    std::string_view text;
  } kNumerals[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
                   {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  if (number < 1 || number > 3999) return std::string(15, '#');
  std::string text;
  for (const auto& numeral : kNumerals) {
    for (; number >= numeral.value; number -= numeral.value) text += numeral.text;
  }
  if (p.roman_lower) {
    for (char& c : text) c = static_cast<char>(c + 32);
  }
  if (p.fill && text.size() < 15) text.insert(0, 15 - text.size(), ' ');
  return text;
}

/// d.dddE+xx from a value's digits.
std::string scientific(Arena& arena, Datum value, const Picture& p) {
  std::string text;
  if (numeric_is_nan(value) || numeric_is_infinite(value)) {
    text.assign(static_cast<std::size_t>(p.before + p.after + 6), '#');
    text[0] = ' ';
    text[static_cast<std::size_t>(p.before) + 1] = '.';
    return text;
  }
  append_numeric(text, numeric_sign(value) < 0 ? numeric_negate(arena, value) : value);
  const std::size_t point = text.find('.');
  const std::size_t first = text.find_first_of("123456789");
  int exponent = 0;
  if (first != std::string::npos) {
    const std::size_t whole_end = point == std::string::npos ? text.size() : point;
    exponent =
        first < whole_end ? static_cast<int>(whole_end - first) - 1 : -static_cast<int>(first - whole_end);
  }
  const auto mantissa_of = [&](int e) {
    Datum mantissa = value;
    const Datum ten_power = parse_numeric(arena, "1e" + std::to_string(std::abs(e)));
    mantissa = e >= 0 ? numeric_div_to_scale(arena, value, ten_power, p.after + 1 + e)
                      : numeric_mul(arena, value, ten_power);
    return numeric_round(arena, mantissa, p.after);
  };
  Datum mantissa = mantissa_of(exponent);
  const Datum size = numeric_sign(mantissa) < 0 ? numeric_negate(arena, mantissa) : mantissa;
  if (numeric_compare(size, numeric_from_int64(arena, 10)) >= 0) mantissa = mantissa_of(++exponent);
  std::string shown;
  append_numeric(shown, mantissa);
  if (shown[0] != '-') shown.insert(0, " ");
  char tail[16];
  std::snprintf(tail, sizeof tail, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
  return shown + tail;
}

std::string format_number(Arena& arena, Datum value, std::string_view format) {
  Picture p = PictureReader{format}.run();
  if (p.exponent) return scientific(arena, value, p);
  if (p.roman) {
    if (numeric_is_nan(value) || numeric_is_infinite(value)) return std::string(15, '#');
    const Datum rounded = numeric_round(arena, value, 0);
    if (numeric_compare(rounded, numeric_from_int64(arena, 100000)) > 0) return std::string(15, '#');
    return roman(numeric_to_int64(rounded, "integer", INT64_MIN, INT64_MAX), p);
  }
  Digits d;
  if (numeric_is_nan(value) || numeric_is_infinite(value)) {
    d.word = true;
    d.before = numeric_is_nan(value) ? "NaN" : "Infinity";
    d.negative = numeric_sign(value) < 0;
    return Printer{p, d}.run();
  }
  if (p.shifted > 0)
    value = numeric_mul(arena, value, parse_numeric(arena, "1e" + std::to_string(p.shifted)));
  value = numeric_round(arena, value, p.after);
  d.negative = numeric_sign(value) < 0;
  std::string text;
  append_numeric(text, d.negative ? numeric_negate(arena, value) : value);
  const std::size_t point = text.find('.');
  d.before = text.substr(0, point);
  d.after = point == std::string::npos ? "" : text.substr(point + 1);
  d.after.resize(static_cast<std::size_t>(p.after), '0');
  return Printer{p, d}.run();
}

/// to_number(): digits, signs and the point are picked out as the picture leads.
Datum to_number(FunctionCall& c) {
  const std::string_view text = c.text(0);
  const std::string_view format = c.text(1);
  if (format.empty()) return c.make_null();
  const Picture p = PictureReader{format}.run();
  if (p.exponent) throw SqlError{sqlstate::kFeatureNotSupported, "\"EEEE\" not supported for input"};
  if (p.roman) throw SqlError{sqlstate::kFeatureNotSupported, "\"RN\" not supported for input"};
  std::string number;
  bool negative = false;
  bool point = false;
  int before = 0;
  int after = 0;
  std::size_t at = 0;
  const auto skip_to_digit = [&] {
    while (at < text.size()) {
      const char ch = text[at];
      if (ch == '-' || (p.brackets && ch == '<')) {
        negative = true;
      } else if (!(ch == ' ' || ch == '+' || ch == ',' || ch == '<' || ch == '$')) {
        return;
      }
      ++at;
    }
  };
  for (const Node& node : p.nodes) {
    if (at >= text.size()) break;
    switch (node.part) {
      case Part::kNine:
      case Part::kZero:
        skip_to_digit();
        if (at < text.size() && text[at] >= '0' && text[at] <= '9') {
          if (point ? after < p.after : true) {
            number += text[at];
            (point ? after : before) += 1;
          }
          ++at;
        } else if (at < text.size() && text[at] == '.' && p.has_point && !point) {
          point = true;
          number += '.';
          ++at;
          if (at < text.size() && text[at] >= '0' && text[at] <= '9' && after < p.after) {
            number += text[at++];
            ++after;
          }
        }
        break;
      case Part::kPoint:
        if (!point && at < text.size() && text[at] == '.') {
          point = true;
          number += '.';
          ++at;
        }
        break;
      case Part::kGroup:
        if (text[at] == ',') ++at;
        break;
      case Part::kSign:
      case Part::kMinus:
      case Part::kPlus:
      case Part::kPlusMinus:
        if (text[at] == '-' || text[at] == '+') negative |= text[at++] == '-';
        break;
      case Part::kLiteral:
        at += std::min(node.text.size(), text.size() - at);
        break;
      default:
        break;
    }
  }
  while (at < text.size()) {
    if (text[at] == '-') negative = true;
    ++at;
  }
  if (number.empty() || number == ".") throw_bad_syntax("numeric", " ");
  Datum value = parse_numeric(*c.arena, (negative ? "-" : "") + number);
  if (p.shifted > 0) {
    value = numeric_div(*c.arena, value, parse_numeric(*c.arena, "1e" + std::to_string(p.shifted)));
  }
  return numeric_round(*c.arena, value, std::max(after, p.after));
}

template <int Digits>
Datum float_to_char(FunctionCall& c) {
  const double value = Digits == 6 ? c.args[0].as_float4() : c.args[0].as_float8();
  return c.make_var(format_number(*c.arena, numeric_from_double(*c.arena, value, Digits), c.text(1)));
}

constexpr BuiltinFunction kNumberFormatFunctions[] = {
    {"numeric_to_char",
     [](FunctionCall& c) { return c.make_var(format_number(*c.arena, c.plain(0), c.text(1))); }},
    {"int4_to_char",
     [](FunctionCall& c) {
       return c.make_var(
           format_number(*c.arena, numeric_from_int64(*c.arena, c.args[0].as_int32()), c.text(1)));
     }},
    {"int8_to_char",
     [](FunctionCall& c) {
       return c.make_var(
           format_number(*c.arena, numeric_from_int64(*c.arena, c.args[0].as_int64()), c.text(1)));
     }},
    {"float4_to_char", float_to_char<6>},
    {"float8_to_char", float_to_char<15>},
    {"numeric_to_number", to_number},
};

}  // namespace

std::span<const BuiltinFunction> number_format_functions() { return kNumberFormatFunctions; }

}  // namespace pinwheel::sql::functions
