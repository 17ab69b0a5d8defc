// pg_get_indexdef, pg_get_constraintdef, pg_get_viewdef and their kin: catalog rows as the SQL that makes
// them.

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/analyze/analyzer.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/builtin.h"
#include "sql/catalog/catalog_scan.h"
#include "sql/catalog/relation_builder.h"
#include "sql/commands/catalog_functions.h"
#include "sql/commands/dependencies.h"
#include "sql/commands/stored_expression.h"
#include "sql/deparse/deparse.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

using Call = CatalogFunctions::Call;

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += ", ";
    text += part;
  }
  return text;
}

std::string visible_name(Catalog& catalog, const Relation& relation) {
  return quote_qualified(catalog.relation_is_visible(relation.oid) ? "" : relation.schema_name,
                         relation.name);
}

bool looks_like_call(const Expr* expr) {
  switch (expr->kind) {
    case ExprKind::kFunction:
      return expr_cast<FunctionExpr>(expr)->form == CallForm::kCall ||
             expr_cast<FunctionExpr>(expr)->form == CallForm::kSqlSyntax;
    case ExprKind::kCoalesce:
    case ExprKind::kMinMax:
    case ExprKind::kNullIf:
    case ExprKind::kSqlValue:
      return true;
    default:
      return false;
  }
}

struct ShownExpression {
  std::string text;
  bool is_call = false;
};

ShownExpression show(Catalog& catalog, AnalyzerCatalog& analyzer, std::string_view stored,
                     const Relation* relation, bool pretty) {
  Arena arena;
  const AnalyzeContext context{arena, analyzer, catalog.eval()};
  const ViewedRelation* viewed = relation != nullptr ? view_relation(*relation, arena) : nullptr;
  const Expr* expr = analyze_expression(context, arena.copy(stored), viewed, SourceUse::kIndexExpression);
  return {deparse_expression(expr, viewed, analyzer, catalog.eval(), {.pretty = pretty}),
          looks_like_call(expr)};
}

/// The text of one key: column or expression, without order.
std::string key_text(Catalog& catalog, AnalyzerCatalog& analyzer, const Relation& table, const IndexKey& key,
                     bool pretty) {
  if (key.column > 0) return quote_identifier(table.column(key.column).name);
  const ShownExpression shown = show(catalog, analyzer, key.expression, &table, pretty);
  return shown.is_call ? shown.text : "(" + shown.text + ")";
}

std::string key_order(const Relation& table, const IndexKey& key) {
  std::string text;
  const Oid natural = key.column > 0 ? table.column(key.column).collation : key.collation;
  if (is_valid(key.collation) && key.collation != natural) {
    if (const BuiltinCollation* collation = find_collation(key.collation)) {
      text += " COLLATE " + quote_identifier(collation->name);
    }
  }
  const BuiltinOperatorClass* normal = default_operator_class(key.type, kBtreeMethod);
  if (normal == nullptr || normal->oid != key.operator_class) {
    if (const BuiltinOperatorClass* used = find_operator_class(key.operator_class)) {
      text += " " + std::string{used->name};
    }
  }
  if (key.descending) {
    text += " DESC";
    if (!key.nulls_first) text += " NULLS LAST";
  } else if (key.nulls_first) {
    text += " NULLS FIRST";
  }
  return text;
}

std::string options_text(const std::vector<std::string>& options) {
  std::vector<std::string> parts;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    parts.push_back(quote_identifier(option.substr(0, equals)) + "=" +
                    quote_literal(option.substr(equals + 1)));
  }
  return join(parts);
}

std::string columns_text(const Relation& table, const std::vector<std::int16_t>& columns) {
  std::vector<std::string> names;
  for (const std::int16_t column : columns) names.push_back(quote_identifier(table.column(column).name));
  return join(names);
}

std::string foreign_key_text(Catalog& catalog, const ConstraintRow& row, const Relation& table) {
  const RelationRef to = catalog.require_relation(row.confrelid);
  std::string text = "FOREIGN KEY (" + columns_text(table, row.conkey) + ") REFERENCES " +
                     visible_name(catalog, *to) + "(" + columns_text(*to, row.confkey) + ")";
  const auto action = [](char code) -> std::string_view {
    switch (code) {
      case 'r':
        return "RESTRICT";
      case 'c':
        return "CASCADE";
      case 'n':
        return "SET NULL";
      case 'd':
        return "SET DEFAULT";
      default:
        return "";
    }
  };
  if (row.confmatchtype == 'f') text += " MATCH FULL";
  if (const auto update = action(row.confupdtype); !update.empty())
    text += " ON UPDATE " + std::string{update};
  if (const auto remove = action(row.confdeltype); !remove.empty())
    text += " ON DELETE " + std::string{remove};
  return text;
}

