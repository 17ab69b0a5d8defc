#pragma once

#include <string>
#include <string_view>

namespace pinwheel::sql {

/// `name` as SQL must spell it: quoted unless a plain lower-case identifier that is no keyword.
std::string quote_identifier(std::string_view name);
/// 'text' with quotes doubled; E'...' when it holds backslashes.
std::string quote_literal(std::string_view text);

}  // namespace pinwheel::sql
