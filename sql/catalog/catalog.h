#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/ids.h"
#include "sql/catalog/acl.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/column_statistics.h"
#include "sql/catalog/infos.h"
#include "sql/catalog/relation.h"
#include "sql/catalog/services.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// One session's window on the catalogs: lookups through the process's caches, seeing this session's own
/// uncommitted changes and, from the next accept_invalidations() on, everybody's committed ones.
///
/// Lookups that miss the caches read catalog heaps under a fresh snapshot; they take no relation locks. Names
/// are looked up along search_path when `schema` is "".
class Catalog {
 public:
  /// `eval` tells the database and user, and outlives the catalog; `transaction` is the session's transaction
  /// object.
  Catalog(CatalogServices& services, EvalContext& eval, txn::Transaction& transaction);
  ~Catalog();
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;

  // --- Keeping up with others

  /// Drops cached entries that other transactions changed. Call at statement start and after each relation
  /// lock that was not held before. One atomic load when nothing happened.
  void accept_invalidations();
  /// Changes whenever any cached knowledge of this session may have changed. A plan built at the same
  /// generation needs no further check.
  std::uint64_t generation() const;
  /// Relation::version of the current entry; 0 when the relation is gone. What a plan compares when the
  /// generation has moved.
  std::uint64_t relation_version(Oid relation);

  // --- Relations

  /// Null when there is no such relation.
  RelationRef relation(Oid oid);
  /// As relation(); XX000 "could not open relation with OID n" when it is gone.
  RelationRef require_relation(Oid oid);
  /// Null when not found ("42P01" is the caller's: it knows the position). 3F000 when `schema` does not exist
  /// is not raised: null too.
  RelationRef find_relation(std::string_view schema, std::string_view name);
  Oid find_relation_oid(std::string_view schema, std::string_view name);
  /// `relation "x" does not exist` (42P01), `schema "x" does not exist` when that is why, without position.
  [[noreturn]] void throw_no_relation(std::string_view schema, std::string_view name);
  bool relation_is_visible(Oid relation);
  std::string relation_name(Oid relation);  // "" when gone

  ColumnStatisticsRef column_statistics(Oid relation, std::int16_t column);

  // --- Schemas and search_path

  /// Sets search_path (the setting's text, `"$user", public`).
  void set_search_path(std::string_view setting);
  const std::string& search_path_setting() const;
  /// Equal for sessions of this process whose names resolve alike: part of the key of shared plans.
  std::uint64_t search_path_id();
  /// Resolved: existing schemas only; pg_temp and pg_catalog first when they are implicit.
  std::span<const Oid> search_path();
  /// As search_path() without the implicit ones: current_schemas(false).
  std::span<const Oid> explicit_search_path();
  /// Where CREATE without a schema goes; 3F000 "no schema has been selected to create in" when nowhere.
  Oid creation_schema(std::string_view schema, char persistence);
  Oid find_schema(std::string_view name);     // 0 when absent
  Oid require_schema(std::string_view name);  // 3F000
  std::string schema_name(Oid schema);        // "" when absent
  Oid schema_owner(Oid schema);
  /// This session's pg_temp schema; 0 while it has none.
  Oid temporary_schema() const;

  // --- Types

  std::optional<CatalogType> type(Oid oid);
  /// By pg_type name along search_path; 0 when absent.
  Oid find_type(std::string_view schema, std::string_view name);
  bool type_is_visible(Oid type);
  Oid array_type_of(Oid element);  // 0 when none
  /// As SQL's format_type().
  std::string format_type(Oid type, std::int32_t modifier = -1);
  /// format_type with the modifier shown even when it is the type's default spelling, NULL typmod rules of
  /// psql.
  std::string format_type_with_modifier(Oid type, std::int32_t modifier);

  // --- Functions, operators, casts (built-in ones: see also builtin.h)

