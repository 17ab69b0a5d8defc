#include <cmath>

#include "sql/types/decimal.h"

/// Logarithm and exponential by binary fixed-point arithmetic over GMP integers: `bits` fraction bits.
namespace pinwheel::sql {

namespace {

constexpr double kBitsPerDigit = 3.3219280948873623;
/// Guard bits: each series below loses less than one unit per term, and there are far fewer than 2^32 terms.
constexpr int kGuardBits = 64;

mpz_class to_fixed(const Decimal& d, int bits) {
  mpz_class scaled = d.value << static_cast<unsigned long>(bits);
  const mpz_class divisor = power_of_ten(d.scale);
  mpz_tdiv_q(scaled.get_mpz_t(), scaled.get_mpz_t(), divisor.get_mpz_t());
  return scaled;
}

Decimal from_fixed(const mpz_class& fixed, int bits, int scale) {
  Decimal result;
  result.scale = scale;
  mpz_class scaled = fixed * power_of_ten(scale);
  const mpz_class half = mpz_class{1} << static_cast<unsigned long>(bits - 1);
  if (sgn(scaled) < 0) {
    scaled -= half;
  } else {
    scaled += half;
  }
  mpz_tdiv_q_2exp(result.value.get_mpz_t(), scaled.get_mpz_t(), static_cast<unsigned long>(bits));
  return result;
}

/// 2 artanh(n / d).
mpz_class twice_artanh(const mpz_class& n, const mpz_class& d, int bits) {
  mpz_class term = (n << static_cast<unsigned long>(bits)) / d;
  const mpz_class square = (term * term) >> static_cast<unsigned long>(bits);
  mpz_class sum = term;
  for (unsigned long k = 3; sgn(term) != 0; k += 2) {
    term = (term * square) >> static_cast<unsigned long>(bits);
    if (term == -1) break;  // the shift rounds down, so negative terms end at -1
    sum += term / k;
  }
  return sum * 2;
}

mpz_class fixed_ln2(int bits) { return twice_artanh(1, 3, bits); }

/// ln of the positive fixed-point number `x`, which has `bits` fraction bits.
mpz_class fixed_ln(mpz_class x, int bits) {
  const mpz_class one = mpz_class{1} << static_cast<unsigned long>(bits);
  // x = m 2^k with m in [0.75, 1.5)
  long k = static_cast<long>(mpz_sizeinbase(x.get_mpz_t(), 2)) - 1 - bits;
  const auto scaled = [&](long shift) {
    return shift >= 0 ? mpz_class{x >> static_cast<unsigned long>(shift)}
                      : mpz_class{x << static_cast<unsigned long>(-shift)};
  };
  mpz_class m = scaled(k);
  if (m >= one + (one >> 1)) m = scaled(++k);
  // Square roots bring m near one, where the series is short.
  constexpr int kRoots = 8;
  for (int i = 0; i < kRoots; ++i) m = sqrt(mpz_class{m << static_cast<unsigned long>(bits)});
  mpz_class result = twice_artanh(m - one, m + one, bits) << kRoots;
  if (k != 0) result += fixed_ln2(bits) * k;
  return result;
}

/// e^x in fixed point.
mpz_class fixed_exp(const mpz_class& x, int bits, long* power_of_two) {
  const mpz_class ln2 = fixed_ln2(bits);
  mpz_class k;
  mpz_fdiv_q(k.get_mpz_t(), x.get_mpz_t(), ln2.get_mpz_t());
  *power_of_two = k.get_si();
  constexpr unsigned long kHalvings = 8;
  const mpz_class r = (x - k * ln2) >> kHalvings;
  const mpz_class one = mpz_class{1} << static_cast<unsigned long>(bits);
  mpz_class sum = one;
  mpz_class term = one;
  for (unsigned long n = 1; sgn(term) != 0; ++n) {
    term = ((term * r) >> static_cast<unsigned long>(bits)) / n;
    sum += term;
  }
  for (unsigned long i = 0; i < kHalvings; ++i) sum = (sum * sum) >> static_cast<unsigned long>(bits);
  return sum;
}

}  // namespace

Decimal decimal_ln(const Decimal& a, int scale) {
  // Values below one need their own magnitude in extra fraction bits.
  const int below_one = std::max(0, -decimal_exponent(a));
  const int bits = static_cast<int>((scale + 2.0 * below_one + 10) * kBitsPerDigit) + kGuardBits + 32;
  return from_fixed(fixed_ln(to_fixed(a, bits), bits), bits, scale);
}

Decimal decimal_exp(const Decimal& a, int scale) {
  const double estimate = decimal_to_double(a) * 0.4342944819032518;
  const int digits = scale + std::max(0, static_cast<int>(estimate)) + 10;
  const int bits = static_cast<int>(digits * kBitsPerDigit) + 2 * kGuardBits;
  long power = 0;
  mpz_class result = fixed_exp(to_fixed(a, bits), bits, &power);
  if (power >= 0) {
    result <<= static_cast<unsigned long>(power);
  } else {
    result >>= static_cast<unsigned long>(-power);
  }
  return from_fixed(result, bits, scale);
}

}  // namespace pinwheel::sql
