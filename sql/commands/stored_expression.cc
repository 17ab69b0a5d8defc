#include "sql/commands/stored_expression.h"

#include <algorithm>

#include "sql/catalog/system_tables.h"
#include "sql/deparse/deparse.h"
#include "sql/query/walk.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

template <class Visit>
void walk_all(Expr* expr, Visit& visit) {
  if (expr == nullptr) return;
  visit(expr);
  for_each_child(expr, [&](Expr*& child) { walk_all(child, visit); });
}

StoredExpression finish(CommandContext& context, Expr* expr, const Relation& relation) {
  StoredExpression stored;
  stored.expr = expr;
  stored.columns = columns_of(expr);
  const QualifiedNames qualified{context.catalog};
  const DeparseOptions options{.qualify_all = true};
  stored.source = deparse_expression(expr, view_relation(relation, context.arena), context.analyze.catalog,
                                     context.analyze.eval, options);
  return stored;
}

}  // namespace

const ViewedRelation* view_relation(const Relation& relation, Arena& arena) {
  auto* viewed = arena.make<ViewedRelation>();
  viewed->oid = relation.oid;
  viewed->schema = relation.schema;
  viewed->schema_name = relation.schema_name;
  viewed->name = relation.name;
  viewed->kind = relation.kind;
  viewed->persistence = relation.persistence;
  viewed->row_type = relation.row_type;
  viewed->owner = relation.owner;
  viewed->view_text = relation.view_source;
  auto* columns = arena.make_array<ViewedColumn>(relation.columns.size());
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    columns[i].name = column.name;
    columns[i].type = column.type;
    columns[i].type_modifier = column.type_modifier;
    columns[i].collation = column.collation;
    columns[i].dropped = column.dropped;
    columns[i].not_null = column.not_null;
    columns[i].identity = column.identity;
    columns[i].generated = column.generated != 0;
    columns[i].default_source = column.default_source;
  }
  viewed->columns = {columns, relation.columns.size()};
  return viewed;
}

StoredExpression analyze_stored(CommandContext& context, const SourceExpr& source, const Relation& relation,
                                SourceUse use) {
  return at_source(context, source, [&] {
    Expr* expr =
        analyze_expression(context.analyze, source.text, view_relation(relation, context.arena), use);
    return finish(context, expr, relation);
  });
}

StoredExpression analyze_stored_value(CommandContext& context, const SourceExpr& source,
                                      const Relation& relation, SourceUse use, const Column& column) {
  return at_source(context, source, [&] {
    const ExprType type{column.type, column.type_modifier, column.collation};
    Expr* expr = analyze_column_value(context.analyze, source.text, view_relation(relation, context.arena),
                                      use, column.name, type);
    return finish(context, expr, relation);
  });
}

std::vector<std::int16_t> columns_of(const Expr* expr) {
  std::vector<std::int16_t> columns;
  auto visit = [&](Expr* node) {
    if (const auto* column = expr_if<ColumnExpr>(node)) columns.push_back(column->attribute);
  };
  walk_all(const_cast<Expr*>(expr), visit);
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

bool has_mutable_functions(const Expr* expr, bool stable_too) {
  bool found = false;
  const auto check = [&](Oid procedure) {
    const BuiltinProc* proc = find_proc(procedure);
    if (proc == nullptr) return;
    found |= proc->volatility == 'v' || (stable_too && proc->volatility == 's');
  };
  auto visit = [&](Expr* node) {
    switch (node->kind) {
      case ExprKind::kFunction:
        return check(expr_cast<FunctionExpr>(node)->function);
      case ExprKind::kOperator:
      case ExprKind::kDistinct:
      case ExprKind::kNullIf:
        return check(static_cast<OperatorExpr*>(node)->function);
      case ExprKind::kScalarArray:
        return check(expr_cast<ScalarArrayExpr>(node)->function);
      case ExprKind::kSqlValue:
        found |= stable_too;
        return;
      default:
        return;
    }
  };
  walk_all(const_cast<Expr*>(expr), visit);
  return found;
}

std::vector<Oid> named_relations(const Expr* expr) {
  std::vector<Oid> relations;
  auto visit = [&](Expr* node) {
    const auto* constant = expr_if<ConstExpr>(node);
    if (constant != nullptr && constant->type.type == kRegClassType && !constant->is_null) {
      relations.push_back(constant->value.as_oid());
    }
  };
  walk_all(const_cast<Expr*>(expr), visit);
  return relations;
}

void add_expression_dependencies(Catalog& catalog, const ObjectAddress& dependent, Oid table,
                                 const StoredExpression& expression, DependencyType column_type) {
  for (const std::int16_t column : expression.columns) {
    if (column > 0) add_dependency(catalog, dependent, {kClassTable, table, column}, column_type);
  }
  for (const Oid relation : named_relations(expression.expr)) {
    add_dependency(catalog, dependent, {kClassTable, relation}, DependencyType::kNormal);
  }
}

}  // namespace pinwheel::sql
