#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace pinwheel::sql {

enum class KeywordKind : std::uint8_t { kUnreserved, kColumnName, kTypeOrFunctionName, kReserved };

/// A word of the grammar.
struct Keyword {
  std::string word;
  KeywordKind kind;
  bool bare_label;  ///< may name a column without AS
};

/// All of them, in order. Found out from the grammar library at the first call, which takes some
/// milliseconds.
std::span<const Keyword> keywords();

}  // namespace pinwheel::sql
