#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/int128.h"
#include "sql/types/varlena.h"

/// numeric values at the level of datums. Arithmetic follows PostgreSQL 15's rules of scale.
///
/// The varlena's payload is
///   offset  size  field
///   0       2     head       bits 0-13 display scale, bit 14 negative, bit 15 special (scale: 0 NaN, 1 inf,
///   2 -inf) 2       0..   magnitude  |value| * 10^scale as a little-endian integer without leading zero
///   bytes
namespace pinwheel::sql {

inline constexpr int kNumericMaxPrecision = 1000;
inline constexpr int kNumericMaxScale = 1000;
inline constexpr int kNumericMinScale = -1000;
inline constexpr int kNumericMaxDisplayScale = 1000;
inline constexpr int kNumericMinSignificant = 16;
inline constexpr int kNumericStorageScale = 16383;
inline constexpr int kNumericIntegerDigits = 131072;

// All take plain (detoasted) numerics and return new ones in `arena`. Errors: 22003, 22012.
Datum numeric_from_int64(Arena& arena, std::int64_t value);
Datum numeric_from_int128(Arena& arena, Int128 value, int scale = 0);
Datum numeric_from_double(Arena& arena, double value, int significant_digits);
Datum numeric_add(Arena& arena, Datum a, Datum b);
Datum numeric_sub(Arena& arena, Datum a, Datum b);
Datum numeric_mul(Arena& arena, Datum a, Datum b);
Datum numeric_div(Arena& arena, Datum a, Datum b);
Datum numeric_div_trunc(Arena& arena, Datum a, Datum b);
Datum numeric_mod(Arena& arena, Datum a, Datum b);
Datum numeric_negate(Arena& arena, Datum a);
Datum numeric_round(Arena& arena, Datum a, int scale);
Datum numeric_trunc(Arena& arena, Datum a, int scale);
Datum numeric_floor(Arena& arena, Datum a);
Datum numeric_ceil(Arena& arena, Datum a);
Datum numeric_sqrt(Arena& arena, Datum a);
Datum numeric_exp(Arena& arena, Datum a);
Datum numeric_ln(Arena& arena, Datum a);
Datum numeric_log(Arena& arena, Datum base, Datum a);
Datum numeric_power(Arena& arena, Datum base, Datum exponent);
/// Square root and quotient at a scale the caller chose; `a` >= 0, `b` finite and not zero.
Datum numeric_sqrt_to_scale(Arena& arena, Datum a, int scale);
Datum numeric_div_to_scale(Arena& arena, Datum a, Datum b, int scale);
/// The scale numeric_div() would choose.
int numeric_division_scale(Datum a, Datum b);
Datum numeric_gcd(Arena& arena, Datum a, Datum b);
Datum numeric_lcm(Arena& arena, Datum a, Datum b);
Datum numeric_factorial(Arena& arena, std::int64_t n);

/// True for finite values below 2^56: value / 10^scale. What sums without GMP can take.
bool numeric_as_small(Datum a, std::int64_t* value, int* scale);

/// NaN is greater than all and equal to itself.
int numeric_compare(Datum a, Datum b);
std::uint64_t numeric_hash(Datum a);
/// -1, 0, 1; NaN gives 1.
int numeric_sign(Datum a);
bool numeric_is_nan(Datum a);
bool numeric_is_infinite(Datum a);
int numeric_scale(Datum a);
int numeric_min_scale(Datum a);
Datum numeric_trim_scale(Arena& arena, Datum a);

/// Rounds to an integer, half away from zero. `type` names the target in errors (22003; 0A000 for NaN and
/// infinity).
std::int64_t numeric_to_int64(Datum a, std::string_view type, std::int64_t low, std::int64_t high);
double numeric_to_double(Datum a);

/// Fits `a` to numeric(precision, scale). Errors: 22003 numeric field overflow.
Datum numeric_apply_typmod(Arena& arena, Datum a, int typmod);
constexpr int make_numeric_typmod(int precision, int scale) {
  return ((precision << 16) | (scale & 0x7FF)) + 4;
}
constexpr int numeric_typmod_precision(int typmod) { return (typmod - 4) >> 16 & 0xFFFF; }
constexpr int numeric_typmod_scale(int typmod) { return (((typmod - 4) & 0x7FF) ^ 1024) - 1024; }

/// Errors: 22P02, 22003.
Datum parse_numeric(Arena& arena, std::string_view text);
void append_numeric(std::string& out, Datum a);

}  // namespace pinwheel::sql
