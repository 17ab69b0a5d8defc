#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "sql/analyze/catalog_view.h"
#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

/// The catalogs of one session as analysis sees them. Answers live until end_statement().
class CatalogView final : public AnalyzerCatalog {
 public:
  explicit CatalogView(Catalog& catalog) : catalog_{catalog} {}

  /// Drops all answers given since the last call. Nobody may hold one.
  void end_statement();
  /// For commands that build a relation whose rows are not there yet, or that change one: shows `relation` as
  /// it is.
  const ViewedRelation* show(const RelationRef& relation);

  Oid find_schema(std::string_view name) override { return catalog_.find_schema(name); }
  const ViewedRelation* find_relation(std::string_view schema, std::string_view name,
                                      int table_lock) override;
  const ViewedRelation* relation(Oid oid) override;
  bool relation_is_visible(Oid oid) override { return catalog_.relation_is_visible(oid); }
  std::string_view database_name() override { return catalog_.eval().database_name; }
  Oid find_type(std::string_view schema, std::string_view name) override {
    return catalog_.find_type(schema, name);
  }
  const ViewedType* type(Oid oid) override;
  bool type_is_visible(Oid oid) override { return catalog_.type_is_visible(oid); }
  std::span<const ViewedFunction* const> find_functions(std::string_view schema,
                                                        std::string_view name) override;
  const ViewedFunction* function(Oid oid) override;
  std::span<const ViewedOperator* const> find_operators(std::string_view schema,
                                                        std::string_view name) override;
  const ViewedOperator* op(Oid oid) override;
  std::optional<ViewedCast> find_cast(Oid source, Oid target) override;
  SortOperators sort_operators(Oid type) override;
  std::span<const OperatorFamilyEntry> btree_memberships(Oid op) override;
  Oid family_operator(Oid family, int strategy, Oid left, Oid right) override {
    return sql::family_operator(family, left, right, strategy);
  }
  Oid find_collation(std::string_view schema, std::string_view name) override {
    return catalog_.find_collation(schema, name);
  }
  std::string collation_name(Oid oid) override;
  Oid find_constraint_index(Oid relation, std::string_view constraint) override;

 private:
  const ViewedRelation* make(const RelationRef& relation);

  Catalog& catalog_;
  Arena arena_;
  std::vector<RelationRef> held_;  // keeps what the answers point to
  std::unordered_map<Oid, const ViewedRelation*> relations_;
  std::unordered_map<Oid, const ViewedType*> types_;
  std::deque<std::string> texts_;
};

/// Locks a relation found by name, in `mode` (1 to 8), and makes sure that after the wait the name still
/// means it. Null when there is no such relation. `schema` "" = along search_path.
RelationRef lock_relation_by_name(Catalog& catalog, std::string_view schema, std::string_view name, int mode,
                                  bool nowait = false);

}  // namespace pinwheel::sql