std::string constraint_text(Call& call, const ConstraintRow& row, bool pretty) {
  Catalog& catalog = call.catalog;
  const RelationRef table = catalog.require_relation(row.conrelid);
  std::string text;
  switch (row.contype) {
    case 'p':
    case 'u': {
      const IndexInfo* index = table->find_index(row.conindid);
      text = row.contype == 'p' ? "PRIMARY KEY " : "UNIQUE ";
      if (index != nullptr && index->nulls_not_distinct) text += "NULLS NOT DISTINCT ";
      text += "(" + columns_text(*table, row.conkey) + ")";
      if (index != nullptr && index->keys.size() > static_cast<std::size_t>(index->key_count)) {
        std::vector<std::int16_t> included;
        for (std::size_t i = static_cast<std::size_t>(index->key_count); i < index->keys.size(); ++i) {
          included.push_back(index->keys[i].column);
        }
        text += " INCLUDE (" + columns_text(*table, included) + ")";
      }
      break;
    }
    case 'c': {
      const std::string shown =
          show(catalog, call.analyzer, row.conbin.value_or(""), table.get(), pretty).text;
      text = "CHECK (" + shown + ")";
      if (row.connoinherit) text += " NO INHERIT";
      break;
    }
    case 'f':
      text = foreign_key_text(catalog, row, *table);
      break;
    default:
      return {};
  }
  if (row.condeferrable) text += " DEFERRABLE";
  if (row.condeferred) text += " INITIALLY DEFERRED";
  if (!row.convalidated) text += " NOT VALID";
  return text;
}

Datum get_index_definition(Call& call) {
  const RelationRef relation = call.catalog.relation(call.oid(0));
  if (!relation || relation->kind != 'i') return call.null();
  const int column = call.nargs > 1 ? call.args[1].as_int32() : 0;
  const bool pretty = call.nargs > 2 && call.args[2].as_bool();
  return call.make_text_result(
      index_definition(call.catalog, call.analyzer, relation->self_index.front(), column, pretty));
}

Datum get_constraint_definition(Call& call) {
  const auto row = find_row<ConstraintRow>(call.catalog, {{1, call.oid(0)}});
  if (!row) return call.null();
  const bool pretty = call.nargs > 1 && call.args[1].as_bool();
  return call.make_text_result(constraint_text(call, *row, pretty));
}

Datum get_expression(Call& call) {
  const bool pretty = call.nargs > 2 && call.args[2].as_bool();
  return call.make_text_result(
      show_expression(call.catalog, call.analyzer, call.text(0), call.oid(1), pretty));
}

std::string view_text(Call& call, const Relation& view, bool pretty, int wrap) {
  Arena arena;
  const AnalyzeContext context{arena, call.analyzer, call.catalog.eval()};
  Query* query = analyze_select_text(context, arena.copy(view.view_source));
  std::size_t next = 0;
  for (Target& target : query->targets) {
    if (target.hidden) continue;
    if (next < view.columns.size()) target.name = arena.copy(view.columns[next].name);
    ++next;
  }
  return deparse_query(*query, call.analyzer, call.catalog.eval(), {.pretty = pretty, .wrap_column = wrap}) +
         ";";
}

Datum view_definition(Call& call, Oid oid) {
  const RelationRef view = call.catalog.relation(oid);
  if (!view || view->view_source.empty()) return call.null();
  if (call.prosrc == "pg_get_viewdef_wrap") {
    return call.make_text_result(view_text(call, *view, true, call.args[1].as_int32()));
  }
  const bool pretty = call.nargs > 1 && call.args[1].as_bool();
  return call.make_text_result(view_text(call, *view, pretty, 0));
}
Datum get_view_definition(Call& call) { return view_definition(call, call.oid(0)); }
Datum get_view_definition_by_name(Call& call) {
  const std::vector<std::string> parts = split_qualified_name(call.text(0));
  const std::string schema = parts.size() > 1 ? parts[parts.size() - 2] : "";
  const RelationRef view = call.catalog.find_relation(schema, parts.back());
  if (!view) call.catalog.throw_no_relation(schema, parts.back());
  return view_definition(call, view->oid);
}

