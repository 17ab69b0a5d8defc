#include "sql/types/numbers.h"

#include <strings.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "sql/types/io_errors.h"

namespace pinwheel::sql {

namespace {

/// Wire-hot: called for every integer parameter in text format.
template <class T>
T parse_signed(std::string_view text, std::string_view type) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end && is_space(*at)) ++at;
  const bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) ++at;
  if (at == end || *at < '0' || *at > '9') throw_bad_syntax(type, text);
  // Accumulated negatively, since the most negative value has no positive counterpart.
  std::int64_t value = 0;
  bool overflow = false;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) {
    overflow |= __builtin_mul_overflow(value, std::int64_t{10}, &value);
    overflow |= __builtin_sub_overflow(value, std::int64_t{*at - '0'}, &value);
  }
  while (at < end && is_space(*at)) ++at;
  if (at != end) throw_bad_syntax(type, text);
  if (!negative) overflow |= __builtin_sub_overflow(std::int64_t{0}, value, &value);
  if (overflow || value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
    throw_text_out_of_range(type, text);
  }
  return static_cast<T>(value);
}

/// "Infinity" and friends as floats spell them: 0 when `text` is none.
int named_float(std::string_view text, double* value) {
  const auto starts = [&](std::string_view name) {
    return text.size() >= name.size() && strncasecmp(text.data(), name.data(), name.size()) == 0;
  };
  const double inf = std::numeric_limits<double>::infinity();
  static constexpr struct {
    std::string_view name;
    int sign;
  } kNames[] = {{"NaN", 0}, {"Infinity", 1}, {"+Infinity", 1}, {"-Infinity", -1},
                {"inf", 1}, {"+inf", 1},     {"-inf", -1}};
  for (const auto& entry : kNames) {
    if (!starts(entry.name)) continue;
    *value = entry.sign == 0 ? std::numeric_limits<double>::quiet_NaN() : entry.sign * inf;
    return static_cast<int>(entry.name.size());
  }
  return 0;
}

template <class T>
T parse_float(std::string_view text, std::string_view type) {
  std::string_view rest = text;
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (rest.empty()) throw_bad_syntax(type, text);
  T value{};
  double named;
  if (const int taken = named_float(rest, &named)) {
    value = static_cast<T>(named);
    rest.remove_prefix(static_cast<std::size_t>(taken));
  } else {
    std::string_view digits = rest;
    if (digits.front() == '+') digits.remove_prefix(1);
    if (digits.empty() || digits.front() == '+' || std::isalpha(static_cast<unsigned char>(digits.front()))) {
      throw_bad_syntax(type, text);
    }
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::invalid_argument) throw_bad_syntax(type, text);
    const std::string_view number{digits.data(), static_cast<std::size_t>(end - digits.data())};
    if (error == std::errc::result_out_of_range) {
      throw SqlError{sqlstate::kNumericValueOutOfRange,
                     "\"" + std::string{text} + "\" is out of range for type " + std::string{type}};
    }
    rest = {end, static_cast<std::size_t>(digits.data() + digits.size() - end)};
  }
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  if (!rest.empty()) throw_bad_syntax(type, text);
  return value;
}

/// PostgreSQL's layout of the shortest digits: plain between 1e-5 and 1e15 (1e6 for float4), else d.ddde+XX.
template <class T>
void append_shortest(std::string& out, T value, int plain_digits) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const char* e = end - 1;
  while (*e != 'e') --e;
  int exponent = 0;
  std::from_chars(e[1] == '+' ? e + 2 : e + 1, end, exponent);
  std::string digits;
  const char* at = buffer;
  if (*at == '-') out += *at++;
  for (; at < e; ++at) {
    if (*at != '.') digits += *at;
  }
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= plain_digits) {
    out += digits[0];
    if (count > 1) out.append(".").append(digits, 1);
    char tail[16];
    std::snprintf(tail, sizeof tail, "e%c%02d", exponent < 0 ? '-' : '+', std::abs(exponent));
    out += tail;
  } else if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  } else if (count <= exponent + 1) {
    out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0');
  } else {
    out.append(digits, 0, static_cast<std::size_t>(exponent + 1)).append(".");
    out.append(digits, static_cast<std::size_t>(exponent + 1));
  }
}

template <class T>
void append_float(std::string& out, T value, int extra_digits, int base_digits) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
  } else if (extra_digits > 0) {
    if (value == 0) {
      out += std::signbit(value) ? "-0" : "0";
    } else {
      append_shortest(out, value, base_digits);
    }
  } else {
    char buffer[64];
    const int digits = std::max(base_digits + extra_digits, 1);
    out.append(buffer, static_cast<std::size_t>(
                           std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(value))));
  }
}

}  // namespace

std::string_view trim_space(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::int16_t parse_int2(std::string_view text) { return parse_signed<std::int16_t>(text, "smallint"); }
std::int32_t parse_int4(std::string_view text) { return parse_signed<std::int32_t>(text, "integer"); }
std::int64_t parse_int8(std::string_view text) { return parse_signed<std::int64_t>(text, "bigint"); }

std::uint32_t parse_uint32(std::string_view text, std::string_view type) {
  const std::string_view body = trim_space(text);
  std::int64_t value = 0;
  const bool plus = !body.empty() && body.front() == '+';
  const auto [end, error] = std::from_chars(body.data() + plus, body.data() + body.size(), value);
  if (error == std::errc::invalid_argument || end != body.data() + body.size()) throw_bad_syntax(type, text);
  if (error == std::errc::result_out_of_range || value > std::int64_t{UINT32_MAX} || value < INT32_MIN) {
    throw_text_out_of_range(type, text);
  }
  return static_cast<std::uint32_t>(value);
}

std::uint64_t parse_uint64(std::string_view text, std::string_view type) {
  const std::string_view body = trim_space(text);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error == std::errc::invalid_argument || end != body.data() + body.size()) throw_bad_syntax(type, text);
  if (error == std::errc::result_out_of_range) throw_text_out_of_range(type, text);
  return value;
}

void append_int(std::string& out, std::int64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

void append_uint(std::string& out, std::uint64_t value) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

float parse_float4(std::string_view text) { return parse_float<float>(text, "real"); }
double parse_float8(std::string_view text) { return parse_float<double>(text, "double precision"); }
void append_float4(std::string& out, float value, int extra_digits) {
  append_float(out, value, extra_digits, 6);
}
void append_float8(std::string& out, double value, int extra_digits) {
  append_float(out, value, extra_digits, 15);
}

}  // namespace pinwheel::sql
