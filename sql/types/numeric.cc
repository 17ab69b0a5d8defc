#include "sql/types/numeric.h"

#include <xxhash.h>

#include <cmath>
#include <numeric>

#include "sql/types/decimal.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql {

namespace {

using Kind = Decimal::Kind;

constexpr std::uint16_t kScaleMask = 0x3FFF;
constexpr std::uint16_t kNegativeBit = 0x4000;
constexpr std::uint16_t kSpecialBit = 0x8000;

/// A finite numeric whose magnitude fits 62 bits: what the fast paths work on.
struct Small {
  std::int64_t value;
  int scale;
};

bool read_small(Datum v, Small* small) {
  const std::string_view payload = var_view(v);
  const auto head = load<std::uint16_t>(payload.data());
  const std::size_t bytes = payload.size() - 2;
  if (bytes > 7 || (head & kSpecialBit)) return false;
  std::uint64_t magnitude = 0;
  std::memcpy(&magnitude, payload.data() + 2, bytes);
  small->value =
      head & kNegativeBit ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  small->scale = head & kScaleMask;
  return true;
}

constexpr std::int64_t kSmallPowers[] = {1,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000,
                                         1000000000000000000};
constexpr int kMostSmallPower = 18;

/// Both at the same scale, as 128-bit integers (56 + 60 bits fit). False when the scales lie too far apart.
bool align_small(const Small& a, const Small& b, Int128* left, Int128* right, int* scale) {
  const int gap = a.scale - b.scale;
  if (gap > kMostSmallPower || gap < -kMostSmallPower) return false;
  *left = gap < 0 ? static_cast<Int128>(a.value) * kSmallPowers[-gap] : a.value;
  *right = gap > 0 ? static_cast<Int128>(b.value) * kSmallPowers[gap] : b.value;
  *scale = std::max(a.scale, b.scale);
  return true;
}

Datum nan(Arena& arena) { return pack_decimal(arena, Decimal::special(Kind::kNaN)); }
Kind infinity(int sign) { return sign < 0 ? Kind::kMinusInfinity : Kind::kInfinity; }

Datum add_general(Arena& arena, Decimal a, Decimal b) {
  if (a.nan() || b.nan()) return nan(arena);
  if (a.infinite()) return b.infinite() && a.kind != b.kind ? nan(arena) : pack_decimal(arena, a);
  if (b.infinite()) return pack_decimal(arena, b);
  const int scale = std::max(a.scale, b.scale);
  rescale(&a, scale);
  rescale(&b, scale);
  a.value += b.value;
  return pack_decimal(arena, a);
}

Decimal negated(Decimal d) {
  if (d.finite()) {
    d.value = -d.value;
  } else if (d.infinite()) {
    d.kind = d.kind == Kind::kInfinity ? Kind::kMinusInfinity : Kind::kInfinity;
  }
  return d;
}

/// Position and value of the first base-10000 digit: PostgreSQL chooses scales by them.
struct Leading {
  int weight = 0;
  int digit = 0;
};
Leading leading(const Decimal& d) {
  if (sgn(d.value) == 0) return {};
  const int exponent = decimal_exponent(d);
  Leading result;
  result.weight = exponent >= 0 ? exponent / 4 : -((-exponent + 3) / 4);
  // |d| / 10000^weight, cut: the digits from the top down to exponent 4 * weight.
  const int drop = d.scale + 4 * result.weight;
  mpz_class top = abs(d.value);
  if (drop >= 0) {
    top /= power_of_ten(drop);
  } else {
    top *= power_of_ten(-drop);
  }
  result.digit = static_cast<int>(top.get_si());
  return result;
}

int clamp_display_scale(int scale) { return std::min(std::max(scale, 0), kNumericMaxDisplayScale); }

int division_scale(const Decimal& a, const Decimal& b) {
  const Leading left = leading(a);
  const Leading right = leading(b);
  int weight = left.weight - right.weight;
  if (left.digit <= right.digit) --weight;
  return clamp_display_scale(std::max({kNumericMinSignificant - weight * 4, a.scale, b.scale}));
}

/// What infinite operands and zero divisors give; false for finite division.
bool special_division(const Decimal& a, const Decimal& b, Decimal* result) {
  if (a.nan() || b.nan()) {
    *result = Decimal::special(Kind::kNaN);
  } else if (a.infinite()) {
    if (b.infinite()) {
      *result = Decimal::special(Kind::kNaN);
    } else if (b.sign() == 0) {
      throw_division_by_zero();
    } else {
      *result = Decimal::special(infinity(a.sign() * b.sign()));
    }
  } else if (b.infinite()) {
    *result = Decimal{};
  } else if (b.sign() == 0) {
    throw_division_by_zero();
  } else {
    return false;
  }
  return true;
}

}  // namespace

