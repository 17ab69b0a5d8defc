#pragma once

#include "sql/analyze/clauses.h"
#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// Analyzes a SELECT, INSERT, UPDATE or DELETE below `parent` (null at top). `locked_from_parent`: FOR UPDATE
/// of the outer query covers all tables of this one. `resolve_unknowns` false leaves untyped literals of the
/// target list for INSERT or a set operation to type.
Query* analyze_query(Analysis& an, Scope* parent, const raw::Node* node, bool locked_from_parent = false,
                     bool resolve_unknowns = true, const PgQuery__CommonTableExpr* cte = nullptr);

// One per kind; they work in a fresh scope made by analyze_query.
Query* analyze_select(Scope& scope, const PgQuery__SelectStmt* select);
Query* analyze_values(Scope& scope, const PgQuery__SelectStmt* select);
Query* analyze_set_operation(Scope& scope, const PgQuery__SelectStmt* select);
Query* analyze_insert(Scope& scope, const PgQuery__InsertStmt* insert);
Query* analyze_update(Scope& scope, const PgQuery__UpdateStmt* update);
Query* analyze_delete(Scope& scope, const PgQuery__DeleteStmt* del);

// from.cc
struct FromResult {
  std::vector<FromItem*> items;
};
void transform_from(Scope& scope, raw::NodeList list, FromResult& out);
/// Opens the table that a DML statement changes and adds it to the range table; `in_from` makes it visible.
/// Returns its index.
int add_result_relation(Scope& scope, const PgQuery__RangeVar* name, int table_lock, std::uint32_t privileges,
                        bool visible);
/// Adds an entry and returns the names it makes visible.
NamespaceItem add_relation_entry(Scope& scope, const ViewedRelation& relation, const PgQuery__Alias* alias,
                                 bool only, int table_lock, LockStrength row_lock);
NamespaceItem add_subquery_entry(Scope& scope, Query* query, const PgQuery__Alias* alias, bool lateral,
                                 int location);
NamespaceItem make_names(Scope& scope, int range_index);
/// The relation as written, or null; raises 42P01 with position unless `missing_ok`.
const ViewedRelation* open_relation(Scope& scope, const PgQuery__RangeVar* name, int table_lock,
                                    bool missing_ok = false);
/// 42712 when two items have the same name.
void check_names(Scope& scope, std::span<const NamespaceItem> first, std::span<const NamespaceItem> second);
bool is_locked(Scope& scope, std::string_view name);

// targets.cc
TargetList transform_targets(Scope& scope, raw::NodeList list, ExprUse use);
void add_star(Scope& scope, const PgQuery__ColumnRef* ref, TargetList& targets, ExprUse use);
/// Untyped literals left in a target list become text.
void resolve_unknowns(Scope& scope, TargetList& targets);
/// Notes of which table column each plain target shows.
void mark_origins(Scope& scope, std::span<Target> targets);
std::span<Target> transform_returning(Scope& scope, raw::NodeList list);
/// `value` as a column of INSERT or UPDATE takes it, through subscripts when there are any. Errors: 42804.
Expr* prepare_assignment(Scope& scope, Expr* value, const ViewedRelation& relation, std::int16_t attribute,
                         raw::NodeList indirection, int location, ExprUse use, Expr* current);

// cte.cc
void transform_with(Scope& scope, const PgQuery__WithClause* with);
/// The CTE of that name that is in sight; null when there is none.
CommonTable* find_cte(Scope& scope, std::string_view name, int* levels_up, bool* in_work);

// on_conflict.cc
OnConflict transform_on_conflict(Scope& scope, const PgQuery__OnConflictClause* clause,
                                 const ViewedRelation& relation);
/// SET col = expr, (a, b) = (...) of UPDATE and ON CONFLICT.
std::vector<Target> transform_update_targets(Scope& scope, raw::NodeList list,
                                             const ViewedRelation& relation);

// locking.cc
void transform_locking(Scope& scope, Query& query, raw::NodeList clauses);
void check_locking(Analysis& an, const Query& query, LockStrength strength);
LockStrength lock_strength(int grammar_value);
std::string_view lock_name(LockStrength strength);

// set_operations.cc, collation.cc
void assign_collations(Scope& scope, Query& query);
void assign_expr_collations(Analysis& an, Expr* expr);
/// Common collation of several expressions (set operations, CASE); 0 on conflict when `none_ok`.
Oid common_collation(Analysis& an, std::span<Expr* const> exprs, bool none_ok);

// utilities.cc
Utility* analyze_utility(Analysis& an, const raw::Node* node);

// views
/// The query of a view, analyzed afresh from its text as its owner.
Query* expand_view(Scope& scope, const ViewedRelation& view);
/// Checks that are due before a finished query leaves analysis, and packs the scope's range table and CTEs
/// into it.
void finish_query(Scope& scope, Query& query, FromResult& from);
/// As analyze(), for text within another analysis (view definitions).
Query* analyze_text(Analysis& outer, std::string_view text, Oid check_as_user);

}  // namespace pinwheel::sql
