#pragma once

#include <string>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"

/// Helpers that the text types' input, output and casts share.
namespace pinwheel::sql {

/// varchar(n) and char(n) typmods are n + 4; -1 = none.
inline constexpr int kCharTypmodBase = 4;
inline constexpr int kMaxCharLength = 10485760;

/// `text` for varchar of `typmod`. Too long: cut when `explicit_cast` or only blanks are lost, else 22001.
Datum coerce_varchar(Arena& arena, std::string_view text, int typmod, bool explicit_cast);
/// `text` for char(n) of `typmod`, padded with blanks to n characters. As above when too long.
Datum coerce_bpchar(Arena& arena, std::string_view text, int typmod, bool explicit_cast);
/// Without trailing blanks.
inline std::string_view trim_blanks(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// bytea's text form: "\x.." or octal escapes. Errors: 22P02, 22023.
std::string parse_bytea(std::string_view text);
void append_bytea_hex(std::string& out, std::string_view bytes);
void append_bytea_escaped(std::string& out, std::string_view bytes);
/// Pairs of hexadecimal digits, white space between pairs ignored. Errors: 22023.
std::string decode_hex(std::string_view text);
void append_hex(std::string& out, std::string_view bytes);

/// Errors: 22P02 with PostgreSQL's detail when `text` is not JSON.
void check_json(std::string_view text);

}  // namespace pinwheel::sql
