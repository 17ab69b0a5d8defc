#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"

namespace pinwheel::sql::functions {

namespace {

[[noreturn]] void throw_overflow() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
}
[[noreturn]] void throw_underflow() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "value out of range: underflow"};
}
[[noreturn]] void throw_input_range() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "input is out of range"};
}

double f8(const FunctionCall& call, int i) { return call.args[i].as_float8(); }
float f4(const FunctionCall& call, int i) { return call.args[i].as_float4(); }
Datum give(double v) { return Datum::from_float8(v); }
Datum give(float v) { return Datum::from_float4(v); }

/// R is the result's type: what finite operands must not leave.
template <class R>
R checked(R result, bool operands_finite, bool may_be_zero) {
  if (std::isinf(result) && operands_finite) throw_overflow();
  if (result == 0 && !may_be_zero) throw_underflow();
  return result;
}

template <class R, class A, class B>
Datum add(A a, B b) {
  return give(checked<R>(static_cast<R>(a) + static_cast<R>(b), !std::isinf(a) && !std::isinf(b), true));
}
template <class R, class A, class B>
Datum subtract(A a, B b) {
  return give(checked<R>(static_cast<R>(a) - static_cast<R>(b), !std::isinf(a) && !std::isinf(b), true));
}
template <class R, class A, class B>
Datum multiply(A a, B b) {
  return give(
      checked<R>(static_cast<R>(a) * static_cast<R>(b), !std::isinf(a) && !std::isinf(b), a == 0 || b == 0));
}
template <class R, class A, class B>
Datum divide(A a, B b) {
  if (b == 0 && !std::isnan(a)) throw_division_by_zero();
  return give(checked<R>(static_cast<R>(a) / static_cast<R>(b), !std::isinf(a), a == 0 || std::isinf(b)));
}

#define FOUR(prefix, r, geta, getb)                                                          \
  {prefix "pl", [](FunctionCall& c) { return add<r>(geta(c, 0), getb(c, 1)); }},             \
      {prefix "mi", [](FunctionCall& c) { return subtract<r>(geta(c, 0), getb(c, 1)); }},    \
      {prefix "mul", [](FunctionCall& c) { return multiply<r>(geta(c, 0), getb(c, 1)); }}, { \
    prefix "div", [](FunctionCall& c) { return divide<r>(geta(c, 0), getb(c, 1)); }          \
  }

/// One-argument functions that the C library has and that need no check but overflow of finite input.
template <double (*F)(double)>
Datum library(FunctionCall& call) {
  const double x = f8(call, 0);
  return give(checked<double>(F(x), !std::isinf(x), true));
}
/// Those that take no infinity.
template <double (*F)(double)>
Datum library_finite(FunctionCall& call) {
  const double x = f8(call, 0);
  if (std::isinf(x)) throw_input_range();
  return give(F(x));
}
template <double (*F)(double)>
Datum library_unit(FunctionCall& call) {
  const double x = f8(call, 0);
  if (x < -1 || x > 1) throw_input_range();
  return give(F(x));
}

Datum square_root(FunctionCall& call) {
  const double x = f8(call, 0);
  if (x < 0) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "cannot take square root of a negative number"};
  }
  return give(std::sqrt(x));
}

Datum exponential(FunctionCall& call) {
  const double x = f8(call, 0);
  return give(checked<double>(std::exp(x), !std::isinf(x), std::isinf(x)));
}

template <double (*F)(double)>
Datum logarithm(FunctionCall& call) {
  const double x = f8(call, 0);
  if (x == 0) throw SqlError{sqlstate::kInvalidArgumentForLog, "cannot take logarithm of zero"};
  if (x < 0) throw SqlError{sqlstate::kInvalidArgumentForLog, "cannot take logarithm of a negative number"};
  return give(F(x));
}

Datum power(FunctionCall& call) {
  const double x = f8(call, 0);
  const double y = f8(call, 1);
  if (std::isnan(x)) return give(y == 0 ? 1.0 : x);
  if (std::isnan(y)) return give(x == 1 ? 1.0 : y);
  if (x == 0 && y < 0) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "zero raised to a negative power is undefined"};
  }
  if (x < 0 && std::floor(y) != y) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "a negative number raised to a non-integer power yields a complex result"};
  }
  const double result = std::pow(x, y);
  const bool finite = !std::isinf(x) && !std::isinf(y);
  return give(checked<double>(result, finite, x == 0 || !finite));
}

