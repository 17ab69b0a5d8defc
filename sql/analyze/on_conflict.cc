#include <algorithm>

#include "sql/analyze/coercion.h"
#include "sql/analyze/column_defaults.h"
#include "sql/analyze/expression_source.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/statements.h"

namespace pinwheel::sql {

namespace {

/// What ON CONFLICT (...) [WHERE ...] asks an index to have.
struct Inference {
  std::vector<std::int16_t> columns;
  std::vector<Expr*> expressions;
  Expr* where = nullptr;
};

Inference read_inference(Scope& scope, const PgQuery__InferClause* infer, const ViewedRelation& relation) {
  Analysis& an = scope.an;
  Inference wanted;
  for (const raw::Node* node : RAW_LIST(infer, index_elems)) {
    const PgQuery__IndexElem* element = node->index_elem;
    if (element->ordering != PG_QUERY__SORT_BY_DIR__SORTBY_DEFAULT) {
      throw an.error(sqlstate::kInvalidColumnReference, "ASC/DESC is not allowed in ON CONFLICT clause",
                     infer->location);
    }
    if (element->nulls_ordering != PG_QUERY__SORT_BY_NULLS__SORTBY_NULLS_DEFAULT) {
      throw an.error(sqlstate::kInvalidColumnReference,
                     "NULLS FIRST/LAST is not allowed in ON CONFLICT clause", infer->location);
    }
    if (element->expr == nullptr) {
      const std::string_view name = raw::text(element->name);
      std::int16_t attribute = 0;
      for (std::size_t i = 0; i < relation.columns.size(); ++i) {
        if (!relation.columns[i].dropped && relation.columns[i].name == name)
          attribute = static_cast<std::int16_t>(i + 1);
      }
      if (attribute == 0) {
        throw an.error(sqlstate::kUndefinedColumn, cat("column ", quoted(name), " does not exist"),
                       infer->location);
      }
      if (std::find(wanted.columns.begin(), wanted.columns.end(), attribute) == wanted.columns.end()) {
        wanted.columns.push_back(attribute);
      }
      continue;
    }
    Expr* expr = transform(scope, element->expr, ExprUse::kIndexExpression);
    assign_expr_collations(an, expr);
    if (const ColumnExpr* column = expr_if<ColumnExpr>(expr)) {
      wanted.columns.push_back(column->attribute);
    } else {
      wanted.expressions.push_back(expr);
    }
  }
  if (infer->where_clause != nullptr) {
    wanted.where = transform_where(scope, infer->where_clause, ExprUse::kIndexPredicate, "WHERE");
    assign_expr_collations(an, wanted.where);
  }
  return wanted;
}

bool covers(std::span<const std::int16_t> keys, const std::vector<std::int16_t>& wanted) {
  for (std::int16_t key : keys) {
    if (key != 0 && std::find(wanted.begin(), wanted.end(), key) == wanted.end()) return false;
  }
  for (std::int16_t column : wanted) {
    if (std::find(keys.begin(), keys.end(), column) == keys.end()) return false;
  }
  return true;
}

/// Conjuncts of a condition.
void split_and(Expr* expr, std::vector<Expr*>& parts) {
  if (BoolExpr* node = expr_if<BoolExpr>(expr); node != nullptr && node->op == BoolOp::kAnd) {
    for (Expr* arg : node->args) split_and(arg, parts);
  } else {
    parts.push_back(expr);
  }
}

bool matches(Analysis& an, const ViewedRelation& relation, const ViewedIndex& index,
             const Inference& wanted) {
  if (!index.unique || !index.immediate || !covers(index.keys, wanted.columns)) return false;
  if (index.expressions.size() != wanted.expressions.size()) return false;
  const AnalyzeContext context{an.arena, an.catalog, an.eval};
  for (std::string_view source : index.expressions) {
    const Expr* expr = analyze_expression(context, source, &relation, SourceUse::kIndexExpression);
    bool found = false;
    for (const Expr* other : wanted.expressions) found = found || equal(expr, other);
    if (!found) return false;
  }
  if (index.predicate.empty()) return true;
  if (wanted.where == nullptr) return false;
  // The given condition implies the index's when it contains each of its conjuncts.
  std::vector<Expr*> given, needed;
  split_and(wanted.where, given);
  split_and(analyze_expression(context, index.predicate, &relation, SourceUse::kIndexPredicate), needed);
  for (const Expr* need : needed) {
    bool found = false;
    for (const Expr* have : given) found = found || equal(need, have);
    if (!found) return false;
  }
  return true;
}

std::vector<Oid> find_arbiters(Scope& scope, const PgQuery__InferClause* infer,
                               const ViewedRelation& relation) {
  Analysis& an = scope.an;
  if (!raw::text(infer->conname).empty()) {
    const Oid index = an.catalog.find_constraint_index(relation.oid, raw::text(infer->conname));
    if (index.value == 0) {
      throw an.error(sqlstate::kUndefinedObject,
                     cat("constraint ", quoted(raw::text(infer->conname)), " for table ",
                         quoted(relation.name), " does not exist"));
    }
    for (const ViewedIndex& candidate : relation.indexes) {
      if (candidate.oid != index || candidate.immediate) continue;
      throw an.error(
          sqlstate::kObjectNotInPrerequisiteState,
          "ON CONFLICT does not support deferrable unique constraints/exclusion constraints as arbiters");
    }
    return {index};
  }
  const Inference wanted = read_inference(scope, infer, relation);
  std::vector<Oid> found;
  for (const ViewedIndex& index : relation.indexes) {
    if (matches(an, relation, index, wanted)) found.push_back(index.oid);
  }
  if (found.empty()) {
    throw an.error(sqlstate::kInvalidColumnReference,
                   "there is no unique or exclusion constraint matching the ON CONFLICT specification");
  }
  return found;
}

}  // namespace

OnConflict transform_on_conflict(Scope& scope, const PgQuery__OnConflictClause* clause,
                                 const ViewedRelation& relation) {
  Analysis& an = scope.an;
  OnConflict result;
  const bool updates = clause->action == PG_QUERY__ON_CONFLICT_ACTION__ONCONFLICT_UPDATE;
  result.action = updates ? ConflictAction::kUpdate : ConflictAction::kNothing;
  if (updates && clause->infer == nullptr) {
    throw an
        .error(sqlstate::kSyntaxError,
               "ON CONFLICT DO UPDATE requires inference specification or constraint name", clause->location)
        .hint("For example, ON CONFLICT (column_name).");
  }
  if (relation.oid < kFirstNormalOid) {
    throw an.error(sqlstate::kFeatureNotSupported, "ON CONFLICT is not supported with system catalog tables",
                   clause->location);
  }
  if (clause->infer != nullptr) {
    const std::vector<Oid> arbiters = find_arbiters(scope, clause->infer, relation);
    result.arbiter_indexes = to_span(an.arena, arbiters);
  }
  if (!updates) return result;

  NamespaceItem excluded = add_relation_entry(scope, relation, nullptr, false, 3, LockStrength::kNone);
  RangeEntry& entry = scope.range_table[excluded.range_index];
  entry.alias = "excluded";
  entry.has_alias = true;
  excluded.name = "excluded";
  excluded.relation = {};
  result.excluded_range_index = excluded.range_index;
  scope.names.push_back(excluded);
  const std::vector<Target> assignments =
      transform_update_targets(scope, RAW_LIST(clause, target_list), relation);
  result.assignments = to_span(an.arena, assignments);
  result.where = transform_where(scope, clause->where_clause, ExprUse::kWhere, "WHERE");
  scope.range_table[result.excluded_range_index].required_privileges = 0;
  return result;
}

}  // namespace pinwheel::sql
