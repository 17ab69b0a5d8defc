#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/acl.h"

/// Answers of catalog lookups that are no relations.
namespace pinwheel::sql {

/// A pg_type row.
struct CatalogType {
  Oid oid;
  std::string name;
  Oid schema;
  Oid owner;
  std::int16_t length = -1;
  bool by_value = false;
  char align = 'i';
  char storage = 'x';
  char kind = 'b';  // b base, c composite, d domain, e enum, p pseudo
  char category = 'U';
  bool preferred = false;
  bool defined = true;
  char delimiter = ',';
  Oid relation;  // of composite types
  Oid element;
  Oid array;
  Oid base_type;  // of domains
  std::int32_t base_modifier = -1;
  Oid collation;
  bool not_null = false;
};

struct SchemaInfo {
  Oid oid;
  std::string name;
  Oid owner;
  std::vector<AclItem> acl;
  bool has_acl = false;  // false: the owner's defaults hold
};

struct RoleInfo {
  Oid oid;
  std::string name;
  bool superuser = false, inherit = true, create_role = false, create_database = false, can_login = false;
  bool replication = false, bypass_rls = false;
  int connection_limit = -1;
  std::string password;  // "" = none
  bool has_valid_until = false;
  std::int64_t valid_until = 0;  // microseconds since 2000-01-01 UTC
};

struct RoleMembership {
  Oid role;
  Oid member;
  Oid grantor;
  bool admin = false;
};

struct DatabaseInfo {
  Oid oid;
  std::string name;
  Oid owner;
  std::int32_t encoding = 6;  // UTF8
  bool is_template = false, allow_connections = true;
  int connection_limit = -1;
  std::string collate, ctype;
  std::vector<AclItem> acl;
  bool has_acl = false;
};

struct SequenceInfo {
  Oid relation;
  Oid type;
  std::int64_t start = 1, increment = 1, max = 0, min = 1, cache = 1;
  bool cycle = false;
};

}  // namespace pinwheel::sql