// Degrees: exact where the answer is.

double degrees_of(double radians) { return radians * (180.0 / std::numbers::pi); }
double radians_of(double degrees) { return degrees * (std::numbers::pi / 180.0); }

/// sin of 0..90 degrees such that sin 30 = 0.5 and sin 90 = 1 exactly.
double sin_quadrant(double x) {
  if (x <= 30) return std::sin(radians_of(x)) / std::sin(radians_of(30.0)) / 2.0;
  return 1.0 - (1.0 - std::cos(radians_of(90.0 - x))) / (1.0 - std::cos(radians_of(60.0))) / 2.0;
}
double cos_quadrant(double x) { return sin_quadrant(90.0 - x); }

double sin_degrees(double x) {
  x = std::fmod(x, 360.0);
  double sign = 1;
  if (x < 0) {
    x = -x;
    sign = -sign;
  }
  if (x > 180) {
    x = 360.0 - x;
    sign = -sign;
  }
  if (x > 90) x = 180.0 - x;
  return sign * sin_quadrant(x);
}
double cos_degrees(double x) {
  x = std::fabs(std::fmod(x, 360.0));
  double sign = 1;
  if (x > 180) x = 360.0 - x;
  if (x > 90) {
    x = 180.0 - x;
    sign = -1;
  }
  return sign * cos_quadrant(x);
}
double tan_degrees(double x) {
  x = std::fmod(x, 360.0);
  double sign = 1;
  if (x < 0) {
    x = -x;
    sign = -1;
  }
  if (x > 180) x -= 180.0;
  if (x > 90) {
    x = 180.0 - x;
    sign = -sign;
  }
  const double t = sin_quadrant(x) / cos_quadrant(x);
  return sign * t / (sin_quadrant(45.0) / cos_quadrant(45.0));
}
double cot_degrees(double x) { return 1.0 / tan_degrees(x); }
double cot(double x) { return 1.0 / std::tan(x); }
double asin_degrees(double x) {
  const double size = std::fabs(x);
  const double result =
      size <= 0.5 ? std::asin(size) / std::asin(0.5) * 30.0 : 90.0 - std::acos(size) / std::acos(0.5) * 60.0;
  return std::copysign(result, x);
}
double acos_degrees(double x) { return 90.0 - asin_degrees(x); }
double atan_degrees(double x) { return std::atan(x) / std::atan(1.0) * 45.0; }

double sign_of(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; }
double round_even(double x) { return std::rint(x); }

Datum acosh_checked(FunctionCall& call) {
  if (f8(call, 0) < 1) throw_input_range();
  return give(std::acosh(f8(call, 0)));
}

// Conversions: out of the target's range is an error; halves round to even.

template <class T>
T to_integer(double value, std::string_view type) {
  const double rounded = std::rint(value);
  // The upper bound itself may not be a double; one past it is a power of two.
  if (std::isnan(value) || rounded < static_cast<double>(std::numeric_limits<T>::min()) ||
      rounded >= -static_cast<double>(std::numeric_limits<T>::min())) {
    throw_out_of_range(type);
  }
  return static_cast<T>(rounded);
}

Datum double_to_float(FunctionCall& call) {
  const double wide = f8(call, 0);
  const auto narrow = static_cast<float>(wide);
  if (std::isinf(narrow) && !std::isinf(wide)) throw_overflow();
  if (narrow == 0 && wide != 0) throw_underflow();
  return give(narrow);
}

// random(): xoroshiro128++ (Blackman and Vigna, 2019), seeded through splitmix64.

std::uint64_t rotate(std::uint64_t x, int k) { return x << k | x >> (64 - k); }

void seed(EvalContext& context, std::uint64_t from) {
  for (std::uint64_t& word : context.random_state) {
    from += 0x9E3779B97F4A7C15u;
    std::uint64_t z = from;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    word = z ^ z >> 31;
  }
}

