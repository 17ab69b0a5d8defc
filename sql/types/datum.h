#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"
#include "base/ids.h"

namespace pinwheel::sql {

/// One SQL value in eight bytes: the value itself, or a pointer to its bytes. Null flags are kept beside it.
///
/// By-value types are held sign-extended from their stored width, whatever their type (oid and float4 too),
/// so that equal values of one type have equal bits and a tuple reader needs to know only the width. Pointers
/// need not be aligned: read what they point to with memcpy (load<T>).
struct Datum {
  std::uint64_t bits = 0;

  constexpr Datum() = default;
  constexpr explicit Datum(std::uint64_t b) : bits{b} {}

  static constexpr Datum from_bool(bool v) { return Datum{v ? 1u : 0u}; }
  static constexpr Datum from_char(char v) { return from_int64(static_cast<signed char>(v)); }
  static constexpr Datum from_int16(std::int16_t v) { return from_int64(v); }
  static constexpr Datum from_int32(std::int32_t v) { return from_int64(v); }
  static constexpr Datum from_int64(std::int64_t v) { return Datum{static_cast<std::uint64_t>(v)}; }
  static constexpr Datum from_oid(Oid v) { return from_int32(static_cast<std::int32_t>(v.value)); }
  static constexpr Datum from_float4(float v) { return from_int32(std::bit_cast<std::int32_t>(v)); }
  static constexpr Datum from_float8(double v) { return Datum{std::bit_cast<std::uint64_t>(v)}; }
  static Datum from_pointer(const void* v) { return Datum{reinterpret_cast<std::uintptr_t>(v)}; }

  constexpr bool as_bool() const { return (bits & 0xFF) != 0; }
  constexpr char as_char() const { return static_cast<char>(bits); }
  constexpr std::int16_t as_int16() const { return static_cast<std::int16_t>(bits); }
  constexpr std::int32_t as_int32() const { return static_cast<std::int32_t>(bits); }
  constexpr std::int64_t as_int64() const { return static_cast<std::int64_t>(bits); }
  constexpr Oid as_oid() const { return Oid{static_cast<std::uint32_t>(bits)}; }
  constexpr float as_float4() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
  constexpr double as_float8() const { return std::bit_cast<double>(bits); }
  const std::uint8_t* as_pointer() const { return reinterpret_cast<const std::uint8_t*>(bits); }
  const char* as_chars() const { return reinterpret_cast<const char*>(bits); }
};
static_assert(sizeof(Datum) == 8);

/// Reads a by-value datum of `length` (1, 2, 4 or 8) stored bytes.
inline Datum fetch_by_value(const void* from, int length) {
  switch (length) {
    case 4:
      return Datum::from_int64(load<std::int32_t>(from));
    case 8:
      return Datum{load<std::uint64_t>(from)};
    case 2:
      return Datum::from_int64(load<std::int16_t>(from));
    default:
      return Datum::from_int64(load<std::int8_t>(from));
  }
}

/// Writes the low `length` (1, 2, 4 or 8) bytes of a by-value datum.
inline void store_by_value(void* to, Datum value, int length) {
  std::memcpy(to, &value.bits, static_cast<std::size_t>(length));  // little-endian
}

}  // namespace pinwheel::sql