Datum get_rule_definition(Call& call) {
  const auto row = find_row<RewriteRow>(call.catalog, {{1, call.oid(0)}});
  if (!row) return call.null();
  const RelationRef view = call.catalog.relation(row->ev_class);
  if (!view) return call.null();
  return call.make_text_result("CREATE RULE " + quote_identifier(row->rulename) + " AS\n    ON SELECT TO " +
                               quote_qualified(view->schema_name, view->name) + " DO INSTEAD " +
                               view_text(call, *view, false, 0));
}

Datum get_serial_sequence(Call& call) {
  const std::vector<std::string> parts = split_qualified_name(call.text(0));
  const std::string schema = parts.size() > 1 ? parts[parts.size() - 2] : "";
  const RelationRef table = call.catalog.find_relation(schema, parts.back());
  if (!table) call.catalog.throw_no_relation(schema, parts.back());
  const Column* column = table->find_column(call.text(1));
  if (column == nullptr) {
    throw SqlError{sqlstate::kUndefinedColumn, "column \"" + std::string{call.text(1)} + "\" of relation \"" +
                                                   table->name + "\" does not exist"};
  }
  Oid sequence;
  scan_rows<DependRow>(call.catalog, {{4, kClassTable}, {5, table->oid}}, [&](DependRow& row, TupleId) {
    if (row.classid != kClassTable || row.refobjsubid != column->number) return true;
    if (row.deptype != 'a' && row.deptype != 'i') return true;
    const RelationRef candidate = call.catalog.relation(row.objid);
    if (candidate && candidate->kind == 'S') sequence = row.objid;
    return !is_valid(sequence);
  });
  if (!is_valid(sequence)) return call.null();
  const RelationRef found = call.catalog.require_relation(sequence);
  return call.make_text_result(quote_qualified(found->schema_name, found->name));
}

std::string argument_list(Catalog& catalog, const BuiltinProc& proc, bool with_defaults) {
  const std::span<const Oid> types = proc.all_args.empty() ? proc.args : proc.all_args;
  std::string text;
  std::size_t input = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const char mode = proc.arg_modes.empty() ? 'i' : proc.arg_modes[i];
    if (mode == 't') continue;
    if (mode != 'o') ++input;
    if (!text.empty()) text += ", ";
    if (mode == 'o') text += "OUT ";
    if (mode == 'b') text += "INOUT ";
    if (mode == 'v') text += "VARIADIC ";
    if (i < proc.arg_names.size() && !proc.arg_names[i].empty())
      text += quote_identifier(proc.arg_names[i]) + " ";
    text += catalog.format_type(types[i]);
    const std::size_t first_default = proc.args.size() - proc.default_count;
    if (with_defaults && mode != 'o' && input > first_default && !proc.arg_defaults.empty()) {
      std::string_view rest = proc.arg_defaults;
      for (std::size_t skip = first_default + 1; skip < input; ++skip) {
        rest.remove_prefix(std::min(rest.find(", ") + 2, rest.size()));
      }
      text += " DEFAULT " + std::string{rest.substr(0, rest.find(", "))};
    }
  }
  return text;
}

Datum get_function_arguments(Call& call) {
  const BuiltinProc* proc = find_proc(call.oid(0));
  if (proc == nullptr) return call.null();
  return call.make_text_result(
      argument_list(call.catalog, *proc, call.prosrc == "pg_get_function_arguments"));
}

Datum get_function_result(Call& call) {
  const BuiltinProc* proc = find_proc(call.oid(0));
  if (proc == nullptr || proc->kind == 'p') return call.null();
  std::string text = proc->returns_set ? "SETOF " : "";
  return call.make_text_result(text + call.catalog.format_type(proc->result));
}

Datum get_function_definition(Call& call) {
  const BuiltinProc* proc = find_proc(call.oid(0));
  if (proc == nullptr) return call.null();
  if (proc->kind == 'a') {
    throw SqlError{sqlstate::kWrongObjectType,
                   "\"" + std::string{proc->name} + "\" is an aggregate function"};
  }
  std::string text = "CREATE OR REPLACE FUNCTION pg_catalog." + quote_identifier(proc->name) + "(" +
                     argument_list(call.catalog, *proc, true) + ")\n RETURNS " +
                     (proc->returns_set ? "SETOF " : "") + call.catalog.format_type(proc->result) +
                     "\n LANGUAGE " + (proc->language == Oid{14} ? "sql" : "internal") + "\n";
  std::string traits;
  if (proc->kind == 'w') traits += " WINDOW";
  if (proc->volatility == 'i') traits += " IMMUTABLE";
  if (proc->volatility == 's') traits += " STABLE";
  if (proc->parallel == 's') traits += " PARALLEL SAFE";
  if (proc->parallel == 'r') traits += " PARALLEL RESTRICTED";
  if (proc->strict) traits += " STRICT";
  if (proc->leakproof) traits += " LEAKPROOF";
  if (!traits.empty()) text += traits + "\n";
  return call.make_text_result(text + "AS $function$" + std::string{proc->source} + "$function$\n");
}

