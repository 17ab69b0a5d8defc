#include <algorithm>
#include <cmath>

#include "sql/types/decimal.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_internal.h"

/// Roots, logarithms, exponentials and powers of numerics.
namespace pinwheel::sql {

namespace {
using Kind = Decimal::Kind;
}  // namespace

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
  if (d.nan()) return pack_nan(arena);
  if (d.sign() <= 0) throw_bad_log(d.sign());
  if (d.infinite()) return pack_decimal(arena, d);
  const int scale = clamp_display_scale(std::max(kNumericMinSignificant - estimate_ln_weight(d), d.scale));
  return pack_decimal(arena, decimal_ln(d, scale));
}

Datum numeric_log(Arena& arena, Datum base, Datum a) {
  const Decimal b = unpack_decimal(base);
  const Decimal d = unpack_decimal(a);
  if (b.nan() || d.nan()) return pack_nan(arena);
  if (b.sign() <= 0) throw_bad_log(b.sign());
  if (d.sign() <= 0) throw_bad_log(d.sign());
  if (b.infinite()) return d.infinite() ? pack_nan(arena) : numeric_from_int64(arena, 0);
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

}  // namespace pinwheel::sql
