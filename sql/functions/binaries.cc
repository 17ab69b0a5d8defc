#include <algorithm>
#include <bit>
#include <cctype>

#include "sql/functions/digests.h"
#include "sql/functions/tables.h"
#include "sql/types/io_errors.h"
#include "sql/types/text_values.h"
#include "sql/types/utf8.h"

/// bytea: parts, encodings, digests.
namespace pinwheel::sql::functions {

namespace {

std::string_view substring(std::string_view bytes, std::int64_t from, std::int64_t count, bool to_end) {
  std::int64_t end = static_cast<std::int64_t>(bytes.size()) + 1;
  if (!to_end) {
    if (count < 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
    end = std::min(end, from + count);
  }
  from = std::max<std::int64_t>(from, 1);
  if (end <= from) return {};
  return bytes.substr(static_cast<std::size_t>(from - 1), static_cast<std::size_t>(end - from));
}

Datum overlay(const FunctionCall& call, std::int64_t length) {
  const std::string_view bytes = call.text(0);
  const std::int64_t from = call.args[2].as_int32();
  if (from <= 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
  std::string result{substring(bytes, 1, from - 1, false)};
  result += call.text(1);
  result += substring(bytes, from + length, 0, true);
  return call.make_var(result);
}

std::string_view trim(std::string_view bytes, std::string_view set, bool left, bool right) {
  while (left && !bytes.empty() && set.find(bytes.front()) != std::string_view::npos) bytes.remove_prefix(1);
  while (right && !bytes.empty() && set.find(bytes.back()) != std::string_view::npos) bytes.remove_suffix(1);
  return bytes;
}

[[noreturn]] void throw_index(std::int64_t index, std::size_t size) {
  throw SqlError{sqlstate::kArraySubscriptError, "index " + std::to_string(index) +
                                                     " out of valid range, 0.." +
                                                     std::to_string(static_cast<std::int64_t>(size) - 1)};
}

Datum get_byte(FunctionCall& call) {
  const std::string_view bytes = call.text(0);
  const std::int32_t index = call.args[1].as_int32();
  if (index < 0 || static_cast<std::size_t>(index) >= bytes.size()) throw_index(index, bytes.size());
  return Datum::from_int32(static_cast<unsigned char>(bytes[static_cast<std::size_t>(index)]));
}
Datum set_byte(FunctionCall& call) {
  std::string bytes{call.text(0)};
  const std::int32_t index = call.args[1].as_int32();
  if (index < 0 || static_cast<std::size_t>(index) >= bytes.size()) throw_index(index, bytes.size());
  bytes[static_cast<std::size_t>(index)] = static_cast<char>(call.args[2].as_int32());
  return call.make_var(bytes);
}
Datum get_bit(FunctionCall& call) {
  const std::string_view bytes = call.text(0);
  const std::int64_t index = call.args[1].as_int64();
  if (index < 0 || index >= static_cast<std::int64_t>(bytes.size()) * 8) throw_index(index, bytes.size() * 8);
  return Datum::from_int32(
      static_cast<unsigned char>(bytes[static_cast<std::size_t>(index / 8)]) >> (index % 8) & 1);
}
Datum set_bit(FunctionCall& call) {
  std::string bytes{call.text(0)};
  const std::int64_t index = call.args[1].as_int64();
  const std::int32_t bit = call.args[2].as_int32();
  if (index < 0 || index >= static_cast<std::int64_t>(bytes.size()) * 8) throw_index(index, bytes.size() * 8);
  if (bit != 0 && bit != 1) throw SqlError{sqlstate::kInvalidParameterValue, "new bit must be 0 or 1"};
  char& byte = bytes[static_cast<std::size_t>(index / 8)];
  byte = static_cast<char>((byte & ~(1 << (index % 8))) | bit << (index % 8));
  return call.make_var(bytes);
}

Datum bit_count(FunctionCall& call) {
  std::int64_t count = 0;
  for (unsigned char c : call.text(0)) count += std::popcount(c);
  return Datum::from_int64(count);
}

// encode(), decode()

constexpr std::string_view kBase64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Lines of 76 characters, as PostgreSQL makes them.
std::string encode_base64(std::string_view bytes) {
  std::string out;
  std::size_t line = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
    };
    const unsigned group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kBase64[group >> 18];
    out += kBase64[group >> 12 & 63];
    out += i + 1 < bytes.size() ? kBase64[group >> 6 & 63] : '=';
    out += i + 2 < bytes.size() ? kBase64[group & 63] : '=';
    line += 4;
    if (line >= 76) {
      out += '\n';
      line = 0;
    }
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string decode_base64(std::string_view text) {
  std::string out;
  unsigned group = 0;
  int count = 0;
  int padding = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') continue;
    std::size_t value = 0;
    if (c == '=') {
      if (padding == 0) {
        if (count == 2) {
          padding = 1;
        } else if (count == 3) {
          padding = 2;
        } else {
          throw SqlError{sqlstate::kInvalidParameterValue, "unexpected \"=\" while decoding base64 sequence"};
        }
      }
    } else {
      value = kBase64.find(c);
      if (value == std::string_view::npos) {
        const std::string shown{
            text.substr(i, static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(c))))};
        throw SqlError{sqlstate::kInvalidParameterValue,
                       "invalid symbol \"" + shown + "\" found while decoding base64 sequence"};
      }
    }
    group = group << 6 | static_cast<unsigned>(value);
    if (++count < 4) continue;
    out += static_cast<char>(group >> 16);
    if (padding == 0 || padding > 1) out += static_cast<char>(group >> 8);
    if (padding == 0) out += static_cast<char>(group);
    group = 0;
    count = 0;
  }
  if (count != 0) {
    throw SqlError{sqlstate::kInvalidParameterValue, "invalid base64 end sequence"}.hint(
        "Input data is missing padding, is truncated, or is otherwise corrupted.");
  }
  return out;
}

std::string lower(std::string_view name) {
  std::string result{name};
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

Datum encode(FunctionCall& call) {
  const std::string format = lower(call.text(1));
  const std::string_view bytes = call.text(0);
  std::string out;
  if (format == "hex") {
    append_hex(out, bytes);
  } else if (format == "base64") {
    out = encode_base64(bytes);
  } else if (format == "escape") {
    // Unlike bytea's escape output, only zero and high bytes are escaped.
    for (char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte == '\\') {
        out += "\\\\";
      } else if (byte == 0 || byte >= 0x80) {
        append_bytea_escaped(out, {&c, 1});
      } else {
        out += c;
      }
    }
  } else {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "unrecognized encoding: \"" + std::string{call.text(1)} + "\""};
  }
  return call.make_var(out);
}