Datum describe(Call& call) {
  if (!is_valid(call.oid(0)) && !is_valid(call.oid(1))) return call.null();
  return call.make_text_result(
      describe_object(call.catalog, {call.oid(0), call.oid(1), call.args[2].as_int32()}));
}

Datum nothing(Call& call) { return call.null(); }

constexpr CatalogFunction kCatalogDefinitionsFunctions[] = {
    {"pg_get_indexdef", get_index_definition},
    {"pg_get_indexdef_ext", get_index_definition},
    {"pg_get_constraintdef", get_constraint_definition},
    {"pg_get_constraintdef_ext", get_constraint_definition},
    {"pg_get_expr", get_expression},
    {"pg_get_expr_ext", get_expression},
    {"pg_get_viewdef", get_view_definition},
    {"pg_get_viewdef_ext", get_view_definition},
    {"pg_get_viewdef_wrap", get_view_definition},
    {"pg_get_viewdef_name", get_view_definition_by_name},
    {"pg_get_viewdef_name_ext", get_view_definition_by_name},
    {"pg_get_ruledef", get_rule_definition},
    {"pg_get_ruledef_ext", get_rule_definition},
    {"pg_get_serial_sequence", get_serial_sequence},
    {"pg_get_function_arguments", get_function_arguments},
    {"pg_get_function_identity_arguments", get_function_arguments},
    {"pg_get_function_result", get_function_result},
    {"pg_get_functiondef", get_function_definition},
    {"pg_get_function_arg_default", nothing},
    {"pg_get_function_sqlbody", nothing},
    {"pg_get_partition_constraintdef", nothing},
    {"pg_get_partkeydef", nothing},
    {"pg_get_statisticsobjdef", nothing},
    {"pg_get_statisticsobjdef_columns", nothing},
    {"pg_get_triggerdef", nothing},
    {"pg_get_triggerdef_ext", nothing},
    {"pg_describe_object", describe},
};

}  // namespace

std::span<const CatalogFunction> definition_functions() { return kCatalogDefinitionsFunctions; }

std::string show_expression(Catalog& catalog, AnalyzerCatalog& analyzer, std::string_view stored,
                            Oid relation_oid, bool pretty) {
  const RelationRef relation = is_valid(relation_oid) ? catalog.relation(relation_oid) : RelationRef{};
  std::vector<std::string> shown;
  for (const std::string& part : split_expressions(stored)) {
    shown.push_back(show(catalog, analyzer, part, relation.get(), pretty).text);
  }
  return join(shown);
}

std::string index_definition(Catalog& catalog, AnalyzerCatalog& analyzer, const IndexInfo& index, int column,
                             bool pretty) {
  const RelationRef table = catalog.require_relation(index.table);
  if (column != 0) {
    if (column < 0 || static_cast<std::size_t>(column) > index.keys.size()) return {};
    return key_text(catalog, analyzer, *table, index.keys[static_cast<std::size_t>(column) - 1], pretty);
  }
  std::vector<std::string> keys, included;
  for (std::size_t i = 0; i < index.keys.size(); ++i) {
    const IndexKey& key = index.keys[i];
    const std::string text = key_text(catalog, analyzer, *table, key, pretty);
    if (i < static_cast<std::size_t>(index.key_count)) {
      keys.push_back(text + key_order(*table, key));
    } else {
      included.push_back(text);
    }
  }
  const std::string on =
      pretty ? visible_name(catalog, *table) : quote_qualified(table->schema_name, table->name);
  std::string text = std::string{"CREATE "} + (index.unique ? "UNIQUE " : "") + "INDEX " +
                     quote_identifier(index.name) + " ON " + on + " USING btree (" + join(keys) + ")";
  if (!included.empty()) text += " INCLUDE (" + join(included) + ")";
  if (index.nulls_not_distinct) text += " NULLS NOT DISTINCT";
  if (const RelationRef own = catalog.relation(index.oid); own && !own->options.all.empty()) {
    text += " WITH (" + options_text(own->options.all) + ")";
  }
  if (!index.predicate.empty()) {
    text += " WHERE " + show(catalog, analyzer, index.predicate, table.get(), pretty).text;
  }
  return text;
}

}  // namespace pinwheel::sql
