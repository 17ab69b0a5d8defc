#include "base/bytes.h"
#include "sql/types/bits.h"
#include "sql/types/io_errors.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql {

Datum make_bits(Arena& arena, int count, std::uint8_t** bytes) {
  char* to;
  const std::size_t size = (static_cast<std::size_t>(count) + 7) / 8;
  const Datum v = new_var(arena, 4 + size, &to);
  store<std::int32_t>(to, count);
  std::memset(to + 4, 0, size);
  *bytes = reinterpret_cast<std::uint8_t*>(to) + 4;
  return v;
}

Datum coerce_bits(Arena& arena, Datum v, int typmod, bool varying, bool explicit_cast) {
  const BitsView bits = view_bits(v);
  if (typmod <= 0 || bits.count == typmod || (varying && bits.count < typmod)) return v;
  if (!explicit_cast) {
    if (varying) {
      throw SqlError{sqlstate::kStringDataRightTruncation,
                     "bit string too long for type bit varying(" + std::to_string(typmod) + ")"};
    }
    throw SqlError{sqlstate::kStringDataLengthMismatch, "bit string length " + std::to_string(bits.count) +
                                                            " does not match type bit(" +
                                                            std::to_string(typmod) + ")"};
  }
  std::uint8_t* to;
  const Datum result = make_bits(arena, typmod, &to);
  for (int i = 0; i < std::min(typmod, bits.count); ++i) {
    if (bits.get(i)) to[i >> 3] |= static_cast<std::uint8_t>(0x80 >> (i & 7));
  }
  return result;
}

namespace io {

namespace {

Datum parse_bits(std::string_view text, const IoContext& io, bool varying) {
  std::string_view digits = text;
  const char lead = digits.empty() ? '\0' : digits.front();
  const bool hex = lead == 'x' || lead == 'X';
  if (hex || lead == 'b' || lead == 'B') digits.remove_prefix(1);
  std::uint8_t* to;
  const Datum v = make_bits(io.arena, static_cast<int>(digits.size()) * (hex ? 4 : 1), &to);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    if (!hex) {
      if (c != '0' && c != '1') {
        throw SqlError{sqlstate::kInvalidTextRepresentation,
                       std::string{"\""} + c + "\" is not a valid binary digit"};
      }
      if (c == '1') to[i >> 3] |= static_cast<std::uint8_t>(0x80 >> (i & 7));
      continue;
    }
    const std::size_t value = std::string_view{"0123456789abcdef"}.find(
        static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    if (value == std::string_view::npos) {
      throw SqlError{sqlstate::kInvalidTextRepresentation,
                     std::string{"\""} + c + "\" is not a valid hexadecimal digit"};
    }
    to[i >> 1] |= static_cast<std::uint8_t>(i % 2 == 0 ? value << 4 : value);
  }
  return coerce_bits(io.arena, v, io.typmod, varying, false);
}

Datum receive_bits(std::string_view bytes, const IoContext& io, bool varying) {
  if (bytes.size() < 4) throw_bad_binary();
  const auto count = load_network<std::int32_t>(bytes.data());
  if (count < 0 || bytes.size() - 4 != (static_cast<std::size_t>(count) + 7) / 8) throw_bad_binary();
  std::uint8_t* to;
  const Datum v = make_bits(io.arena, count, &to);
  std::memcpy(to, bytes.data() + 4, bytes.size() - 4);
  return coerce_bits(io.arena, v, io.typmod, varying, false);
}

}  // namespace

Datum bit_in(std::string_view text, const IoContext& io) { return parse_bits(text, io, false); }
void bit_out(Datum value, const IoContext& io, std::string& out) {
  const BitsView bits = view_bits(needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value);
  for (int i = 0; i < bits.count; ++i) out += bits.get(i) ? '1' : '0';
}
Datum bit_recv(std::string_view bytes, const IoContext& io) { return receive_bits(bytes, io, false); }
void bit_send(Datum value, const IoContext& io, std::string& out) {
  const BitsView bits = view_bits(needs_detoast(value) ? detoast(value, io.arena, io.eval.detoaster) : value);
  char buffer[4];
  store_network<std::int32_t>(buffer, bits.count);
  out.append(buffer, 4);
  out.append(reinterpret_cast<const char*>(bits.bytes), (static_cast<std::size_t>(bits.count) + 7) / 8);
}
Datum varbit_in(std::string_view text, const IoContext& io) { return parse_bits(text, io, true); }
void varbit_out(Datum value, const IoContext& io, std::string& out) { bit_out(value, io, out); }
Datum varbit_recv(std::string_view bytes, const IoContext& io) { return receive_bits(bytes, io, true); }
void varbit_send(Datum value, const IoContext& io, std::string& out) { bit_send(value, io, out); }

int bit_typmod_in(std::span<const std::string_view> parts) {
  if (parts.size() != 1) throw SqlError{sqlstate::kInvalidParameterValue, "invalid type modifier"};
  const int length = parse_int4(parts[0]);
  if (length < 1) throw SqlError{sqlstate::kInvalidParameterValue, "length for type bit must be at least 1"};
  if (length > 83886080) {
    throw SqlError{sqlstate::kInvalidParameterValue, "length for type bit cannot exceed 83886080"};
  }
  return length;
}

}  // namespace io
}  // namespace pinwheel::sql
