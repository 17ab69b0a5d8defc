#include "sql/functions/datetime_fields.h"

#include <strings.h>

#include <algorithm>

namespace pinwheel::sql::functions {

namespace {

constexpr struct {
  std::string_view name;
  Field field;
} kFields[] = {
    {"microseconds", Field::kMicroseconds},
    {"microsecond", Field::kMicroseconds},
    {"microsecon", Field::kMicroseconds},
    {"us", Field::kMicroseconds},
    {"usec", Field::kMicroseconds},
    {"usecs", Field::kMicroseconds},
    {"useconds", Field::kMicroseconds},
    {"milliseconds", Field::kMilliseconds},
    {"millisecond", Field::kMilliseconds},
    {"millisecon", Field::kMilliseconds},
    {"ms", Field::kMilliseconds},
    {"msec", Field::kMilliseconds},
    {"msecs", Field::kMilliseconds},
    {"mseconds", Field::kMilliseconds},
    {"second", Field::kSecond},
    {"seconds", Field::kSecond},
    {"sec", Field::kSecond},
    {"secs", Field::kSecond},
    {"s", Field::kSecond},
    {"minute", Field::kMinute},
    {"minutes", Field::kMinute},
    {"min", Field::kMinute},
    {"mins", Field::kMinute},
    {"m", Field::kMinute},
    {"hour", Field::kHour},
    {"hours", Field::kHour},
    {"hr", Field::kHour},
    {"hrs", Field::kHour},
    {"h", Field::kHour},
    {"day", Field::kDay},
    {"days", Field::kDay},
    {"d", Field::kDay},
    {"week", Field::kWeek},
    {"weeks", Field::kWeek},
    {"w", Field::kWeek},
    {"month", Field::kMonth},
    {"months", Field::kMonth},
    {"mon", Field::kMonth},
    {"mons", Field::kMonth},
    {"quarter", Field::kQuarter},
    {"qtr", Field::kQuarter},
    {"year", Field::kYear},
    {"years", Field::kYear},
    {"yr", Field::kYear},
    {"yrs", Field::kYear},
    {"y", Field::kYear},
    {"decade", Field::kDecade},
    {"decades", Field::kDecade},
    {"dec", Field::kDecade},
    {"decs", Field::kDecade},
    {"century", Field::kCentury},
    {"centuries", Field::kCentury},
    {"cent", Field::kCentury},
    {"c", Field::kCentury},
    {"millennium", Field::kMillennium},
    {"millennia", Field::kMillennium},
    {"mil", Field::kMillennium},
    {"mils", Field::kMillennium},
    {"julian", Field::kJulian},
    {"isoyear", Field::kIsoYear},
    {"dow", Field::kDayOfWeek},
    {"isodow", Field::kIsoDayOfWeek},
    {"doy", Field::kDayOfYear},
    {"epoch", Field::kEpoch},
    {"timezone", Field::kTimezone},
    {"timezone_h", Field::kTimezoneHour},
    {"timezone_hour", Field::kTimezoneHour},
    {"timezone_m", Field::kTimezoneMinute},
    {"timezone_minute", Field::kTimezoneMinute},
};

FieldValue integer(std::int64_t value) { return {FieldValue::Kind::kFinite, value, 0}; }
FieldValue scaled(Int128 value, int scale) { return {FieldValue::Kind::kFinite, value, scale}; }
constexpr FieldValue kUnsupported{FieldValue::Kind::kUnsupported, 0, 0};

int decade_of(int year) { return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10); }
int century_of(int year) { return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100); }
int millennium_of(int year) { return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000); }

/// Infinite moments: fields that grow for ever are infinite, those that repeat are NULL.
FieldValue field_of_infinity(Field field, bool positive) {
  switch (field) {
    case Field::kYear:
    case Field::kDecade:
    case Field::kCentury:
    case Field::kMillennium:
    case Field::kJulian:
    case Field::kIsoYear:
    case Field::kEpoch:
      return {positive ? FieldValue::Kind::kInfinity : FieldValue::Kind::kMinusInfinity, 0, 0};
    case Field::kUnknown:
      return kUnsupported;
    default:
      return {FieldValue::Kind::kNull, 0, 0};
  }
}

