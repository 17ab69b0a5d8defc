#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Integers and floating point as text.
namespace pinwheel::sql {

/// Decimal integers with surrounding white space, as int2/int4/int8 input takes them. `type` names the SQL
/// type in errors. Errors: 22P02, 22003.
std::int16_t parse_int2(std::string_view text);
std::int32_t parse_int4(std::string_view text);
std::int64_t parse_int8(std::string_view text);
/// oid, xid, cid: unsigned 32 bits, "-1" wraps, as in PostgreSQL.
std::uint32_t parse_uint32(std::string_view text, std::string_view type);
std::uint64_t parse_uint64(std::string_view text, std::string_view type);

void append_int(std::string& out, std::int64_t value);
void append_uint(std::string& out, std::uint64_t value);

/// Errors: 22P02, 22003.
float parse_float4(std::string_view text);
double parse_float8(std::string_view text);
/// Shortest form that reads back equal when extra_digits > 0, else printf's %.*g with 6 or 15 + extra_digits.
void append_float4(std::string& out, float value, int extra_digits);
void append_float8(std::string& out, double value, int extra_digits);

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
std::string_view trim_space(std::string_view text);

}  // namespace pinwheel::sql
