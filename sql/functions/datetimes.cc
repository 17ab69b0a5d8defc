#include <cctype>
#include <cmath>

#include "base/clock.h"
#include "sql/functions/datetime_fields.h"
#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"

/// extract, date_part, date_trunc, zones, clocks, and making dates and times.
namespace pinwheel::sql::functions {

namespace {

constexpr std::string_view kTimestampName = "timestamp without time zone";
constexpr std::string_view kTimestampTzName = "timestamp with time zone";

[[noreturn]] void throw_bad_unit(std::string_view unit, Field field, std::string_view type) {
  std::string lower{unit};
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (field == Field::kUnknown) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "unit \"" + lower + "\" not recognized for type " + std::string{type}};
  }
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "unit \"" + lower + "\" not supported for type " + std::string{type}};
}

/// Fields that extract() knows but that are no units of time.
Field unit_or_unknown(Field field) {
  switch (field) {
    case Field::kJulian:
    case Field::kIsoYear:
    case Field::kDayOfWeek:
    case Field::kIsoDayOfWeek:
    case Field::kDayOfYear:
    case Field::kEpoch:
      return Field::kUnknown;
    default:
      return field;
  }
}

/// The field as numeric (extract) or double precision (date_part).
Datum give_field(FunctionCall& call, const FieldValue& value, Field field, std::string_view type,
                 bool as_numeric) {
  Arena& arena = *call.arena;
  switch (value.kind) {
    case FieldValue::Kind::kUnsupported:
      throw_bad_unit(call.text(0), field, type);
    case FieldValue::Kind::kNull:
      return call.make_null();
    case FieldValue::Kind::kInfinity:
    case FieldValue::Kind::kMinusInfinity: {
      const bool positive = value.kind == FieldValue::Kind::kInfinity;
      if (as_numeric) return parse_numeric(arena, positive ? "Infinity" : "-Infinity");
      return Datum::from_float8(positive ? HUGE_VAL : -HUGE_VAL);
    }
    default:
      break;
  }
  if (value.scale == -1) {
    // Julian day: the day and, divided apart, the part of it that has passed.
    const Datum part = numeric_div(arena, numeric_from_int128(arena, value.value % kUsPerDay),
                                   numeric_from_int64(arena, kUsPerDay));
    const Datum days = numeric_add(arena, numeric_from_int128(arena, value.value / kUsPerDay), part);
    return as_numeric ? days : Datum::from_float8(numeric_to_double(days));
  }
  if (as_numeric) return numeric_from_int128(arena, value.value, value.scale);
  return Datum::from_float8(static_cast<double>(value.value) / std::pow(10.0, value.scale));
}

template <bool Numeric>
Datum field_from_timestamp(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  const std::int64_t t = call.args[1].as_int64();
  return give_field(call, field_of_timestamp(field, t, t, nullptr), field, kTimestampName, Numeric);
}
template <bool Numeric>
Datum field_from_timestamptz(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) {
    return give_field(call, field_of_timestamp(field, t, t, nullptr), field, kTimestampTzName, Numeric);
  }
  const TimeZone::Moment moment = zone_of(*call.context).at(t);
  const FieldValue value = field_of_timestamp(field, t + moment.offset_s * kUsPerSecond, t, &moment);
  return give_field(call, value, field, kTimestampTzName, Numeric);
}
template <bool Numeric>
Datum field_from_date(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  if (!Numeric) {
    // date_part() of a date goes by way of timestamp.
    const std::int64_t t = date_to_timestamp(call.args[1].as_int32());
    return give_field(call, field_of_timestamp(field, t, t, nullptr), field, kTimestampName, false);
  }
  return give_field(call, field_of_date(field, call.args[1].as_int32()), field, "date", true);
}
template <bool Numeric>
Datum field_from_time(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  return give_field(call, field_of_time(field, call.args[1].as_int64(), nullptr), field,
                    "time without time zone", Numeric);
}
template <bool Numeric>
Datum field_from_timetz(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  const TimeTz t = load_timetz(call.args[1]);
  return give_field(call, field_of_time(field, t.us, &t.zone_s), field, "time with time zone", Numeric);
}
template <bool Numeric>
Datum field_from_interval(FunctionCall& call) {
  const Field field = find_field(call.text(0));
  return give_field(call, field_of_interval(field, load_interval(call.args[1])), field, "interval", Numeric);
}

