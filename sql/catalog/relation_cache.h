#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "sql/catalog/column_statistics.h"
#include "sql/catalog/infos.h"
#include "sql/catalog/invalidation_log.h"
#include "sql/catalog/relation.h"

namespace pinwheel::sql {

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};
template <class Value>
using StringMap = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

/// What is cached of one database. Also a session's overlay for what its transaction changed.
struct DatabaseEntries {
  std::unordered_map<Oid, RelationRef> relations;
  /// By "schema-oid/name"; 0 = known to be absent.
  StringMap<Oid> relation_names;
  std::unordered_map<Oid, CatalogType> types;
  StringMap<Oid> type_names;
  std::optional<std::vector<SchemaInfo>> schemas;  // all of them, or not read yet
  /// By column number - 1; null refs = no statistics.
  std::unordered_map<Oid, std::vector<ColumnStatisticsRef>> statistics;

  void drop_relation(Oid oid);
  void clear();
};

/// What is cached of the shared catalogs.
struct SharedEntries {
  std::optional<std::vector<RoleInfo>> roles;
  std::optional<std::vector<RoleMembership>> memberships;
  std::optional<std::vector<DatabaseInfo>> databases;

  void clear() { *this = SharedEntries{}; }
};

/// The caches of one process, for all databases that its sessions use. Only the process's one thread touches
/// them.
///
/// Rule: an entry may be added only if it was read under a snapshot taken when applied() had its present
/// value.
class RelationCache {
 public:
  explicit RelationCache(InvalidationLog& log) : log_{log}, applied_{log.position()} {}

  DatabaseEntries& database(Oid oid) { return databases_[oid]; }
  SharedEntries& shared() { return shared_; }

  /// Applies what others have committed since the last call.
  void catch_up() {
    if (log_.position() != applied_) [[unlikely]]
      apply_new();
  }
  /// Position in the log up to which the caches are true.
  std::uint64_t applied() const { return applied_; }
  /// Changes whenever entries may have been dropped.
  std::uint64_t generation() const { return generation_; }
  /// A number never used before: versions of relations, generations.
  std::uint64_t next_number() { return ++numbers_; }
  /// Small id for a resolved search path; equal paths have equal ids.
  std::uint64_t intern_path(const std::string& key);

 private:
  void apply_new();
  void apply(const InvalidationMessage& message);

  InvalidationLog& log_;
  std::uint64_t applied_;
  std::uint64_t numbers_ = 1;
  std::uint64_t generation_ = 1;
  std::unordered_map<Oid, DatabaseEntries> databases_;
  SharedEntries shared_;
  StringMap<std::uint64_t> paths_;
};

}  // namespace pinwheel::sql
