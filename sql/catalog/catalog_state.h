#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/invalidation_log.h"
#include "sql/catalog/relation_cache.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

/// What a Catalog keeps for its session. Private to catalog*.cc.
struct Catalog::State final : txn::TransactionHooks {
  explicit State(Catalog& owner) : catalog{owner} {}

  Catalog& catalog;

  // What this transaction has changed so far. Entries it names are looked up in the overlay, which holds what
  // only this session may see; all else in the process's caches.
  std::vector<InvalidationMessage> pending;
  std::unordered_set<Oid> changed_relations;
  std::unordered_set<Oid> changed_types;
  std::unordered_set<Oid> changed_statistics;
  bool names_changed = false;
  bool schemas_changed = false;
  bool shared_changed = false;
  DatabaseEntries overlay;
  SharedEntries shared_overlay;
  struct NewFile {
    FileId file;
    int level;  // nest level of the transaction that it belongs to
  };
  std::vector<NewFile> new_files;
  /// 0, or this session's own generation while it has changes.
  std::uint64_t own_generation = 0;
  std::uint64_t seen_generation = 0;

  std::string path_setting = "\"$user\", public";
  bool path_valid = false;
  std::uint64_t path_generation = 0;
  Oid path_user;
  std::uint64_t path_id = 0;
  std::vector<Oid> path;
  std::vector<Oid> explicit_path;
  Oid temporary_schema;
  bool temporary_schema_is_new = false;  // set in the transaction that runs

  DatabaseEntries& shared_entries();
  DatabaseEntries& names_entries() { return names_changed || schemas_changed ? overlay : shared_entries(); }
  /// Oid of the row of that name in that schema, through the cache `known`, which remembers absence (0) too.
  /// What was read while others' changes came in is not kept.
  template <class Row>
  Oid find_named(StringMap<Oid> DatabaseEntries::*known, Oid schema, std::string_view name) {
    std::string key = std::to_string(schema.value) + "/" + std::string{name};
    const auto& entries = names_entries().*known;
    if (const auto found = entries.find(key); found != entries.end()) return found->second;
    const RelationCache& cache = catalog.services_.cache;
    const std::uint64_t position = cache.applied();
    const auto row = find_row<Row>(catalog, {{2, name}, {3, schema}});
    const Oid oid = row ? row->oid : kInvalidOid;
    if (cache.applied() == position) (names_entries().*known).insert_or_assign(std::move(key), oid);
    return oid;
  }
  void note(InvalidationKind kind, Oid database, Oid object);
  void resolve_path();
  const std::vector<SchemaInfo>& schemas();
  const std::vector<RoleInfo>& roles();
  const std::vector<RoleMembership>& memberships();
  const std::vector<DatabaseInfo>& databases();
  void forget_changes() noexcept;
  void forget_temporary_schema() noexcept;

  // txn::TransactionHooks
  std::span<const std::byte> commit_payload() override;
  void after_commit() noexcept override;
  void after_abort() noexcept override;
  void commit_subtransaction(int level) noexcept override;
  void abort_subtransaction(int) noexcept override;
};

}  // namespace pinwheel::sql
