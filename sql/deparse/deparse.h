#pragma once

#include <string>
#include <string_view>

#include "sql/analyze/catalog_view.h"
#include "sql/functions/quoting.h"
#include "sql/query/query.h"
#include "sql/types/eval_context.h"

namespace pinwheel::sql {

/// How names and layout come out.
struct DeparseOptions {
  bool pretty = false;  ///< indentation and fewer parentheses, as pg_get_viewdef(oid, true)
  bool qualify_all =
      false;  ///< schema on every name but pg_catalog's: text to be stored, free of search_path
  bool prefix_columns = false;  ///< "alias.column" always (EXPLAIN VERBOSE, or more than one table)
  int wrap_column = 0;          ///< pretty only: break target lists here; 0 = after every item
};

/// Text of an expression over one relation's columns, as pg_get_expr prints it.
std::string deparse_expression(const Expr* expr, const ViewedRelation* relation, AnalyzerCatalog& catalog,
                               EvalContext& eval, const DeparseOptions& options = {});

/// Text of an expression inside a query (or over its range table), as EXPLAIN prints it: `query`'s range
/// table names the columns.
std::string deparse_query_expression(const Expr* expr, const Query& query, AnalyzerCatalog& catalog,
                                     EvalContext& eval, const DeparseOptions& options = {});

/// Text of a whole query, as pg_get_viewdef prints it, without the final semicolon.
std::string deparse_query(const Query& query, AnalyzerCatalog& catalog, EvalContext& eval,
                          const DeparseOptions& options = {});

/// schema.name, both quoted as needed; schema left out when "".
std::string quote_qualified(std::string_view schema, std::string_view name);
/// format_type() for any type, schema-qualified when not visible. `modifier_given` as pg_attribute has it:
/// char without a length is then "bpchar", since "character" would mean char(1).
std::string type_name_text(Oid type, std::int32_t modifier, AnalyzerCatalog& catalog,
                           bool qualify_all = false, bool modifier_given = false);

}  // namespace pinwheel::sql