Datum truncate_local(FunctionCall& call) {
  const Field field = unit_or_unknown(find_field(call.text(0)));
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  std::int64_t result;
  if (!truncate_timestamp(field, t, &result)) throw_bad_unit(call.text(0), field, kTimestampName);
  return Datum::from_int64(result);
}

Datum truncate_in_zone(FunctionCall& call, const TimeZone& zone) {
  const Field field = unit_or_unknown(find_field(call.text(0)));
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  const std::int32_t offset = zone.at(t).offset_s;
  std::int64_t local;
  if (!truncate_timestamp(field, t + offset * kUsPerSecond, &local))
    throw_bad_unit(call.text(0), field, kTimestampTzName);
  // Units of a day and more start at a local midnight, whose offset may differ; smaller ones keep theirs.
  if (field == Field::kHour || field == Field::kMinute || field == Field::kSecond ||
      field == Field::kMilliseconds || field == Field::kMicroseconds) {
    return Datum::from_int64(local - offset * kUsPerSecond);
  }
  return Datum::from_int64(local_to_utc(local, zone));
}

Datum truncate_span(FunctionCall& call) {
  const Field field = unit_or_unknown(find_field(call.text(0)));
  Interval result;
  if (!truncate_interval(field, load_interval(call.args[1]), &result)) {
    if (field == Field::kWeek) {
      throw SqlError{sqlstate::kFeatureNotSupported, "unit \"week\" not supported for type interval"}.detail(
          "Months usually have fractional weeks.");
    }
    throw_bad_unit(call.text(0), field, "interval");
  }
  return make_interval(*call.arena, result);
}

// AT TIME ZONE

/// An abbreviation's fixed offset, or a zone; null `*zone` means `*offset_s` (east).
void find_zone(std::string_view name, std::int32_t* offset_s, const TimeZone** zone) {
  bool daylight;
  *zone = nullptr;
  if (find_zone_abbreviation(name, offset_s, &daylight)) return;
  *zone = TimeZone::find(name);
  if (!*zone) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "time zone \"" + std::string{name} + "\" not recognized"};
  }
}

std::int32_t offset_of_interval(FunctionCall& call) {
  const Interval span = load_interval(call.args[0]);
  if (span.months != 0 || span.days != 0) {
    std::string text;
    append_interval(text, span, IntervalStyle::kPostgres);
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "interval time zone \"" + text + "\" must not include months or days"};
  }
  return static_cast<std::int32_t>(span.us / kUsPerSecond);
}

std::int64_t checked(std::int64_t timestamp) {
  if (!is_valid_timestamp(timestamp)) throw_timestamp_range();
  return timestamp;
}

/// timestamp AT TIME ZONE text: a local time there, as a moment.
Datum local_at_zone(FunctionCall& call) {
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  std::int32_t offset;
  const TimeZone* zone;
  find_zone(call.text(0), &offset, &zone);
  return Datum::from_int64(zone ? local_to_utc(t, *zone) : checked(t - offset * kUsPerSecond));
}
Datum moment_at_zone(FunctionCall& call) {
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  std::int32_t offset;
  const TimeZone* zone;
  find_zone(call.text(0), &offset, &zone);
  if (zone) offset = zone->at(t).offset_s;
  return Datum::from_int64(checked(t + offset * kUsPerSecond));
}
Datum shift_by_interval_zone(FunctionCall& call, int sign) {
  const std::int64_t t = call.args[1].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  return Datum::from_int64(checked(t + sign * (offset_of_interval(call) * kUsPerSecond)));
}

Datum timetz_in_zone(FunctionCall& call, std::int32_t offset_s) {
  TimeTz t = load_timetz(call.args[1]);
  t.us = (t.us + (t.zone_s + offset_s) * kUsPerSecond) % kUsPerDay;
  if (t.us < 0) t.us += kUsPerDay;
  t.zone_s = -offset_s;
  return make_timetz(*call.arena, t);
}
Datum timetz_at_zone(FunctionCall& call) {
  std::int32_t offset;
  const TimeZone* zone;
  find_zone(call.text(0), &offset, &zone);
  if (zone) offset = zone->at(call.context->transaction_timestamp).offset_s;
  return timetz_in_zone(call, offset);
}

// Making

std::int32_t make_days(std::int32_t year, std::int32_t month, std::int32_t day) {
  const auto bad = [&] {
    char shown[64];
    std::snprintf(shown, sizeof shown, "date field value out of range: %d-%02d-%02d", year, month, day);
    throw SqlError{sqlstate::kDatetimeFieldOverflow, shown};
  };
  const std::int32_t calendar_year = year < 0 ? year + 1 : year;
  if (year == 0 || month < 1 || month > 12 || day < 1 || calendar_year < -4713 || calendar_year > 5874897 ||
      day > days_in_month(calendar_year, month)) {
    bad();
  }
  return days_from_civil(calendar_year, month, day);
}

