#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// The format pictures of to_char(), to_date() and to_timestamp(). Private to sql/functions.
namespace pinwheel::sql::functions {

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

/// One keyword or literal of a picture.
struct Token {
  Key key = Key::kLiteral;
  int digits = 0;
  std::string text;  // literal, or the keyword as written (its case tells that of names)
  bool fill = true;  // no FM
  bool ordinal = false;
  bool ordinal_upper = false;
  bool quoted = false;
};

/// `*exact` tells whether FX was given.
std::vector<Token> read_format(std::string_view format, bool* exact);

inline constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                                    "VII", "VIII", "IX",  "X",  "XI", "XII"};

}  // namespace pinwheel::sql::functions