Datum decode(FunctionCall& call) {
  const std::string format = lower(call.text(1));
  const std::string_view text = call.text(0);
  if (format == "hex") return call.make_var(decode_hex(text));
  if (format == "base64") return call.make_var(decode_base64(text));
  if (format == "escape") {
    if (text.substr(0, 2) == "\\x") return call.make_var(parse_bytea("\\" + std::string{text}));
    return call.make_var(parse_bytea(text));
  }
  throw SqlError{sqlstate::kInvalidParameterValue,
                 "unrecognized encoding: \"" + std::string{call.text(1)} + "\""};
}

Datum md5_hex(FunctionCall& call) {
  std::string hex;
  append_hex(hex, md5(call.text(0)));
  return call.make_var(hex);
}

// convert_from(), convert_to(): UTF8 is the one encoding.
void check_encoding(std::string_view name) {
  const std::string encoding = lower(name);
  if (encoding != "utf8" && encoding != "utf-8" && encoding != "unicode" && encoding != "sql_ascii") {
    throw SqlError{sqlstate::kFeatureNotSupported, "encoding \"" + std::string{name} + "\" is not supported"};
  }
}

constexpr BuiltinFunction kBinariesFunctions[] = {
    {"byteaoctetlen",
     [](FunctionCall& c) { return Datum::from_int32(static_cast<std::int32_t>(var_raw_size(c.args[0]))); }},
    {"byteacat", [](FunctionCall& c) { return c.make_var(std::string{c.text(0)} + std::string{c.text(1)}); }},
    {"bytea_substr",
     [](FunctionCall& c) {
       return c.make_var(substring(c.text(0), c.args[1].as_int32(), c.args[2].as_int32(), false));
     }},
    {"bytea_substr_no_len",
     [](FunctionCall& c) { return c.make_var(substring(c.text(0), c.args[1].as_int32(), 0, true)); }},
    {"byteaoverlay", [](FunctionCall& c) { return overlay(c, c.args[3].as_int32()); }},
    {"byteaoverlay_no_len",
     [](FunctionCall& c) { return overlay(c, static_cast<std::int64_t>(c.text(1).size())); }},
    {"byteapos",
     [](FunctionCall& c) {
       const std::size_t at = c.text(0).find(c.text(1));
       return Datum::from_int32(at == std::string_view::npos ? 0 : static_cast<std::int32_t>(at) + 1);
     }},
    {"byteatrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), true, true)); }},
    {"bytealtrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), true, false)); }},
    {"byteartrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), false, true)); }},
    {"byteaGetByte", get_byte},
    {"byteaSetByte", set_byte},
    {"byteaGetBit", get_bit},
    {"byteaSetBit", set_bit},
    {"bytea_bit_count", bit_count},
    {"binary_encode", encode},
    {"binary_decode", decode},
    {"md5_text", md5_hex},
    {"md5_bytea", md5_hex},
    {"sha224_bytea", [](FunctionCall& c) { return c.make_var(sha224(c.text(0))); }},
    {"sha256_bytea", [](FunctionCall& c) { return c.make_var(sha256(c.text(0))); }},
    {"sha384_bytea", [](FunctionCall& c) { return c.make_var(sha384(c.text(0))); }},
    {"sha512_bytea", [](FunctionCall& c) { return c.make_var(sha512(c.text(0))); }},
    {"pg_convert_from",
     [](FunctionCall& c) {
       check_encoding(name_view(c.args[1]));
       check_utf8(c.text(0));
       return c.args[0];
     }},
    {"pg_convert_to",
     [](FunctionCall& c) {
       check_encoding(name_view(c.args[1]));
       return c.args[0];
     }},
};

}  // namespace

std::span<const BuiltinFunction> binary_functions() { return kBinariesFunctions; }

}  // namespace pinwheel::sql::functions
