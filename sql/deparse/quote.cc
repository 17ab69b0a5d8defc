#include <algorithm>
#include <iterator>

#include "sql/deparse/deparse.h"

namespace pinwheel::sql {

namespace {

// Words of the grammar that an identifier may not be without quotes (all but the unreserved ones), in order.
constexpr std::string_view kReserved[] = {"all",
                                          "analyse",
                                          "analyze",
                                          "and",
                                          "any",
                                          "array",
                                          "as",
                                          "asc",
                                          "asymmetric",
                                          "authorization",
                                          "between",
                                          "bigint",
                                          "binary",
                                          "bit",
                                          "boolean",
                                          "both",
                                          "case",
                                          "cast",
                                          "char",
                                          "character",
                                          "check",
                                          "coalesce",
                                          "collate",
                                          "collation",
                                          "column",
                                          "concurrently",
                                          "constraint",
                                          "create",
                                          "cross",
                                          "current_catalog",
                                          "current_date",
                                          "current_role",
                                          "current_schema",
                                          "current_time",
                                          "current_timestamp",
                                          "current_user",
                                          "dec",
                                          "decimal",
                                          "default",
                                          "deferrable",
                                          "desc",
                                          "distinct",
                                          "do",
                                          "else",
                                          "end",
                                          "except",
                                          "exists",
                                          "extract",
                                          "false",
                                          "fetch",
                                          "float",
                                          "for",
                                          "foreign",
                                          "freeze",
                                          "from",
                                          "full",
                                          "grant",
                                          "greatest",
                                          "group",
                                          "grouping",
                                          "having",
                                          "ilike",
                                          "in",
                                          "initially",
                                          "inner",
                                          "inout",
                                          "int",
                                          "integer",
                                          "intersect",
                                          "interval",
                                          "into",
                                          "is",
                                          "isnull",
                                          "join",
                                          "lateral",
                                          "leading",
                                          "least",
                                          "left",
                                          "like",
                                          "limit",
                                          "localtime",
                                          "localtimestamp",
                                          "national",
                                          "natural",
                                          "nchar",
                                          "none",
                                          "normalize",
                                          "not",
                                          "notnull",
                                          "null",
                                          "nullif",
                                          "numeric",
                                          "offset",
                                          "on",
                                          "only",
                                          "or",
                                          "order",
                                          "out",
                                          "outer",
                                          "overlaps",
                                          "overlay",
                                          "placing",
                                          "position",
                                          "precision",
                                          "primary",
                                          "real",
                                          "references",
                                          "returning",
                                          "right",
                                          "row",
                                          "select",
                                          "session_user",
                                          "setof",
                                          "similar",
                                          "smallint",
                                          "some",
                                          "substring",
                                          "symmetric",
                                          "table",
                                          "tablesample",
                                          "then",
                                          "time",
                                          "timestamp",
                                          "to",
                                          "trailing",
                                          "treat",
                                          "trim",
                                          "true",
                                          "union",
                                          "unique",
                                          "user",
                                          "using",
                                          "values",
                                          "varchar",
                                          "variadic",
                                          "verbose",
                                          "when",
                                          "where",
                                          "window",
                                          "with",
                                          "xmlattributes",
                                          "xmlconcat",
                                          "xmlelement",
                                          "xmlexists",
                                          "xmlforest",
                                          "xmlnamespaces",
                                          "xmlparse",
                                          "xmlpi",
                                          "xmlroot",
                                          "xmlserialize",
                                          "xmltable"};

bool needs_quotes(std::string_view name) {
  if (name.empty()) return true;
  const auto starts = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  if (!starts(name[0])) return true;
  for (char c : name) {
    if (!starts(c) && !(c >= '0' && c <= '9')) return true;
  }
  return std::binary_search(std::begin(kReserved), std::end(kReserved), name);
}

}  // namespace

std::string quote_identifier(std::string_view name) {
  if (!needs_quotes(name)) return std::string{name};
  std::string out = "\"";
  for (char c : name) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string quote_qualified(std::string_view schema, std::string_view name) {
  return schema.empty() ? quote_identifier(name) : quote_identifier(schema) + "." + quote_identifier(name);
}

std::string quote_literal(std::string_view text) {
  std::string out;
  if (text.find('\\') != std::string_view::npos) out += 'E';
  out += '\'';
  for (char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  return out + '\'';
}

}  // namespace pinwheel::sql
