#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// UTF-8, the only server encoding.
namespace pinwheel::sql {

/// Bytes of the character that starts with `lead` (1 for stray bytes).
inline int utf8_length(unsigned char lead) {
  if (lead < 0xC0) return 1;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return 4;
}

/// Characters in valid UTF-8.
inline std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (unsigned char c : text) count += (c & 0xC0) != 0x80;
  return count;
}

/// Bytes of the first `characters` characters, or all.
inline std::size_t bytes_of_characters(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  while (characters > 0 && at < text.size()) {
    at += static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at])));
    --characters;
  }
  return at < text.size() ? at : text.size();
}

/// The most bytes, at most `bytes`, that end on a character boundary.
inline std::size_t clip_to_characters(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text.size();
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return bytes;
}

/// Offset of the first byte that is not valid UTF-8 (overlong forms, surrogates and zero bytes are not), or
/// text.size().
std::size_t find_invalid_utf8(std::string_view text);
/// Errors: 22021, as `invalid byte sequence for encoding "UTF8": 0x..`.
void check_utf8(std::string_view text);

std::uint32_t decode_utf8(std::string_view text);
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace pinwheel::sql
