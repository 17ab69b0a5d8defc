#include "base/bytes.h"
#include "sql/types/binary_io.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql::io {

namespace {

template <class T>
T receive(std::string_view bytes) {
  if (bytes.size() != sizeof(T)) throw_bad_binary();
  return load_network<T>(bytes.data());
}
int precision_typmod(std::span<const std::string_view> parts, std::string_view type) {
  if (parts.size() != 1) throw SqlError{sqlstate::kInvalidParameterValue, "invalid type modifier"};
  const int precision = parse_int4(parts[0]);
  if (precision < 0) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   std::string{type} + "(" + std::to_string(precision) + ") precision must not be negative"};
  }
  return std::min(precision, 6);
}

std::int64_t check_timestamp(std::int64_t timestamp) {
  if (is_finite_timestamp(timestamp) && !is_valid_timestamp(timestamp)) throw_timestamp_range();
  return timestamp;
}
std::int64_t check_time(std::int64_t us) {
  if (us < 0 || us > kUsPerDay) throw SqlError{sqlstate::kDatetimeFieldOverflow, "time out of range"};
  return us;
}

std::int64_t round_timestamp(std::int64_t timestamp, int typmod) {
  return is_finite_timestamp(timestamp) ? round_time(timestamp, typmod) : timestamp;
}

std::string precision_out(int typmod, std::string_view tail) {
  return (typmod >= 0 ? "(" + std::to_string(typmod) + ")" : std::string{}) + std::string{tail};
}

}  // namespace

Datum date_in(std::string_view text, const IoContext& io) {
  return Datum::from_int32(parse_date(text, io.eval));
}
void date_out(Datum value, const IoContext& io, std::string& out) {
  append_date(out, value.as_int32(), io.eval);
}
Datum date_recv(std::string_view bytes, const IoContext&) {
  const auto date = receive<std::int32_t>(bytes);
  if (is_finite_date(date) && (date < kMinDate || date >= kEndDate)) throw_date_range();
  return Datum::from_int32(date);
}
void date_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_int32()); }

Datum time_in(std::string_view text, const IoContext& io) {
  return Datum::from_int64(round_time(parse_time(text, io.eval), io.typmod));
}
void time_out(Datum value, const IoContext&, std::string& out) { append_time(out, value.as_int64()); }
Datum time_recv(std::string_view bytes, const IoContext& io) {
  return Datum::from_int64(round_time(check_time(receive<std::int64_t>(bytes)), io.typmod));
}
void time_send(Datum value, const IoContext&, std::string& out) { append_network(out, value.as_int64()); }

Datum timetz_in(std::string_view text, const IoContext& io) {
  TimeTz value = parse_timetz(text, io.eval);
  value.us = round_time(value.us, io.typmod);
  return make_timetz(io.arena, value);
}
void timetz_out(Datum value, const IoContext&, std::string& out) { append_timetz(out, load_timetz(value)); }
Datum timetz_recv(std::string_view bytes, const IoContext& io) {
  if (bytes.size() != kTimeTzSize) throw_bad_binary();
  TimeTz value;
  value.us = round_time(check_time(load_network<std::int64_t>(bytes.data())), io.typmod);
  value.zone_s = load_network<std::int32_t>(bytes.data() + 8);
  if (value.zone_s <= -16 * 3600 || value.zone_s >= 16 * 3600) {
    throw SqlError{sqlstate::kInvalidTimeZoneDisplacementValue, "time zone displacement out of range"};
  }
  return make_timetz(io.arena, value);
}
void timetz_send(Datum value, const IoContext&, std::string& out) {
  const TimeTz t = load_timetz(value);
  append_network(out, t.us);
  append_network(out, t.zone_s);
}

Datum timestamp_in(std::string_view text, const IoContext& io) {
  return Datum::from_int64(round_timestamp(parse_timestamp(text, io.eval), io.typmod));
}
void timestamp_out(Datum value, const IoContext& io, std::string& out) {
  append_timestamp(out, value.as_int64(), io.eval);
}
Datum timestamp_recv(std::string_view bytes, const IoContext& io) {
  return Datum::from_int64(round_timestamp(check_timestamp(receive<std::int64_t>(bytes)), io.typmod));
}
void timestamp_send(Datum value, const IoContext&, std::string& out) {
  append_network(out, value.as_int64());
}

