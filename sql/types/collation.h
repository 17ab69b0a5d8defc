#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace pinwheel::sql {

/// Orders text by an ICU collation of pg_collation (deterministic: ties by bytes), or by bytes where
/// `collation` is none of ICU's.
int compare_collated(std::string_view a, std::string_view b, Oid collation);

enum class CaseChange { kLower, kUpper, kTitle };
/// Case by Unicode's rules, in the collation's language; the C and POSIX collations change ASCII letters
/// only.
std::string change_case(std::string_view text, CaseChange change, Oid collation);

}  // namespace pinwheel::sql
