#include "sql/functions/tables.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/time_zone.h"

/// Sums, differences, ages, casts and overlaps of dates, times and timestamps.
namespace pinwheel::sql::functions {

namespace {

Datum give(std::int64_t v) { return Datum::from_int64(v); }
std::int64_t i8(const FunctionCall& c, int i) { return c.args[i].as_int64(); }
std::int32_t i4(const FunctionCall& c, int i) { return c.args[i].as_int32(); }
Interval span(const FunctionCall& c, int i) { return load_interval(c.args[i]); }

std::int32_t shift_date(std::int32_t date, std::int64_t days) {
  if (!is_finite_date(date)) return date;
  const std::int64_t result = date + days;
  if (result < kMinDate || result >= kEndDate) throw_date_range();
  return static_cast<std::int32_t>(result);
}

Datum date_minus_date(FunctionCall& c) {
  if (!is_finite_date(i4(c, 0)) || !is_finite_date(i4(c, 1))) {
    throw SqlError{sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite dates"};
  }
  return Datum::from_int32(i4(c, 0) - i4(c, 1));
}

Datum timestamp_minus_timestamp(FunctionCall& c) {
  if (!is_finite_timestamp(i8(c, 0)) || !is_finite_timestamp(i8(c, 1))) {
    throw SqlError{sqlstate::kDatetimeFieldOverflow, "cannot subtract infinite timestamps"};
  }
  Interval result;
  if (__builtin_sub_overflow(i8(c, 0), i8(c, 1), &result.us)) throw_interval_range();
  return make_interval(*c.arena, justify_hours(result));
}

/// Years, months, days between two local times, as people count them.
Interval age_between(std::int64_t a, std::int64_t b) {
  if (!is_finite_timestamp(a) || !is_finite_timestamp(b)) throw_timestamp_range();
  const bool negative = a < b;
  const CivilTime x = civil_from_timestamp(a);
  const CivilTime y = civil_from_timestamp(b);
  const int sign = negative ? -1 : 1;
  int us = sign * (x.microsecond - y.microsecond);
  int second = sign * (x.second - y.second);
  int minute = sign * (x.minute - y.minute);
  int hour = sign * (x.hour - y.hour);
  int day = sign * (x.day - y.day);
  int month = sign * (x.month - y.month);
  int year = sign * (x.year - y.year);
  const auto borrow = [](int* low, int* high, int unit) {
    if (*low < 0) {
      *low += unit;
      --*high;
    }
  };
  borrow(&us, &second, 1'000'000);
  borrow(&second, &minute, 60);
  borrow(&minute, &hour, 60);
  borrow(&hour, &day, 24);
  // A borrowed month is as long as the earlier moment's.
  const CivilTime& earlier = negative ? x : y;
  while (day < 0) {
    day += days_in_month(earlier.year, earlier.month);
    --month;
  }
  borrow(&month, &year, 12);
  Interval result;
  result.months = sign * (year * 12 + month);
  result.days = sign * day;
  result.us = sign * (hour * kUsPerHour + minute * kUsPerMinute + second * kUsPerSecond + us);
  return result;
}

std::int64_t local(const FunctionCall& c, std::int64_t utc) {
  return is_finite_timestamp(utc) ? utc_to_local(utc, zone_of(*c.context)) : utc;
}
/// Midnight of the transaction's day, local.
std::int64_t today(const FunctionCall& c) {
  std::int32_t days;
  std::int64_t us;
  split_timestamp(local(c, c.context->transaction_timestamp), &days, &us);
  return days * kUsPerDay;
}

std::int64_t wrap_day(std::int64_t us) {
  us %= kUsPerDay;
  return us < 0 ? us + kUsPerDay : us;
}

Datum time_plus(FunctionCall& c, int time_at, int span_at, int sign) {
  return give(wrap_day(i8(c, time_at) + sign * span(c, span_at).us));
}
Datum timetz_plus(FunctionCall& c, int time_at, int span_at, int sign) {
  TimeTz t = load_timetz(c.args[time_at]);
  t.us = wrap_day(t.us + sign * span(c, span_at).us);
  return make_timetz(*c.arena, t);
}

/// date + time
Datum date_and_time(FunctionCall& c, int date_at, int time_at) {
  const std::int64_t day = date_to_timestamp(i4(c, date_at));
  if (!is_finite_timestamp(day)) return give(day);
  const std::int64_t result = day + i8(c, time_at);
  if (!is_valid_timestamp(result)) throw_timestamp_range();
  return give(result);
}
Datum date_and_timetz(FunctionCall& c, int date_at, int time_at) {
  const std::int64_t day = date_to_timestamp(i4(c, date_at));
  if (!is_finite_timestamp(day)) return give(day);
  const TimeTz t = load_timetz(c.args[time_at]);
  const std::int64_t result = day + t.us + t.zone_s * kUsPerSecond;
  if (!is_valid_timestamp(result)) throw_timestamp_range();
  return give(result);
}
/// timestamptz(date, time): local, in the session's zone.
Datum date_and_time_local(FunctionCall& c) {
  const Datum stamp = date_and_time(c, 0, 1);
  return is_finite_timestamp(stamp.as_int64()) ? give(local_to_utc(stamp.as_int64(), zone_of(*c.context)))
                                               : stamp;
}

Datum time_of(FunctionCall& c, std::int64_t local_timestamp) {
  if (!is_finite_timestamp(local_timestamp)) return c.make_null();
  std::int32_t days;
  std::int64_t us;
  split_timestamp(local_timestamp, &days, &us);
  return give(us);
}

Datum timestamptz_to_timetz(FunctionCall& c) {
  const std::int64_t t = i8(c, 0);
  if (!is_finite_timestamp(t)) return c.make_null();
  const std::int32_t offset = zone_of(*c.context).at(t).offset_s;
  TimeTz result;
  std::int32_t days;
  split_timestamp(t + offset * kUsPerSecond, &days, &result.us);
  result.zone_s = -offset;
  return make_timetz(*c.arena, result);
}

Datum time_to_timetz(FunctionCall& c) {
  TimeTz result;
  result.us = i8(c, 0);
  result.zone_s = -zone_of(*c.context).offset_of_local(today(c) + result.us);
  return make_timetz(*c.arena, result);
}

Datum round_timestamp(FunctionCall& c) {
  const std::int64_t t = i8(c, 0);
  if (!is_finite_timestamp(t)) return c.args[0];
  if (i4(c, 1) > 6)
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "timestamp(" + std::to_string(i4(c, 1)) + ") precision must be between 0 and 6"};
  return give(round_time(t, i4(c, 1)));
}

/// (s1, e1) OVERLAPS (s2, e2), with PostgreSQL's treatment of NULLs: NULL only when they could change the
/// answer.
template <class T, class Load>
Datum overlap(FunctionCall& c, const T (&value)[4], const bool (&null)[4], Load less) {
  T s1 = value[0], e1 = value[1], s2 = value[2], e2 = value[3];
  bool n1 = null[0], m1 = null[1], n2 = null[2], m2 = null[3];
  const auto order = [&](T* start, T* end, bool* start_null, bool* end_null) {
    if (*start_null) {
      std::swap(*start, *end);
      std::swap(*start_null, *end_null);
    } else if (!*end_null && less(*end, *start)) {
      std::swap(*start, *end);
    }
    return !*start_null;
  };
  if (!order(&s1, &e1, &n1, &m1) || !order(&s2, &e2, &n2, &m2)) return c.make_null();
  if (less(s2, s1)) {
    if (m2) return c.make_null();
    if (less(s1, e2)) return Datum::from_bool(true);
    return m1 ? c.make_null() : Datum::from_bool(false);
  }
  if (less(s1, s2)) {
    if (m1) return c.make_null();
    if (less(s2, e1)) return Datum::from_bool(true);
    return m2 ? c.make_null() : Datum::from_bool(false);
  }
  return m1 || m2 ? c.make_null() : Datum::from_bool(true);
}

/// `end` of argument pairs: 't' a moment, 'i' an interval after the start.
template <char FirstEnd, char SecondEnd, int Kind>  // Kind: 0 timestamp, 1 timestamptz, 2 time
Datum overlaps(FunctionCall& c) {
  std::int64_t value[4]{};
  bool null[4];
  for (int i = 0; i < 4; ++i) {
    null[i] = c.nulls[i];
    if (null[i]) continue;
    const char end = i == 1 ? FirstEnd : i == 3 ? SecondEnd : 't';
    if (end == 't') {
      value[i] = i8(c, i);
    } else if (c.nulls[i - 1]) {
      null[i] = true;
    } else if (Kind == 2) {
      value[i] = wrap_day(i8(c, i - 1) + span(c, i).us);
    } else if (Kind == 1) {
      value[i] = timestamptz_plus_interval(i8(c, i - 1), span(c, i), zone_of(*c.context));
    } else {
      value[i] = timestamp_plus_interval(i8(c, i - 1), span(c, i));
    }
  }
  return overlap(c, value, null, [](std::int64_t a, std::int64_t b) { return a < b; });
}

Datum plus_local(FunctionCall& c, int stamp, int by, bool subtract) {
  return give(timestamp_plus_interval(i8(c, stamp), subtract ? negate_interval(span(c, by)) : span(c, by)));
}
Datum plus_zoned(FunctionCall& c, int stamp, int by, bool subtract) {
  return give(timestamptz_plus_interval(i8(c, stamp), subtract ? negate_interval(span(c, by)) : span(c, by),
                                        zone_of(*c.context)));
}
Datum date_plus_span(FunctionCall& c, int date, int by, bool subtract) {
  return give(timestamp_plus_interval(date_to_timestamp(i4(c, date)),
                                      subtract ? negate_interval(span(c, by)) : span(c, by)));
}

constexpr BuiltinFunction kDatetimeArithmeticFunctions[] = {
    {"date_mi", date_minus_date},
    {"date_pli", [](FunctionCall& c) { return Datum::from_int32(shift_date(i4(c, 0), i4(c, 1))); }},
    {"date_mii",
     [](FunctionCall& c) { return Datum::from_int32(shift_date(i4(c, 0), -std::int64_t{i4(c, 1)})); }},
    {"integer_pl_date", [](FunctionCall& c) { return Datum::from_int32(shift_date(i4(c, 1), i4(c, 0))); },
     Oid{2550}},
    {"date_pl_interval", [](FunctionCall& c) { return date_plus_span(c, 0, 1, false); }},
    {"date_mi_interval", [](FunctionCall& c) { return date_plus_span(c, 0, 1, true); }},
    {"interval_pl_date", [](FunctionCall& c) { return date_plus_span(c, 1, 0, false); }, Oid{2546}},
    {"date_finite", [](FunctionCall& c) { return Datum::from_bool(is_finite_date(i4(c, 0))); }},
    {"timestamp_finite", [](FunctionCall& c) { return Datum::from_bool(is_finite_timestamp(i8(c, 0))); }},
    {"interval_finite", [](FunctionCall&) { return Datum::from_bool(true); }},
    {"datetime_timestamp", [](FunctionCall& c) { return date_and_time(c, 0, 1); }},
    {"timedate_pl", [](FunctionCall& c) { return date_and_time(c, 1, 0); }, Oid{1296}},
    {"datetimetz_timestamptz", [](FunctionCall& c) { return date_and_timetz(c, 0, 1); }},
    {"timetzdate_pl", [](FunctionCall& c) { return date_and_timetz(c, 1, 0); }, Oid{1298}},
    {"timestamptz(date,time)", date_and_time_local, Oid{1176}},

    {"timestamp_mi", timestamp_minus_timestamp},
    {"timestamp_pl_interval", [](FunctionCall& c) { return plus_local(c, 0, 1, false); }},
    {"timestamp_mi_interval", [](FunctionCall& c) { return plus_local(c, 0, 1, true); }},
    {"interval_pl_timestamp", [](FunctionCall& c) { return plus_local(c, 1, 0, false); }, Oid{2548}},
    {"timestamptz_pl_interval", [](FunctionCall& c) { return plus_zoned(c, 0, 1, false); }},
    {"timestamptz_mi_interval", [](FunctionCall& c) { return plus_zoned(c, 0, 1, true); }},
    {"interval_pl_timestamptz", [](FunctionCall& c) { return plus_zoned(c, 1, 0, false); }, Oid{2549}},
    {"timestamp_age",
     [](FunctionCall& c) { return make_interval(*c.arena, age_between(i8(c, 0), i8(c, 1))); }},
    {"timestamptz_age",
     [](FunctionCall& c) {
       return make_interval(*c.arena, age_between(local(c, i8(c, 0)), local(c, i8(c, 1))));
     }},
    {"age(timestamptz)",
     [](FunctionCall& c) { return make_interval(*c.arena, age_between(today(c), local(c, i8(c, 0)))); },
     Oid{1386}},
    {"age(timestamp)",
     [](FunctionCall& c) { return make_interval(*c.arena, age_between(today(c), i8(c, 0))); }, Oid{2059}},

    {"time_mi_time",
     [](FunctionCall& c) {
       return make_interval(*c.arena, {i8(c, 0) - i8(c, 1), 0, 0});
     }},
    {"time_pl_interval", [](FunctionCall& c) { return time_plus(c, 0, 1, 1); }},
    {"time_mi_interval", [](FunctionCall& c) { return time_plus(c, 0, 1, -1); }},
    {"interval_pl_time", [](FunctionCall& c) { return time_plus(c, 1, 0, 1); }, Oid{1848}},
    {"timetz_pl_interval", [](FunctionCall& c) { return timetz_plus(c, 0, 1, 1); }},
    {"timetz_mi_interval", [](FunctionCall& c) { return timetz_plus(c, 0, 1, -1); }},
    {"interval_pl_timetz", [](FunctionCall& c) { return timetz_plus(c, 1, 0, 1); }, Oid{2547}},
    {"time_interval",
     [](FunctionCall& c) {
       return make_interval(*c.arena, {i8(c, 0), 0, 0});
     }},
    {"interval_time", [](FunctionCall& c) { return give(wrap_day(span(c, 0).us)); }},

    {"date_timestamp", [](FunctionCall& c) { return give(date_to_timestamp(i4(c, 0))); }},
    {"date_timestamptz",
     [](FunctionCall& c) { return give(date_to_timestamptz(i4(c, 0), zone_of(*c.context))); }},
    {"timestamp_date", [](FunctionCall& c) { return Datum::from_int32(timestamp_to_date(i8(c, 0))); }},
    {"timestamptz_date",
     [](FunctionCall& c) { return Datum::from_int32(timestamp_to_date(local(c, i8(c, 0)))); }},
    {"timestamp_timestamptz",
     [](FunctionCall& c) {
       return is_finite_timestamp(i8(c, 0)) ? give(local_to_utc(i8(c, 0), zone_of(*c.context))) : c.args[0];
     }},
    {"timestamptz_timestamp", [](FunctionCall& c) { return give(local(c, i8(c, 0))); }},
    {"timestamp_time", [](FunctionCall& c) { return time_of(c, i8(c, 0)); }},
    {"timestamptz_time", [](FunctionCall& c) { return time_of(c, local(c, i8(c, 0))); }},
    {"timestamptz_timetz", timestamptz_to_timetz},
    {"time_timetz", time_to_timetz},
    {"timetz_time", [](FunctionCall& c) { return give(load_timetz(c.args[0]).us); }},
    {"timestamp_scale", round_timestamp},
    {"timestamptz_scale", round_timestamp},
    {"time_scale", [](FunctionCall& c) { return give(round_time(i8(c, 0), i4(c, 1))); }},
    {"timetz_scale",
     [](FunctionCall& c) {
       TimeTz t = load_timetz(c.args[0]);
       t.us = round_time(t.us, i4(c, 1));
       return make_timetz(*c.arena, t);
     }},

    {"overlaps_timestamp", overlaps<'t', 't', 0>},
    {"overlaps_time", overlaps<'t', 't', 2>},
    {"overlaps", overlaps<'i', 'i', 1>, Oid{1305}},
    {"overlaps", overlaps<'t', 'i', 1>, Oid{1306}},
    {"overlaps", overlaps<'i', 't', 1>, Oid{1307}},
    {"overlaps", overlaps<'i', 'i', 2>, Oid{1309}},
    {"overlaps", overlaps<'t', 'i', 2>, Oid{1310}},
    {"overlaps", overlaps<'i', 't', 2>, Oid{1311}},
    {"overlaps", overlaps<'i', 'i', 0>, Oid{2042}},
    {"overlaps", overlaps<'t', 'i', 0>, Oid{2043}},
    {"overlaps", overlaps<'i', 't', 0>, Oid{2044}},

    {"interval_um", [](FunctionCall& c) { return make_interval(*c.arena, negate_interval(span(c, 0))); }},
    {"interval_mul",
     [](FunctionCall& c) {
       return make_interval(*c.arena, multiply_interval(span(c, 0), c.args[1].as_float8()));
     }},
    {"mul_d_interval",
     [](FunctionCall& c) {
       return make_interval(*c.arena, multiply_interval(span(c, 1), c.args[0].as_float8()));
     }},
    {"interval_div",
     [](FunctionCall& c) {
       return make_interval(*c.arena, divide_interval(span(c, 0), c.args[1].as_float8()));
     }},
    {"interval_justify_hours",
     [](FunctionCall& c) { return make_interval(*c.arena, justify_hours(span(c, 0))); }},
    {"interval_justify_days",
     [](FunctionCall& c) { return make_interval(*c.arena, justify_days(span(c, 0))); }},
    {"interval_justify_interval",
     [](FunctionCall& c) { return make_interval(*c.arena, justify_interval(span(c, 0))); }},
    {"interval_scale",
     [](FunctionCall& c) { return make_interval(*c.arena, apply_interval_typmod(span(c, 0), i4(c, 1))); }},
    {"interval_pl",
     [](FunctionCall& c) {
       const Interval a = span(c, 0);
       const Interval b = span(c, 1);
       Interval r;
       if (__builtin_add_overflow(a.us, b.us, &r.us) || __builtin_add_overflow(a.days, b.days, &r.days) ||
           __builtin_add_overflow(a.months, b.months, &r.months)) {
         throw_interval_range();
       }
       return make_interval(*c.arena, r);
     }},
    {"interval_mi",
     [](FunctionCall& c) {
       const Interval a = span(c, 0);
       const Interval b = span(c, 1);
       Interval r;
       if (__builtin_sub_overflow(a.us, b.us, &r.us) || __builtin_sub_overflow(a.days, b.days, &r.days) ||
           __builtin_sub_overflow(a.months, b.months, &r.months)) {
         throw_interval_range();
       }
       return make_interval(*c.arena, r);
     }},
};

}  // namespace

std::span<const BuiltinFunction> datetime_arithmetic_functions() { return kDatetimeArithmeticFunctions; }

}  // namespace pinwheel::sql::functions