Datum timestamptz_in(std::string_view text, const IoContext& io) {
  return Datum::from_int64(round_timestamp(parse_timestamptz(text, io.eval), io.typmod));
}
void timestamptz_out(Datum value, const IoContext& io, std::string& out) {
  append_timestamptz(out, value.as_int64(), io.eval);
}
Datum timestamptz_recv(std::string_view bytes, const IoContext& io) { return timestamp_recv(bytes, io); }
void timestamptz_send(Datum value, const IoContext& io, std::string& out) { timestamp_send(value, io, out); }

int time_typmod_in(std::span<const std::string_view> parts) { return precision_typmod(parts, "TIME"); }
int timetz_typmod_in(std::span<const std::string_view> parts) { return precision_typmod(parts, "TIME"); }
int timestamp_typmod_in(std::span<const std::string_view> parts) {
  return precision_typmod(parts, "TIMESTAMP");
}
int timestamptz_typmod_in(std::span<const std::string_view> parts) {
  return precision_typmod(parts, "TIMESTAMP");
}
std::string time_typmod_out(int typmod) { return precision_out(typmod, " without time zone"); }
std::string timetz_typmod_out(int typmod) { return precision_out(typmod, " with time zone"); }

Datum interval_in(std::string_view text, const IoContext& io) {
  return make_interval(
      io.arena, apply_interval_typmod(parse_interval(text, io.eval.interval_style, io.typmod), io.typmod));
}
void interval_out(Datum value, const IoContext& io, std::string& out) {
  append_interval(out, load_interval(value), io.eval.interval_style);
}
Datum interval_recv(std::string_view bytes, const IoContext& io) {
  if (bytes.size() != sizeof(Interval)) throw_bad_binary();
  Interval value;
  value.us = load_network<std::int64_t>(bytes.data());
  value.days = load_network<std::int32_t>(bytes.data() + 8);
  value.months = load_network<std::int32_t>(bytes.data() + 12);
  return make_interval(io.arena, apply_interval_typmod(value, io.typmod));
}
void interval_send(Datum value, const IoContext&, std::string& out) {
  const Interval span = load_interval(value);
  append_network(out, span.us);
  append_network(out, span.days);
  append_network(out, span.months);
}

int interval_typmod_in(std::span<const std::string_view> parts) {
  if (parts.empty() || parts.size() > 2) {
    throw SqlError{sqlstate::kInvalidParameterValue, "invalid INTERVAL type modifier"};
  }
  const int range = parse_int4(parts[0]);
  int precision = kIntervalFullPrecision;
  if (parts.size() == 2) {
    precision = parse_int4(parts[1]);
    if (precision < 0) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "INTERVAL(" + std::to_string(precision) + ") precision must not be negative"};
    }
    precision = std::min(precision, 6);
  }
  if (parts.size() == 1 && range == kIntervalFullRange) return -1;
  return range << 16 | precision;
}

std::string interval_typmod_out(int typmod) {
  if (typmod < 0) return "";
  static constexpr struct {
    int mask;
    std::string_view words;
  } kRanges[] = {
      {kIntervalYear, " year"},
      {kIntervalMonth, " month"},
      {kIntervalDay, " day"},
      {kIntervalHour, " hour"},
      {kIntervalMinute, " minute"},
      {kIntervalSecond, " second"},
      {kIntervalYear | kIntervalMonth, " year to month"},
      {kIntervalDay | kIntervalHour, " day to hour"},
      {kIntervalDay | kIntervalHour | kIntervalMinute, " day to minute"},
      {kIntervalDay | kIntervalHour | kIntervalMinute | kIntervalSecond, " day to second"},
      {kIntervalHour | kIntervalMinute, " hour to minute"},
      {kIntervalHour | kIntervalMinute | kIntervalSecond, " hour to second"},
      {kIntervalMinute | kIntervalSecond, " minute to second"},
  };
  std::string text;
  for (const auto& entry : kRanges) {
    if (entry.mask == (typmod >> 16 & kIntervalFullRange)) text = entry.words;
  }
  const int precision = typmod & kIntervalFullPrecision;
  if (precision != kIntervalFullPrecision) text += "(" + std::to_string(precision) + ")";
  return text;
}

}  // namespace pinwheel::sql::io