  std::span<const BuiltinProc* const> find_procs(std::string_view schema, std::string_view name);
  std::span<const BuiltinOperator* const> find_operators(std::string_view schema, std::string_view name);
  Oid find_collation(std::string_view schema, std::string_view name);

  // --- Roles, databases, privileges

  std::optional<RoleInfo> role(Oid oid);
  std::optional<RoleInfo> find_role(std::string_view name);
  Oid require_role(std::string_view name);  // 42704 role "x" does not exist
  std::string role_name(Oid role);          // "unknown (OID=n)" when gone
  bool is_superuser(Oid role);
  /// True when `member` has the privileges of `role` (directly or through inherited memberships).
  bool has_privileges_of(Oid member, Oid role);
  std::optional<DatabaseInfo> database(Oid oid);
  std::optional<DatabaseInfo> find_database(std::string_view name);

  /// What an access control list gives `role`, through PUBLIC and memberships too. Everything to superusers.
  Privileges acl_mask(Oid role, std::span<const AclItem> acl);
  /// True when `role` has all of `wanted` on the relation (column privileges not counted).
  bool has_relation_privilege(Oid role, const Relation& relation, Privileges wanted);
  bool has_column_privilege(Oid role, const Relation& relation, std::int16_t column, Privileges wanted);
  bool has_schema_privilege(Oid role, Oid schema, Privileges wanted);
  bool has_database_privilege(Oid role, Oid database, Privileges wanted);
  /// 42501 `permission denied for table x` unless the current user has all of `wanted`, on the table or, when
  /// `columns` is not empty, on each of those columns.
  void check_relation_privilege(const Relation& relation, Privileges wanted,
                                std::span<const std::int16_t> columns = {});
  void check_schema_privilege(Oid schema, Privileges wanted);
  /// 42501 `must be owner of table x`.
  void check_relation_owner(const Relation& relation);

  // --- Sequences

  std::optional<SequenceInfo> sequence(Oid relation);

  // --- For sql/commands

  /// Typed reading and writing of catalog rows; see tables.h. Internal to sql/catalog and sql/commands.
  CatalogServices& services() { return services_; }
  EvalContext& eval() { return eval_; }
  txn::Transaction& transaction() { return transaction_; }
  void set_temporary_schema(Oid schema);

  /// A file made by this transaction: nobody else can have rows there. For COPY FREEZE and for loading
  /// without the log.
  void note_new_file(FileId file);
  bool is_new_file(FileId file) const;
  /// Made by the innermost subtransaction, so that it goes if what is being done now is rolled back.
  bool is_new_file_of_level(FileId file) const;

  /// Notes that this transaction changed `relation` (its row, columns, indexes, constraints...): this session
  /// builds it anew at once, others after commit. 0 with `names` = a name appeared or went.
  void invalidate_relation(Oid relation);
  void invalidate_type(Oid type);
  void invalidate_schema();
  void invalidate_statistics(Oid relation);
  /// Roles, memberships, databases: for all databases.
  void invalidate_shared();

  // --- Transaction ends: the catalog registers itself as a hook of the transaction (invalidations go into
  // the commit record, and out to the others after the status is set and before locks are released).

  bool has_changes() const;

 private:
  struct State;
  CatalogServices& services_;
  EvalContext& eval_;
  txn::Transaction& transaction_;
  std::unique_ptr<State> state_;
};

/// While it lives only pg_catalog is searched, so that names in texts to be stored come out qualified.
class [[nodiscard]] QualifiedNames {
 public:
  explicit QualifiedNames(Catalog& catalog) : catalog_{catalog}, before_{catalog.search_path_setting()} {
    catalog_.set_search_path("");
  }
  ~QualifiedNames() { catalog_.set_search_path(before_); }
  QualifiedNames(const QualifiedNames&) = delete;
  QualifiedNames& operator=(const QualifiedNames&) = delete;

 private:
  Catalog& catalog_;
  std::string before_;
};

}  // namespace pinwheel::sql
