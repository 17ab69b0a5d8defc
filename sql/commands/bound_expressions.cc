#include "sql/commands/bound_expressions.h"

#include "sql/commands/stored_expression.h"
#include "sql/plan/plan_expression.h"
#include "sql/query/walk.h"

namespace pinwheel::sql {

void bind_columns(Arena& arena, Expr*& expr) {
  if (const auto* column = expr_if<ColumnExpr>(expr)) {
    auto* slot_column = arena.make<SlotColumnExpr>();
    slot_column->type = column->type;
    slot_column->source = SlotSource::kScan;
    slot_column->index = column->attribute - 1;
    expr = slot_column;
    return;
  }
  for_each_child(expr, [&](Expr*& child) { bind_columns(arena, child); });
}

BoundExpressions::BoundExpressions(Catalog& catalog, const Relation& relation)
    : catalog_{catalog}, relation_{relation}, adapter_{catalog}, viewed_{view_relation(relation, arena_)} {}

const Program* BoundExpressions::expression(std::string_view source, SourceUse use) {
  const AnalyzeContext context{arena_, adapter_, catalog_.eval()};
  Expr* expr = analyze_expression(context, source, viewed_, use);
  bind_columns(arena_, expr);
  return ProgramCompiler{arena_, nullptr}.scalar(expr);
}

const Program* BoundExpressions::value(std::string_view source, SourceUse use, const Column& column) {
  const AnalyzeContext context{arena_, adapter_, catalog_.eval()};
  const ExprType type{column.type, column.type_modifier, column.collation};
  Expr* expr = analyze_column_value(context, source, viewed_, use, column.name, type);
  bind_columns(arena_, expr);
  return ProgramCompiler{arena_, nullptr}.scalar(expr);
}

}  // namespace pinwheel::sql