std::int64_t make_clock(std::int32_t hour, std::int32_t minute, double second) {
  const auto us = static_cast<std::int64_t>(std::rint(second * 1e6));
  if (std::isnan(second) || hour < 0 || minute < 0 || minute > 59 || second < 0 || us > 60 * kUsPerSecond ||
      hour > 24 || (hour == 24 && (minute > 0 || us > 0))) {
    char shown[96];
    std::snprintf(shown, sizeof shown, "time field value out of range: %d:%02d:%02g", hour, minute, second);
    throw SqlError{sqlstate::kDatetimeFieldOverflow, shown};
  }
  return hour * kUsPerHour + minute * kUsPerMinute + us;
}

std::int64_t make_local(FunctionCall& call) {
  const auto arg = [&](int i) { return call.args[i].as_int32(); };
  const std::int32_t days = make_days(arg(0), arg(1), arg(2));
  const std::int64_t us = make_clock(arg(3), arg(4), call.args[5].as_float8());
  std::int64_t result;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(days), kUsPerDay, &result) ||
      __builtin_add_overflow(result, us, &result) || !is_valid_timestamp(result)) {
    throw_timestamp_range();
  }
  return result;
}

Datum make_moment_in_zone(FunctionCall& call) {
  std::int32_t offset;
  const TimeZone* zone;
  const std::string_view name = call.text(6);
  const std::int64_t local = make_local(call);
  // A bare offset counts east here, unlike in POSIX zone names.
  if (!name.empty() && (name[0] == '+' || name[0] == '-')) {
    const TimeZone* fixed = TimeZone::find(name);
    if (!fixed)
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "invalid input syntax for type numeric time zone: \"" + std::string{name} + "\""};
    return Datum::from_int64(local_to_utc(local, *fixed));
  }
  find_zone(name, &offset, &zone);
  return Datum::from_int64(zone ? local_to_utc(local, *zone) : checked(local - offset * kUsPerSecond));
}

Datum make_span(FunctionCall& call) {
  const auto arg = [&](int i) { return call.args[i].as_int32(); };
  const double seconds = call.args[6].as_float8();
  if (std::isinf(seconds) || std::isnan(seconds)) throw_interval_range();
  Interval span;
  std::int64_t months = static_cast<std::int64_t>(arg(0)) * 12 + arg(1);
  std::int64_t days = static_cast<std::int64_t>(arg(2)) * 7 + arg(3);
  if (months != static_cast<std::int32_t>(months) || days != static_cast<std::int32_t>(days))
    throw_interval_range();
  span.months = static_cast<std::int32_t>(months);
  span.days = static_cast<std::int32_t>(days);
  span.us = arg(4) * kUsPerHour + arg(5) * kUsPerMinute + static_cast<std::int64_t>(std::rint(seconds * 1e6));
  return make_interval(*call.arena, span);
}

/// to_timestamp(double precision): seconds from 1970.
Datum from_unix_time(FunctionCall& call) {
  const double seconds = call.args[0].as_float8();
  if (std::isnan(seconds)) throw SqlError{sqlstate::kDatetimeFieldOverflow, "timestamp cannot be NaN"};
  if (std::isinf(seconds))
    return Datum::from_int64(seconds < 0 ? kTimestampMinusInfinity : kTimestampInfinity);
  const double shifted = std::rint((seconds - kUnixEpochDays * 86400.0) * 1e6);
  if (shifted < static_cast<double>(kMinTimestamp) || shifted >= static_cast<double>(kEndTimestamp)) {
    char shown[64];
    std::snprintf(shown, sizeof shown, "timestamp out of range: \"%g\"", seconds);
    throw SqlError{sqlstate::kDatetimeFieldOverflow, shown};
  }
  return Datum::from_int64(static_cast<std::int64_t>(shifted));
}

Datum time_of_day(FunctionCall& call) {
  const std::int64_t now = wall_clock_us();
  const TimeZone::Moment zone = zone_of(*call.context).at(now);
  const std::int64_t local = now + zone.offset_s * kUsPerSecond;
  const CivilTime c = civil_from_timestamp(local);
  char text[96];
  const int size =
      std::snprintf(text, sizeof text, "%.3s %.3s %02d %02d:%02d:%02d.%06d %04d %.*s",
                    kDayNames[day_of_week(days_from_civil(c.year, c.month, c.day))].data(),
                    kMonthNames[c.month - 1].data(), c.day, c.hour, c.minute, c.second, c.microsecond, c.year,
                    static_cast<int>(zone.abbreviation.size()), zone.abbreviation.data());
  return make_text(*call.arena, {text, static_cast<std::size_t>(size)});
}

