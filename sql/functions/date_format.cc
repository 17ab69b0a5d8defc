#include <strings.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/time_zone.h"

/// to_char() of dates and times, to_date() and to_timestamp().
namespace pinwheel::sql::functions {

namespace {

enum class Key : std::uint8_t {
  kLiteral,
  kHour12,
  kHour24,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kFraction,  // FF1 .. FF6
  kSecondOfDay,
  kMeridiem,  // AM, A.M.
  kYearGrouped,
  kYear,     // 1 to 4 digits
  kIsoYear,  // 1 to 4 digits
  kEra,      // BC, B.C.
  kMonthName,
  kMonthShort,
  kMonth,
  kDayName,
  kDayShort,
  kDayOfYear,
  kIsoDayOfYear,
  kDay,
  kDayOfWeek,
  kIsoDayOfWeek,
  kWeekOfMonth,
  kWeek,
  kIsoWeek,
  kCentury,
  kJulian,
  kQuarter,
  kRomanMonth,
  kZone,
  kZoneHour,
  kZoneMinute,
  kZoneOffset,
};

struct Word {
  std::string_view text;
  Key key;
  int digits = 0;
};

/// Longest first among those that share a start.
constexpr Word kWords[] = {
    {"A.D.", Key::kEra},
    {"A.M.", Key::kMeridiem},
    {"AD", Key::kEra},
    {"AM", Key::kMeridiem},
    {"B.C.", Key::kEra},
    {"BC", Key::kEra},
    {"CC", Key::kCentury},
    {"DAY", Key::kDayName},
    {"DDD", Key::kDayOfYear},
    {"DD", Key::kDay},
    {"DY", Key::kDayShort},
    {"D", Key::kDayOfWeek},
    {"FF1", Key::kFraction, 1},
    {"FF2", Key::kFraction, 2},
    {"FF3", Key::kFraction, 3},
    {"FF4", Key::kFraction, 4},
    {"FF5", Key::kFraction, 5},
    {"FF6", Key::kFraction, 6},
    {"HH24", Key::kHour24},
    {"HH12", Key::kHour12},
    {"HH", Key::kHour12},
    {"IDDD", Key::kIsoDayOfYear},
    {"ID", Key::kIsoDayOfWeek},
    {"IW", Key::kIsoWeek},
    {"IYYY", Key::kIsoYear, 4},
    {"IYY", Key::kIsoYear, 3},
    {"IY", Key::kIsoYear, 2},
    {"I", Key::kIsoYear, 1},
    {"J", Key::kJulian},
    {"MI", Key::kMinute},
    {"MM", Key::kMonth},
    {"MONTH", Key::kMonthName},
    {"MON", Key::kMonthShort},
    {"MS", Key::kMillisecond},
    {"OF", Key::kZoneOffset},
    {"P.M.", Key::kMeridiem},
    {"PM", Key::kMeridiem},
    {"Q", Key::kQuarter},
    {"RM", Key::kRomanMonth},
    {"SSSSS", Key::kSecondOfDay},
    {"SSSS", Key::kSecondOfDay},
    {"SS", Key::kSecond},
    {"TZH", Key::kZoneHour},
    {"TZM", Key::kZoneMinute},
    {"TZ", Key::kZone},
    {"US", Key::kMicrosecond},
    {"WW", Key::kWeek},
    {"W", Key::kWeekOfMonth},
    {"Y,YYY", Key::kYearGrouped},
    {"YYYY", Key::kYear, 4},
    {"YYY", Key::kYear, 3},
    {"YY", Key::kYear, 2},
    {"Y", Key::kYear, 1},
};

struct Token {
  Key key = Key::kLiteral;
  int digits = 0;
  std::string text;  // literal, or the keyword as written (its case tells that of names)
  bool fill = true;  // no FM
  bool ordinal = false;
  bool ordinal_upper = false;
  bool quoted = false;
};

std::vector<Token> read_format(std::string_view format, bool* exact) {
  std::vector<Token> tokens;
  bool fill = true;
  *exact = false;
  for (std::size_t at = 0; at < format.size();) {
    const std::string_view rest = format.substr(at);
    if (rest.starts_with("FM") || rest.starts_with("fm")) {
      fill = false;
      at += 2;
      continue;
    }
    if (rest.starts_with("FX") || rest.starts_with("fx")) {
      *exact = true;
      at += 2;
      continue;
    }
    if (rest.starts_with("TM") || rest.starts_with("tm")) {
      fill = false;  // translated names are never padded; ours are English
      at += 2;
      continue;
    }
    Token token;
    token.fill = fill;
    if (rest[0] == '"') {
      for (++at; at < format.size() && format[at] != '"'; ++at) {
        if (format[at] == '\\' && at + 1 < format.size()) ++at;
        token.text += format[at];
      }
      ++at;
      token.quoted = true;
      tokens.push_back(std::move(token));
      continue;
    }
    const Word* found = nullptr;
    for (const Word& word : kWords) {
      if (rest.size() >= word.text.size() &&
          strncasecmp(rest.data(), word.text.data(), word.text.size()) == 0) {
        found = &word;
        break;
      }
    }
    if (!found) {
      token.text = rest[0] == '\\' && rest.size() > 1 && rest[1] == '"' ? "\"" : std::string{rest[0]};
      at += rest[0] == '\\' && token.text == "\"" ? 2 : 1;
      tokens.push_back(std::move(token));
      continue;
    }
    token.key = found->key;
    token.digits = found->digits;
    token.text = rest.substr(0, found->text.size());
    at += found->text.size();
    const std::string_view suffix = format.substr(at, 2);
    if (suffix == "TH" || suffix == "th") {
      token.ordinal = true;
      token.ordinal_upper = suffix == "TH";
      at += 2;
    }
    tokens.push_back(std::move(token));
    fill = true;
  }
  return tokens;
}

std::string padded(std::int64_t value, int width, bool fill) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  if (fill && static_cast<int>(digits.size()) < width)
    digits.insert(0, static_cast<std::size_t>(width) - digits.size(), '0');
  return (value < 0 ? "-" : "") + digits;
}

/// The case of a name follows its keyword's: MONTH, Month, month.
std::string cased(std::string_view name, std::string_view keyword) {
  std::string text{name};
  const bool first_upper = std::isupper(static_cast<unsigned char>(keyword[0])) != 0;
  const bool second_upper = keyword.size() > 1 && std::isupper(static_cast<unsigned char>(keyword[1])) != 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool upper = first_upper && (second_upper || i == 0);
    const auto c = static_cast<unsigned char>(text[i]);
    text[i] = static_cast<char>(upper ? std::toupper(c) : std::tolower(c));
  }
  return text;
}

