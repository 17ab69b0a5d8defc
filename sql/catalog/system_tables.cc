#include "sql/catalog/system_tables.h"

#include <algorithm>

namespace pinwheel::sql {
namespace {
#include "system_data.inc"
}  // namespace

std::span<const SystemRelation> system_relations() { return kRelations; }

const SystemRelation* find_system_relation(Oid oid) {
  if (oid >= kFirstNormalOid) return nullptr;
  const auto* found = std::ranges::lower_bound(kRelations, oid, {}, &SystemRelation::oid);
  return found != std::end(kRelations) && found->oid == oid ? found : nullptr;
}

const SystemIndex* find_system_index(Oid oid) {
  if (oid >= kFirstNormalOid) return nullptr;
  const auto* found = std::ranges::find(kIndexes, oid, &SystemIndex::oid);
  return found != std::end(kIndexes) ? found : nullptr;
}

}  // namespace pinwheel::sql
