#pragma once

#include "sql/analyze/scope.h"
#include "sql/query/utility.h"

/// Pieces that several utility commands share: names, options, expressions as text.
namespace pinwheel::sql {

std::string_view copy_text(Analysis& an, const char* text);
QualifiedName qualified_name(Analysis& an, const PgQuery__RangeVar* var);
/// From a list of String nodes (or a single String, TypeName, ObjectWithArgs).
QualifiedName qualified_name(Analysis& an, const raw::Node* node);
QualifiedName qualified_name(Analysis& an, raw::NodeList names);
TypeName type_name(Analysis& an, const PgQuery__TypeName* name);
SourceExpr source_expr(Analysis& an, const raw::Node* node);
/// "public" for PUBLIC; CURRENT_USER and its kin resolved.
std::string_view role_name(Analysis& an, const PgQuery__RoleSpec* role);
std::span<std::string_view> role_names(Analysis& an, raw::NodeList list);
std::span<std::string_view> string_list(Analysis& an, raw::NodeList list);
Option option(Analysis& an, const PgQuery__DefElem* element);
std::span<Option> options(Analysis& an, raw::NodeList list);
ObjectKind object_kind(int grammar_value);
std::span<QualifiedName> relation_names(Analysis& an, raw::NodeList list);
ColumnSpec column_spec(Analysis& an, const PgQuery__ColumnDef* column);
ConstraintDefinition constraint_definition(Analysis& an, const PgQuery__Constraint* constraint);
[[noreturn]] void throw_unsupported(Analysis& an, std::string_view what);

/// utility_tables.cc
Utility* create_table(Analysis& an, const PgQuery__CreateStmt* create);
Utility* alter_table(Analysis& an, const PgQuery__AlterTableStmt* alter);
Utility* create_index(Analysis& an, const PgQuery__IndexStmt* create);
/// utility_queries.cc: commands that hold a query
Utility* create_table_as(Analysis& an, const PgQuery__CreateTableAsStmt* create);
/// `first` is the member of `select` that INTO was written in; its clause is taken out while the query is
/// analyzed.
Utility* select_into(Analysis& an, const PgQuery__SelectStmt* select, PgQuery__SelectStmt* first);
Utility* create_view(Analysis& an, const PgQuery__ViewStmt* view);
Utility* explain(Analysis& an, const PgQuery__ExplainStmt* explain);
Utility* copy(Analysis& an, const PgQuery__CopyStmt* copy);
Utility* prepare(Analysis& an, const PgQuery__PrepareStmt* prepare);
Utility* declare_cursor(Analysis& an, const PgQuery__DeclareCursorStmt* declare);

}  // namespace pinwheel::sql