std::string_view ordinal_of(std::string_view digits) {
  const char last = digits.back();
  if (digits.size() > 1 && digits[digits.size() - 2] == '1') return "th";
  return last == '1' ? "st" : last == '2' ? "nd" : last == '3' ? "rd" : "th";
}

constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                             "VII", "VIII", "IX",  "X",  "XI", "XII"};

/// What to_char() prints: a moment's fields, or an interval's.
struct Fields {
  int year = 0, month = 0, day = 0;
  std::int64_t hour = 0;
  int minute = 0, second = 0, microsecond = 0;
  std::int32_t days = 0;  // the date as a number; unused for intervals
  bool interval = false;
  const TimeZone::Moment* zone = nullptr;
};

class DatePrinter {
 public:
  explicit DatePrinter(const Fields& fields) : f_{fields} {}

  std::string run(std::string_view format) {
    bool exact;
    for (const Token& token : read_format(format, &exact)) print(token);
    return out_;
  }

 private:
  void number(const Token& t, std::int64_t value, int width) {
    const std::string text = padded(value, value < 0 ? width - 1 : width, t.fill);
    out_ += text;
    if (t.ordinal) {
      std::string word{ordinal_of(text)};
      if (t.ordinal_upper) {
        for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      }
      out_ += word;
    }
  }
  void name(const Token& t, std::string_view full, std::size_t width) {
    std::string text = cased(full, t.text);
    if (t.fill && text.size() < width) text.append(width - text.size(), ' ');
    out_ += text;
  }
  void refuse_interval() const {
    if (f_.interval) {
      throw SqlError{sqlstate::kInvalidDatetimeFormat, "invalid format specification for an interval value"}
          .hint("Intervals are not tied to specific calendar dates.");
    }
  }
  /// Years are shown without a sign; the era says which.
  int shown_year(int year) const { return f_.interval || year > 0 ? year : 1 - year; }
  void year(const Token& t, int value) {
    int shown = shown_year(value);
    static constexpr int kModulus[] = {0, 10, 100, 1000};
    if (t.digits < 4) shown %= kModulus[t.digits];
    number(t, shown, t.digits == 4 && f_.interval && !t.fill ? 0 : t.digits);
  }

