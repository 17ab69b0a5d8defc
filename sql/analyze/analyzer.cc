#include "sql/analyze/analyzer.h"

#include "sql/analyze/coercion.h"
#include "sql/analyze/expression_source.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

namespace {

constexpr int kMaxViewDepth = 100;

}  // namespace

AnalyzedStatement analyze(const AnalyzeContext& context, const RawStatement& statement,
                          std::string_view whole_text, std::span<const Oid> declared_parameters,
                          ParameterMode mode) {
  Analysis an{context.arena, context.catalog, context.eval, whole_text, mode};
  an.statement_text = statement.text;
  an.statement_offset = statement.offset;
  an.parameters.assign(declared_parameters.begin(), declared_parameters.end());
  AnalyzedStatement result;
  result.query = analyze_query(an, nullptr, statement.node);
  if (mode == ParameterMode::kInfer) check_parameters(an);
  result.parameter_types = to_span(context.arena, an.parameters);
  result.text = context.arena.copy(statement.text);
  result.text_offset = statement.offset;
  return result;
}

std::span<QueryColumn> result_columns(const Query& query, Arena& arena) {
  std::vector<QueryColumn> columns;
  const std::span<Target> targets = query.command == CommandKind::kSelect ? query.targets : query.returning;
  if (query.command == CommandKind::kUtility) return {};
  for (const Target& target : targets) {
    if (target.hidden) continue;
    columns.push_back({target.name, target.expr->type, target.origin_table, target.origin_attribute});
  }
  return to_span(arena, columns);
}

Query* analyze_text(Analysis& outer, std::string_view text, Oid check_as_user) {
  if (outer.view_depth >= kMaxViewDepth) {
    throw SqlError{sqlstate::kStatementTooComplex, "views are nested too deeply"};
  }
  const ParsedText parsed = parse(text);
  if (parsed.statements().size() != 1)
    throw SqlError{sqlstate::kInternalError, "stored query is not one statement"};
  Analysis an{outer.arena, outer.catalog, outer.eval, parsed.text()};
  an.check_as_user = check_as_user;
  an.view_depth = outer.view_depth + 1;
  return analyze_query(an, nullptr, parsed.statements()[0].node);
}

Query* analyze_select_text(const AnalyzeContext& context, std::string_view text) {
  Analysis an{context.arena, context.catalog, context.eval, {}};
  return analyze_text(an, text, {});
}

Query* expand_view(Scope& scope, const ViewedRelation& view) {
  Query* query = analyze_text(scope.an, view.view_text, view.owner);
  // Column types are those the view was made with, even if what it reads from has changed names since.
  std::size_t at = 0;
  for (Target& target : query->targets) {
    if (target.hidden || at >= view.columns.size()) continue;
    target.name = scope.an.arena.copy(view.columns[at++].name);
  }
  return query;
}

namespace {

ExprUse use_of(SourceUse use) {
  switch (use) {
    case SourceUse::kColumnDefault:
      return ExprUse::kDefault;
    case SourceUse::kGenerated:
      return ExprUse::kGenerated;
    case SourceUse::kCheck:
      return ExprUse::kCheck;
    case SourceUse::kIndexExpression:
      return ExprUse::kIndexExpression;
    case SourceUse::kIndexPredicate:
      return ExprUse::kIndexPredicate;
    case SourceUse::kAlterUsing:
      return ExprUse::kAlterUsing;
    case SourceUse::kCopyWhere:
      return ExprUse::kCopyWhere;
    case SourceUse::kExecuteParameter:
      return ExprUse::kExecuteParameter;
    case SourceUse::kPartitionKey:
      return ExprUse::kPartitionKey;
  }
  return ExprUse::kNone;
}

/// The value of the only target of `SELECT <text>`.
const raw::Node* only_target(const ParsedText& parsed) {
  if (parsed.statements().size() == 1 && RAW_IS(parsed.statements()[0].node, SELECT_STMT)) {
    const PgQuery__SelectStmt* select = parsed.statements()[0].node->select_stmt;
    if (select->n_target_list == 1 && select->n_from_clause == 0)
      return select->target_list[0]->res_target->val;
  }
  throw SqlError{sqlstate::kSyntaxError, "stored expression is not one expression"};
}

constexpr std::string_view kSelectPrefix = "SELECT ";

/// Analyzes `text` in a scope of its own; positions are moved back by the "SELECT " in front.
template <class Use>
Expr* with_source(const AnalyzeContext& context, std::string_view text, const ViewedRelation* relation,
                  Use&& use) {
  try {
    const ParsedText parsed = parse(cat(kSelectPrefix, text));
    Analysis an{context.arena, context.catalog, context.eval, parsed.text()};
    Scope scope{an, nullptr};
    if (relation != nullptr) {
      scope.names.push_back(add_relation_entry(scope, *relation, nullptr, false, 1, LockStrength::kNone));
    }
    Expr* expr = use(scope, only_target(parsed));
    assign_expr_collations(an, expr);
    return expr;
  } catch (SqlError& error) {
    int& position = error.fields().position;
    if (position > static_cast<int>(kSelectPrefix.size())) position -= static_cast<int>(kSelectPrefix.size());
    throw;
  }
}

}  // namespace

