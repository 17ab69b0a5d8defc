#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sql/analyze/catalog_view.h"
#include "sql/catalog/catalog.h"

namespace pinwheel::sql {

/// The catalogs as analysis wants to see them: answers AnalyzerCatalog from a session's Catalog.
///
/// What it hands out lives until reset(), which the session calls between statements. Facts of built-in
/// functions, operators and types are converted once per process and kept.
class AnalyzerAdapter final : public AnalyzerCatalog {
 public:
  explicit AnalyzerAdapter(Catalog& catalog);
  ~AnalyzerAdapter() override;

  void reset();

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
  Oid family_operator(Oid family, int strategy, Oid left, Oid right) override;

  Oid find_collation(std::string_view schema, std::string_view name) override {
    return catalog_.find_collation(schema, name);
  }
  std::string collation_name(Oid oid) override;
  Oid find_constraint_index(Oid relation, std::string_view constraint) override;

 private:
  struct HeldRelation;
  const ViewedRelation* hold(RelationRef relation);

  Catalog& catalog_;
  std::map<Oid, std::unique_ptr<HeldRelation>> relations_;
  std::map<Oid, std::pair<CatalogType, ViewedType>> user_types_;
};

}  // namespace pinwheel::sql
