#include <cstdio>
#include <cstdlib>

#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"

namespace pinwheel::sql {

namespace {

void append_padded(std::string& out, int value, int width) {
  char buffer[16];
  int at = 16;
  unsigned rest = static_cast<unsigned>(std::abs(value));
  do {
    buffer[--at] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  while (16 - at < width) buffer[--at] = '0';
  out.append(buffer + at, static_cast<std::size_t>(16 - at));
}

/// ".25": without trailing zeros, nothing for zero.
void append_fraction(std::string& out, int microsecond) {
  if (microsecond == 0) return;
  out += '.';
  append_padded(out, microsecond, 6);
  while (out.back() == '0') out.pop_back();
}

int shown_year(int year) { return year > 0 ? year : 1 - year; }

void append_calendar(std::string& out, int year, int month, int day, DateStyle style, DateOrder order) {
  const bool day_first = order == DateOrder::kDmy;
  switch (style) {
    case DateStyle::kIso:
      append_padded(out, shown_year(year), 4);
      out += '-';
      append_padded(out, month, 2);
      out += '-';
      append_padded(out, day, 2);
      return;
    case DateStyle::kGerman:
      append_padded(out, day, 2);
      out += '.';
      append_padded(out, month, 2);
      out += '.';
      append_padded(out, shown_year(year), 4);
      return;
    default:
      break;
  }
  const char separator = style == DateStyle::kSql ? '/' : '-';
  append_padded(out, day_first ? day : month, 2);
  out += separator;
  append_padded(out, day_first ? month : day, 2);
  out += separator;
  append_padded(out, shown_year(year), 4);
}

void append_clock(std::string& out, const CivilTime& c) {
  append_padded(out, c.hour, 2);
  out += ':';
  append_padded(out, c.minute, 2);
  out += ':';
  append_padded(out, c.second, 2);
  append_fraction(out, c.microsecond);
}

/// Zone part: the offset in ISO style, the abbreviation in the others.
struct Zone {
  std::int32_t offset_s;
  std::string_view abbreviation;
};

void append_moment(std::string& out, std::int64_t local, const EvalContext& eval, const Zone* zone) {
  const CivilTime c = civil_from_timestamp(local);
  const auto append_zone = [&] {
    if (!zone) return;
    if (eval.date_style == DateStyle::kIso) return append_zone_offset(out, zone->offset_s);
    out += ' ';
    if (zone->abbreviation.empty() || zone->abbreviation[0] == '+' || zone->abbreviation[0] == '-') {
      append_zone_offset(out, zone->offset_s);
    } else {
      out += zone->abbreviation;
    }
  };
  if (eval.date_style == DateStyle::kPostgres) {
    out.append(kDayNames[day_of_week(days_from_civil(c.year, c.month, c.day))], 0, 3).append(" ");
    const std::string_view month = kMonthNames[c.month - 1].substr(0, 3);
    if (eval.date_order == DateOrder::kDmy) {
      append_padded(out, c.day, 2);
      out.append(" ").append(month);
    } else {
      out.append(month).append(" ");
      append_padded(out, c.day, 2);
    }
    out += ' ';
    append_clock(out, c);
    out += ' ';
    append_padded(out, shown_year(c.year), 4);
    append_zone();
  } else {
    append_calendar(out, c.year, c.month, c.day, eval.date_style, eval.date_order);
    out += ' ';
    append_clock(out, c);
    append_zone();
  }
  if (c.year <= 0) out += " BC";
}

bool append_infinite(std::string& out, std::int64_t timestamp) {
  if (is_finite_timestamp(timestamp)) return false;
  out += timestamp == kTimestampInfinity ? "infinity" : "-infinity";
  return true;
}

}  // namespace

void append_zone_offset(std::string& out, std::int32_t offset_s) {
  out += offset_s < 0 ? '-' : '+';
  const int size = std::abs(offset_s);
  append_padded(out, size / 3600, 2);
  if (size % 3600 != 0) {
    out += ':';
    append_padded(out, size / 60 % 60, 2);
    if (size % 60 != 0) {
      out += ':';
      append_padded(out, size % 60, 2);
    }
  }
}

void append_date(std::string& out, std::int32_t date, const EvalContext& eval) {
  if (!is_finite_date(date)) {
    out += date == kDateInfinity ? "infinity" : "-infinity";
    return;
  }
  int year, month, day;
  civil_from_days(date, &year, &month, &day);
  append_calendar(out, year, month, day, eval.date_style, eval.date_order);
  if (year <= 0) out += " BC";
}

void append_time(std::string& out, std::int64_t us) {
  CivilTime c;
  c.hour = static_cast<int>(us / kUsPerHour);
  c.minute = static_cast<int>(us / kUsPerMinute % 60);
  c.second = static_cast<int>(us / kUsPerSecond % 60);
  c.microsecond = static_cast<int>(us % kUsPerSecond);
  append_clock(out, c);
}

void append_timetz(std::string& out, TimeTz value) {
  append_time(out, value.us);
  append_zone_offset(out, -value.zone_s);
}

void append_timestamp(std::string& out, std::int64_t timestamp, const EvalContext& eval) {
  if (append_infinite(out, timestamp)) return;
  append_moment(out, timestamp, eval, nullptr);
}

void append_timestamptz(std::string& out, std::int64_t timestamp, const EvalContext& eval) {
  if (append_infinite(out, timestamp)) return;
  const TimeZone::Moment moment = zone_of(eval).at(timestamp);
  const Zone zone{moment.offset_s, moment.abbreviation};
  append_moment(out, timestamp + moment.offset_s * kUsPerSecond, eval, &zone);
}

}  // namespace pinwheel::sql
