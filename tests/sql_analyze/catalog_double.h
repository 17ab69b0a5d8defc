#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "sql/analyze/analyzer.h"

namespace pinwheel::sql {

/// The catalogs of a test: stock's recorded functions and operators, and tables made from CREATE statements.
class CatalogDouble : public AnalyzerCatalog {
 public:
  /// `data` is sql/catalog/data.
  explicit CatalogDouble(const std::string& data);

  /// Runs CREATE TABLE, CREATE VIEW, CREATE UNIQUE INDEX and CREATE SCHEMA of a script.
  void run_script(const std::string& script);
  EvalContext& eval() { return eval_; }

  Oid find_schema(std::string_view name) override;
  const ViewedRelation* find_relation(std::string_view schema, std::string_view name, int) override;
  const ViewedRelation* relation(Oid oid) override;
  bool relation_is_visible(Oid oid) override;
  std::string_view database_name() override { return "postgres"; }
  Oid find_type(std::string_view schema, std::string_view name) override;
  const ViewedType* type(Oid oid) override;
  bool type_is_visible(Oid) override { return true; }
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
  Oid find_collation(std::string_view schema, std::string_view name) override;
  std::string collation_name(Oid oid) override;
  Oid find_constraint_index(Oid relation, std::string_view constraint) override;

 private:
  struct Table;
  void load_functions(const std::string& file);
  void load_operators(const std::string& file);
  void load_system_tables(const std::string& data);
  void add(const Utility& utility);
  Table& add_table(std::string_view schema, std::string_view name, char kind);
  void seal(Table& table);

  Arena arena_;
  EvalContext eval_;
  std::deque<ViewedFunction> functions_;
  std::unordered_map<std::string, std::vector<const ViewedFunction*>> functions_by_name_;
  std::unordered_map<Oid, const ViewedFunction*> functions_by_oid_;
  std::deque<ViewedOperator> operators_;
  std::unordered_map<std::string, std::vector<const ViewedOperator*>> operators_by_name_;
  std::unordered_map<Oid, const ViewedOperator*> operators_by_oid_;
  std::deque<Table> tables_;
  std::deque<ViewedType> row_types_;
  std::uint32_t next_oid_ = 16384;
};

}  // namespace pinwheel::sql
