#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/sqlstate.h"

/// Errors that many types raise, in PostgreSQL's words.
namespace pinwheel::sql {

/// 22P02: invalid input syntax for type integer: "x"
[[noreturn]] void throw_bad_syntax(std::string_view type, std::string_view text);
/// 22003: value "x" is out of range for type integer
[[noreturn]] void throw_text_out_of_range(std::string_view type, std::string_view text);
/// 22003: integer out of range
[[noreturn]] void throw_out_of_range(std::string_view type);
/// 22012: division by zero
[[noreturn]] void throw_division_by_zero();
/// 22P03: incorrect binary data format
[[noreturn]] void throw_bad_binary();
/// 0A000
[[noreturn]] void throw_unsupported(std::string message);

}  // namespace pinwheel::sql
