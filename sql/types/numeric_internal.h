#pragma once

#include <algorithm>

#include "sql/types/decimal.h"
#include "sql/types/numeric.h"

/// How PostgreSQL chooses scales; shared by the parts of numeric.
namespace pinwheel::sql {

/// Position and value of the first base-10000 digit: PostgreSQL chooses scales by them.
struct Leading {
  int weight = 0;
  int digit = 0;
};
inline Leading leading(const Decimal& d) {
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

inline int clamp_display_scale(int scale) { return std::min(std::max(scale, 0), kNumericMaxDisplayScale); }

inline Datum pack_nan(Arena& arena) { return pack_decimal(arena, Decimal::special(Decimal::Kind::kNaN)); }

}  // namespace pinwheel::sql
