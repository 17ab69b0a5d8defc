#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/commands/command_context.h"
#include "sql/commands/stored_expression.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

/// Sets the DEFAULT (or generation expression) of a column: pg_attrdef row, flags, dependencies. The column
/// has none.
void store_default(CommandContext& context, Oid table, std::int16_t column, const StoredExpression& value,
                   bool generated = false);

/// Adds a CHECK constraint. `column_name`: the column it was written with, "" for a table constraint.
/// `validate`: look at the existing rows (23514). Errors: 42710 when the name is taken.
void add_check(CommandContext& context, Oid table, const ConstraintDefinition& definition,
               std::string_view column_name, bool validate);

/// Adds PRIMARY KEY or UNIQUE with its index; primary keys set NOT NULL on their columns first.
void add_key(CommandContext& context, Oid table, const ConstraintDefinition& definition,
             std::span<const std::string_view> columns, bool validate_not_null);

/// Adds a foreign key. `validate`: check the existing rows (23503).
void add_foreign_key(CommandContext& context, Oid table, const ConstraintDefinition& definition,
                     std::span<const std::string_view> columns, bool validate);

/// Looks for rows of `from` that have no counterpart (23503).
void validate_foreign_key(CommandContext& context, const Relation& from, const ForeignKey& key);

/// Sets NOT NULL on a column, after looking for nulls when `validate` (23502).
void set_not_null(CommandContext& context, Oid table, std::int16_t column, bool validate);

/// VALIDATE CONSTRAINT.
void validate_constraint(CommandContext& context, Oid table, std::string_view name);

/// True when `select_text`, a SELECT, returns a row; the first row's columns as text in `first_row` when
/// given.
bool query_finds_row(CommandContext& context, std::string_view select_text,
                     std::vector<std::string>* first_row = nullptr);

/// 42703 `column "x" of relation "t" does not exist`.
const Column& require_column(const Relation& relation, std::string_view name);

}  // namespace pinwheel::sql
