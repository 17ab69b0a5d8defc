#include <cmath>
#include <limits>

#include "sql/functions/tables.h"
#include "sql/types/decimal.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql::functions {

namespace {

Datum n(const FunctionCall& call, int i) { return call.plain(i); }

template <Datum (*F)(Arena&, Datum, Datum)>
Datum binary(FunctionCall& call) {
  return F(*call.arena, n(call, 0), n(call, 1));
}
template <Datum (*F)(Arena&, Datum)>
Datum unary(FunctionCall& call) {
  return F(*call.arena, n(call, 0));
}

Datum absolute(FunctionCall& call) {
  const Datum v = n(call, 0);
  return numeric_sign(v) < 0 ? numeric_negate(*call.arena, v) : v;
}
Datum sign(FunctionCall& call) {
  const Datum v = n(call, 0);
  return numeric_is_nan(v) ? v : numeric_from_int64(*call.arena, numeric_sign(v));
}

template <class T>
Datum to_integer(FunctionCall& call, std::string_view type) {
  return Datum::from_int64(
      numeric_to_int64(n(call, 0), type, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

Datum to_float4(FunctionCall& call) {
  const Datum v = n(call, 0);
  const double wide = numeric_to_double(v);
  const auto narrow = static_cast<float>(wide);
  if (std::isinf(narrow) && !numeric_is_infinite(v)) {
    throw SqlError{sqlstate::kNumericValueOutOfRange, "value out of range: overflow"};
  }
  return Datum::from_float4(narrow);
}
Datum to_float8(FunctionCall& call) {
  const Datum v = n(call, 0);
  const double wide = numeric_to_double(v);
  if (std::isinf(wide) && !numeric_is_infinite(v)) {
    std::string text;
    append_numeric(text, v);
    throw SqlError{sqlstate::kNumericValueOutOfRange,
                   "\"" + text + "\" is out of range for type double precision"};
  }
  return Datum::from_float8(wide);
}

Datum width_bucket(FunctionCall& call) {
  const Datum operand = n(call, 0);
  const Datum low = n(call, 1);
  const Datum high = n(call, 2);
  const std::int32_t count = call.args[3].as_int32();
  const auto bad = [](std::string message) {
    throw SqlError{sqlstate::kInvalidArgumentForWidthBucketFunction, std::move(message)};
  };
  if (count <= 0) bad("count must be greater than zero");
  if (numeric_is_nan(operand) || numeric_is_nan(low) || numeric_is_nan(high)) {
    bad("operand, lower bound, and upper bound cannot be NaN");
  }
  if (numeric_is_infinite(low) || numeric_is_infinite(high)) bad("lower and upper bounds must be finite");
  const int direction = numeric_compare(low, high);
  if (direction == 0) bad("lower bound cannot equal upper bound");
  const bool up = direction < 0;
  if (up ? numeric_compare(operand, low) < 0 : numeric_compare(operand, low) > 0) return Datum::from_int32(0);
  if (up ? numeric_compare(operand, high) >= 0 : numeric_compare(operand, high) <= 0) {
    if (count == std::numeric_limits<std::int32_t>::max()) throw_out_of_range("integer");
    return Datum::from_int32(count + 1);
  }
  Arena& arena = *call.arena;
  const Datum from_low = up ? numeric_sub(arena, operand, low) : numeric_sub(arena, low, operand);
  const Datum width = up ? numeric_sub(arena, high, low) : numeric_sub(arena, low, high);
  const Datum scaled = numeric_mul(arena, from_low, numeric_from_int64(arena, count));
  const Datum bucket = numeric_div_trunc(arena, scaled, width);
  return Datum::from_int64(
      numeric_to_int64(bucket, "integer", 0, std::numeric_limits<std::int32_t>::max() - 1) + 1);
}

Datum in_range(FunctionCall& call) {
  const Datum value = n(call, 0);
  const Datum base = n(call, 1);
  const Datum offset = n(call, 2);
  if (numeric_is_nan(offset) || numeric_sign(offset) < 0) {
    throw SqlError{sqlstate::kInvalidPrecedingOrFollowingSize,
                   "invalid preceding or following size in window function"};
  }
  const bool less = call.args[4].as_bool();
  const Datum bound = call.args[3].as_bool() ? numeric_sub(*call.arena, base, offset)
                                             : numeric_add(*call.arena, base, offset);
  const int c = numeric_compare(value, bound);
  return Datum::from_bool(less ? c <= 0 : c >= 0);
}

constexpr BuiltinFunction kNumericsFunctions[] = {
    {"numeric_add", binary<numeric_add>},
    {"numeric_sub", binary<numeric_sub>},
    {"numeric_mul", binary<numeric_mul>},
    {"numeric_div", binary<numeric_div>},
    {"numeric_div_trunc", binary<numeric_div_trunc>},
    {"numeric_mod", binary<numeric_mod>},
    {"numeric_power", binary<numeric_power>},
    {"numeric_log", binary<numeric_log>},
    {"numeric_gcd", binary<numeric_gcd>},
    {"numeric_lcm", binary<numeric_lcm>},
    {"numeric_uminus", unary<numeric_negate>},
    {"numeric_uplus", [](FunctionCall& c) { return c.args[0]; }},
    {"numeric_abs", absolute},
    {"numeric_sign", sign},
    {"numeric_ceil", unary<numeric_ceil>},
    {"numeric_floor", unary<numeric_floor>},
    {"numeric_sqrt", unary<numeric_sqrt>},
    {"numeric_exp", unary<numeric_exp>},
    {"numeric_ln", unary<numeric_ln>},
    {"numeric_trim_scale", unary<numeric_trim_scale>},
    {"numeric_round", [](FunctionCall& c) { return numeric_round(*c.arena, n(c, 0), c.args[1].as_int32()); }},
    {"numeric_trunc", [](FunctionCall& c) { return numeric_trunc(*c.arena, n(c, 0), c.args[1].as_int32()); }},
    {"round(numeric)", [](FunctionCall& c) { return numeric_round(*c.arena, n(c, 0), 0); }, Oid{1708}},
    {"trunc(numeric)", [](FunctionCall& c) { return numeric_trunc(*c.arena, n(c, 0), 0); }, Oid{1710}},
    {"log(numeric)",
     [](FunctionCall& c) { return numeric_log(*c.arena, numeric_from_int64(*c.arena, 10), n(c, 0)); },
     Oid{1741}},
    {"log10(numeric)",
     [](FunctionCall& c) { return numeric_log(*c.arena, numeric_from_int64(*c.arena, 10), n(c, 0)); },
     Oid{1481}},
    {"numeric_inc",
     [](FunctionCall& c) { return numeric_add(*c.arena, n(c, 0), numeric_from_int64(*c.arena, 1)); }},
    {"numeric_fac", [](FunctionCall& c) { return numeric_factorial(*c.arena, c.args[0].as_int64()); }},
    {"numeric_scale",
     [](FunctionCall& c) {
       const Datum v = n(c, 0);
       if (numeric_is_nan(v) || numeric_is_infinite(v)) return c.make_null();
       return Datum::from_int32(numeric_scale(v));
     }},
    {"numeric_min_scale",
     [](FunctionCall& c) {
       const Datum v = n(c, 0);
       if (numeric_is_nan(v) || numeric_is_infinite(v)) return c.make_null();
       return Datum::from_int32(numeric_min_scale(v));
     }},
    {"numeric",
     [](FunctionCall& c) { return numeric_apply_typmod(*c.arena, n(c, 0), c.args[1].as_int32()); }},
    {"int2_numeric", [](FunctionCall& c) { return numeric_from_int64(*c.arena, c.args[0].as_int16()); }},
    {"int4_numeric", [](FunctionCall& c) { return numeric_from_int64(*c.arena, c.args[0].as_int32()); }},
    {"int8_numeric", [](FunctionCall& c) { return numeric_from_int64(*c.arena, c.args[0].as_int64()); }},
    {"float4_numeric",
     [](FunctionCall& c) { return numeric_from_double(*c.arena, c.args[0].as_float4(), 6); }},
    {"float8_numeric",
     [](FunctionCall& c) { return numeric_from_double(*c.arena, c.args[0].as_float8(), 15); }},
    {"numeric_int2", [](FunctionCall& c) { return to_integer<std::int16_t>(c, "smallint"); }},
    {"numeric_int4", [](FunctionCall& c) { return to_integer<std::int32_t>(c, "integer"); }},
    {"numeric_int8", [](FunctionCall& c) { return to_integer<std::int64_t>(c, "bigint"); }},
    {"numeric_float4", to_float4},
    {"numeric_float8", to_float8},
    {"width_bucket_numeric", width_bucket},
    {"in_range_numeric_numeric", in_range},
};

}  // namespace

std::span<const BuiltinFunction> numeric_functions() { return kNumericsFunctions; }

}  // namespace pinwheel::sql::functions
