#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

struct CommandContext;

/// An object as pg_depend names it: catalog, oid, and for columns the number.
struct ObjectAddress {
  Oid catalog;
  Oid object;
  std::int32_t part = 0;
  bool operator==(const ObjectAddress&) const = default;
};

enum class DependencyType : char {
  kNormal = 'n',    // dropping the referenced object needs CASCADE
  kAuto = 'a',      // goes with the referenced object
  kInternal = 'i',  // part of the referenced object: cannot be dropped alone
};

void add_dependency(Catalog& catalog, const ObjectAddress& dependent, const ObjectAddress& referenced,
                    DependencyType type);
/// Forgets what `dependent` depends on.
void remove_dependencies_of(Catalog& catalog, const ObjectAddress& dependent);

/// "table x", "column a of table x", "constraint c on table x"...: as messages name objects; qualified unless
/// visible.
std::string describe_object(Catalog& catalog, const ObjectAddress& object);

/// Drops objects and what depends on them. With `cascade` false, dependents other than parts raise 2BP01
/// `cannot drop table x because other objects depend on it` with detail and hint; with true they go too, with
/// notices. Locks: the caller holds AccessExclusive on the relations named; dependents are locked here.
void drop_objects(CommandContext& context, const std::vector<ObjectAddress>& objects, bool cascade);

/// Drops all relations of a schema and what depends on them, silently: a session's temporary objects at its
/// end.
void drop_schema_content(Catalog& catalog, Oid schema);

}  // namespace pinwheel::sql