  void print(const Token& t) {
    const int days_in_year = f_.interval ? 0 : day_of_year(f_.year, f_.month, f_.day);
    switch (t.key) {
      case Key::kLiteral:
        out_ += t.text;
        return;
      case Key::kHour12: {
        const std::int64_t hour = f_.hour % 12;
        return number(t, hour == 0 ? 12 : hour, hour < 0 ? 3 : 2);
      }
      case Key::kHour24:
        return number(t, f_.hour, f_.hour < 0 ? 3 : 2);
      case Key::kMinute:
        return number(t, f_.minute, f_.minute < 0 ? 3 : 2);
      case Key::kSecond:
        return number(t, f_.second, f_.second < 0 ? 3 : 2);
      case Key::kMillisecond:
        return number(t, f_.microsecond / 1000, 3);
      case Key::kMicrosecond:
        return number(t, f_.microsecond, 6);
      case Key::kFraction: {
        int value = f_.microsecond;
        for (int i = t.digits; i < 6; ++i) value /= 10;
        out_ += padded(value, t.digits, true);
        return;
      }
      case Key::kSecondOfDay:
        return number(t, f_.hour * 3600 + f_.minute * 60 + f_.second, 0);
      case Key::kMeridiem: {
        const bool pm = (f_.hour % 24 + 24) % 24 >= 12;
        out_ += cased_pair(t.text, pm ? "PM" : "AM");
        return;
      }
      case Key::kYearGrouped: {
        const int y = shown_year(f_.year);
        out_ += std::to_string(y / 1000) + "," + padded(y % 1000, 3, true);
        return;
      }
      case Key::kYear:
        return year(t, f_.year);
      case Key::kIsoYear: {
        refuse_interval();
        int iso_year;
        iso_week(f_.days, &iso_year);
        return year(t, iso_year);
      }
      case Key::kEra:
        refuse_interval();
        out_ += cased_pair(t.text, f_.year <= 0 ? "BC" : "AD");
        return;
      case Key::kMonthName:
        if (f_.month < 1) return;
        return name(t, kMonthNames[f_.month - 1], 9);
      case Key::kMonthShort:
        if (f_.month < 1) return;
        return name(t, kMonthNames[f_.month - 1].substr(0, 3), 0);
      case Key::kMonth:
        return number(t, f_.month, 2);
      case Key::kDayName:
        refuse_interval();
        return name(t, kDayNames[day_of_week(f_.days)], 9);
      case Key::kDayShort:
        refuse_interval();
        return name(t, kDayNames[day_of_week(f_.days)].substr(0, 3), 0);
      case Key::kDayOfYear:
        return number(t, f_.interval ? f_.year * 360 + f_.month * 30 + f_.day : days_in_year, 3);
      case Key::kIsoDayOfYear: {
        refuse_interval();
        int iso_year;
        const int week = iso_week(f_.days, &iso_year);
        const int weekday = day_of_week(f_.days) == 0 ? 7 : day_of_week(f_.days);
        return number(t, (week - 1) * 7 + weekday, 3);
      }
      case Key::kDay:
        return number(t, f_.day, 2);
      case Key::kDayOfWeek:
        refuse_interval();
        return number(t, day_of_week(f_.days) + 1, 0);
      case Key::kIsoDayOfWeek:
        refuse_interval();
        return number(t, day_of_week(f_.days) == 0 ? 7 : day_of_week(f_.days), 0);
      case Key::kWeekOfMonth:
        return number(t, (f_.day - 1) / 7 + 1, 0);
      case Key::kWeek:
        return number(t, (days_in_year - 1) / 7 + 1, 2);
      case Key::kIsoWeek: {
        refuse_interval();
        int iso_year;
        return number(t, iso_week(f_.days, &iso_year), 2);
      }
      case Key::kCentury: {
        if (f_.interval) return number(t, f_.year / 100, 2);
        const int century = f_.year > 0 ? (f_.year - 1) / 100 + 1 : f_.year / 100 - 1;
        return number(t, century, century <= 99 && century >= -99 ? 2 : 0);
      }
      case Key::kJulian:
        return number(t,
                      f_.interval ? days_from_civil(f_.year, std::max(f_.month, 1), f_.day) + kEpochJulianDay
                                  : f_.days + kEpochJulianDay,
                      0);
      case Key::kQuarter:
        if (f_.month < 1) return;
        return number(t, (f_.month - 1) / 3 + 1, 0);
      case Key::kRomanMonth:
        if (f_.month == 0 && f_.year == 0) return;
        return name(t, kRomanMonths[(f_.month + 11) % 12], 4);
      default:
        return zone(t);
    }
  }

