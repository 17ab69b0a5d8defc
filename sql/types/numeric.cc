#include "sql/types/numeric.h"

#include <xxhash.h>

#include <cmath>
#include <numeric>

#include "sql/types/decimal.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/numeric_internal.h"

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

Kind infinity(int sign) { return sign < 0 ? Kind::kMinusInfinity : Kind::kInfinity; }

Datum add_general(Arena& arena, Decimal a, Decimal b) {
  if (a.nan() || b.nan()) return pack_nan(arena);
  if (a.infinite()) return b.infinite() && a.kind != b.kind ? pack_nan(arena) : pack_decimal(arena, a);
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
  if (std::isnan(value)) return pack_nan(arena);
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
  if (left.nan() || right.nan()) return pack_nan(arena);
  if (left.infinite() || right.infinite()) {
    const int sign = left.sign() * right.sign();
    return sign == 0 ? pack_nan(arena) : pack_decimal(arena, Decimal::special(infinity(sign)));
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
  if (left.nan() || right.nan()) return pack_nan(arena);
  if (left.infinite()) {
    if (right.finite() && right.sign() == 0) throw_division_by_zero();
    return pack_nan(arena);
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

namespace {
template <class Operation>
Datum on_common_scale(Arena& arena, Datum a, Datum b, Operation operation) {
  Decimal left = unpack_decimal(a);
  Decimal right = unpack_decimal(b);
  if (!left.finite() || !right.finite()) return pack_nan(arena);
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