Datum random_double(FunctionCall& call) {
  EvalContext& context = *call.context;
  auto& s = context.random_state;
  if (s[0] == 0 && s[1] == 0) {
    std::random_device device;
    seed(context, std::uint64_t{device()} << 32 | device());
  }
  const std::uint64_t result = rotate(s[0] + s[1], 17) + s[0];
  const std::uint64_t t = s[0] ^ s[1];
  s[0] = rotate(s[0], 49) ^ t ^ t << 21;
  s[1] = rotate(t, 28);
  return give(static_cast<double>(result >> 11) * 0x1.0p-53);
}

Datum set_seed(FunctionCall& call) {
  const double value = f8(call, 0);
  if (value < -1 || value > 1 || std::isnan(value)) {
    char shown[32];
    std::snprintf(shown, sizeof shown, "%g", value);
    throw SqlError{sqlstate::kInvalidParameterValue,
                   std::string{"setseed parameter "} + shown + " is out of allowed range [-1,1]"};
  }
  seed(*call.context, std::bit_cast<std::uint64_t>(value));
  return Datum{};
}

Datum width_bucket(FunctionCall& call) {
  const double operand = f8(call, 0);
  const double low = f8(call, 1);
  const double high = f8(call, 2);
  const std::int32_t count = call.args[3].as_int32();
  const auto bad = [](std::string message) {
    throw SqlError{sqlstate::kInvalidArgumentForWidthBucketFunction, std::move(message)};
  };
  if (count <= 0) bad("count must be greater than zero");
  if (std::isnan(operand) || std::isnan(low) || std::isnan(high)) {
    bad("operand, lower bound, and upper bound cannot be NaN");
  }
  if (std::isinf(low) || std::isinf(high)) bad("lower and upper bounds must be finite");
  if (low == high) bad("lower bound cannot equal upper bound");
  const bool up = low < high;
  if (up ? operand < low : operand > low) return Datum::from_int32(0);
  if (up ? operand >= high : operand <= high) {
    std::int32_t result;
    if (__builtin_add_overflow(count, 1, &result)) throw_out_of_range("integer");
    return Datum::from_int32(result);
  }
  const double part = up ? (operand - low) / (high - low) : (low - operand) / (low - high);
  return Datum::from_int32(static_cast<std::int32_t>(part * count) + 1);
}

template <bool Double>
Datum in_range(FunctionCall& call) {
  const double value = Double ? f8(call, 0) : f4(call, 0);
  const double base = Double ? f8(call, 1) : f4(call, 1);
  const double offset = f8(call, 2);
  if (std::isnan(offset) || offset < 0) {
    throw SqlError{sqlstate::kInvalidPrecedingOrFollowingSize,
                   "invalid preceding or following size in window function"};
  }
  const bool less = call.args[4].as_bool();
  if (std::isnan(value)) return Datum::from_bool(std::isnan(base) || !less);
  if (std::isnan(base)) return Datum::from_bool(less);
  const double bound = call.args[3].as_bool() ? base - offset : base + offset;
  return Datum::from_bool(less ? value <= bound : value >= bound);
}