Datum numeric_from_int128(Arena& arena, Int128 value, int scale) {
  const bool negative = value < 0;
  UInt128 magnitude = negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::size_t bytes = 0;
  for (UInt128 rest = magnitude; rest != 0; rest >>= 8) ++bytes;
  char* to;
  Datum v = new_var(arena, 2 + bytes, &to);
  store<std::uint16_t>(to, static_cast<std::uint16_t>(scale | (negative ? kNegativeBit : 0)));
  std::memcpy(to + 2, &magnitude, bytes);
  return v;
}

Datum numeric_from_int64(Arena& arena, std::int64_t value) { return numeric_from_int128(arena, value); }

Datum numeric_from_double(Arena& arena, double value, int significant_digits) {
  if (std::isnan(value)) return nan(arena);
  if (std::isinf(value)) return pack_decimal(arena, Decimal::special(infinity(value < 0 ? -1 : 1)));
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof buffer, "%.*g", significant_digits, value);
  return parse_numeric(arena, {buffer, static_cast<std::size_t>(size)});
}

Datum numeric_add(Arena& arena, Datum a, Datum b) {
  Small x, y;
  Int128 left, right;
  int scale;
  if (read_small(a, &x) && read_small(b, &y) && align_small(x, y, &left, &right, &scale)) {
    return numeric_from_int128(arena, left + right, scale);
  }
  return add_general(arena, unpack_decimal(a), unpack_decimal(b));
}

Datum numeric_sub(Arena& arena, Datum a, Datum b) {
  Small x, y;
  Int128 left, right;
  int scale;
  if (read_small(a, &x) && read_small(b, &y) && align_small(x, y, &left, &right, &scale)) {
    return numeric_from_int128(arena, left - right, scale);
  }
  return add_general(arena, unpack_decimal(a), negated(unpack_decimal(b)));
}

Datum numeric_mul(Arena& arena, Datum a, Datum b) {
  Small x, y;
  if (read_small(a, &x) && read_small(b, &y) && x.scale + y.scale <= kNumericStorageScale) {
    return numeric_from_int128(arena, static_cast<Int128>(x.value) * y.value, x.scale + y.scale);
  }
  Decimal left = unpack_decimal(a);
  const Decimal right = unpack_decimal(b);
  if (left.nan() || right.nan()) return nan(arena);
  if (left.infinite() || right.infinite()) {
    const int sign = left.sign() * right.sign();
    return sign == 0 ? nan(arena) : pack_decimal(arena, Decimal::special(infinity(sign)));
  }
  left.value *= right.value;
  left.scale += right.scale;
  if (left.scale > kNumericStorageScale) rescale(&left, kNumericStorageScale);
  return pack_decimal(arena, left);
}

Datum numeric_div(Arena& arena, Datum a, Datum b) {
  const Decimal left = unpack_decimal(a);
  const Decimal right = unpack_decimal(b);
  Decimal special;
  if (special_division(left, right, &special)) return pack_decimal(arena, special);
  return pack_decimal(arena, divide_to_scale(left, right, division_scale(left, right)));
}

