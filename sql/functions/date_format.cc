#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "sql/functions/date_picture.h"
#include "sql/functions/tables.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/time_zone.h"

/// to_char() of dates, times and intervals.
namespace pinwheel::sql::functions {

namespace {

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

constexpr BuiltinFunction kDateFormatFunctions[] = {
    {"timestamp_to_char", timestamp_to_char},
    {"timestamptz_to_char", timestamptz_to_char},
    {"interval_to_char", interval_to_char},
};

}  // namespace

std::span<const BuiltinFunction> date_format_functions() { return kDateFormatFunctions; }

}  // namespace pinwheel::sql::functions
