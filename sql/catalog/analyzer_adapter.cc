#include "sql/catalog/analyzer_adapter.h"

#include <algorithm>

#include "sql/catalog/builtin.h"
#include "sql/catalog/builtin_views.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"
#include "txn/transaction.h"

namespace pinwheel::sql {

/// A relation of the cache with its view; keeps the cache entry alive, whose strings the view points to.
struct AnalyzerAdapter::HeldRelation {
  RelationRef relation;
  ViewedRelation view;
  std::vector<ViewedColumn> columns;
  std::vector<ViewedIndex> indexes;
  std::vector<std::vector<std::int16_t>> index_keys;
  std::vector<std::vector<std::string_view>> index_expressions;
  std::vector<std::int16_t> primary_key;
  std::vector<std::string> constraint_names;
};

AnalyzerAdapter::AnalyzerAdapter(Catalog& catalog) : catalog_{catalog} {}
AnalyzerAdapter::~AnalyzerAdapter() = default;

void AnalyzerAdapter::reset() {
  relations_.clear();
  user_types_.clear();
}

const ViewedRelation* AnalyzerAdapter::hold(RelationRef ref) {
  auto held = std::make_unique<HeldRelation>();
  const Relation& relation = *ref;
  for (const Column& column : relation.columns) {
    ViewedColumn view;
    view.name = column.name;
    view.type = column.type;
    view.type_modifier = column.type_modifier;
    view.collation = column.collation;
    view.dropped = column.dropped;
    view.not_null = column.not_null;
    view.identity = column.identity;
    view.generated = column.generated != 0;
    view.default_source = column.default_source;
    held->columns.push_back(view);
  }
  held->index_keys.reserve(relation.indexes.size());
  held->index_expressions.reserve(relation.indexes.size());
  for (const IndexInfo& index : relation.indexes) {
    auto& keys = held->index_keys.emplace_back();
    auto& expressions = held->index_expressions.emplace_back();
    for (int i = 0; i < index.key_count; ++i) {
      const IndexKey& key = index.keys[static_cast<std::size_t>(i)];
      keys.push_back(key.column);
      if (key.column == 0) expressions.push_back(key.expression);
    }
    ViewedIndex view;
    view.oid = index.oid;
    // A constraint's index bears the constraint's name.
    if (index.constraint != kInvalidOid) view.constraint = index.name;
    view.unique = index.unique;
    view.immediate = index.immediate;
    view.primary = index.primary;
    view.keys = keys;
    view.expressions = expressions;
    view.predicate = index.predicate;
    held->indexes.push_back(view);
    if (index.primary) held->primary_key = keys;
  }
  ViewedRelation& view = held->view;
  view.oid = relation.oid;
  view.schema = relation.schema;
  view.schema_name = relation.schema_name;
  view.name = relation.name;
  view.kind = relation.kind;
  view.persistence = relation.persistence;
  view.row_type = relation.row_type;
  view.owner = relation.owner;
  view.columns = held->columns;
  view.view_text = relation.view_source;
  view.indexes = held->indexes;
  view.primary_key = held->primary_key;
  held->relation = std::move(ref);
  return &relations_.insert_or_assign(relation.oid, std::move(held)).first->second->view;
}

const ViewedRelation* AnalyzerAdapter::find_relation(std::string_view schema, std::string_view name,
                                                     int table_lock) {
  // Between the look-up and the lock somebody may drop or rename it: look again until both agree.
  Oid oid = catalog_.find_relation_oid(schema, name);
  while (oid != kInvalidOid) {
    const RelationRef before = catalog_.relation(oid);
    if (!before) return nullptr;
    if (table_lock > 0) {
      const Oid database = before->shared ? kInvalidOid : catalog_.eval().database;
      const auto got =
          catalog_.transaction().locks().lock_relation(database, oid, static_cast<txn::LockMode>(table_lock));
      if (got == txn::LockResult::kAcquired) catalog_.accept_invalidations();
    }
    const Oid again = catalog_.find_relation_oid(schema, name);
    if (again == oid) return relation(oid);
    oid = again;
  }
  return nullptr;
}

const ViewedRelation* AnalyzerAdapter::relation(Oid oid) {
  RelationRef current = catalog_.relation(oid);
  if (!current) return nullptr;
  const auto at = relations_.find(oid);
  if (at != relations_.end() && at->second->relation.get() == current.get()) return &at->second->view;
  return hold(std::move(current));
}

const ViewedType* AnalyzerAdapter::type(Oid oid) {
  if (const ViewedType* builtin = builtin_type_view(oid)) return builtin;
  const auto at = user_types_.find(oid);
  if (at != user_types_.end()) return &at->second.second;
  auto found = catalog_.type(oid);
  if (!found) return nullptr;
  auto& [facts, view] = user_types_[oid];
  facts = std::move(*found);
  view.oid = facts.oid;
  view.schema = facts.schema;
  view.schema_name = "";
  view.name = facts.name;
  view.kind = facts.kind;
  view.category = facts.category;
  view.preferred = facts.preferred;
  view.by_value = facts.by_value;
  view.length = facts.length;
  view.element = facts.element;
  view.array = facts.array;
  view.relation = facts.relation;
  view.base_type = facts.base_type;
  view.base_modifier = facts.base_modifier;
  view.collation = facts.collation;
  return &view;
}

std::span<const ViewedFunction* const> AnalyzerAdapter::find_functions(std::string_view schema,
                                                                       std::string_view name) {
  if (!schema.empty() && schema != "pg_catalog") return {};
  return builtin_function_views(name);
}

const ViewedFunction* AnalyzerAdapter::function(Oid oid) { return builtin_function_view(oid); }

std::span<const ViewedOperator* const> AnalyzerAdapter::find_operators(std::string_view schema,
                                                                       std::string_view name) {
  if (!schema.empty() && schema != "pg_catalog") return {};
  return builtin_operator_views(name);
}

const ViewedOperator* AnalyzerAdapter::op(Oid oid) { return builtin_operator_view(oid); }

std::optional<ViewedCast> AnalyzerAdapter::find_cast(Oid source, Oid target) {
  const BuiltinCast* cast = sql::find_cast(source, target);
  if (cast == nullptr) return std::nullopt;
  return ViewedCast{cast->procedure, cast->context, cast->method};
}

SortOperators AnalyzerAdapter::sort_operators(Oid type_oid) {
  return builtin_sort_operators(type_oid, *this);
}

std::span<const OperatorFamilyEntry> AnalyzerAdapter::btree_memberships(Oid op_oid) {
  return builtin_btree_memberships(op_oid);
}

Oid AnalyzerAdapter::family_operator(Oid family, int strategy, Oid left, Oid right) {
  return sql::family_operator(family, left, right, strategy);
}

std::string AnalyzerAdapter::collation_name(Oid oid) {
  for (const BuiltinCollation& collation : builtin_collations()) {
    if (collation.oid == oid) return "\"" + std::string{collation.name} + "\"";
  }
  return std::to_string(oid.value);
}

Oid AnalyzerAdapter::find_constraint_index(Oid relation_oid, std::string_view constraint) {
  const ViewedRelation* view = relation(relation_oid);
  if (view == nullptr) return kInvalidOid;
  for (const ViewedIndex& index : view->indexes) {
    if (index.constraint == constraint) return index.oid;
  }
  return kInvalidOid;
}

}  // namespace pinwheel::sql