  void zone(const Token& t) {
    refuse_interval();
    const std::int32_t offset = f_.zone ? f_.zone->offset_s : 0;
    const int size = std::abs(offset);
    switch (t.key) {
      case Key::kZone:
        if (!f_.zone) return;
        if (f_.zone->abbreviation[0] == '+' || f_.zone->abbreviation[0] == '-') {
          append_zone_offset(out_, offset);
        } else {
          out_ += cased(f_.zone->abbreviation, t.text);
        }
        return;
      case Key::kZoneHour:
        out_ += (offset < 0 ? "-" : "+") + padded(size / 3600, 2, true);
        return;
      case Key::kZoneMinute:
        out_ += padded(size / 60 % 60, 2, true);
        return;
      default:
        out_ += (offset < 0 ? "-" : "+") + padded(size / 3600, t.fill ? 2 : 0, true);
        if (size / 60 % 60 != 0) out_ += ":" + padded(size / 60 % 60, 2, true);
        return;
    }
  }

  /// "am", "A.M.": the keyword's case and dots.
  static std::string cased_pair(std::string_view keyword, std::string_view letters) {
    std::string text{letters};
    if (std::islower(static_cast<unsigned char>(keyword[0]))) {
      for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return keyword.size() == 4 ? std::string{text[0]} + "." + text[1] + "." : text;
  }

  const Fields& f_;
  std::string out_;
};

Fields fields_of(std::int64_t local) {
  const CivilTime c = civil_from_timestamp(local);
  Fields f;
  f.year = c.year;
  f.month = c.month;
  f.day = c.day;
  f.hour = c.hour;
  f.minute = c.minute;
  f.second = c.second;
  f.microsecond = c.microsecond;
  f.days = days_from_civil(c.year, c.month, c.day);
  return f;
}

Datum timestamp_to_char(FunctionCall& c) {
  const std::int64_t t = c.args[0].as_int64();
  if (!is_finite_timestamp(t) || c.text(1).empty()) return c.make_null();
  return make_text(*c.arena, DatePrinter{fields_of(t)}.run(c.text(1)));
}
Datum timestamptz_to_char(FunctionCall& c) {
  const std::int64_t t = c.args[0].as_int64();
  if (!is_finite_timestamp(t) || c.text(1).empty()) return c.make_null();
  const TimeZone::Moment zone = zone_of(*c.context).at(t);
  Fields f = fields_of(t + zone.offset_s * kUsPerSecond);
  f.zone = &zone;
  return make_text(*c.arena, DatePrinter{f}.run(c.text(1)));
}
Datum interval_to_char(FunctionCall& c) {
  if (c.text(1).empty()) return c.make_null();
  const Interval span = load_interval(c.args[0]);
  Fields f;
  f.interval = true;
  f.year = span.months / 12;
  f.month = span.months % 12;
  f.day = span.days;
  f.hour = span.us / kUsPerHour;
  f.minute = static_cast<int>(span.us / kUsPerMinute % 60);
  f.second = static_cast<int>(span.us / kUsPerSecond % 60);
  f.microsecond = static_cast<int>(span.us % kUsPerSecond);
  return make_text(*c.arena, DatePrinter{f}.run(c.text(1)));
}

// -- reading
// ----------------------------------------------------------------------------------------------------

/// to_timestamp()'s reading of text by a format. Separators match any separators; extra blanks are skipped
/// unless FX.
class DateReader {
 public:
  DateReader(std::string_view text, std::string_view format) : text_{text} {
    tokens_ = read_format(format, &exact_);
  }

