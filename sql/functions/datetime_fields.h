#pragma once

#include <cstdint>
#include <string_view>

#include "sql/functions/function.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"

/// The fields that extract(), date_part() and date_trunc() name. Private to sql/functions.
namespace pinwheel::sql::functions {

enum class Field : std::uint8_t {
  kUnknown,
  kMicroseconds,
  kMilliseconds,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kQuarter,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
  kJulian,
  kIsoYear,
  kDayOfWeek,
  kIsoDayOfWeek,
  kDayOfYear,
  kEpoch,
  kTimezone,
  kTimezoneHour,
  kTimezoneMinute,
};

/// Any case; kUnknown when it is none.
Field find_field(std::string_view name);

/// What a field of a value is: value / 10^scale, an infinity, or NULL.
struct FieldValue {
  enum class Kind : std::uint8_t { kFinite, kNull, kInfinity, kMinusInfinity, kUnsupported };
  Kind kind = Kind::kFinite;
  Int128 value = 0;
  int scale = 0;
};

FieldValue field_of_timestamp(Field field, std::int64_t local, std::int64_t utc,
                              const TimeZone::Moment* zone);
FieldValue field_of_date(Field field, std::int32_t date);
FieldValue field_of_time(Field field, std::int64_t us, const std::int32_t* zone_s);
FieldValue field_of_interval(Field field, Interval span);

/// Start of the unit that `local` lies in. False when the field is no unit.
bool truncate_timestamp(Field field, std::int64_t local, std::int64_t* result);
bool truncate_interval(Field field, Interval span, Interval* result);

}  // namespace pinwheel::sql::functions