FieldValue field_of_clock(Field field, std::int64_t us) {
  switch (field) {
    case Field::kMicroseconds:
      return integer(us % kUsPerMinute);
    case Field::kMilliseconds:
      return scaled(us % kUsPerMinute, 3);
    case Field::kSecond:
      return scaled(us % kUsPerMinute, 6);
    case Field::kMinute:
      return integer(us / kUsPerMinute % 60);
    case Field::kHour:
      return integer(us / kUsPerHour);
    default:
      return kUnsupported;
  }
}

FieldValue field_of_calendar(Field field, std::int32_t days) {
  int year, month, day;
  civil_from_days(days, &year, &month, &day);
  switch (field) {
    case Field::kDay:
      return integer(day);
    case Field::kMonth:
      return integer(month);
    case Field::kQuarter:
      return integer((month - 1) / 3 + 1);
    case Field::kWeek: {
      int iso_year;
      return integer(iso_week(days, &iso_year));
    }
    // There is no year zero: 1 BC is -1.
    case Field::kYear:
      return integer(year > 0 ? year : year - 1);
    case Field::kDecade:
      return integer(decade_of(year));
    case Field::kCentury:
      return integer(century_of(year));
    case Field::kMillennium:
      return integer(millennium_of(year));
    case Field::kIsoYear: {
      int iso_year;
      iso_week(days, &iso_year);
      return integer(iso_year > 0 ? iso_year : iso_year - 1);
    }
    case Field::kDayOfWeek:
      return integer(day_of_week(days));
    case Field::kIsoDayOfWeek:
      return integer(day_of_week(days) == 0 ? 7 : day_of_week(days));
    case Field::kDayOfYear:
      return integer(day_of_year(year, month, day));
    default:
      return kUnsupported;
  }
}

FieldValue field_of_zone(Field field, std::int32_t offset_s) {
  switch (field) {
    case Field::kTimezone:
      return integer(offset_s);
    case Field::kTimezoneHour:
      return integer(offset_s / 3600);
    case Field::kTimezoneMinute:
      return integer(offset_s / 60 % 60);
    default:
      return kUnsupported;
  }
}

}  // namespace

Field find_field(std::string_view name) {
  for (const auto& entry : kFields) {
    if (entry.name.size() == name.size() && strncasecmp(entry.name.data(), name.data(), name.size()) == 0)
      return entry.field;
  }
  return Field::kUnknown;
}

FieldValue field_of_timestamp(Field field, std::int64_t local, std::int64_t utc,
                              const TimeZone::Moment* zone) {
  if (!is_finite_timestamp(local)) return field_of_infinity(field, local > 0);
  std::int32_t days;
  std::int64_t us;
  split_timestamp(local, &days, &us);
  switch (field) {
    case Field::kEpoch:
      return scaled(static_cast<Int128>(utc) + static_cast<Int128>(kUnixEpochDays) * kUsPerDay, 6);
    case Field::kJulian: {
      // Days and the fraction of the day; scale as PostgreSQL's division gives it, filled in by the caller.
      const Int128 total = (static_cast<Int128>(days) + kEpochJulianDay) * kUsPerDay + us;
      return scaled(total, -1);
    }
    case Field::kTimezone:
    case Field::kTimezoneHour:
    case Field::kTimezoneMinute:
      return zone ? field_of_zone(field, zone->offset_s) : kUnsupported;
    default:
      break;
  }
  const FieldValue value = field_of_clock(field, us);
  return value.kind == FieldValue::Kind::kUnsupported ? field_of_calendar(field, days) : value;
}

FieldValue field_of_date(Field field, std::int32_t date) {
  if (!is_finite_date(date)) {
    const FieldValue value = field_of_infinity(field, date > 0);
    if (value.kind == FieldValue::Kind::kNull &&
        field_of_calendar(field, 0).kind == FieldValue::Kind::kUnsupported) {
      return kUnsupported;
    }
    return value;
  }
  if (field == Field::kEpoch) return integer((static_cast<std::int64_t>(date) + kUnixEpochDays) * 86400);
  if (field == Field::kJulian) return integer(static_cast<std::int64_t>(date) + kEpochJulianDay);
  return field_of_calendar(field, date);
}

