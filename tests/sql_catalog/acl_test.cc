#include <catch2/catch.hpp>

#include "base/error.h"
#include "sql/catalog/acl_text.h"

namespace pinwheel::sql {
namespace {
std::string role_name(Oid oid) { return oid == Oid{10} ? "postgres" : "weird name"; }
Oid find_role(std::string_view name) {
  if (name == "postgres") return Oid{10};
  if (name == "weird name") return Oid{20};
  throw SqlError{SqlState{"42704"}, "role \"" + std::string{name} + "\" does not exist"};
}
}  // namespace

TEST_CASE("an acl item survives being written and read", "[sql_catalog][acl]") {
  const AclItem item{Oid{20}, Oid{10}, kSelectPrivilege | kUpdatePrivilege | (kSelectPrivilege << 16)};
  const std::string text = format_acl_item(item, role_name);
  CHECK(text == "\"weird name\"=r*w/postgres");
  const AclItem read = parse_acl_item(text, find_role);
  CHECK(read.grantee == item.grantee);
  CHECK(read.grantor == item.grantor);
  CHECK(read.bits == item.bits);
}

TEST_CASE("text that is no acl item is refused", "[sql_catalog][acl]") {
  CHECK_THROWS_AS(parse_acl_item("postgres", find_role), SqlError);
  CHECK_THROWS_AS(parse_acl_item("postgres=q/postgres", find_role), SqlError);
  CHECK_THROWS_AS(parse_acl_item("nobody=r/postgres", find_role), SqlError);
}

TEST_CASE("revoking takes the privilege and its grant option, and empty items go", "[sql_catalog][acl]") {
  std::vector<AclItem> acl = default_acl('r', Oid{10});
  change_acl(acl, true, Oid{20}, Oid{10}, kSelectPrivilege, true);
  CHECK(acl_privileges(acl, Oid{20}) == kSelectPrivilege);
  CHECK(acl_privileges(acl, Oid{20}, true) == kSelectPrivilege);
  change_acl(acl, false, Oid{20}, Oid{10}, kSelectPrivilege, false);
  CHECK(acl_privileges(acl, Oid{20}) == 0);
  CHECK(acl.size() == 1);
}

}  // namespace pinwheel::sql
