#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/eval_context.h"
#include "sql/types/int128.h"

/// Dates and times as numbers: date = days from 2000-01-01, time = microseconds of the day, timestamp =
/// microseconds from 2000-01-01 00:00 (local, or UTC with time zone). The proleptic Gregorian calendar.
namespace pinwheel::sql {

inline constexpr std::int64_t kUsPerSecond = 1'000'000;
inline constexpr std::int64_t kUsPerMinute = 60 * kUsPerSecond;
inline constexpr std::int64_t kUsPerHour = 60 * kUsPerMinute;
inline constexpr std::int64_t kUsPerDay = 24 * kUsPerHour;
inline constexpr int kDaysPerMonth = 30;  // where intervals need one
inline constexpr int kMonthsPerYear = 12;

inline constexpr std::int64_t kTimestampInfinity = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kTimestampMinusInfinity = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int32_t kDateInfinity = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int32_t kDateMinusInfinity = std::numeric_limits<std::int32_t>::min();
/// 4714-11-24 BC and 294277-01-01 AD (exclusive).
inline constexpr std::int64_t kMinTimestamp = -211'813'488'000'000'000;
inline constexpr std::int64_t kEndTimestamp = 9'223'371'331'200'000'000;
/// 4714-11-24 BC and 5874898-01-01 (exclusive).
inline constexpr std::int32_t kMinDate = -2'451'545;
inline constexpr std::int32_t kEndDate = 2'145'031'949;
/// Julian day number of 2000-01-01 and days from 1970-01-01 to it.
inline constexpr int kEpochJulianDay = 2'451'545;
inline constexpr int kUnixEpochDays = 10'957;

inline bool is_finite_timestamp(std::int64_t t) {
  return t != kTimestampInfinity && t != kTimestampMinusInfinity;
}
inline bool is_finite_date(std::int32_t d) { return d != kDateInfinity && d != kDateMinusInfinity; }
inline bool is_valid_timestamp(std::int64_t t) { return t >= kMinTimestamp && t < kEndTimestamp; }

/// Broken-down time. Year 0 is 1 BC.
struct CivilTime {
  int year = 2000;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

/// On disk and in memory, by pointer: 16 bytes.
struct Interval {
  std::int64_t us = 0;
  std::int32_t days = 0;
  std::int32_t months = 0;
};
static_assert(sizeof(Interval) == 16);
inline Interval load_interval(Datum v) { return load<Interval>(v.as_pointer()); }
Datum make_interval(Arena& arena, Interval value);

/// By pointer: 12 bytes. `zone_s` counts west of Greenwich, as PostgreSQL stores it.
struct TimeTz {
  std::int64_t us = 0;
  std::int32_t zone_s = 0;
};
inline constexpr std::size_t kTimeTzSize = 12;
TimeTz load_timetz(Datum v);
Datum make_timetz(Arena& arena, TimeTz value);

std::int32_t days_from_civil(int year, int month, int day);
void civil_from_days(std::int32_t days, int* year, int* month, int* day);
int days_in_month(int year, int month);
/// 0 = Sunday.
int day_of_week(std::int32_t days);
int day_of_year(int year, int month, int day);
int iso_week(std::int32_t days, int* iso_year);

CivilTime civil_from_timestamp(std::int64_t timestamp);
/// False when out of range.
bool timestamp_from_civil(const CivilTime& civil, std::int64_t* timestamp);

/// Splits into floor days and microseconds of the day.
void split_timestamp(std::int64_t timestamp, std::int32_t* days, std::int64_t* us);

const TimeZone& zone_of(const EvalContext& eval);
std::int64_t utc_to_local(std::int64_t utc, const TimeZone& zone);
/// Errors: 22008.
std::int64_t local_to_utc(std::int64_t local, const TimeZone& zone);

/// Rounds microseconds to `precision` digits (0..6; -1 = as it is).
std::int64_t round_time(std::int64_t us, int precision);
Interval apply_interval_typmod(Interval value, int typmod);

// Conversions between the types. Errors: 22008 out of range.
std::int64_t date_to_timestamp(std::int32_t date);
std::int64_t date_to_timestamptz(std::int32_t date, const TimeZone& zone);
std::int32_t timestamp_to_date(std::int64_t timestamp);

std::int64_t timestamp_plus_interval(std::int64_t timestamp, Interval span);
std::int64_t timestamptz_plus_interval(std::int64_t timestamp, Interval span, const TimeZone& zone);
Interval negate_interval(Interval span);
/// Fractions of months and days spill into the smaller fields. Errors: 22008.
Interval multiply_interval(Interval span, double factor);
Interval divide_interval(Interval span, double divisor);
/// Length in microseconds with 30-day months, for ordering.
Int128 interval_length(Interval span);
Interval justify_hours(Interval span);
Interval justify_days(Interval span);
Interval justify_interval(Interval span);

[[noreturn]] void throw_timestamp_range();
[[noreturn]] void throw_date_range();
[[noreturn]] void throw_interval_range();

// Text. Parsing errors: 22007, 22008, 22009.
std::int32_t parse_date(std::string_view text, const EvalContext& eval);
std::int64_t parse_time(std::string_view text, const EvalContext& eval);
TimeTz parse_timetz(std::string_view text, const EvalContext& eval);
std::int64_t parse_timestamp(std::string_view text, const EvalContext& eval);
std::int64_t parse_timestamptz(std::string_view text, const EvalContext& eval);
/// `typmod` tells the fields an INTERVAL HOUR TO MINUTE and the like has; -1 = all.
Interval parse_interval(std::string_view text, IntervalStyle style, int typmod);

void append_date(std::string& out, std::int32_t date, const EvalContext& eval);
void append_time(std::string& out, std::int64_t us);
void append_timetz(std::string& out, TimeTz value);
void append_timestamp(std::string& out, std::int64_t timestamp, const EvalContext& eval);
void append_timestamptz(std::string& out, std::int64_t timestamp, const EvalContext& eval);
void append_interval(std::string& out, Interval span, IntervalStyle style);
/// "+02", "-03:30": `offset_s` east of Greenwich.
void append_zone_offset(std::string& out, std::int32_t offset_s);

inline constexpr std::string_view kMonthNames[] = {"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
inline constexpr std::string_view kDayNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                 "Thursday", "Friday", "Saturday"};

// Bits of an interval typmod's field mask, as PostgreSQL's grammar makes them.
inline constexpr int kIntervalMonth = 1 << 1;
inline constexpr int kIntervalYear = 1 << 2;
inline constexpr int kIntervalDay = 1 << 3;
inline constexpr int kIntervalHour = 1 << 10;
inline constexpr int kIntervalMinute = 1 << 11;
inline constexpr int kIntervalSecond = 1 << 12;
inline constexpr int kIntervalFullRange = 0x7FFF;
inline constexpr int kIntervalFullPrecision = 0xFFFF;

}  // namespace pinwheel::sql
