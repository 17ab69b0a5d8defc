#include "sql/types/datetime.h"
#include "sql/types/datetime_parse.h"
#include "sql/types/io_errors.h"
#include "sql/types/time_zone.h"

/// From what a text said to values of the five types.
namespace pinwheel::sql {

namespace {

std::int64_t us_of_day(const CivilTime& c) {
  return c.hour * kUsPerHour + c.minute * kUsPerMinute + c.second * kUsPerSecond + c.microsecond;
}

}  // namespace

std::int32_t parse_date(std::string_view text, const EvalContext& eval) {
  const ParsedDateTime p = parse_datetime(text, "date", false, eval);
  switch (p.special) {
    case ParsedDateTime::Special::kEpoch:
      return -kUnixEpochDays;
    case ParsedDateTime::Special::kInfinity:
      return kDateInfinity;
    case ParsedDateTime::Special::kMinusInfinity:
      return kDateMinusInfinity;
    case ParsedDateTime::Special::kNow:
      return timestamp_to_date(utc_to_local(eval.transaction_timestamp, zone_of(eval)));
    default:
      break;
  }
  if (!p.has_date) throw_bad_datetime("date", text);
  const auto out_of_range = [&] {
    throw SqlError{sqlstate::kDatetimeFieldOverflow, "date out of range: \"" + std::string{text} + "\""};
  };
  if (p.civil.year < -4713 || p.civil.year > 5874897) out_of_range();
  const std::int32_t days = days_from_civil(p.civil.year, p.civil.month, p.civil.day);
  if (days < kMinDate || days >= kEndDate) out_of_range();
  return days;
}

namespace {

std::int64_t timestamp_out_of_range(std::string_view text) {
  throw SqlError{sqlstate::kDatetimeFieldOverflow, "timestamp out of range: \"" + std::string{text} + "\""};
}

/// False when the text named no special moment.
bool special_timestamp(const ParsedDateTime& p, bool with_zone, const EvalContext& eval,
                       std::int64_t* result) {
  switch (p.special) {
    case ParsedDateTime::Special::kEpoch:
      *result = -kUnixEpochDays * kUsPerDay;
      return true;
    case ParsedDateTime::Special::kInfinity:
      *result = kTimestampInfinity;
      return true;
    case ParsedDateTime::Special::kMinusInfinity:
      *result = kTimestampMinusInfinity;
      return true;
    case ParsedDateTime::Special::kNow:
      *result =
          with_zone ? eval.transaction_timestamp : utc_to_local(eval.transaction_timestamp, zone_of(eval));
      return true;
    default:
      return false;
  }
}

}  // namespace

std::int64_t parse_timestamp(std::string_view text, const EvalContext& eval) {
  const ParsedDateTime p = parse_datetime(text, "timestamp", false, eval);
  std::int64_t result;
  if (special_timestamp(p, false, eval, &result)) return result;
  if (!p.has_date) throw_bad_datetime("timestamp", text);
  if (!timestamp_from_civil(p.civil, &result)) return timestamp_out_of_range(text);
  return result;
}

std::int64_t parse_timestamptz(std::string_view text, const EvalContext& eval) {
  const ParsedDateTime p = parse_datetime(text, "timestamp with time zone", false, eval);
  std::int64_t result;
  if (special_timestamp(p, true, eval, &result)) return result;
  if (!p.has_date) throw_bad_datetime("timestamp with time zone", text);
  if (!timestamp_from_civil(p.civil, &result)) return timestamp_out_of_range(text);
  if (p.has_zone && !p.zone) {
    result -= p.zone_s * kUsPerSecond;
  } else {
    const TimeZone& zone = p.zone ? *p.zone : zone_of(eval);
    result -= zone.offset_of_local(result) * kUsPerSecond;
  }
  return is_valid_timestamp(result) ? result : timestamp_out_of_range(text);
}

std::int64_t parse_time(std::string_view text, const EvalContext& eval) {
  const ParsedDateTime p = parse_datetime(text, "time", true, eval);
  if (p.special == ParsedDateTime::Special::kNow) {
    std::int32_t days;
    std::int64_t us;
    split_timestamp(utc_to_local(eval.transaction_timestamp, zone_of(eval)), &days, &us);
    return us;
  }
  if (!p.has_time) throw_bad_datetime("time", text);
  return us_of_day(p.civil);
}

TimeTz parse_timetz(std::string_view text, const EvalContext& eval) {
  const ParsedDateTime p = parse_datetime(text, "time with time zone", true, eval);
  TimeTz result;
  const std::int64_t local_now = utc_to_local(eval.transaction_timestamp, zone_of(eval));
  if (p.special == ParsedDateTime::Special::kNow) {
    std::int32_t days;
    split_timestamp(local_now, &days, &result.us);
    result.zone_s = -zone_of(eval).at(eval.transaction_timestamp).offset_s;
    return result;
  }
  if (!p.has_time) throw_bad_datetime("time with time zone", text);
  result.us = us_of_day(p.civil);
  if (p.has_zone && !p.zone) {
    result.zone_s = -p.zone_s;
    return result;
  }
  // A named zone's offset depends on the day: the one given, else today.
  std::int64_t local = local_now;
  if (p.has_date) {
    timestamp_from_civil(p.civil, &local);
  } else {
    std::int32_t days;
    std::int64_t us;
    split_timestamp(local_now, &days, &us);
    local = days * kUsPerDay + result.us;
  }
  result.zone_s = -(p.zone ? *p.zone : zone_of(eval)).offset_of_local(local);
  return result;
}

}  // namespace pinwheel::sql
