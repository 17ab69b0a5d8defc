#include <algorithm>
#include <bit>

#include "sql/functions/tables.h"
#include "sql/types/bits.h"
#include "sql/types/io_errors.h"

/// bit and bit varying.
namespace pinwheel::sql::functions {

namespace {

BitsView bits_of(const FunctionCall& c, int i) { return view_bits(c.plain(i)); }
void set(std::uint8_t* bytes, int i) { bytes[i >> 3] |= static_cast<std::uint8_t>(0x80 >> (i & 7)); }

Datum combine_bits(FunctionCall& c, std::string_view name, auto operation) {
  const BitsView a = bits_of(c, 0);
  const BitsView b = bits_of(c, 1);
  if (a.count != b.count) {
    throw SqlError{sqlstate::kStringDataLengthMismatch,
                   "cannot " + std::string{name} + " bit strings of different sizes"};
  }
  std::uint8_t* to;
  const Datum result = make_bits(*c.arena, a.count, &to);
  for (int i = 0; i < (a.count + 7) / 8; ++i)
    to[i] = static_cast<std::uint8_t>(operation(a.bytes[i], b.bytes[i]));
  return result;
}

Datum invert_bits(FunctionCall& c) {
  const BitsView a = bits_of(c, 0);
  std::uint8_t* to;
  const Datum result = make_bits(*c.arena, a.count, &to);
  for (int i = 0; i < a.count; ++i) {
    if (!a.get(i)) set(to, i);
  }
  return result;
}

/// Positive `by` moves bits to the left.
Datum shift_bits(FunctionCall& c, std::int64_t by) {
  const BitsView a = bits_of(c, 0);
  std::uint8_t* to;
  const Datum result = make_bits(*c.arena, a.count, &to);
  for (std::int64_t i = 0; i < a.count; ++i) {
    const std::int64_t from = i + by;
    if (from >= 0 && from < a.count && a.get(static_cast<int>(from))) set(to, static_cast<int>(i));
  }
  return result;
}

Datum concatenate_bits(Arena& arena, std::initializer_list<BitsView> parts) {
  int total = 0;
  for (const BitsView& part : parts) total += part.count;
  std::uint8_t* to;
  const Datum result = make_bits(arena, total, &to);
  int at = 0;
  for (const BitsView& part : parts) {
    for (int i = 0; i < part.count; ++i, ++at) {
      if (part.get(i)) set(to, at);
    }
  }
  return result;
}

Datum substring_of_bits(Arena& arena, const BitsView& bits, std::int64_t from, std::int64_t count,
                        bool to_end) {
  std::int64_t end = static_cast<std::int64_t>(bits.count) + 1;
  if (!to_end) {
    if (count < 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
    end = std::min(end, from + count);
  }
  from = std::max<std::int64_t>(from, 1);
  const int size = static_cast<int>(std::max<std::int64_t>(end - from, 0));
  std::uint8_t* to;
  const Datum result = make_bits(arena, size, &to);
  for (int i = 0; i < size; ++i) {
    if (bits.get(static_cast<int>(from) - 1 + i)) set(to, i);
  }
  return result;
}

Datum overlay_bits(FunctionCall& c, std::int64_t length) {
  const BitsView bits = bits_of(c, 0);
  const std::int64_t from = c.args[2].as_int32();
  if (from <= 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
  const Datum head = substring_of_bits(*c.arena, bits, 1, from - 1, false);
  const Datum tail = substring_of_bits(*c.arena, bits, from + length, 0, true);
  return concatenate_bits(*c.arena, {view_bits(head), bits_of(c, 1), view_bits(tail)});
}

template <class T>
Datum bits_from_integer(FunctionCall& c) {
  const std::int64_t value = c.args[0].as_int64();
  int size = c.args[1].as_int32();
  if (size <= 0 || size > 83886080) size = 1;
  std::uint8_t* to;
  const Datum result = make_bits(*c.arena, size, &to);
  for (int i = 0; i < size; ++i) {
    const int bit = std::min(size - 1 - i, 63);  // the sign fills what lies above
    if (value >> bit & 1) set(to, i);
  }
  return result;
}
template <class T>
Datum integer_from_bits(FunctionCall& c) {
  const BitsView bits = bits_of(c, 0);
  constexpr int kBits = 8 * sizeof(T);
  if (bits.count > kBits) throw_out_of_range(kBits == 32 ? "integer" : "bigint");
  std::uint64_t value = 0;
  for (int i = 0; i < bits.count; ++i) value = value << 1 | (bits.get(i) ? 1u : 0u);
  return Datum::from_int64(static_cast<T>(value));
}

void check_bit_index(std::int32_t index, int count) {
  if (index < 0 || index >= count) {
    throw SqlError{
        sqlstate::kArraySubscriptError,
        "bit index " + std::to_string(index) + " out of valid range (0.." + std::to_string(count - 1) + ")"};
  }
}

Datum replace_bit(FunctionCall& c) {
  const BitsView bits = bits_of(c, 0);
  const std::int32_t index = c.args[1].as_int32();
  check_bit_index(index, bits.count);
  const std::int32_t value = c.args[2].as_int32();
  if (value != 0 && value != 1) throw SqlError{sqlstate::kInvalidParameterValue, "new bit must be 0 or 1"};
  std::uint8_t* to;
  const Datum result = make_bits(*c.arena, bits.count, &to);
  for (int i = 0; i < bits.count; ++i) {
    if (i == index ? value == 1 : bits.get(i)) set(to, i);
  }
  return result;
}

Datum position_of_bits(FunctionCall& c) {
  const BitsView text = bits_of(c, 0);
  const BitsView part = bits_of(c, 1);
  if (part.count == 0) return Datum::from_int32(text.count == 0 ? 0 : 1);
  for (int start = 0; start + part.count <= text.count; ++start) {
    int i = 0;
    while (i < part.count && text.get(start + i) == part.get(i)) ++i;
    if (i == part.count) return Datum::from_int32(start + 1);
  }
  return Datum::from_int32(0);
}

constexpr BuiltinFunction kBitStringsFunctions[] = {
    {"bit_and", [](FunctionCall& c) { return combine_bits(c, "AND", [](int a, int b) { return a & b; }); }},
    {"bit_or", [](FunctionCall& c) { return combine_bits(c, "OR", [](int a, int b) { return a | b; }); }},
    {"bitxor", [](FunctionCall& c) { return combine_bits(c, "XOR", [](int a, int b) { return a ^ b; }); }},
    {"bitnot", invert_bits},
    {"bitshiftleft", [](FunctionCall& c) { return shift_bits(c, c.args[1].as_int32()); }},
    {"bitshiftright", [](FunctionCall& c) { return shift_bits(c, -std::int64_t{c.args[1].as_int32()}); }},
    {"bitcat",
     [](FunctionCall& c) {
       return concatenate_bits(*c.arena, {bits_of(c, 0), bits_of(c, 1)});
     }},
    {"bitsubstr",
     [](FunctionCall& c) {
       return substring_of_bits(*c.arena, bits_of(c, 0), c.args[1].as_int32(), c.args[2].as_int32(), false);
     }},
    {"bitsubstr_no_len",
     [](FunctionCall& c) {
       return substring_of_bits(*c.arena, bits_of(c, 0), c.args[1].as_int32(), 0, true);
     }},
    {"bitoverlay", [](FunctionCall& c) { return overlay_bits(c, c.args[3].as_int32()); }},
    {"bitoverlay_no_len", [](FunctionCall& c) { return overlay_bits(c, bits_of(c, 1).count); }},
    {"bitlength", [](FunctionCall& c) { return Datum::from_int32(bits_of(c, 0).count); }},
    {"bit_length(bit)", [](FunctionCall& c) { return Datum::from_int32(bits_of(c, 0).count); }, Oid{1812}},
    {"bitoctetlength", [](FunctionCall& c) { return Datum::from_int32((bits_of(c, 0).count + 7) / 8); }},
    {"bitfromint4", bits_from_integer<std::int32_t>},
    {"bitfromint8", bits_from_integer<std::int64_t>},
    {"bittoint4", integer_from_bits<std::int32_t>},
    {"bittoint8", integer_from_bits<std::int64_t>},
    {"bitposition", position_of_bits},
    {"bitgetbit",
     [](FunctionCall& c) {
       const BitsView bits = bits_of(c, 0);
       check_bit_index(c.args[1].as_int32(), bits.count);
       return Datum::from_int32(bits.get(c.args[1].as_int32()));
     }},
    {"bitsetbit", replace_bit},
    {"bit_bit_count",
     [](FunctionCall& c) {
       const BitsView bits = bits_of(c, 0);
       std::int64_t count = 0;
       for (int i = 0; i < (bits.count + 7) / 8; ++i) count += std::popcount(bits.bytes[i]);
       return Datum::from_int64(count);
     }},
    {"bit",
     [](FunctionCall& c) {
       return coerce_bits(*c.arena, c.plain(0), c.args[1].as_int32(), false, c.args[2].as_bool());
     }},
    {"varbit",
     [](FunctionCall& c) {
       return coerce_bits(*c.arena, c.plain(0), c.args[1].as_int32(), true, c.args[2].as_bool());
     }},
};

}  // namespace

std::span<const BuiltinFunction> bit_functions() { return kBitStringsFunctions; }

}  // namespace pinwheel::sql::functions
