#include <cstdio>
#include <cstdlib>

#include "sql/types/datetime.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql {

namespace {

/// The pieces that all output styles print.
struct Parts {
  std::int32_t years, months, days;
  std::int64_t hours;
  std::int32_t minutes, seconds, us;
};

Parts split(Interval span) {
  Parts p;
  p.years = span.months / 12;
  p.months = span.months % 12;
  p.days = span.days;
  std::int64_t rest = span.us;
  p.hours = rest / kUsPerHour;
  rest -= p.hours * kUsPerHour;
  p.minutes = static_cast<std::int32_t>(rest / kUsPerMinute);
  rest -= p.minutes * kUsPerMinute;
  p.seconds = static_cast<std::int32_t>(rest / kUsPerSecond);
  p.us = static_cast<std::int32_t>(rest % kUsPerSecond);
  return p;
}

void append_two(std::string& out, std::int64_t value) {
  if (value < 10) out += '0';
  append_int(out, value);
}

void append_seconds(std::string& out, std::int32_t seconds, std::int32_t us, bool pad) {
  const int s = std::abs(seconds);
  if (pad) {
    append_two(out, s);
  } else {
    append_int(out, s);
  }
  if (us == 0) return;
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, ".%06d", std::abs(us));
  out += buffer;
  while (out.back() == '0') out.pop_back();
}

void append_postgres(std::string& out, const Parts& p) {
  bool first = true;
  bool before_negative = false;
  const auto field = [&](std::int32_t value, std::string_view unit) {
    if (value == 0) return;
    if (!first) out += ' ';
    if (before_negative && value > 0) out += '+';
    append_int(out, value);
    out.append(" ").append(unit);
    if (value != 1) out += 's';
    before_negative = value < 0;
    first = false;
  };
  field(p.years, "year");
  field(p.months, "mon");
  field(p.days, "day");
  const bool has_time = p.hours != 0 || p.minutes != 0 || p.seconds != 0 || p.us != 0;
  if (!first && !has_time) return;
  const bool negative = p.hours < 0 || p.minutes < 0 || p.seconds < 0 || p.us < 0;
  if (!first) out += ' ';
  if (negative) {
    out += '-';
  } else if (before_negative) {
    out += '+';
  }
  append_two(out, std::abs(p.hours));
  out += ':';
  append_two(out, std::abs(p.minutes));
  out += ':';
  append_seconds(out, p.seconds, p.us, true);
}

void append_verbose(std::string& out, const Parts& p) {
  out += '@';
  bool zero = true;
  bool ago = false;
  const auto field = [&](std::int64_t value, std::string_view unit) {
    if (value == 0) return;
    if (zero) {
      ago = value < 0;
      zero = false;
    }
    if (ago) value = -value;
    out += ' ';
    append_int(out, value);
    out.append(" ").append(unit);
    if (value != 1) out += 's';
  };
  field(p.years, "year");
  field(p.months, "mon");
  field(p.days, "day");
  field(p.hours, "hour");
  field(p.minutes, "min");
  if (p.seconds != 0 || p.us != 0) {
    out += ' ';
    if (p.seconds < 0 || (p.seconds == 0 && p.us < 0)) {
      if (zero) {
        ago = true;
      } else if (!ago) {
        out += '-';
      }
    } else if (ago) {
      out += '-';
    }
    append_seconds(out, p.seconds, p.us, false);
    out += std::abs(p.seconds) != 1 || p.us != 0 ? " secs" : " sec";
    zero = false;
  }
  if (zero) out += " 0";
  if (ago) out += " ago";
}

void append_sql(std::string& out, Parts p) {
  const bool has_negative =
      p.years < 0 || p.months < 0 || p.days < 0 || p.hours < 0 || p.minutes < 0 || p.seconds < 0 || p.us < 0;
  const bool has_positive =
      p.years > 0 || p.months > 0 || p.days > 0 || p.hours > 0 || p.minutes > 0 || p.seconds > 0 || p.us > 0;
  const bool has_year_month = p.years != 0 || p.months != 0;
  const bool has_day_time = p.days != 0 || p.hours != 0 || p.minutes != 0 || p.seconds != 0 || p.us != 0;
  if (!has_negative && !has_positive) {
    out += '0';
    return;
  }
  const bool standard = !(has_negative && has_positive) && !(has_year_month && has_day_time);
  if (standard && has_negative) {
    out += '-';
    p = {-p.years, -p.months, -p.days, -p.hours, -p.minutes, -p.seconds, -p.us};
  }
  const auto clock = [&] {
    append_int(out, std::abs(p.hours));
    out += ':';
    append_two(out, std::abs(p.minutes));
    out += ':';
    append_seconds(out, p.seconds, p.us, true);
  };
  if (!standard) {
    out += p.years < 0 || p.months < 0 ? '-' : '+';
    append_int(out, std::abs(p.years));
    out += '-';
    append_int(out, std::abs(p.months));
    out += p.days < 0 ? " -" : " +";
    append_int(out, std::abs(p.days));
    out += p.hours < 0 || p.minutes < 0 || p.seconds < 0 || p.us < 0 ? " -" : " +";
    clock();
  } else if (has_year_month) {
    append_int(out, p.years);
    out += '-';
    append_int(out, p.months);
  } else if (p.days != 0) {
    append_int(out, p.days);
    out += ' ';
    clock();
  } else {
    clock();
  }
}

void append_iso8601(std::string& out, const Parts& p) {
  const bool has_time = p.hours != 0 || p.minutes != 0 || p.seconds != 0 || p.us != 0;
  if (p.years == 0 && p.months == 0 && p.days == 0 && !has_time) {
    out += "PT0S";
    return;
  }
  out += 'P';
  const auto field = [&](std::int64_t value, char unit) {
    if (value == 0) return;
    append_int(out, value);
    out += unit;
  };
  field(p.years, 'Y');
  field(p.months, 'M');
  field(p.days, 'D');
  if (has_time) out += 'T';
  field(p.hours, 'H');
  field(p.minutes, 'M');
  if (p.seconds != 0 || p.us != 0) {
    if (p.seconds < 0 || p.us < 0) out += '-';
    append_seconds(out, p.seconds, p.us, false);
    out += 'S';
  }
}

}  // namespace

void append_interval(std::string& out, Interval span, IntervalStyle style) {
  const Parts parts = split(span);
  switch (style) {
    case IntervalStyle::kPostgres:
      return append_postgres(out, parts);
    case IntervalStyle::kPostgresVerbose:
      return append_verbose(out, parts);
    case IntervalStyle::kSqlStandard:
      return append_sql(out, parts);
    case IntervalStyle::kIso8601:
      return append_iso8601(out, parts);
  }
}

}  // namespace pinwheel::sql
