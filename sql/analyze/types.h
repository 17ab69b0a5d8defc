#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// Resolves a type as written. Errors: 42704, 42601, 22023 with position.
ExprType resolve_type(Analysis& an, const PgQuery__TypeName* name);
/// As above; type 0 when there is no such type.
ExprType find_type(Analysis& an, const PgQuery__TypeName* name);
/// The type a function call's name might be a cast to; 0 none.
Oid find_type_by_names(Analysis& an, raw::NodeList names);

/// The modifier that `parts` mean for a type (or for an array of it). Errors: 42601, 22023, with position.
std::int32_t type_modifier(Analysis& an, const ViewedType& type, std::span<const std::string> parts,
                           std::string_view written, int location);

/// The catalog's entry; XX000 "cache lookup failed" when it is gone.
const ViewedType& type_of(Analysis& an, Oid oid);
/// Name for messages (format_type).
std::string type_text(Analysis& an, Oid oid);
Oid base_type(Analysis& an, Oid oid);
/// Element type when `oid` is a true array (or a domain over one), else 0.
Oid element_type(Analysis& an, Oid oid);
Oid array_type(Analysis& an, Oid element);
Oid type_collation(Analysis& an, Oid oid);
char type_category(Analysis& an, Oid oid);
/// Composite, or a domain over one, or record.
bool is_row_type(Analysis& an, Oid oid);
/// Names of the columns of a composite or of an expression of type record; empty when not known.
std::span<ColumnDefinition> row_columns(Scope& scope, const Expr* expr);

/// ExprType of a type without modifier, its collation being the type's.
inline ExprType plain_type(Analysis& an, Oid oid) { return {oid, -1, type_collation(an, oid)}; }

/// "a.b.c" of a list of String nodes.
std::string dotted(raw::NodeList names);
/// Splits [catalog.][schema.]name. Errors: 42601 "improper qualified name", 0A000 cross-database reference.
void split_name(Analysis& an, raw::NodeList names, std::string_view& schema, std::string_view& name,
                int location);

/// 3F000 when `schema` is written and there is no such schema.
void require_schema(Analysis& an, std::string_view schema, int location);

Oid resolve_collation(Analysis& an, raw::NodeList names, int location);

}  // namespace pinwheel::sql
