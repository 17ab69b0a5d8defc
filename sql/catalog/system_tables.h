#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/ids.h"

/// The system's own tables and views, as facts recorded from stock PostgreSQL 15. Their Relations are built
/// from these and never from catalog pages, so that the catalogs can be read before anything is known.
namespace pinwheel::sql {

struct SystemColumn {
  std::string_view name;
  Oid type;
  std::int32_t type_modifier;
  std::int16_t length;
  std::int16_t dimensions;
  bool by_value;
  char align;
  char storage;
  bool not_null;
  Oid collation;
};

struct SystemIndex {
  Oid oid;
  std::string_view name;
  Oid table;
  bool unique;
  bool primary;
  std::span<const std::int16_t> columns;
  std::span<const Oid> collations;
  std::span<const Oid> operator_classes;
  Oid constraint;
};

struct SystemRelation {
  Oid oid;
  std::string_view name;
  Oid schema;
  Oid row_type;
  Oid array_type;
  char kind;  // r table, v view
  bool shared;
  std::string_view acl;
  std::span<const SystemColumn> columns;
  std::span<const SystemIndex> indexes;
};

/// By oid. Views without a definition in this server (see system_views.h) are among them.
std::span<const SystemRelation> system_relations();
/// Null when `oid` is none of them.
const SystemRelation* find_system_relation(Oid oid);
/// The index and, through it, its table; null when `oid` is none.
const SystemIndex* find_system_index(Oid oid);

inline constexpr Oid kCatalogSchema{11};
inline constexpr Oid kToastSchema{99};
inline constexpr Oid kPublicSchema{2200};
inline constexpr Oid kInformationSchema{13207};

// Catalogs by oid.
inline constexpr Oid kTypeTable{1247};
inline constexpr Oid kAttributeTable{1249};
inline constexpr Oid kProcTable{1255};
inline constexpr Oid kClassTable{1259};
inline constexpr Oid kAuthIdTable{1260};
inline constexpr Oid kAuthMembersTable{1261};
inline constexpr Oid kDatabaseTable{1262};
inline constexpr Oid kTablespaceTable{1213};
inline constexpr Oid kShDependTable{1214};
inline constexpr Oid kShDescriptionTable{2396};
inline constexpr Oid kAggregateTable{2600};
inline constexpr Oid kAmTable{2601};
inline constexpr Oid kAmOpTable{2602};
inline constexpr Oid kAmProcTable{2603};
inline constexpr Oid kAttrDefTable{2604};
inline constexpr Oid kCastTable{2605};
inline constexpr Oid kConstraintTable{2606};
inline constexpr Oid kDependTable{2608};
inline constexpr Oid kDescriptionTable{2609};
inline constexpr Oid kIndexTable{2610};
inline constexpr Oid kInheritsTable{2611};
inline constexpr Oid kLanguageTable{2612};
inline constexpr Oid kNamespaceTable{2615};
inline constexpr Oid kOpClassTable{2616};
inline constexpr Oid kOperatorTable{2617};
inline constexpr Oid kRewriteTable{2618};
inline constexpr Oid kStatisticTable{2619};
inline constexpr Oid kTriggerTable{2620};
inline constexpr Oid kOpFamilyTable{2753};
inline constexpr Oid kDbRoleSettingTable{2964};
inline constexpr Oid kCollationTable{3456};
inline constexpr Oid kSequenceTable{2224};
inline constexpr Oid kDefaultAclTable{826};

}  // namespace pinwheel::sql