int numeric_division_scale(Datum a, Datum b) { return division_scale(unpack_decimal(a), unpack_decimal(b)); }

Datum numeric_div_to_scale(Arena& arena, Datum a, Datum b, int scale) {
  return pack_decimal(arena, divide_to_scale(unpack_decimal(a), unpack_decimal(b), scale));
}

bool numeric_as_small(Datum a, std::int64_t* value, int* scale) {
  Small small;
  if (!read_small(a, &small)) return false;
  *value = small.value;
  *scale = small.scale;
  return true;
}

Datum numeric_div_trunc(Arena& arena, Datum a, Datum b) {
  const Decimal left = unpack_decimal(a);
  const Decimal right = unpack_decimal(b);
  Decimal result;
  if (special_division(left, right, &result)) return pack_decimal(arena, result);
  const int scale = std::max(left.scale, right.scale);
  const mpz_class n = left.value * power_of_ten(scale - left.scale);
  const mpz_class d = right.value * power_of_ten(scale - right.scale);
  mpz_tdiv_q(result.value.get_mpz_t(), n.get_mpz_t(), d.get_mpz_t());
  return pack_decimal(arena, result);
}

Datum numeric_mod(Arena& arena, Datum a, Datum b) {
  Decimal left = unpack_decimal(a);
  Decimal right = unpack_decimal(b);
  if (left.nan() || right.nan()) return nan(arena);
  if (left.infinite()) {
    if (right.finite() && right.sign() == 0) throw_division_by_zero();
    return nan(arena);
  }
  if (right.infinite()) return pack_decimal(arena, left);
  if (right.sign() == 0) throw_division_by_zero();
  const int scale = std::max(left.scale, right.scale);
  rescale(&left, scale);
  rescale(&right, scale);
  mpz_tdiv_r(left.value.get_mpz_t(), left.value.get_mpz_t(), right.value.get_mpz_t());
  return pack_decimal(arena, left);
}

Datum numeric_negate(Arena& arena, Datum a) { return pack_decimal(arena, negated(unpack_decimal(a))); }

Datum numeric_round(Arena& arena, Datum a, int scale) {
  Decimal d = unpack_decimal(a);
  if (!d.finite()) return pack_decimal(arena, d);
  rescale(&d, std::min(std::max(scale, -2000), 2000));
  return pack_decimal(arena, d);
}

Datum numeric_trunc(Arena& arena, Datum a, int scale) {
  Decimal d = unpack_decimal(a);
  if (!d.finite()) return pack_decimal(arena, d);
  rescale(&d, std::min(std::max(scale, -2000), 2000), true);
  return pack_decimal(arena, d);
}

namespace {
Datum round_towards(Arena& arena, Datum a, bool up) {
  Decimal d = unpack_decimal(a);
  if (!d.finite()) return pack_decimal(arena, d);
  const mpz_class unit = power_of_ten(d.scale);
  if (up) {
    mpz_cdiv_q(d.value.get_mpz_t(), d.value.get_mpz_t(), unit.get_mpz_t());
  } else {
    mpz_fdiv_q(d.value.get_mpz_t(), d.value.get_mpz_t(), unit.get_mpz_t());
  }
  d.scale = 0;
  return pack_decimal(arena, d);
}
}  // namespace

Datum numeric_floor(Arena& arena, Datum a) { return round_towards(arena, a, false); }
Datum numeric_ceil(Arena& arena, Datum a) { return round_towards(arena, a, true); }

Datum numeric_sqrt(Arena& arena, Datum a) {
  Decimal d = unpack_decimal(a);
  if (d.kind == Kind::kNaN || d.kind == Kind::kInfinity) return pack_decimal(arena, d);
  if (d.sign() < 0) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "cannot take square root of a negative number"};
  }
  const int weight = leading(d).weight;
  const int scale =
      clamp_display_scale(std::max(kNumericMinSignificant - ((weight + 1) * 4 / 2 - 1), d.scale));
  return numeric_sqrt_to_scale(arena, a, scale);
}

