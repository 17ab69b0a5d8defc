#include "sql/analyze/coercion.h"
#include "sql/analyze/statements.h"
#include "sql/analyze/types.h"

/// Collations flow upward through an expression: explicit COLLATE beats what columns bring along, two
/// different explicit ones are an error, two different implicit ones leave it undecided.
namespace pinwheel::sql {

namespace {

enum class Strength : std::uint8_t { kNone, kImplicit, kConflict, kExplicit };

struct State {
  Oid collation;
  Strength strength = Strength::kNone;
  int location = -1;
  Oid other;  ///< with kConflict
  int other_location = -1;
};

/// In double quotes, once.
std::string shown(const std::string& name) { return name.starts_with('"') ? name : quoted(name); }

struct Assigner {
  Analysis& an;

  void merge(State& into, const State& child) {
    if (child.strength > into.strength) {
      into = child;
      return;
    }
    if (child.strength < into.strength || child.strength == Strength::kNone) return;
    if (child.strength == Strength::kImplicit) {
      if (child.collation == into.collation) return;
      if (into.collation == kDefaultCollation) {
        into = child;
      } else if (child.collation != kDefaultCollation) {
        into.strength = Strength::kConflict;
        into.other = child.collation;
        into.other_location = child.location;
      }
    } else if (child.strength == Strength::kExplicit && child.collation != into.collation) {
      throw an.error(sqlstate::kCollationMismatch,
                     cat("collation mismatch between explicit collations ",
                         shown(an.catalog.collation_name(into.collation)), " and ",
                         shown(an.catalog.collation_name(child.collation))),
                     child.location);
    }
  }

  State merge_children(Expr* expr) {
    State state;
    for_each_child(expr, [&](Expr*& child) { merge(state, walk(child)); });
    return state;
  }

  /// What the node itself offers upward, given what its inputs brought.
  State finish(Expr* expr, const State& inputs) {
    State own;
    own.location = location_of(expr);
    const Oid type_default = type_collation(an, expr->type.type);
    if (type_default.value == 0) {
      expr->type.collation = {};
      return own;
    }
    if (inputs.strength == Strength::kNone) {
      own.collation = type_default;
      own.strength = Strength::kImplicit;
    } else {
      own = inputs;
    }
    expr->type.collation = own.strength == Strength::kConflict ? Oid{} : own.collation;
    return own;
  }

  Oid input_collation(const State& inputs) {
    return inputs.strength == Strength::kConflict ? Oid{} : inputs.collation;
  }

  State leaf(const Expr* expr) {
    State state;
    state.location = location_of(expr);
    state.collation = expr->type.collation;
    if (state.collation.value != 0) state.strength = Strength::kImplicit;
    return state;
  }

  State walk(Expr* expr) {
    check_stack_depth();
    switch (expr->kind) {
      case ExprKind::kConst:
      case ExprKind::kParam:
      case ExprKind::kColumn:
      case ExprKind::kCaseValue:
      case ExprKind::kSetToDefault:
      case ExprKind::kExecParam:
      case ExprKind::kSqlValue:
      case ExprKind::kFieldSelect: {
        if (expr->kind == ExprKind::kFieldSelect) merge_children(expr);
        return leaf(expr);
      }
      case ExprKind::kCollate: {
        CollateExpr* node = expr_cast<CollateExpr>(expr);
        walk(node->arg);
        State state;
        state.collation = node->type.collation;
        state.strength = Strength::kExplicit;
        state.location = node->location;
        return state;
      }
      case ExprKind::kFunction: {
        const State inputs = merge_children(expr);
        expr_cast<FunctionExpr>(expr)->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kOperator:
      case ExprKind::kDistinct:
      case ExprKind::kNullIf: {
        const State inputs = merge_children(expr);
        static_cast<OperatorExpr*>(expr)->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kScalarArray: {
        const State inputs = merge_children(expr);
        expr_cast<ScalarArrayExpr>(expr)->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kMinMax: {
        const State inputs = merge_children(expr);
        expr_cast<MinMaxExpr>(expr)->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kRowCompare: {
        RowCompareExpr* node = expr_cast<RowCompareExpr>(expr);
        for (std::size_t i = 0; i < node->left.size(); ++i) {
          State pair;
          merge(pair, walk(node->left[i]));
          merge(pair, walk(node->right[i]));
          node->collations[i] = input_collation(pair);
        }
        return {};
      }
      case ExprKind::kRow: {
        // Fields keep their own collations; the row has none.
        for (Expr* arg : expr_cast<RowExpr>(expr)->args) {
          if (arg != nullptr) walk(arg);
        }
        return {};
      }
      case ExprKind::kCase: {
        CaseExpr* node = expr_cast<CaseExpr>(expr);
        if (node->argument != nullptr) walk(node->argument);
        State results;
        for (CaseWhen& when : node->whens) {
          walk(when.condition);
          merge(results, walk(when.result));
        }
        if (node->otherwise != nullptr) merge(results, walk(node->otherwise));
        return finish(expr, results);
      }
      case ExprKind::kSubLink: {
        SubLinkExpr* node = expr_cast<SubLinkExpr>(expr);
        if (node->test != nullptr) walk(node->test);
        if (node->kind_of_link == SubLinkKind::kExpression || node->kind_of_link == SubLinkKind::kArray)
          return leaf(expr);
        return {};
      }
      case ExprKind::kAggregate: {
        AggregateExpr* node = expr_cast<AggregateExpr>(expr);
        State inputs;
        for (Expr* arg : node->direct_args) merge(inputs, walk(arg));
        const std::size_t passed = node->args.size() - node->hidden_args;
        for (std::size_t i = 0; i < node->args.size(); ++i) {
          const State state = walk(node->args[i]);
          if (i < passed) merge(inputs, state);
        }
        if (node->filter != nullptr) walk(node->filter);
        node->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kWindowFunction: {
        WindowFunctionExpr* node = expr_cast<WindowFunctionExpr>(expr);
        State inputs;
        for (Expr* arg : node->args) merge(inputs, walk(arg));
        if (node->filter != nullptr) walk(node->filter);
        node->input_collation = input_collation(inputs);
        return finish(expr, inputs);
      }
      case ExprKind::kArrayCoerce: {
        ArrayCoerceExpr* node = expr_cast<ArrayCoerceExpr>(expr);
        const State inputs = walk(node->arg);
        walk(node->element);
        return finish(expr, inputs);
      }
      default:
        return finish(expr, merge_children(expr));
    }
  }
};

}  // namespace

void assign_expr_collations(Analysis& an, Expr* expr) {
  if (expr != nullptr) Assigner{an}.walk(expr);
}

Oid common_collation(Analysis& an, std::span<Expr* const> exprs, bool none_ok) {
  Assigner assigner{an};
  State state;
  for (Expr* expr : exprs) assigner.merge(state, assigner.walk(expr));
  if (state.strength == Strength::kConflict) {
    if (none_ok) return {};
    throw an
        .error(sqlstate::kCollationMismatch,
               cat("collation mismatch between implicit collations ",
                   shown(an.catalog.collation_name(state.collation)), " and ",
                   shown(an.catalog.collation_name(state.other))),
               state.other_location)
        .hint("You can choose the collation by applying the COLLATE clause to one or both expressions.");
  }
  return state.collation;
}

void assign_collations(Scope& scope, Query& query) {
  Assigner assigner{scope.an};
  for_each_expression(query, [&](Expr*& expr) { assigner.walk(expr); });
}

}  // namespace pinwheel::sql