Expr* transform_source_text(Analysis& an, std::string_view text, ExprUse use) {
  return with_source({an.arena, an.catalog, an.eval}, text, nullptr,
                     [&](Scope& scope, const raw::Node* node) { return transform(scope, node, use); });
}

Expr* analyze_expression(const AnalyzeContext& context, std::string_view text, const ViewedRelation* relation,
                         SourceUse use) {
  return with_source(context, text, relation, [&](Scope& scope, const raw::Node* node) {
    Expr* expr = transform(scope, node, use_of(use));
    if (use == SourceUse::kCheck) return coerce_to_boolean(scope, expr, "CHECK");
    if (use == SourceUse::kIndexPredicate || use == SourceUse::kCopyWhere)
      return coerce_to_boolean(scope, expr, "WHERE");
    if (expr->type.type == kUnknownType) {
      return coerce_type(scope, expr, kUnknownType, kTextType, -1, CoercionContext::kImplicit,
                         CallForm::kImplicitCast, -1);
    }
    return expr;
  });
}

Expr* analyze_column_value(const AnalyzeContext& context, std::string_view text,
                           const ViewedRelation* relation, SourceUse use, std::string_view column_name,
                           ExprType column_type) {
  return with_source(context, text, relation, [&](Scope& scope, const raw::Node* node) {
    Expr* expr = transform(scope, node, use_of(use));
    const Oid given = expr->type.type;
    Expr* coerced = coerce_to_target(scope, expr, given, column_type, CoercionContext::kAssignment,
                                     CallForm::kImplicitCast, -1);
    if (coerced != nullptr) return coerced;
    Analysis& an = scope.an;
    if (use == SourceUse::kAlterUsing) {
      throw an
          .error(sqlstate::kDatatypeMismatch,
                 cat("result of USING clause for column ", quoted(column_name),
                     " cannot be cast automatically to type ", type_text(an, column_type.type)))
          .hint("You might need to add an explicit cast.");
    }
    throw an
        .error(sqlstate::kDatatypeMismatch,
               cat("column ", quoted(column_name), " is of type ", type_text(an, column_type.type), " but ",
                   use == SourceUse::kGenerated ? "generation" : "default", " expression is of type ",
                   type_text(an, given)))
        .hint("You will need to rewrite or cast the expression.");
  });
}

ExprType resolve_type_name(const AnalyzeContext& context, const TypeName& name, std::string_view whole_text) {
  Analysis an{context.arena, context.catalog, context.eval, whole_text};
  const Oid oid = context.catalog.find_type(name.schema, name.name);
  const std::string shown =
      cat(name.schema, name.schema.empty() ? "" : ".", name.name, name.array_dimensions > 0 ? "[]" : "");
  if (oid.value == 0) {
    throw an.error(sqlstate::kUndefinedObject, cat("type ", quoted(shown), " does not exist"), name.location);
  }
  const ViewedType& scalar = type_of(an, oid);
  ExprType type{oid, -1, scalar.collation};
  if (!name.modifiers.empty()) {
    std::vector<std::string> parts;
    for (std::int32_t modifier : name.modifiers) parts.push_back(std::to_string(modifier));
    type.type_modifier = type_modifier(an, scalar, parts, shown, name.location);
  }
  if (name.array_dimensions > 0) {
    type.type = array_type(an, oid);
    if (type.type.value == 0) {
      throw an.error(sqlstate::kUndefinedObject, cat("type ", quoted(shown), " does not exist"),
                     name.location);
    }
  }
  return type;
}

ExprType resolve_type_text(const AnalyzeContext& context, std::string_view text) {
  // Parsed as the target of a cast, which takes what CREATE TABLE takes.
  const ParsedText parsed = parse(cat("SELECT NULL::", text));
  Analysis an{context.arena, context.catalog, context.eval, {}};
  const raw::Node* node = only_target(parsed);
  if (!RAW_IS(node, TYPE_CAST)) {
    throw an.error(sqlstate::kSyntaxError, cat("invalid type name ", quoted(text)));
  }
  return resolve_type(an, node->type_cast->type_name);
}

Expr* coerce_for_assignment(const AnalyzeContext& context, Expr* value, ExprType target) {
  Analysis an{context.arena, context.catalog, context.eval, {}};
  Scope scope{an, nullptr};
  Expr* coerced = coerce_to_target(scope, value, value->type.type, target, CoercionContext::kAssignment,
                                   CallForm::kImplicitCast, -1);
  if (coerced != nullptr) assign_expr_collations(an, coerced);
  return coerced;
}

}  // namespace pinwheel::sql