Datum numeric_sqrt_to_scale(Arena& arena, Datum a, int scale) {
  Decimal d = unpack_decimal(a);
  // One digit more than wanted, then round: floor(sqrt) of the exact integer cannot mislead the rounding.
  const int shift = 2 * (scale + 1) - d.scale;
  if (shift >= 0) {
    d.value *= power_of_ten(shift);
  } else {
    d.value /= power_of_ten(-shift);
  }
  d.value = sqrt(d.value);
  d.scale = scale + 1;
  rescale(&d, scale);
  return pack_decimal(arena, d);
}

namespace {

/// Decimal weight of ln(d), for choosing scales.
int estimate_ln_weight(const Decimal& d) {
  if (d.sign() <= 0) return 0;
  const double value = decimal_to_double(d);
  if (value >= 0.9 && value <= 1.1) {
    Decimal x = d;
    x.value -= power_of_ten(x.scale);
    if (sgn(x.value) == 0) return 0;
    const Leading lead = leading(x);
    return lead.weight * 4 + static_cast<int>(std::log10(lead.digit));
  }
  const int exponent = decimal_exponent(d);
  // ln d from its leading digits; doubles may overflow where numerics do not.
  mpz_class top = d.value;
  const int drop = std::max(0, decimal_digits(top) - 15);
  top /= power_of_ten(drop);
  const double ln = std::log(top.get_d()) + (exponent + 1 - decimal_digits(top)) * 2.302585092994046;
  return static_cast<int>(std::log10(std::fabs(ln)));
}

[[noreturn]] void throw_bad_log(int sign) {
  throw SqlError{sqlstate::kInvalidArgumentForLog,
                 sign == 0 ? "cannot take logarithm of zero" : "cannot take logarithm of a negative number"};
}

}  // namespace

Datum numeric_ln(Arena& arena, Datum a) {
  const Decimal d = unpack_decimal(a);
  if (d.nan()) return nan(arena);
  if (d.sign() <= 0) throw_bad_log(d.sign());
  if (d.infinite()) return pack_decimal(arena, d);
  const int scale = clamp_display_scale(std::max(kNumericMinSignificant - estimate_ln_weight(d), d.scale));
  return pack_decimal(arena, decimal_ln(d, scale));
}

Datum numeric_log(Arena& arena, Datum base, Datum a) {
  const Decimal b = unpack_decimal(base);
  const Decimal d = unpack_decimal(a);
  if (b.nan() || d.nan()) return nan(arena);
  if (b.sign() <= 0) throw_bad_log(b.sign());
  if (d.sign() <= 0) throw_bad_log(d.sign());
  if (b.infinite()) return d.infinite() ? nan(arena) : numeric_from_int64(arena, 0);
  if (d.infinite()) return pack_decimal(arena, d);
  const int base_weight = estimate_ln_weight(b);
  const int weight = estimate_ln_weight(d);
  const int scale =
      clamp_display_scale(std::max({kNumericMinSignificant - (weight - base_weight), b.scale, d.scale}));
  const int inner = scale + std::max(0, weight) + 2 * std::max(0, -base_weight) + 12;
  const Decimal ln_base = decimal_ln(b, inner);
  if (ln_base.sign() == 0) throw_division_by_zero();
  return pack_decimal(arena, divide_to_scale(decimal_ln(d, inner), ln_base, scale));
}

Datum numeric_exp(Arena& arena, Datum a) {
  const Decimal d = unpack_decimal(a);
  if (d.kind == Kind::kMinusInfinity) return numeric_from_int64(arena, 0);
  if (!d.finite()) return pack_decimal(arena, d);
  const double value = decimal_to_double(d);
  const double tens = std::min(std::max(value * 0.434294481903252, -2000.0), 2000.0);
  const int scale = clamp_display_scale(std::max(kNumericMinSignificant - static_cast<int>(tens), d.scale));
  if (std::fabs(value) >= 6000) {
    if (value > 0) throw_numeric_overflow();
    Decimal zero;
    zero.scale = scale;
    return pack_decimal(arena, zero);
  }
  return pack_decimal(arena, decimal_exp(d, scale));
}

