#include <strings.h>

#include <algorithm>
#include <cctype>

#include "sql/functions/date_picture.h"
#include "sql/functions/tables.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/time_zone.h"

/// to_date() and to_timestamp(): text read by a picture.
namespace pinwheel::sql::functions {

namespace {

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

constexpr BuiltinFunction kDateReadFunctions[] = {
    {"to_timestamp", to_timestamp},
    {"to_date", to_date},
};

}  // namespace

std::span<const BuiltinFunction> date_read_functions() { return kDateReadFunctions; }

}  // namespace pinwheel::sql::functions