  /// Fills the civil fields; `*zone_s` (east) when the format has a zone.
  CivilTime run(bool* has_zone, std::int32_t* zone_s) {
    for (std::size_t i = 0; i < tokens_.size() && at_ < text_.size(); ++i)
      read(tokens_[i], i + 1 < tokens_.size() ? &tokens_[i + 1] : nullptr);
    *has_zone = has_zone_;
    *zone_s = zone_sign_ * (zone_hour_ * 3600 + zone_minute_ * 60);
    return resolve();
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_separator(char c) { return std::ispunct(static_cast<unsigned char>(c)) || is_space(c); }
  void skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  [[noreturn]] void bad_value(const Token& t, std::string detail) const {
    std::string taken{text_.substr(at_, static_cast<std::size_t>(std::max<std::size_t>(t.text.size(), 1)))};
    throw SqlError{sqlstate::kInvalidDatetimeFormat, "invalid value \"" + taken + "\" for \"" + t.text + "\""}
        .detail(std::move(detail));
  }

  /// A number of at most `most` digits; all digits when the next token is no number (or under FM).
  int number(const Token& t, int most, const Token* next) {
    if (!exact_) skip_blanks();
    const bool variable =
        !t.fill || !next || (next->key == Key::kLiteral && !(next->text.size() && is_digit(next->text[0])));
    std::size_t end = at_;
    bool negative = false;
    if (end < text_.size() && (text_[end] == '-' || text_[end] == '+')) negative = text_[end++] == '-';
    const std::size_t start = end;
    while (end < text_.size() && is_digit(text_[end]) &&
           (variable || end - start < static_cast<std::size_t>(most)))
      ++end;
    if (end == start) bad_value(t, "Value must be an integer.");
    if (end - start > 9) {
      throw SqlError{sqlstate::kDatetimeFieldOverflow,
                     "value for \"" + t.text + "\" in source string is out of range"}
          .detail("Value must be in the range -2147483648 to 2147483647.");
    }
    const int value = std::stoi(std::string{text_.substr(start, end - start)});
    digits_taken_ = static_cast<int>(end - start);
    at_ = end;
    if (t.ordinal) at_ = std::min(at_ + 2, text_.size());
    return negative ? -value : value;
  }

  template <std::size_t N>
  int name(const Token& t, const std::string_view (&names)[N], std::size_t length) {
    if (!exact_) skip_blanks();
    int best = -1;
    std::size_t best_size = 0;
    for (std::size_t i = 0; i < N; ++i) {
      const std::string_view candidate = length > 0 ? names[i].substr(0, length) : names[i];
      if (candidate.size() > best_size && text_.size() - at_ >= candidate.size() &&
          strncasecmp(text_.data() + at_, candidate.data(), candidate.size()) == 0) {
        best = static_cast<int>(i);
        best_size = candidate.size();
      }
    }
    if (best < 0) bad_value(t, "The given value did not match any of the allowed values for this field.");
    at_ += best_size;
    return best;
  }

  void set(int* field, int value, const Token& t) {
    if (*field != kUnset && *field != value) {
      throw SqlError{sqlstate::kInvalidDatetimeFormat,
                     "conflicting values for \"" + t.text + "\" field in formatting string"}
          .detail("This value contradicts a previous setting for the same field type.");
    }
    *field = value;
  }

  void literal(const Token& t) {
    if (t.quoted || !is_separator(t.text[0])) {
      // Literal text stands for as many characters of input.
      if (!exact_ && !t.quoted) skip_blanks();
      at_ = std::min(at_ + t.text.size(), text_.size());
      return;
    }
    if (exact_) {
      ++at_;
      return;
    }
    // A separator takes one separator of the input, if there is one, and blanks around.
    skip_blanks();
    if (at_ < text_.size() && is_separator(text_[at_]) &&
        !((text_[at_] == '-' || text_[at_] == '+') && is_space(t.text[0])))
      ++at_;
    skip_blanks();
  }

  void read(const Token& t, const Token* next) {
    switch (t.key) {
      case Key::kLiteral:
        return literal(t);
      case Key::kHour12:
        twelve_hours_ = true;
        return set(&hour_, number(t, 2, next), t);
      case Key::kHour24:
        return set(&hour_, number(t, 2, next), t);
      case Key::kMinute:
        return set(&minute_, number(t, 2, next), t);
      case Key::kSecond:
        return set(&second_, number(t, 2, next), t);
      case Key::kMillisecond:
        return fraction(t, 3, next);
      case Key::kMicrosecond:
        return fraction(t, 6, next);
      case Key::kFraction:
        return fraction(t, t.digits, next);
      case Key::kSecondOfDay: {
        const int value = number(t, 5, next);
        hour_ = value / 3600;
        minute_ = value / 60 % 60;
        second_ = value % 60;
        return;
      }
      case Key::kMeridiem: {
        static constexpr std::string_view kNames[] = {"AM", "PM", "A.M.", "P.M."};
        meridiem_ = name(t, kNames, 0) % 2 + 1;
        return;
      }
      case Key::kEra: {
        static constexpr std::string_view kNames[] = {"AD", "BC", "A.D.", "B.C."};
        before_christ_ = name(t, kNames, 0) % 2 == 1;
        return;
      }
      case Key::kYear:
      case Key::kIsoYear: {
        const int value = number(t, t.digits, next);
        iso_ |= t.key == Key::kIsoYear;
        return set(&year_, complete_year(value, t.digits), t);
      }
      case Key::kYearGrouped: {
        const int thousands = number(t, 1, next);
        if (at_ < text_.size() && text_[at_] == ',') ++at_;
        return set(&year_, thousands * 1000 + number(t, 3, next), t);
      }
      case Key::kMonthName:
        return set(&month_, name(t, kMonthNames, 0) + 1, t);
      case Key::kMonthShort:
        return set(&month_, name(t, kMonthNames, 3) + 1, t);
      case Key::kMonth:
        return set(&month_, number(t, 2, next), t);
      case Key::kRomanMonth:
        return set(&month_, name(t, kRomanMonths, 0) + 1, t);
      case Key::kDayName:
        week_day_ = name(t, kDayNames, 0);
        return;
      case Key::kDayShort:
        week_day_ = name(t, kDayNames, 3);
        return;
      case Key::kDayOfYear:
        return set(&day_of_year_, number(t, 3, next), t);
      case Key::kIsoDayOfYear:
        iso_ = true;
        return set(&day_of_year_, number(t, 3, next), t);
      case Key::kDay:
        return set(&day_, number(t, 2, next), t);
      case Key::kDayOfWeek:
        week_day_ = number(t, 1, next) - 1;
        return;
      case Key::kIsoDayOfWeek:
        week_day_ = number(t, 1, next) % 7;
        return;
      case Key::kWeekOfMonth:
        week_of_month_ = number(t, 1, next);
        return;
      case Key::kWeek:
        week_ = number(t, 2, next);
        return;
      case Key::kIsoWeek:
        iso_ = true;
        week_ = number(t, 2, next);
        return;
      case Key::kCentury:
        century_ = number(t, 2, next);
        return;
      case Key::kJulian:
        julian_ = number(t, 9, next);
        return;
      case Key::kQuarter:
        number(t, 1, next);
        return;  // read and not used, as in PostgreSQL
      case Key::kZoneHour: {
        if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-'))
          zone_sign_ = text_[at_++] == '-' ? -1 : 1;
        zone_hour_ = number(t, 2, next);
        has_zone_ = true;
        return;
      }
      case Key::kZoneMinute:
        zone_minute_ = number(t, 2, next);
        return;
      case Key::kZone:
      case Key::kZoneOffset:
        throw SqlError{sqlstate::kFeatureNotSupported,
                       "formatting field \"" + t.text + "\" is only supported in to_char"};
    }
  }

  void fraction(const Token& t, int digits, const Token* next) {
    int value = number(t, digits, next);
    for (int i = digits_taken_; i < 6; ++i) value *= 10;
    for (int i = 6; i < digits_taken_; ++i) value /= 10;
    microsecond_ = value;
  }

  /// Short years are near 2020, as in PostgreSQL.
  int complete_year(int value, int digits) const {
    if (digits >= 4 || digits_taken_ >= 4 || digits_taken_ > digits) return value;
    if (value < 70) return value + 2000;
    if (value < 100) return value + 1900;
    if (value < 520) return value + 2000;
    if (value < 1000) return value + 1000;
    return value;
  }

  [[noreturn]] void out_of_range() const {
    throw SqlError{sqlstate::kDatetimeFieldOverflow,
                   "date/time field value out of range: \"" + std::string{text_} + "\""};
  }

  CivilTime resolve() const {
    const auto or_zero = [](int v, int otherwise) { return v == kUnset ? otherwise : v; };
    CivilTime c;
    c.year = or_zero(year_, century_ != kUnset ? (century_ - 1) * 100 + 1 : 0);
    if (year_ != kUnset && century_ != kUnset)
      c.year = year_ % 100 + (year_ % 100 == 0 ? century_ : century_ - 1) * 100;
    if (before_christ_) c.year = c.year > 0 ? 1 - c.year : c.year;
    if (year_ != kUnset && year_ < 0 && !before_christ_) c.year = year_ + 1;
    c.month = or_zero(month_, 1);
    c.day = or_zero(day_, 1);
    if (c.month < 1 || c.month > 12) out_of_range();
    if (julian_ != kUnset) {
      civil_from_days(julian_ - kEpochJulianDay, &c.year, &c.month, &c.day);
    } else if (iso_ && week_ != kUnset) {
      const int weekday = week_day_ == kUnset ? 1 : week_day_ == 0 ? 7 : week_day_;
      const std::int32_t fourth = days_from_civil(c.year, 1, 4);
      const std::int32_t monday = fourth - (day_of_week(fourth) + 6) % 7;
      civil_from_days(monday + (week_ - 1) * 7 + weekday - 1, &c.year, &c.month, &c.day);
    } else if (day_of_year_ != kUnset && iso_) {
      const std::int32_t fourth = days_from_civil(c.year, 1, 4);
      civil_from_days(fourth - (day_of_week(fourth) + 6) % 7 + day_of_year_ - 1, &c.year, &c.month, &c.day);
    } else if (day_of_year_ != kUnset && month_ == kUnset) {
      if (year_ == kUnset) {
        throw SqlError{sqlstate::kInvalidDatetimeFormat,
                       "cannot calculate day of year without year information"};
      }
      civil_from_days(days_from_civil(c.year, 1, 1) + day_of_year_ - 1, &c.year, &c.month, &c.day);
    } else if (week_ != kUnset) {
      civil_from_days(days_from_civil(c.year, 1, 1) + (week_ - 1) * 7, &c.year, &c.month, &c.day);
    } else if (week_of_month_ != kUnset) {
      c.day = (week_of_month_ - 1) * 7 + 1;
    }
    if (c.day < 1 || c.day > days_in_month(c.year, c.month)) out_of_range();
    c.hour = or_zero(hour_, 0);
    if (twelve_hours_) {
      if (c.hour < 1 || c.hour > 12) {
        throw SqlError{sqlstate::kInvalidDatetimeFormat,
                       "hour \"" + std::to_string(c.hour) + "\" is invalid for the 12-hour clock"}
            .hint("Use the 24-hour clock, or give an hour between 1 and 12.");
      }
      if (meridiem_ == 2 && c.hour < 12) c.hour += 12;
      if (meridiem_ == 1 && c.hour == 12) c.hour = 0;
    }
    c.minute = or_zero(minute_, 0);
    c.second = or_zero(second_, 0);
    c.microsecond = microsecond_;
    if (c.hour > 24 || c.minute > 59 || c.second > 59 ||
        (c.hour == 24 && (c.minute || c.second || c.microsecond)))
      out_of_range();
    return c;
  }

  static constexpr int kUnset = INT32_MIN;
  std::string_view text_;
  std::vector<Token> tokens_;
  bool exact_ = false;
  std::size_t at_ = 0;
  int digits_taken_ = 0;
  int year_ = kUnset, month_ = kUnset, day_ = kUnset, hour_ = kUnset, minute_ = kUnset, second_ = kUnset;
  int day_of_year_ = kUnset, week_ = kUnset, week_of_month_ = kUnset, week_day_ = kUnset, century_ = kUnset;
  int julian_ = kUnset;
  int microsecond_ = 0;
  int meridiem_ = 0;
  bool twelve_hours_ = false;
  bool before_christ_ = false;
  bool iso_ = false;
  bool has_zone_ = false;
  int zone_sign_ = 1, zone_hour_ = 0, zone_minute_ = 0;
};

CivilTime read_fields(FunctionCall& c, bool* has_zone, std::int32_t* zone_s) {
  // Without a year the text means year zero, which is 1 BC.
  return DateReader{c.text(0), c.text(1)}.run(has_zone, zone_s);
}

Datum to_timestamp(FunctionCall& c) {
  bool has_zone;
  std::int32_t zone_s;
  std::int64_t local;
  if (!timestamp_from_civil(read_fields(c, &has_zone, &zone_s), &local)) throw_timestamp_range();
  return Datum::from_int64(has_zone ? local - zone_s * kUsPerSecond
                                    : local_to_utc(local, zone_of(*c.context)));
}

Datum to_date(FunctionCall& c) {
  bool has_zone;
  std::int32_t zone_s;
  const CivilTime civil = read_fields(c, &has_zone, &zone_s);
  if (civil.year < -4713 || civil.year > 5874897) {
    throw SqlError{sqlstate::kDatetimeFieldOverflow, "date out of range: \"" + std::string{c.text(0)} + "\""};
  }
  return Datum::from_int32(days_from_civil(civil.year, civil.month, civil.day));
}

constexpr BuiltinFunction kFunctions[] = {
    {"timestamp_to_char", timestamp_to_char},
    {"timestamptz_to_char", timestamptz_to_char},
    {"interval_to_char", interval_to_char},
    {"to_timestamp", to_timestamp},
    {"to_date", to_date},
};

}  // namespace

std::span<const BuiltinFunction> date_format_functions() { return kFunctions; }

}  // namespace pinwheel::sql::functions
