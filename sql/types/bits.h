#pragma once

#include <cstdint>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

/// A bit string: payload i32 count, then bytes, first bit highest.
struct BitsView {
  int count;
  const std::uint8_t* bytes;
  bool get(int i) const { return bytes[i >> 3] & (0x80 >> (i & 7)); }
};

inline BitsView view_bits(Datum v) {
  const std::string_view payload = var_view(v);
  return {load<std::int32_t>(payload.data()), reinterpret_cast<const std::uint8_t*>(payload.data()) + 4};
}

/// Zero bits; set them through `*bytes`.
Datum make_bits(Arena& arena, int count, std::uint8_t** bytes);
/// Fits to bit(n) or bit varying(n). Errors: 22026, 22001.
Datum coerce_bits(Arena& arena, Datum v, int typmod, bool varying, bool explicit_cast);

}  // namespace pinwheel::sql