/// date_bin(stride, source, origin)
Datum bin(FunctionCall& call) {
  const Interval stride = load_interval(call.args[0]);
  const std::int64_t t = call.args[1].as_int64();
  const std::int64_t origin = call.args[2].as_int64();
  if (!is_finite_timestamp(t)) return call.args[1];
  if (!is_finite_timestamp(origin)) throw SqlError{sqlstate::kDatetimeFieldOverflow, "origin out of range"};
  if (stride.months != 0) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "timestamps cannot be binned into intervals containing months or years"};
  }
  const std::int64_t width = stride.days * kUsPerDay + stride.us;
  if (width <= 0) throw SqlError{sqlstate::kDatetimeFieldOverflow, "stride must be greater than zero"};
  const std::int64_t gap = t - origin;
  std::int64_t steps = gap / width;
  if (gap < 0 && width > 1 && gap % width != 0) --steps;
  return Datum::from_int64(checked(origin + steps * width));
}

constexpr BuiltinFunction kDatetimesFunctions[] = {
    {"timestamp_part", field_from_timestamp<false>},
    {"timestamptz_part", field_from_timestamptz<false>},
    {"time_part", field_from_time<false>},
    {"timetz_part", field_from_timetz<false>},
    {"interval_part", field_from_interval<false>},
    {"date_part(date)", field_from_date<false>, Oid{1384}},
    {"extract_timestamp", field_from_timestamp<true>},
    {"extract_timestamptz", field_from_timestamptz<true>},
    {"extract_date", field_from_date<true>},
    {"extract_time", field_from_time<true>},
    {"extract_timetz", field_from_timetz<true>},
    {"extract_interval", field_from_interval<true>},
    {"timestamp_trunc", truncate_local},
    {"timestamptz_trunc", [](FunctionCall& c) { return truncate_in_zone(c, zone_of(*c.context)); }},
    {"timestamptz_trunc_zone",
     [](FunctionCall& c) {
       std::int32_t offset;
       const TimeZone* zone;
       find_zone(c.text(2), &offset, &zone);
       return truncate_in_zone(c, zone ? *zone : *TimeZone::fixed(offset));
     }},
    {"interval_trunc", truncate_span},
    {"timestamp_bin", bin},
    {"timestamptz_bin", bin},
    {"timestamp_zone", local_at_zone},
    {"timestamptz_zone", moment_at_zone},
    {"timestamp_izone", [](FunctionCall& c) { return shift_by_interval_zone(c, -1); }},
    {"timestamptz_izone", [](FunctionCall& c) { return shift_by_interval_zone(c, 1); }},
    {"timetz_zone", timetz_at_zone},
    {"timetz_izone", [](FunctionCall& c) { return timetz_in_zone(c, offset_of_interval(c)); }},
    {"make_date",
     [](FunctionCall& c) {
       return Datum::from_int32(make_days(c.args[0].as_int32(), c.args[1].as_int32(), c.args[2].as_int32()));
     }},
    {"make_time",
     [](FunctionCall& c) {
       return Datum::from_int64(
           make_clock(c.args[0].as_int32(), c.args[1].as_int32(), c.args[2].as_float8()));
     }},
    {"make_timestamp", [](FunctionCall& c) { return Datum::from_int64(make_local(c)); }},
    {"make_timestamptz",
     [](FunctionCall& c) { return Datum::from_int64(local_to_utc(make_local(c), zone_of(*c.context))); }},
    {"make_timestamptz_at_timezone", make_moment_in_zone},
    {"make_interval", make_span},
    {"float8_timestamptz", from_unix_time},
    {"now", [](FunctionCall& c) { return Datum::from_int64(c.context->transaction_timestamp); }},
    {"statement_timestamp",
     [](FunctionCall& c) { return Datum::from_int64(c.context->statement_timestamp); }},
    {"clock_timestamp", [](FunctionCall&) { return Datum::from_int64(wall_clock_us()); }},
    {"timeofday", time_of_day},
};

}  // namespace

std::span<const BuiltinFunction> datetime_functions() { return kDatetimesFunctions; }

}  // namespace pinwheel::sql::functions