FieldValue field_of_time(Field field, std::int64_t us, const std::int32_t* zone_s) {
  if (field == Field::kEpoch) return scaled(us + (zone_s ? *zone_s * kUsPerSecond : 0), 6);
  if (zone_s) {
    const FieldValue value = field_of_zone(field, -*zone_s);
    if (value.kind != FieldValue::Kind::kUnsupported) return value;
  }
  return field_of_clock(field, us);
}

FieldValue field_of_interval(Field field, Interval span) {
  const int years = span.months / 12;
  switch (field) {
    case Field::kDay:
      return integer(span.days);
    case Field::kMonth:
      return integer(span.months % 12);
    case Field::kQuarter:
      return integer(span.months % 12 / 3 + 1);
    case Field::kYear:
      return integer(years);
    case Field::kDecade:
      return integer(years / 10);
    case Field::kCentury:
      return integer(years / 100);
    case Field::kMillennium:
      return integer(years / 1000);
    case Field::kEpoch: {
      // A year counts 365.25 days, a month of the rest 30.
      const Int128 quarter_days =
          static_cast<Int128>(1461) * years + 4 * (static_cast<Int128>(30) * (span.months % 12) + span.days);
      return scaled(quarter_days * (kUsPerDay / 4) + span.us, 6);
    }
    default:
      return field_of_clock(field, span.us);
  }
}

bool truncate_timestamp(Field field, std::int64_t local, std::int64_t* result) {
  std::int32_t days;
  std::int64_t us;
  split_timestamp(local, &days, &us);
  int year, month, day;
  civil_from_days(days, &year, &month, &day);
  const auto start_of = [&](int y, int m, int d) {
    *result = static_cast<std::int64_t>(days_from_civil(y, m, d)) * kUsPerDay;
    return true;
  };
  const auto floor_to = [&](std::int64_t unit) {
    *result = days * kUsPerDay + us / unit * unit;
    return true;
  };
  switch (field) {
    case Field::kMicroseconds:
      return floor_to(1);
    case Field::kMilliseconds:
      return floor_to(1000);
    case Field::kSecond:
      return floor_to(kUsPerSecond);
    case Field::kMinute:
      return floor_to(kUsPerMinute);
    case Field::kHour:
      return floor_to(kUsPerHour);
    case Field::kDay:
      return floor_to(kUsPerDay);
    case Field::kWeek:
      *result = (static_cast<std::int64_t>(days) - (day_of_week(days) + 6) % 7) * kUsPerDay;
      return true;
    case Field::kMonth:
      return start_of(year, month, 1);
    case Field::kQuarter:
      return start_of(year, (month - 1) / 3 * 3 + 1, 1);
    case Field::kYear:
      return start_of(year, 1, 1);
    case Field::kDecade:
      return start_of(year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10, 1, 1);
    case Field::kCentury:
      return start_of(year > 0 ? (year + 99) / 100 * 100 - 99 : -((99 - (year - 1)) / 100) * 100 + 1, 1, 1);
    case Field::kMillennium:
      return start_of(year > 0 ? (year + 999) / 1000 * 1000 - 999 : -((999 - (year - 1)) / 1000) * 1000 + 1,
                      1, 1);
    default:
      return false;
  }
}

bool truncate_interval(Field field, Interval span, Interval* result) {
  *result = span;
  const auto months_to = [&](int unit) {
    *result = {0, 0, span.months / unit * unit};
    return true;
  };
  const auto us_to = [&](std::int64_t unit) {
    result->us = span.us / unit * unit;
    return true;
  };
  switch (field) {
    case Field::kMicroseconds:
      return true;
    case Field::kMilliseconds:
      return us_to(1000);
    case Field::kSecond:
      return us_to(kUsPerSecond);
    case Field::kMinute:
      return us_to(kUsPerMinute);
    case Field::kHour:
      return us_to(kUsPerHour);
    case Field::kDay:
      result->us = 0;
      return true;
    case Field::kMonth:
      return months_to(1);
    case Field::kQuarter:
      return months_to(3);
    case Field::kYear:
      return months_to(12);
    case Field::kDecade:
      return months_to(120);
    case Field::kCentury:
      return months_to(1200);
    case Field::kMillennium:
      return months_to(12000);
    default:
      return false;
  }
}

}  // namespace pinwheel::sql::functions