namespace {

/// base^exponent for whole exponents: 16 digits after the point, or the base's if it has more.
Decimal power_whole(const Decimal& base, int exponent) {
  Decimal result;
  const int scale = clamp_display_scale(std::max(kNumericMinSignificant, base.scale));
  if (exponent == 0) {
    result.value = 1;
    rescale(&result, scale);
    return result;
  }
  result.scale = scale;
  if (sgn(base.value) == 0) {
    if (exponent < 0) throw_division_by_zero();
    return result;
  }
  mpz_class top = abs(base.value);
  const int drop = std::max(0, decimal_digits(top) - 17);
  top /= power_of_ten(drop);
  const double log = (std::log10(top.get_d()) + drop - base.scale) * exponent;
  if (log > kNumericIntegerDigits + 4) throw_numeric_overflow();
  if (log + 1 < -scale) return result;
  const auto times = static_cast<unsigned long>(std::abs(static_cast<long>(exponent)));
  // Exact while that is cheap; else through the logarithm, with digits to spare.
  Decimal power;
  if (decimal_digits(base.value) * static_cast<double>(times) < 300000) {
    mpz_pow_ui(power.value.get_mpz_t(), base.value.get_mpz_t(), times);
    power.scale = static_cast<int>(base.scale * static_cast<long>(times));
    if (exponent < 0) {
      Decimal one;
      one.value = 1;
      return divide_to_scale(one, power, scale);
    }
    rescale(&power, scale);
    return power;
  }
  Decimal magnitude = base;
  magnitude.value = abs(magnitude.value);
  Decimal ln = decimal_ln(magnitude, scale + std::max(0, static_cast<int>(log)) + 24);
  ln.value *= exponent;
  result = decimal_exp(ln, scale);
  if (sgn(base.value) < 0 && exponent % 2 != 0) result.value = -result.value;
  return result;
}

bool is_whole(const Decimal& d) {
  return mpz_divisible_p(d.value.get_mpz_t(), mpz_class{power_of_ten(d.scale)}.get_mpz_t()) != 0;
}

bool special_power(Arena& arena, const Decimal& base, const Decimal& exponent, Datum* result) {
  const auto give = [&](Decimal d) {
    *result = pack_decimal(arena, d);
    return true;
  };
  Decimal one;
  one.value = 1;
  if (base.finite() && compare_decimal(base, one) == 0 && !exponent.finite()) return give(one);
  if (exponent.finite() && exponent.sign() == 0 && !base.finite()) return give(one);
  if (base.nan() || exponent.nan()) return give(Decimal::special(Kind::kNaN));
  if (exponent.infinite()) {
    Decimal magnitude = base;
    if (magnitude.finite()) magnitude.value = abs(magnitude.value);
    const int against_one = magnitude.infinite() ? 1 : compare_decimal(magnitude, one);
    if (against_one == 0) return give(one);
    if (base.sign() == 0 && exponent.sign() < 0) {
      throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                     "zero raised to a negative power is undefined"};
    }
    return give((against_one > 0) == (exponent.sign() > 0) ? Decimal::special(Kind::kInfinity) : Decimal{});
  }
  if (base.infinite()) {
    if (exponent.sign() < 0) return give(Decimal{});
    if (base.kind == Kind::kInfinity) return give(base);
    if (!is_whole(exponent)) {
      throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                     "a negative number raised to a non-integer power yields a complex result"};
    }
    Decimal whole = exponent;
    rescale(&whole, 0);
    return give(
        Decimal::special(mpz_odd_p(whole.value.get_mpz_t()) ? Kind::kMinusInfinity : Kind::kInfinity));
  }
  return false;
}

}  // namespace

