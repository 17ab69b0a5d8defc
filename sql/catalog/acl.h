#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace pinwheel::sql {

/// Privileges as bits, in the order and with the letters of PostgreSQL's aclitem ("arwdDxtXUCTcsA").
using Privileges = std::uint32_t;
inline constexpr Privileges kInsertPrivilege = 1u << 0;        // a
inline constexpr Privileges kSelectPrivilege = 1u << 1;        // r
inline constexpr Privileges kUpdatePrivilege = 1u << 2;        // w
inline constexpr Privileges kDeletePrivilege = 1u << 3;        // d
inline constexpr Privileges kTruncatePrivilege = 1u << 4;      // D
inline constexpr Privileges kReferencesPrivilege = 1u << 5;    // x
inline constexpr Privileges kTriggerPrivilege = 1u << 6;       // t
inline constexpr Privileges kExecutePrivilege = 1u << 7;       // X
inline constexpr Privileges kUsagePrivilege = 1u << 8;         // U
inline constexpr Privileges kCreatePrivilege = 1u << 9;        // C
inline constexpr Privileges kTemporaryPrivilege = 1u << 10;    // T
inline constexpr Privileges kConnectPrivilege = 1u << 11;      // c
inline constexpr Privileges kSetPrivilege = 1u << 12;          // s
inline constexpr Privileges kAlterSystemPrivilege = 1u << 13;  // A

inline constexpr Privileges kAllTablePrivileges = 0x7F;
inline constexpr Privileges kAllSequencePrivileges = kSelectPrivilege | kUpdatePrivilege | kUsagePrivilege;
inline constexpr Privileges kAllSchemaPrivileges = kUsagePrivilege | kCreatePrivilege;
inline constexpr Privileges kAllDatabasePrivileges =
    kCreatePrivilege | kTemporaryPrivilege | kConnectPrivilege;

/// One entry of an access control list. On disk as in PostgreSQL 15: grantee, grantor, then privileges in the
/// low 16 bits and grant options in the high ones.
struct AclItem {
  Oid grantee;  // 0 = PUBLIC
  Oid grantor;
  std::uint32_t bits = 0;

  Privileges privileges() const { return bits & 0xFFFF; }
  Privileges grant_options() const { return bits >> 16; }
};
static_assert(sizeof(AclItem) == 12);

/// "r" -> kSelectPrivilege...; the letters of `privileges`, with * after those in `grantable`.
std::string privilege_letters(Privileges privileges, Privileges grantable);
/// The bit of "SELECT", "insert"...; 0 when there is no such privilege.
Privileges privilege_by_name(std::string_view name);

}  // namespace pinwheel::sql
