#include "sql/types/datetime.h"

#include <cmath>

#include "sql/types/io_errors.h"
#include "sql/types/time_zone.h"

namespace pinwheel::sql {

void throw_timestamp_range() { throw SqlError{sqlstate::kDatetimeFieldOverflow, "timestamp out of range"}; }
void throw_date_range() { throw SqlError{sqlstate::kDatetimeFieldOverflow, "date out of range"}; }
void throw_interval_range() { throw SqlError{sqlstate::kDatetimeFieldOverflow, "interval out of range"}; }

Datum make_interval(Arena& arena, Interval value) { return Datum::from_pointer(arena.make<Interval>(value)); }

TimeTz load_timetz(Datum v) {
  TimeTz value;
  value.us = load<std::int64_t>(v.as_pointer());
  value.zone_s = load<std::int32_t>(v.as_pointer() + 8);
  return value;
}
Datum make_timetz(Arena& arena, TimeTz value) {
  auto* to = static_cast<std::uint8_t*>(arena.allocate(kTimeTzSize, 8));
  store<std::int64_t>(to, value.us);
  store<std::int32_t>(to + 8, value.zone_s);
  return Datum::from_pointer(to);
}

// Days from civil and back: eras of 400 years that begin on 1 March (H. Hinnant, "chrono-compatible low-level
// date algorithms", 2013).
std::int32_t days_from_civil(int year, int month, int day) {
  const std::int64_t y = static_cast<std::int64_t>(year) - (month <= 2);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_era_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_era_year;
  return static_cast<std::int32_t>(era * 146097 + day_of_era - 719468 - kUnixEpochDays);
}

void civil_from_days(std::int32_t days, int* year, int* month, int* day) {
  const std::int64_t z = static_cast<std::int64_t>(days) + kUnixEpochDays + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const std::int64_t day_of_era = z - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t m = (5 * day_of_year + 2) / 153;
  *day = static_cast<int>(day_of_year - (153 * m + 2) / 5 + 1);
  *month = static_cast<int>(m < 10 ? m + 3 : m - 9);
  *year = static_cast<int>(year_of_era + era * 400 + (*month <= 2));
}

int days_in_month(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[month - 1];
}

int day_of_week(std::int32_t days) {
  const int day = static_cast<int>((static_cast<std::int64_t>(days) + 6) % 7);  // 2000-01-01 was a Saturday
  return day < 0 ? day + 7 : day;
}

int day_of_year(int year, int month, int day) {
  return days_from_civil(year, month, day) - days_from_civil(year, 1, 1) + 1;
}

int iso_week(std::int32_t days, int* iso_year) {
  // The week's Thursday decides the year it belongs to.
  const int monday_based = (day_of_week(days) + 6) % 7;
  const std::int32_t thursday = days - monday_based + 3;
  int month, day;
  civil_from_days(thursday, iso_year, &month, &day);
  return (thursday - days_from_civil(*iso_year, 1, 1)) / 7 + 1;
}

void split_timestamp(std::int64_t timestamp, std::int32_t* days, std::int64_t* us) {
  std::int64_t day = timestamp / kUsPerDay;
  std::int64_t rest = timestamp % kUsPerDay;
  if (rest < 0) {
    rest += kUsPerDay;
    --day;
  }
  *days = static_cast<std::int32_t>(day);
  *us = rest;
}

CivilTime civil_from_timestamp(std::int64_t timestamp) {
  std::int32_t days;
  std::int64_t us;
  split_timestamp(timestamp, &days, &us);
  CivilTime civil;
  civil_from_days(days, &civil.year, &civil.month, &civil.day);
  civil.hour = static_cast<int>(us / kUsPerHour);
  civil.minute = static_cast<int>(us / kUsPerMinute % 60);
  civil.second = static_cast<int>(us / kUsPerSecond % 60);
  civil.microsecond = static_cast<int>(us % kUsPerSecond);
  return civil;
}

bool timestamp_from_civil(const CivilTime& civil, std::int64_t* timestamp) {
  if (civil.year < -4713 || civil.year > 294276) return false;
  const std::int64_t days = days_from_civil(civil.year, civil.month, civil.day);
  const std::int64_t us =
      civil.hour * kUsPerHour + civil.minute * kUsPerMinute + civil.second * kUsPerSecond + civil.microsecond;
  *timestamp = 0;
  return !__builtin_mul_overflow(days, kUsPerDay, timestamp) &&
         !__builtin_add_overflow(*timestamp, us, timestamp) && is_valid_timestamp(*timestamp);
}

const TimeZone& zone_of(const EvalContext& eval) {
  return eval.time_zone ? *eval.time_zone : *TimeZone::utc();
}

std::int64_t utc_to_local(std::int64_t utc, const TimeZone& zone) {
  return utc + zone.at(utc).offset_s * kUsPerSecond;
}

std::int64_t local_to_utc(std::int64_t local, const TimeZone& zone) {
  const std::int64_t utc = local - zone.offset_of_local(local) * kUsPerSecond;
  if (!is_valid_timestamp(utc)) throw_timestamp_range();
  return utc;
}

std::int64_t round_time(std::int64_t us, int precision) {
  static constexpr std::int64_t kUnits[] = {1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
  if (precision < 0 || precision >= 6) return us;
  const std::int64_t unit = kUnits[precision];
  return us >= 0 ? (us + unit / 2) / unit * unit : -((-us + unit / 2) / unit * unit);
}

std::int64_t date_to_timestamp(std::int32_t date) {
  if (date == kDateInfinity) return kTimestampInfinity;
  if (date == kDateMinusInfinity) return kTimestampMinusInfinity;
  const std::int64_t days = date;
  if (days >= kEndTimestamp / kUsPerDay) {
    throw SqlError{sqlstate::kDatetimeFieldOverflow, "date out of range for timestamp"};
  }
  return days * kUsPerDay;
}

std::int64_t date_to_timestamptz(std::int32_t date, const TimeZone& zone) {
  const std::int64_t local = date_to_timestamp(date);
  return is_finite_timestamp(local) ? local_to_utc(local, zone) : local;
}

std::int32_t timestamp_to_date(std::int64_t timestamp) {
  if (timestamp == kTimestampInfinity) return kDateInfinity;
  if (timestamp == kTimestampMinusInfinity) return kDateMinusInfinity;
  std::int32_t days;
  std::int64_t us;
  split_timestamp(timestamp, &days, &us);
  return days;
}

namespace {

/// Adds months (clipping to the month's end), then days.
std::int64_t add_calendar(std::int64_t timestamp, Interval span) {
  if (span.months != 0) {
    CivilTime civil = civil_from_timestamp(timestamp);
    const std::int64_t months = static_cast<std::int64_t>(civil.year) * 12 + civil.month - 1 + span.months;
    const std::int64_t year = months >= 0 ? months / 12 : -((-months + 11) / 12);
    if (year < -4714 || year > 294277) throw_timestamp_range();
    civil.year = static_cast<int>(year);
    civil.month = static_cast<int>(months - year * 12) + 1;
    civil.day = std::min(civil.day, days_in_month(civil.year, civil.month));
    if (!timestamp_from_civil(civil, &timestamp)) throw_timestamp_range();
  }
  if (span.days != 0) {
    if (__builtin_add_overflow(timestamp, span.days * kUsPerDay, &timestamp)) throw_timestamp_range();
    if (!is_valid_timestamp(timestamp)) throw_timestamp_range();
  }
  return timestamp;
}

std::int64_t add_us(std::int64_t timestamp, std::int64_t us) {
  if (__builtin_add_overflow(timestamp, us, &timestamp) || !is_valid_timestamp(timestamp))
    throw_timestamp_range();
  return timestamp;
}

}  // namespace

std::int64_t timestamp_plus_interval(std::int64_t timestamp, Interval span) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  return add_us(add_calendar(timestamp, span), span.us);
}

std::int64_t timestamptz_plus_interval(std::int64_t timestamp, Interval span, const TimeZone& zone) {
  if (!is_finite_timestamp(timestamp)) return timestamp;
  // Months and days move the local calendar; the time part moves the clock.
  if (span.months != 0) {
    timestamp = local_to_utc(add_calendar(utc_to_local(timestamp, zone), {0, 0, span.months}), zone);
  }
  if (span.days != 0) {
    timestamp = local_to_utc(add_calendar(utc_to_local(timestamp, zone), {0, span.days, 0}), zone);
  }
  return add_us(timestamp, span.us);
}

Interval negate_interval(Interval span) {
  Interval result;
  if (__builtin_sub_overflow(std::int64_t{0}, span.us, &result.us) ||
      __builtin_sub_overflow(0, span.days, &result.days) ||
      __builtin_sub_overflow(0, span.months, &result.months)) {
    throw_interval_range();
  }
  return result;
}

namespace {

/// Rounds to microseconds, so that a fraction that is a whole day but for floating point becomes one.
double round_us(double seconds) { return std::rint(seconds * 1e6) / 1e6; }

/// The span whose months, days and microseconds are the given real numbers.
Interval from_real_fields(double months, double days, double us) {
  const auto fits = [](double v) { return !std::isnan(v) && v >= INT32_MIN && v <= INT32_MAX; };
  if (!fits(months) || !fits(days)) throw_interval_range();
  Interval result;
  result.months = static_cast<std::int32_t>(months);
  result.days = static_cast<std::int32_t>(days);
  // A month's fraction is a fraction of 30 days, and a day's one of 24 hours.
  double month_days = (months - result.months) * kDaysPerMonth;
  month_days = round_us(month_days);
  double seconds =
      round_us((days - result.days + month_days - static_cast<std::int64_t>(month_days)) * 86400.0);
  // The two day fractions may add up to a whole day.
  if (std::fabs(seconds) >= 86400.0) {
    result.days += static_cast<std::int32_t>(seconds / 86400.0);
    seconds -= static_cast<std::int32_t>(seconds / 86400.0) * 86400.0;
  }
  if (__builtin_add_overflow(result.days, static_cast<std::int32_t>(month_days), &result.days))
    throw_interval_range();
  const double total = std::rint(us + seconds * 1e6);
  if (std::isnan(total) || std::fabs(total) > 9.2e18) throw_interval_range();
  result.us = static_cast<std::int64_t>(total);
  return result;
}

}  // namespace

Interval multiply_interval(Interval span, double factor) {
  return from_real_fields(span.months * factor, span.days * factor, static_cast<double>(span.us) * factor);
}

Interval divide_interval(Interval span, double divisor) {
  if (divisor == 0) throw_division_by_zero();
  return from_real_fields(span.months / divisor, span.days / divisor, static_cast<double>(span.us) / divisor);
}

Int128 interval_length(Interval span) {
  const std::int64_t days = static_cast<std::int64_t>(span.months) * kDaysPerMonth + span.days;
  return static_cast<Int128>(days) * kUsPerDay + span.us;
}

Interval justify_hours(Interval span) {
  const std::int64_t days = span.us / kUsPerDay;
  span.us %= kUsPerDay;
  if (__builtin_add_overflow(span.days, static_cast<std::int32_t>(days), &span.days)) throw_interval_range();
  if (span.days > 0 && span.us < 0) {
    span.us += kUsPerDay;
    --span.days;
  } else if (span.days < 0 && span.us > 0) {
    span.us -= kUsPerDay;
    ++span.days;
  }
  return span;
}

Interval justify_days(Interval span) {
  const std::int32_t months = span.days / kDaysPerMonth;
  span.days %= kDaysPerMonth;
  if (__builtin_add_overflow(span.months, months, &span.months)) throw_interval_range();
  if (span.months > 0 && span.days < 0) {
    span.days += kDaysPerMonth;
    --span.months;
  } else if (span.months < 0 && span.days > 0) {
    span.days -= kDaysPerMonth;
    ++span.months;
  }
  return span;
}

Interval justify_interval(Interval span) {
  const std::int64_t whole_days = span.us / kUsPerDay;
  span.us %= kUsPerDay;
  if (__builtin_add_overflow(span.days, static_cast<std::int32_t>(whole_days), &span.days))
    throw_interval_range();
  if (__builtin_add_overflow(span.months, span.days / kDaysPerMonth, &span.months)) throw_interval_range();
  span.days %= kDaysPerMonth;
  if (span.months > 0 && (span.days < 0 || (span.days == 0 && span.us < 0))) {
    span.days += kDaysPerMonth;
    --span.months;
  } else if (span.months < 0 && (span.days > 0 || (span.days == 0 && span.us > 0))) {
    span.days -= kDaysPerMonth;
    ++span.months;
  }
  if (span.days > 0 && span.us < 0) {
    span.us += kUsPerDay;
    --span.days;
  } else if (span.days < 0 && span.us > 0) {
    span.us -= kUsPerDay;
    ++span.days;
  }
  return span;
}

Interval apply_interval_typmod(Interval span, int typmod) {
  if (typmod < 0) return span;
  const int range = typmod >> 16 & kIntervalFullRange;
  const int precision = typmod & kIntervalFullPrecision;
  if (range != kIntervalFullRange) {
    // The lowest field named cuts everything below it; higher fields are kept.
    if (range & kIntervalSecond) {
    } else if (range & kIntervalMinute) {
      span.us = span.us / kUsPerMinute * kUsPerMinute;
    } else if (range & kIntervalHour) {
      span.us = span.us / kUsPerHour * kUsPerHour;
    } else if (range & kIntervalDay) {
      span.us = 0;
    } else if (range & kIntervalMonth) {
      span.us = 0;
      span.days = 0;
    } else if (range & kIntervalYear) {
      span.us = 0;
      span.days = 0;
      span.months = span.months / 12 * 12;
    }
  }
  if (precision != kIntervalFullPrecision) span.us = round_time(span.us, precision);
  return span;
}

}  // namespace pinwheel::sql