Datum numeric_power(Arena& arena, Datum base_datum, Datum exponent_datum) {
  const Decimal base = unpack_decimal(base_datum);
  const Decimal exponent = unpack_decimal(exponent_datum);
  Datum special;
  if (special_power(arena, base, exponent, &special)) return special;
  if (base.sign() == 0 && exponent.sign() < 0) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "zero raised to a negative power is undefined"};
  }
  const bool whole = is_whole(exponent);
  if (base.sign() < 0 && !whole) {
    throw SqlError{sqlstate::kInvalidArgumentForPowerFunction,
                   "a negative number raised to a non-integer power yields a complex result"};
  }
  if (whole) {
    Decimal integer = exponent;
    rescale(&integer, 0);
    if (mpz_fits_sint_p(integer.value.get_mpz_t())) {
      return pack_decimal(arena, power_whole(base, static_cast<int>(integer.value.get_si())));
    }
  }
  Decimal result;
  if (base.sign() == 0) {
    result.scale = kNumericMinSignificant;
    return pack_decimal(arena, result);
  }
  Decimal magnitude = base;
  magnitude.value = abs(magnitude.value);
  const Decimal rough_ln = decimal_ln(magnitude, std::max(0, 8 - estimate_ln_weight(magnitude)));
  const double rough = decimal_to_double(rough_ln) * decimal_to_double(exponent);
  if (std::fabs(rough) > 6020) {
    if (rough > 0) throw_numeric_overflow();
    result.scale = kNumericMaxDisplayScale;
    return pack_decimal(arena, result);
  }
  const int tens = static_cast<int>(rough * 0.434294481903252);
  const int scale =
      clamp_display_scale(std::max({kNumericMinSignificant - tens, base.scale, exponent.scale}));
  const int inner = scale + std::max(0, tens) + std::max(0, decimal_exponent(exponent)) + 24;
  Decimal ln = decimal_ln(magnitude, inner);
  ln.value *= exponent.value;
  ln.scale += exponent.scale;
  result = decimal_exp(ln, scale);
  Decimal integer = exponent;
  if (base.sign() < 0) {
    rescale(&integer, 0);
    if (mpz_odd_p(integer.value.get_mpz_t())) result.value = -result.value;
  }
  return pack_decimal(arena, result);
}

namespace {
template <class Operation>
Datum on_common_scale(Arena& arena, Datum a, Datum b, Operation operation) {
  Decimal left = unpack_decimal(a);
  Decimal right = unpack_decimal(b);
  if (!left.finite() || !right.finite()) return nan(arena);
  const int scale = std::max(left.scale, right.scale);
  rescale(&left, scale);
  rescale(&right, scale);
  left.value = operation(left.value, right.value);
  return pack_decimal(arena, left);
}
}  // namespace

Datum numeric_gcd(Arena& arena, Datum a, Datum b) {
  return on_common_scale(arena, a, b,
                         [](const mpz_class& x, const mpz_class& y) { return mpz_class{gcd(x, y)}; });
}
Datum numeric_lcm(Arena& arena, Datum a, Datum b) {
  return on_common_scale(arena, a, b,
                         [](const mpz_class& x, const mpz_class& y) { return mpz_class{lcm(x, y)}; });
}

Datum numeric_factorial(Arena& arena, std::int64_t n) {
  if (n < 0) throw SqlError{sqlstate::kNumericValueOutOfRange, "factorial of a negative number is undefined"};
  if (n > 32177) throw_numeric_overflow();
  Decimal d;
  mpz_fac_ui(d.value.get_mpz_t(), static_cast<unsigned long>(n));
  return pack_decimal(arena, d);
}

int numeric_compare(Datum a, Datum b) {
  Small x, y;
  Int128 left, right;
  int scale;
  if (read_small(a, &x) && read_small(b, &y) && align_small(x, y, &left, &right, &scale)) {
    return left < right ? -1 : left > right;
  }
  return compare_decimal(unpack_decimal(a), unpack_decimal(b));
}

