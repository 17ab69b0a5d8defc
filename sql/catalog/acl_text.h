#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/acl.h"

namespace pinwheel::sql {

/// The recorded form "{postgres=arwdDxt/postgres,=r/postgres}" of system tables' lists: roles other than the
/// bootstrap superuser (oid 10) and PUBLIC are left out.
std::vector<AclItem> parse_bootstrap_acl(std::string_view text);

/// "grantee=letters/grantor"; `role_name` gives names.
std::string format_acl_item(const AclItem& item, const std::function<std::string(Oid)>& role_name);
/// One item; `find_role` gives oids and raises 42704. Errors: 22P02.
AclItem parse_acl_item(std::string_view text, const std::function<Oid(std::string_view)>& find_role);

/// What a new object's owner and PUBLIC have when its acl column is NULL. `kind`: r table, S sequence, n
/// schema, d database, f function, T type, l language, t tablespace.
std::vector<AclItem> default_acl(char kind, Oid owner);
/// All privileges that make sense for a kind.
Privileges all_privileges(char kind);

/// Adds (`grant`) or takes away privileges of `grantee` given by `grantor`; items that become empty go.
void change_acl(std::vector<AclItem>& acl, bool grant, Oid grantee, Oid grantor, Privileges privileges,
                bool grant_option);
/// Privileges (or grant options) that `grantee` itself has, without memberships.
Privileges acl_privileges(std::span<const AclItem> acl, Oid grantee, bool options_only = false);

}  // namespace pinwheel::sql
