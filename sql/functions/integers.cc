#include <limits>
#include <numeric>

#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql::functions {

namespace {

template <class T>
constexpr std::string_view kTypeName = "integer";
template <>
constexpr std::string_view kTypeName<std::int16_t> = "smallint";
template <>
constexpr std::string_view kTypeName<std::int64_t> = "bigint";

template <class T>
T get(const FunctionCall& call, int i) {
  return static_cast<T>(call.args[i].bits);
}
template <class T>
Datum give(T value) {
  return Datum::from_int64(value);
}

// R is the result type, A and B the argument types; all sums fit 64 bits before the range check but bigint's
// own.

template <class R, class A, class B>
Datum add(FunctionCall& call) {
  R result;
  if (__builtin_add_overflow(get<A>(call, 0), get<B>(call, 1), &result)) throw_out_of_range(kTypeName<R>);
  return give(result);
}
template <class R, class A, class B>
Datum subtract(FunctionCall& call) {
  R result;
  if (__builtin_sub_overflow(get<A>(call, 0), get<B>(call, 1), &result)) throw_out_of_range(kTypeName<R>);
  return give(result);
}
template <class R, class A, class B>
Datum multiply(FunctionCall& call) {
  R result;
  if (__builtin_mul_overflow(get<A>(call, 0), get<B>(call, 1), &result)) throw_out_of_range(kTypeName<R>);
  return give(result);
}
template <class R, class A, class B>
Datum divide(FunctionCall& call) {
  const R divisor = get<B>(call, 1);
  if (divisor == 0) throw_division_by_zero();
  const R dividend = get<A>(call, 0);
  // The one quotient that does not fit; on x86 it would trap.
  if (divisor == -1) {
    R result;
    if (__builtin_sub_overflow(R{0}, dividend, &result)) throw_out_of_range(kTypeName<R>);
    return give(result);
  }
  return give(static_cast<R>(dividend / divisor));
}
template <class T>
Datum modulo(FunctionCall& call) {
  const T divisor = get<T>(call, 1);
  if (divisor == 0) throw_division_by_zero();
  if (divisor == -1) return give<T>(0);
  return give(static_cast<T>(get<T>(call, 0) % divisor));
}
template <class T>
Datum negate(FunctionCall& call) {
  T result;
  if (__builtin_sub_overflow(T{0}, get<T>(call, 0), &result)) throw_out_of_range(kTypeName<T>);
  return give(result);
}
template <class T>
Datum absolute(FunctionCall& call) {
  return get<T>(call, 0) < 0 ? negate<T>(call) : call.args[0];
}
Datum same(FunctionCall& call) { return call.args[0]; }

template <class T>
Datum bit_and(FunctionCall& call) {
  return give(static_cast<T>(get<T>(call, 0) & get<T>(call, 1)));
}
template <class T>
Datum bit_or(FunctionCall& call) {
  return give(static_cast<T>(get<T>(call, 0) | get<T>(call, 1)));
}
template <class T>
Datum bit_xor(FunctionCall& call) {
  return give(static_cast<T>(get<T>(call, 0) ^ get<T>(call, 1)));
}
template <class T>
Datum bit_not(FunctionCall& call) {
  return give(static_cast<T>(~get<T>(call, 0)));
}
/// Shift counts wrap at the operand's width, as the hardware and PostgreSQL have it (smallint promotes to
/// int).
template <class T>
Datum shift_left(FunctionCall& call) {
  constexpr unsigned kMask = sizeof(T) == 8 ? 63 : 31;
  using Wide = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return give(static_cast<T>(static_cast<Wide>(get<T>(call, 0))
                             << (static_cast<unsigned>(get<std::int32_t>(call, 1)) & kMask)));
}
template <class T>
Datum shift_right(FunctionCall& call) {
  constexpr unsigned kMask = sizeof(T) == 8 ? 63 : 31;
  return give(static_cast<T>(get<T>(call, 0) >> (static_cast<unsigned>(get<std::int32_t>(call, 1)) & kMask)));
}

/// Greatest common divisor without sign; the smallest negative number has no positive twin.
template <class T>
T gcd_of(T a, T b) {
  using U = std::make_unsigned_t<T>;
  const auto magnitude = [](T v) {
    return v < 0 ? static_cast<U>(U{0} - static_cast<U>(v)) : static_cast<U>(v);
  };
  const U result = std::gcd(magnitude(a), magnitude(b));
  if (result > static_cast<U>(std::numeric_limits<T>::max())) throw_out_of_range(kTypeName<T>);
  return static_cast<T>(result);
}
template <class T>
Datum greatest_common_divisor(FunctionCall& call) {
  return give(gcd_of(get<T>(call, 0), get<T>(call, 1)));
}
template <class T>
Datum least_common_multiple(FunctionCall& call) {
  const T a = get<T>(call, 0);
  const T b = get<T>(call, 1);
  if (a == 0 || b == 0) return give<T>(0);
  T result;
  if (__builtin_mul_overflow(static_cast<T>(a / gcd_of(a, b)), b, &result)) throw_out_of_range(kTypeName<T>);
  if (result < 0 && __builtin_sub_overflow(T{0}, result, &result)) throw_out_of_range(kTypeName<T>);
  return give(result);
}

template <class T>
Datum narrow(FunctionCall& call) {
  const std::int64_t value = call.args[0].as_int64();
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
    throw_out_of_range(kTypeName<T>);
  return call.args[0];
}

template <class T>
Datum increment(FunctionCall& call) {
  T result;
  if (__builtin_add_overflow(get<T>(call, 0), T{1}, &result)) throw_out_of_range(kTypeName<T>);
  return give(result);
}
Datum decrement_int8(FunctionCall& call) {
  std::int64_t result;
  if (__builtin_sub_overflow(call.args[0].as_int64(), std::int64_t{1}, &result)) throw_out_of_range("bigint");
  return give(result);
}

template <class T>
Datum to_hex(FunctionCall& call) {
  char buffer[24];
  const int size =
      std::snprintf(buffer, sizeof buffer, "%llx",
                    static_cast<unsigned long long>(static_cast<std::make_unsigned_t<T>>(get<T>(call, 0))));
  return make_text(*call.arena, {buffer, static_cast<std::size_t>(size)});
}

Datum int8_to_oid(FunctionCall& call) {
  const std::int64_t value = call.args[0].as_int64();
  if (value < 0 || value > UINT32_MAX) {
    throw SqlError{sqlstate::kNumericValueOutOfRange, "OID out of range"};
  }
  return Datum::from_oid(Oid{static_cast<std::uint32_t>(value)});
}

/// in_range(value, base, offset, sub, less): frame bounds of RANGE windows.
template <class T>
Datum in_range(FunctionCall& call) {
  const std::int64_t value = call.args[0].as_int64();
  const std::int64_t base = call.args[1].as_int64();
  std::int64_t offset = call.args[2].as_int64();
  const bool less = call.args[4].as_bool();
  if (offset < 0) {
    throw SqlError{sqlstate::kInvalidPrecedingOrFollowingSize,
                   "invalid preceding or following size in window function"};
  }
  if (call.args[3].as_bool()) offset = -offset;
  std::int64_t bound;
  if (__builtin_add_overflow(base, offset, &bound)) return Datum::from_bool(offset > 0 ? less : !less);
  return Datum::from_bool(less ? value <= bound : value >= bound);
}

using I2 = std::int16_t;
using I4 = std::int32_t;
using I8 = std::int64_t;

#define FOUR_OPERATIONS(prefix, r, a, b)                                                              \
  {prefix "pl", add<r, a, b>}, {prefix "mi", subtract<r, a, b>}, {prefix "mul", multiply<r, a, b>}, { \
    prefix "div", divide<r, a, b>                                                                     \
  }
#define BIT_OPERATIONS(prefix, t)                                                   \
  {prefix "and", bit_and<t>}, {prefix "or", bit_or<t>}, {prefix "xor", bit_xor<t>}, \
      {prefix "not", bit_not<t>}, {prefix "shl", shift_left<t>}, {                  \
    prefix "shr", shift_right<t>                                                    \
  }

constexpr BuiltinFunction kIntegersFunctions[] = {
    FOUR_OPERATIONS("int2", I2, I2, I2),
    FOUR_OPERATIONS("int4", I4, I4, I4),
    FOUR_OPERATIONS("int8", I8, I8, I8),
    FOUR_OPERATIONS("int24", I4, I2, I4),
    FOUR_OPERATIONS("int42", I4, I4, I2),
    FOUR_OPERATIONS("int28", I8, I2, I8),
    FOUR_OPERATIONS("int82", I8, I8, I2),
    FOUR_OPERATIONS("int48", I8, I4, I8),
    FOUR_OPERATIONS("int84", I8, I8, I4),
    BIT_OPERATIONS("int2", I2),
    BIT_OPERATIONS("int4", I4),
    BIT_OPERATIONS("int8", I8),
    {"int2mod", modulo<I2>},
    {"int4mod", modulo<I4>},
    {"int8mod", modulo<I8>},
    {"int2um", negate<I2>},
    {"int4um", negate<I4>},
    {"int8um", negate<I8>},
    {"int2up", same},
    {"int4up", same},
    {"int8up", same},
    {"int2abs", absolute<I2>},
    {"int4abs", absolute<I4>},
    {"int8abs", absolute<I8>},
    {"int4gcd", greatest_common_divisor<I4>},
    {"int8gcd", greatest_common_divisor<I8>},
    {"int4lcm", least_common_multiple<I4>},
    {"int8lcm", least_common_multiple<I8>},
    {"int4inc", increment<I4>},
    {"int8inc", increment<I8>},
    {"int8dec", decrement_int8},
    {"int8inc_any", increment<I8>},
    {"int8dec_any", decrement_int8},
    {"int8inc_float8_float8", increment<I8>},
    {"i2toi4", same},
    {"i4toi2", narrow<I2>},
    {"int48", same},
    {"int84", narrow<I4>},
    {"int28", same},
    {"int82", narrow<I2>},
    {"i8tooid", int8_to_oid},
    {"oidtoi8", [](FunctionCall& call) { return Datum::from_int64(call.args[0].as_oid().value); }},
    {"int4_bool", [](FunctionCall& call) { return Datum::from_bool(call.args[0].as_int32() != 0); }},
    {"bool_int4", [](FunctionCall& call) { return Datum::from_int32(call.args[0].as_bool()); }},
    {"to_hex32", to_hex<I4>},
    {"to_hex64", to_hex<I8>},
    {"in_range_int4_int4", in_range<I4>},
    {"in_range_int4_int2", in_range<I4>},
    {"in_range_int4_int8", in_range<I4>},
    {"in_range_int2_int2", in_range<I2>},
    {"in_range_int2_int4", in_range<I2>},
    {"in_range_int2_int8", in_range<I2>},
    {"in_range_int8_int8", in_range<I8>},
};

}  // namespace

std::span<const BuiltinFunction> integer_functions() { return kIntegersFunctions; }

}  // namespace pinwheel::sql::functions
