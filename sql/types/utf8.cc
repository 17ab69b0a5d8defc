#include "sql/types/utf8.h"

#include <algorithm>

#include "base/bytes.h"

#include "sql/types/io_errors.h"

namespace pinwheel::sql {

namespace {

bool is_tail(unsigned char c) { return (c & 0xC0) == 0x80; }

/// Bytes of a valid character at the front of `s`, 0 when there is none.
std::size_t valid_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = static_cast<std::size_t>(utf8_length(lead));
  if (lead < 0xC2 || lead > 0xF4 || s.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_tail(at(i))) return 0;
  }
  if (lead == 0xE0 && at(1) < 0xA0) return 0;
  if (lead == 0xED && at(1) > 0x9F) return 0;
  if (lead == 0xF0 && at(1) < 0x90) return 0;
  if (lead == 0xF4 && at(1) > 0x8F) return 0;
  return length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Eight plain ASCII bytes at a time: no high bit and no zero byte.
    while (at + 8 <= text.size()) {
      const auto word = load<std::uint64_t>(text.data() + at);
      const std::uint64_t zeros = (word - 0x0101010101010101u) & ~word;
      if (((word | zeros) & 0x8080808080808080u) != 0) break;
      at += 8;
    }
    if (at >= text.size()) break;
    const std::size_t length = valid_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return text.size();
}

void check_utf8(std::string_view text) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == text.size()) return;
  std::string bytes;
  const std::size_t shown = std::min<std::size_t>(
      static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[bad]))), text.size() - bad);
  for (std::size_t i = 0; i < shown; ++i) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto c = static_cast<unsigned char>(text[bad + i]);
    bytes += i == 0 ? "0x" : " 0x";
    bytes += kHex[c >> 4];
    bytes += kHex[c & 15];
  }
  throw SqlError{sqlstate::kCharacterNotInRepertoire,
                 "invalid byte sequence for encoding \"UTF8\": " + bytes};
}

std::uint32_t decode_utf8(std::string_view text) {
  const auto at = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) & 0x3Fu : 0u;
  };
  const auto lead = static_cast<unsigned char>(text[0]);
  switch (utf8_length(lead)) {
    case 2:
      return (lead & 0x1Fu) << 6 | at(1);
    case 3:
      return (lead & 0x0Fu) << 12 | at(1) << 6 | at(2);
    case 4:
      return (lead & 0x07u) << 18 | at(1) << 12 | at(2) << 6 | at(3);
    default:
      return lead;
  }
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace pinwheel::sql
