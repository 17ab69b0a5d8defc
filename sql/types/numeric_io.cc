#include <strings.h>

#include <cctype>
#include <charconv>

#include "base/bytes.h"
#include "sql/types/decimal.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"
#include "sql/types/numeric.h"

namespace pinwheel::sql {

namespace {

using Kind = Decimal::Kind;

bool parse_special(std::string_view text, Kind* kind) {
  std::string_view word = text;
  bool negative = false;
  const bool is_signed = !word.empty() && (word[0] == '+' || word[0] == '-');
  if (is_signed) {
    negative = word[0] == '-';
    word.remove_prefix(1);
  }
  const auto equals = [&](std::string_view name) {
    return word.size() == name.size() && strncasecmp(word.data(), name.data(), name.size()) == 0;
  };
  if (equals("nan") && !is_signed) {
    *kind = Kind::kNaN;
  } else if (equals("inf") || equals("infinity")) {
    *kind = negative ? Kind::kMinusInfinity : Kind::kInfinity;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Datum parse_numeric(Arena& arena, std::string_view text) {
  const std::string_view body = trim_space(text);
  Decimal d;
  if (parse_special(body, &d.kind)) return pack_decimal(arena, d);
  std::size_t at = 0;
  bool negative = false;
  if (at < body.size() && (body[at] == '+' || body[at] == '-')) negative = body[at++] == '-';
  std::string digits;
  digits.reserve(body.size());
  int scale = 0;
  bool point = false;
  for (; at < body.size(); ++at) {
    if (body[at] >= '0' && body[at] <= '9') {
      digits += body[at];
      scale += point;
    } else if (body[at] == '.' && !point) {
      point = true;
    } else {
      break;
    }
  }
  if (digits.empty()) throw_bad_syntax("numeric", text);
  long exponent = 0;
  if (at < body.size() && (body[at] == 'e' || body[at] == 'E')) {
    ++at;
    if (at < body.size() && body[at] == '+') ++at;
    const auto [end, error] = std::from_chars(body.data() + at, body.data() + body.size(), exponent);
    if (error == std::errc::invalid_argument) throw_bad_syntax("numeric", text);
    at = static_cast<std::size_t>(end - body.data());
    if (error == std::errc::result_out_of_range || exponent > 1073741823 || exponent < -1073741823) {
      throw_numeric_overflow();
    }
  }
  if (at != body.size()) throw_bad_syntax("numeric", text);
  long final_scale = scale - exponent;
  std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) {
    d.scale = static_cast<int>(std::min<long>(std::max<long>(final_scale, 0), kNumericStorageScale));
    return pack_decimal(arena, d);
  }
  if (static_cast<long>(digits.size() - first) - final_scale > kNumericIntegerDigits)
    throw_numeric_overflow();
  if (digits.size() - first <= 18 && final_scale >= 0 && final_scale <= kNumericStorageScale) {
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return numeric_from_int128(arena, negative ? -value : value, static_cast<int>(final_scale));
  }
  d.value.set_str(digits, 10);
  if (negative) d.value = -d.value;
  if (final_scale < 0) {
    d.value *= power_of_ten(static_cast<int>(-final_scale));
    final_scale = 0;
  }
  d.scale = static_cast<int>(final_scale);
  if (final_scale > kNumericStorageScale) {
    // Far below the smallest kept digit the value rounds to zero; dividing by so large a power is not needed.
    if (final_scale - kNumericStorageScale > static_cast<long>(digits.size()) + 1)
      d.value = 0, d.scale = kNumericStorageScale;
    rescale(&d, kNumericStorageScale);
  }
  return pack_decimal(arena, d);
}

void append_numeric(std::string& out, Datum a) {
  const Decimal d = unpack_decimal(a);
  switch (d.kind) {
    case Kind::kFinite:
      return append_decimal(out, d);
    case Kind::kNaN:
      out += "NaN";
      return;
    case Kind::kInfinity:
      out += "Infinity";
      return;
    case Kind::kMinusInfinity:
      out += "-Infinity";
      return;
  }
}

namespace io {

namespace {

constexpr std::uint16_t kWirePositive = 0x0000;
constexpr std::uint16_t kWireNegative = 0x4000;
constexpr std::uint16_t kWireNaN = 0xC000;
constexpr std::uint16_t kWireInfinity = 0xD000;
constexpr std::uint16_t kWireMinusInfinity = 0xF000;

void append_int16(std::string& out, int value) {
  char buffer[2];
  store_network<std::int16_t>(buffer, static_cast<std::int16_t>(value));
  out.append(buffer, 2);
}

Datum plain(Datum value, const IoContext& io) {
  return needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value;
}

}  // namespace

Datum numeric_in(std::string_view text, const IoContext& io) {
  return numeric_apply_typmod(io.arena, parse_numeric(io.arena, text), io.typmod);
}
void numeric_out(Datum value, const IoContext& io, std::string& out) {
  append_numeric(out, plain(value, io));
}

/// Wire form: int16 digit count, weight, sign, display scale, then base-10000 digits.
void numeric_send(Datum value, const IoContext& io, std::string& out) {
  const Decimal d = unpack_decimal(plain(value, io));
  if (!d.finite()) {
    append_int16(out, 0);
    append_int16(out, 0);
    append_int16(out, d.nan() ? kWireNaN : d.sign() < 0 ? kWireMinusInfinity : kWireInfinity);
    append_int16(out, d.infinite() ? 0x20 : 0);
    return;
  }
  // Pad the decimal text so that groups of four align with the point.
  std::string digits = mpz_class{abs(d.value)}.get_str();
  const int pad = (4 - d.scale % 4) % 4;
  digits.append(static_cast<std::size_t>(pad), '0');
  const int groups_after = (d.scale + pad) / 4;
  digits.insert(0, (4 - digits.size() % 4) % 4, '0');
  const int groups = static_cast<int>(digits.size() / 4);
  const auto group = [&](int i) { return std::stoi(digits.substr(static_cast<std::size_t>(i) * 4, 4)); };
  int first = 0;
  int last = groups;
  while (first < last && group(first) == 0) ++first;
  while (last > first && group(last - 1) == 0) --last;
  append_int16(out, last - first);
  append_int16(out, first == last ? 0 : groups - groups_after - 1 - first);
  append_int16(out, sgn(d.value) < 0 ? kWireNegative : kWirePositive);
  append_int16(out, d.scale);
  for (int i = first; i < last; ++i) append_int16(out, group(i));
}

Datum numeric_recv(std::string_view bytes, const IoContext& io) {
  if (bytes.size() < 8) throw SqlError{sqlstate::kProtocolViolation, "insufficient data left in message"};
  const int count = load_network<std::uint16_t>(bytes.data());
  const int weight = load_network<std::int16_t>(bytes.data() + 2);
  const auto sign = load_network<std::uint16_t>(bytes.data() + 4);
  const int scale = load_network<std::uint16_t>(bytes.data() + 6);
  if (bytes.size() != 8 + 2 * static_cast<std::size_t>(count)) throw_bad_binary();
  Decimal d;
  const auto bad = [](std::string_view what) {
    throw SqlError{sqlstate::kInvalidBinaryRepresentation,
                   "invalid " + std::string{what} + " in external \"numeric\" value"};
  };
  switch (sign) {
    case kWirePositive:
    case kWireNegative:
      break;
    case kWireNaN:
      d.kind = Kind::kNaN;
      break;
    case kWireInfinity:
      d.kind = Kind::kInfinity;
      break;
    case kWireMinusInfinity:
      d.kind = Kind::kMinusInfinity;
      break;
    default:
      bad("sign");
  }
  if (scale > kNumericStorageScale) bad("scale");
  if (!d.finite()) return numeric_apply_typmod(io.arena, pack_decimal(io.arena, d), io.typmod);
  for (int i = 0; i < count; ++i) {
    const int digit = load_network<std::uint16_t>(bytes.data() + 8 + 2 * i);
    if (digit >= 10000) bad("digit");
    d.value = d.value * 10000 + digit;
  }
  // value * 10000^(weight - count + 1), at the scale the sender shows; hidden digits are cut.
  const int shift = 4 * (weight - count + 1);
  if (shift >= 0) {
    d.value *= power_of_ten(shift);
  } else {
    d.scale = -shift;
  }
  rescale(&d, scale, true);
  if (sign == kWireNegative) d.value = -d.value;
  return numeric_apply_typmod(io.arena, pack_decimal(io.arena, d), io.typmod);
}

int numeric_typmod_in(std::span<const std::string_view> parts) {
  const auto bad = [](std::string message) {
    throw SqlError{sqlstate::kInvalidParameterValue, std::move(message)};
  };
  if (parts.empty() || parts.size() > 2) bad("invalid NUMERIC type modifier");
  const int precision = parse_int4(parts[0]);
  if (precision < 1 || precision > kNumericMaxPrecision) {
    bad("NUMERIC precision " + std::to_string(precision) + " must be between 1 and 1000");
  }
  int scale = 0;
  if (parts.size() == 2) {
    scale = parse_int4(parts[1]);
    if (scale < kNumericMinScale || scale > kNumericMaxScale) {
      bad("NUMERIC scale " + std::to_string(scale) + " must be between -1000 and 1000");
    }
  }
  return make_numeric_typmod(precision, scale);
}

std::string numeric_typmod_out(int typmod) {
  if (typmod < 4) return "";
  return "(" + std::to_string(numeric_typmod_precision(typmod)) + "," +
         std::to_string(numeric_typmod_scale(typmod)) + ")";
}

}  // namespace io
}  // namespace pinwheel::sql
