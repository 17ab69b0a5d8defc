#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace pinwheel::sql {

/// One literal lifted out of a statement's text.
struct LiftedLiteral {
  Oid type;  ///< int4, int8 or numeric for numbers; 0 (to be inferred) for strings
  std::string_view
      text;        ///< digits with sign, or the string's contents; points into the source or into `storage`
  int offset = 0;  ///< byte offset of the literal in the source, for positions of input errors
};

/// A statement whose literals stand as $1, $2, ...: `text` parses and means the same given `literals`.
struct LiftedStatement {
  std::string text;  ///< the normalized statement
  std::string key;   ///< text and literal types: equal keys may share one plan
  std::vector<LiftedLiteral> literals;
};

/// Lifts the literals out of a single SELECT, INSERT, UPDATE or DELETE of the simple protocol into `out`,
/// whose buffers are reused. Follows PostgreSQL's lexical rules (standard_conforming_strings on). False, and
/// nothing promised of `out`, for anything doubtful: several statements, comments, E'' and $$ strings,
/// ORDER/GROUP BY, typed literals, ...
bool lift_literals(std::string_view source, LiftedStatement& out);

}  // namespace pinwheel::sql
