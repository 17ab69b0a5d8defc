#include "sql/catalog/relation_cache.h"

namespace pinwheel::sql {

void DatabaseEntries::drop_relation(Oid oid) {
  // A change of a table changes what is known of its indexes, and the other way round: they are few, drop
  // both.
  if (const auto found = relations.find(oid); found != relations.end()) {
    const RelationRef dropped = found->second;
    relations.erase(found);
    for (const IndexInfo& index : dropped->indexes) relations.erase(index.oid);
    for (const IndexInfo& index : dropped->self_index) relations.erase(index.table);
  }
  statistics.erase(oid);
  relation_names.clear();
}

void DatabaseEntries::clear() {
  relations.clear();
  relation_names.clear();
  types.clear();
  type_names.clear();
  schemas.reset();
  statistics.clear();
}

void RelationCache::apply_new() {
  std::vector<InvalidationMessage> messages;
  std::uint64_t next = 0;
  if (log_.read(applied_, messages, &next)) {
    for (const InvalidationMessage& message : messages) apply(message);
  } else {
    for (auto& [oid, entries] : databases_) entries.clear();
    shared_.clear();
  }
  applied_ = next;
  generation_ = next_number();
}

void RelationCache::apply(const InvalidationMessage& message) {
  if (message.kind == InvalidationKind::kShared) {
    shared_.clear();
    return;
  }
  for (auto& [oid, entries] : databases_) {
    if (is_valid(message.database) && message.database != oid) continue;
    switch (message.kind) {
      case InvalidationKind::kRelation:
        if (is_valid(message.object)) {
          entries.drop_relation(message.object);
        } else {
          entries.clear();
        }
        break;
      case InvalidationKind::kType:
        entries.types.erase(message.object);
        entries.type_names.clear();
        break;
      case InvalidationKind::kSchema:
        entries.schemas.reset();
        entries.relation_names.clear();
        entries.type_names.clear();
        break;
      case InvalidationKind::kStatistics:
        entries.statistics.erase(message.object);
        break;
      case InvalidationKind::kShared:
        break;
    }
  }
}

std::uint64_t RelationCache::intern_path(const std::string& key) {
  const auto [found, added] = paths_.try_emplace(key, paths_.size() + 1);
  return found->second;
}

}  // namespace pinwheel::sql
