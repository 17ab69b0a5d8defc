#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// One grant: 12 bytes by pointer. Low half of `rights`: privileges; high half: grant options.
struct AclItem {
  Oid grantee;  // 0 = PUBLIC
  Oid grantor;
  std::uint32_t rights = 0;
};
static_assert(sizeof(AclItem) == 12);

/// Letter of each privilege, by bit: INSERT, SELECT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER, EXECUTE,
/// USAGE, CREATE, TEMPORARY, CONNECT, SET, ALTER SYSTEM.
inline constexpr std::string_view kAclLetters = "arwdDxtXUCTcsA";

inline AclItem load_acl_item(Datum v) { return load<AclItem>(v.as_pointer()); }

}  // namespace pinwheel::sql