constexpr BuiltinFunction kFloatsFunctions[] = {
    FOUR("float4", float, f4, f4),
    FOUR("float8", double, f8, f8),
    FOUR("float48", double, f4, f8),
    FOUR("float84", double, f8, f4),
    {"float4um", [](FunctionCall& c) { return give(-f4(c, 0)); }},
    {"float8um", [](FunctionCall& c) { return give(-f8(c, 0)); }},
    {"float4up", [](FunctionCall& c) { return c.args[0]; }},
    {"float8up", [](FunctionCall& c) { return c.args[0]; }},
    {"float4abs", [](FunctionCall& c) { return give(std::fabs(f4(c, 0))); }},
    {"float8abs", [](FunctionCall& c) { return give(std::fabs(f8(c, 0))); }},
    {"dround", library<round_even>},
    {"dtrunc", library<std::trunc>},
    {"dceil", library<std::ceil>},
    {"dfloor", library<std::floor>},
    {"dsign", library<sign_of>},
    {"dsqrt", square_root},
    {"dcbrt", library<std::cbrt>},
    {"dpow", power},
    {"dexp", exponential},
    {"dlog1", logarithm<std::log>},
    {"dlog10", logarithm<std::log10>},
    {"dsin", library_finite<std::sin>},
    {"dcos", library_finite<std::cos>},
    {"dtan", library_finite<std::tan>},
    {"dcot", library_finite<cot>},
    {"dasin", library_unit<std::asin>},
    {"dacos", library_unit<std::acos>},
    {"datan", [](FunctionCall& c) { return give(std::atan(f8(c, 0))); }},
    {"datan2", [](FunctionCall& c) { return give(std::atan2(f8(c, 0), f8(c, 1))); }},
    {"dsind", library_finite<sin_degrees>},
    {"dcosd", library_finite<cos_degrees>},
    {"dtand", library_finite<tan_degrees>},
    {"dcotd", library_finite<cot_degrees>},
    {"dasind", library_unit<asin_degrees>},
    {"dacosd", library_unit<acos_degrees>},
    {"datand", [](FunctionCall& c) { return give(atan_degrees(f8(c, 0))); }},
    {"datan2d", [](FunctionCall& c) { return give(std::atan2(f8(c, 0), f8(c, 1)) / std::atan(1.0) * 45.0); }},
    {"dsinh", [](FunctionCall& c) { return give(std::sinh(f8(c, 0))); }},
    {"dcosh", [](FunctionCall& c) { return give(std::cosh(f8(c, 0))); }},
    {"dtanh", library<std::tanh>},
    {"dasinh", [](FunctionCall& c) { return give(std::asinh(f8(c, 0))); }},
    {"dacosh", acosh_checked},
    {"datanh", library_unit<std::atanh>},
    {"degrees", library<degrees_of>},
    {"radians", library<radians_of>},
    {"dpi", [](FunctionCall&) { return give(std::numbers::pi); }},
    {"drandom", random_double},
    {"setseed", set_seed},
    {"width_bucket_float8", width_bucket},
    {"in_range_float8_float8", in_range<true>},
    {"in_range_float4_float8", in_range<false>},

    {"ftod", [](FunctionCall& c) { return give(static_cast<double>(f4(c, 0))); }},
    {"dtof", double_to_float},
    {"i2tod", [](FunctionCall& c) { return give(static_cast<double>(c.args[0].as_int16())); }},
    {"i4tod", [](FunctionCall& c) { return give(static_cast<double>(c.args[0].as_int32())); }},
    {"i8tod", [](FunctionCall& c) { return give(static_cast<double>(c.args[0].as_int64())); }},
    {"i2tof", [](FunctionCall& c) { return give(static_cast<float>(c.args[0].as_int16())); }},
    {"i4tof", [](FunctionCall& c) { return give(static_cast<float>(c.args[0].as_int32())); }},
    {"i8tof", [](FunctionCall& c) { return give(static_cast<float>(c.args[0].as_int64())); }},
    {"dtoi2",
     [](FunctionCall& c) { return Datum::from_int16(to_integer<std::int16_t>(f8(c, 0), "smallint")); }},
    {"dtoi4",
     [](FunctionCall& c) { return Datum::from_int32(to_integer<std::int32_t>(f8(c, 0), "integer")); }},
    {"dtoi8",
     [](FunctionCall& c) { return Datum::from_int64(to_integer<std::int64_t>(f8(c, 0), "bigint")); }},
    {"ftoi2",
     [](FunctionCall& c) { return Datum::from_int16(to_integer<std::int16_t>(f4(c, 0), "smallint")); }},
    {"ftoi4",
     [](FunctionCall& c) { return Datum::from_int32(to_integer<std::int32_t>(f4(c, 0), "integer")); }},
    {"ftoi8",
     [](FunctionCall& c) { return Datum::from_int64(to_integer<std::int64_t>(f4(c, 0), "bigint")); }},
};

}  // namespace

std::span<const BuiltinFunction> float_functions() { return kFloatsFunctions; }

}  // namespace pinwheel::sql::functions
