#pragma once

#include <gmpxx.h>

#include <string>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// A numeric unpacked for arithmetic: `value` * 10^-`scale`, or a special value.
struct Decimal {
  enum class Kind : std::uint8_t { kFinite, kNaN, kInfinity, kMinusInfinity };
  Kind kind = Kind::kFinite;
  int scale = 0;
  mpz_class value;

  bool finite() const { return kind == Kind::kFinite; }
  bool nan() const { return kind == Kind::kNaN; }
  bool infinite() const { return kind == Kind::kInfinity || kind == Kind::kMinusInfinity; }
  /// -1, 0, 1; NaN gives 1.
  int sign() const {
    if (kind == Kind::kFinite) return sgn(value);
    return kind == Kind::kMinusInfinity ? -1 : 1;
  }
  static Decimal special(Kind kind) {
    Decimal result;
    result.kind = kind;
    return result;
  }
};

Decimal unpack_decimal(Datum v);
/// Errors: 22003 value overflows numeric format.
Datum pack_decimal(Arena& arena, const Decimal& d);

/// 10^n, from a table when small.
const mpz_class& power_of_ten(int n);
/// Number of decimal digits of |v|; 0 for zero.
int decimal_digits(const mpz_class& v);
/// The value at another scale, rounded half away from zero (or cut).
void rescale(Decimal* d, int scale, bool truncate = false);
/// floor(log10(|d|)) for finite nonzero values.
int decimal_exponent(const Decimal& d);
double decimal_to_double(const Decimal& d);
/// "-12.30" of a finite value.
void append_decimal(std::string& out, const Decimal& d);

int compare_decimal(const Decimal& a, const Decimal& b);
/// Quotient rounded to `scale`. `b` is finite and not zero.
Decimal divide_to_scale(const Decimal& a, const Decimal& b, int scale);

/// ln, exp of finite values, rounded to `scale` digits after the point. ln: `a` > 0.
Decimal decimal_ln(const Decimal& a, int scale);
Decimal decimal_exp(const Decimal& a, int scale);

[[noreturn]] void throw_numeric_overflow();

}  // namespace pinwheel::sql