std::uint64_t numeric_hash(Datum a) {
  Small small;
  if (read_small(a, &small)) {
    while (small.scale > 0 && small.value % 10 == 0) {
      small.value /= 10;
      --small.scale;
    }
    if (small.value == 0) small.scale = 0;
    const std::int64_t key[2] = {small.value, small.scale};
    return XXH3_64bits(key, sizeof key);
  }
  Decimal d = unpack_decimal(a);
  if (!d.finite()) return 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(d.kind);
  while (d.scale > 0 && mpz_divisible_ui_p(d.value.get_mpz_t(), 10)) {
    mpz_divexact_ui(d.value.get_mpz_t(), d.value.get_mpz_t(), 10);
    --d.scale;
  }
  // Trimmed, it may fit the form above: equal values must hash equal.
  if (mpz_sizeinbase(d.value.get_mpz_t(), 2) <= 56) {
    const std::int64_t key[2] = {d.value.get_si(), sgn(d.value) == 0 ? 0 : d.scale};
    return XXH3_64bits(key, sizeof key);
  }
  const std::string digits = d.value.get_str(62);
  return XXH3_64bits_withSeed(digits.data(), digits.size(), static_cast<std::uint64_t>(d.scale));
}

int numeric_sign(Datum a) { return unpack_decimal(a).sign(); }
bool numeric_is_nan(Datum a) { return unpack_decimal(a).nan(); }
bool numeric_is_infinite(Datum a) { return unpack_decimal(a).infinite(); }
int numeric_scale(Datum a) { return unpack_decimal(a).scale; }

namespace {
Decimal without_trailing_zeros(Datum a) {
  Decimal d = unpack_decimal(a);
  if (sgn(d.value) == 0) d.scale = 0;
  while (d.scale > 0 && mpz_divisible_ui_p(d.value.get_mpz_t(), 10)) {
    mpz_divexact_ui(d.value.get_mpz_t(), d.value.get_mpz_t(), 10);
    --d.scale;
  }
  return d;
}
}  // namespace

int numeric_min_scale(Datum a) { return without_trailing_zeros(a).scale; }
Datum numeric_trim_scale(Arena& arena, Datum a) { return pack_decimal(arena, without_trailing_zeros(a)); }

std::int64_t numeric_to_int64(Datum a, std::string_view type, std::int64_t low, std::int64_t high) {
  Decimal d = unpack_decimal(a);
  if (!d.finite()) {
    throw SqlError{
        sqlstate::kFeatureNotSupported,
        std::string{d.nan() ? "cannot convert NaN to " : "cannot convert infinity to "} + std::string{type}};
  }
  rescale(&d, 0);
  if (!mpz_fits_slong_p(d.value.get_mpz_t())) throw_out_of_range(type);
  const std::int64_t value = d.value.get_si();
  if (value < low || value > high) throw_out_of_range(type);
  return value;
}

double numeric_to_double(Datum a) { return decimal_to_double(unpack_decimal(a)); }

Datum numeric_apply_typmod(Arena& arena, Datum a, int typmod) {
  if (typmod < 4) return a;
  const int precision = numeric_typmod_precision(typmod);
  const int scale = numeric_typmod_scale(typmod);
  Decimal d = unpack_decimal(a);
  const auto overflow = [&](std::string detail) {
    throw SqlError{sqlstate::kNumericValueOutOfRange, "numeric field overflow"}.detail(
        "A field with precision " + std::to_string(precision) + ", scale " + std::to_string(scale) +
        std::move(detail));
  };
  if (d.nan()) return a;
  if (d.infinite()) overflow(" cannot hold an infinite value.");
  if (d.scale == scale && decimal_digits(d.value) <= precision) return a;
  rescale(&d, scale);
  if (decimal_digits(d.value) > precision + (d.scale - scale)) {
    const int most = precision - scale;
    overflow(" must round to an absolute value less than " +
             (most != 0 ? "10^" + std::to_string(most) : std::string{"1"}) + ".");
  }
  return pack_decimal(arena, d);
}

}  // namespace pinwheel::sql
