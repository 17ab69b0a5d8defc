#include <algorithm>

#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/operators.h"
#include "sql/analyze/types.h"

/// The forms of a OP b: plain, ANY/ALL, IN, BETWEEN, IS DISTINCT FROM, NULLIF, rows.
namespace pinwheel::sql {

namespace {

bool is_null_literal(const raw::Node* node) { return RAW_IS(node, A_CONST) && node->a_const->isnull; }

Expr* make_not(Analysis& an, Expr* arg, int location) {
  return make_bool_expr(an, BoolOp::kNot, {arg}, location);
}

Expr* distinct_from(Scope& scope, std::string_view name, Expr* left, Expr* right, int location) {
  Analysis& an = scope.an;
  Expr* equal = make_operator(scope, name, left, right, location);
  if (equal->type.type != kBoolType) {
    throw an.error(sqlstate::kDatatypeMismatch, "IS DISTINCT FROM requires = operator to yield boolean",
                   location);
  }
  const OperatorExpr* source = expr_cast<OperatorExpr>(equal);
  DistinctExpr* node = an.arena.make<DistinctExpr>();
  node->op = source->op;
  node->function = source->function;
  node->args = source->args;
  node->type = source->type;
  node->location = location;
  return node;
}

Expr* row_distinct(Scope& scope, std::string_view name, const RowExpr* left, const RowExpr* right,
                   int location) {
  Analysis& an = scope.an;
  if (left->args.size() != right->args.size()) {
    throw an.error(sqlstate::kSyntaxError, "unequal number of entries in row expressions", location);
  }
  std::vector<Expr*> parts;
  for (std::size_t i = 0; i < left->args.size(); ++i) {
    parts.push_back(distinct_from(scope, name, left->args[i], right->args[i], location));
  }
  if (parts.empty()) return make_bool(an, false);
  if (parts.size() == 1) return parts[0];
  return make_bool_expr(an, BoolOp::kOr, std::move(parts), location);
}

/// A test for NULL in place of IS [NOT] DISTINCT FROM NULL.
Expr* null_test(Scope& scope, const raw::Node* arg, bool is_null, int location) {
  NullTestExpr* node = scope.an.arena.make<NullTestExpr>();
  node->arg = transform(scope, arg);
  node->is_null = is_null;
  node->arg_is_row = false;
  node->type = {kBoolType, -1, {}};
  node->location = location;
  return node;
}

Expr* transform_distinct(Scope& scope, const PgQuery__AExpr* expr) {
  Analysis& an = scope.an;
  const bool negated = expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT;
  if (is_null_literal(expr->rexpr)) return null_test(scope, expr->lexpr, negated, expr->location);
  if (is_null_literal(expr->lexpr)) return null_test(scope, expr->rexpr, negated, expr->location);
  Expr* left = transform(scope, expr->lexpr);
  Expr* right = transform(scope, expr->rexpr);
  const std::string_view name = raw::string_of(expr->name[expr->n_name - 1]);
  const RowExpr* left_row = expr_if<RowExpr>(left);
  const RowExpr* right_row = expr_if<RowExpr>(right);
  Expr* result = left_row != nullptr && right_row != nullptr
                     ? row_distinct(scope, name, left_row, right_row, expr->location)
                     : distinct_from(scope, name, left, right, expr->location);
  return negated ? make_not(an, result, expr->location) : result;
}

Expr* transform_nullif(Scope& scope, const PgQuery__AExpr* expr) {
  Analysis& an = scope.an;
  Expr* left = transform(scope, expr->lexpr);
  Expr* right = transform(scope, expr->rexpr);
  Expr* equal = make_operator(scope, RAW_LIST(expr, name), left, right, expr->location);
  if (equal->type.type != kBoolType) {
    throw an.error(sqlstate::kDatatypeMismatch, "NULLIF requires = operator to yield boolean",
                   expr->location);
  }
  const OperatorExpr* source = expr_cast<OperatorExpr>(equal);
  NullIfExpr* node = an.arena.make<NullIfExpr>();
  node->op = source->op;
  node->function = source->function;
  node->args = source->args;
  node->type = source->args[0]->type;
  node->location = expr->location;
  return node;
}

bool contains_columns(const Expr* expr) {
  if (expr->kind == ExprKind::kColumn) return expr_cast<ColumnExpr>(expr)->levels_up == 0;
  bool found = false;
  for_each_child(expr, [&](const Expr* child) { found = found || contains_columns(child); });
  return found;
}

Expr* compare_one(Scope& scope, raw::NodeList name, Expr* left, Expr* right, int location) {
  RowExpr* left_row = expr_if<RowExpr>(left);
  RowExpr* right_row = expr_if<RowExpr>(right);
  if (left_row != nullptr && right_row != nullptr) {
    return make_row_compare(scope, name, left_row->args, right_row->args, location);
  }
  return make_operator(scope, name, left, right, location);
}

Expr* transform_in(Scope& scope, const PgQuery__AExpr* expr) {
  Analysis& an = scope.an;
  const bool any = raw::string_of(expr->name[expr->n_name - 1]) != "<>";
  Expr* left = transform(scope, expr->lexpr);
  std::vector<Expr*> all, with_columns, plain;
  for (const raw::Node* item : raw::items_of(expr->rexpr)) {
    Expr* value = transform(scope, item);
    all.push_back(value);
    (contains_columns(value) ? with_columns : plain).push_back(value);
  }
  Expr* result = nullptr;
  const auto combine = [&](Expr* next) {
    next = coerce_to_boolean(scope, next, any ? "OR" : "AND");
    if (result == nullptr) {
      result = next;
      return;
    }
    const BoolOp op = any ? BoolOp::kOr : BoolOp::kAnd;
    if (BoolExpr* so_far = expr_if<BoolExpr>(result);
        so_far != nullptr && so_far->op == op && so_far->location == expr->location) {
      std::vector<Expr*> args(so_far->args.begin(), so_far->args.end());
      args.push_back(next);
      so_far->args = to_span(an.arena, args);
      return;
    }
    result = make_bool_expr(an, op, {result, next}, expr->location);
  };
  // Several plain values make one array to look through, when one type fits them all.
  bool use_array = plain.size() > 1 && expr_if<RowExpr>(left) == nullptr;
  if (use_array) {
    std::vector<Expr*> typed{left};
    typed.insert(typed.end(), plain.begin(), plain.end());
    const Oid scalar = select_common_type(scope, typed, nullptr);
    const Oid array = scalar.value != 0 && scalar != kRecordType ? array_type(an, scalar) : Oid{};
    use_array = array.value != 0;
    if (use_array) {
      std::vector<Expr*> elements;
      for (Expr* value : plain) elements.push_back(coerce_to_common(scope, value, scalar, "IN"));
      ArrayExpr* node = an.arena.make<ArrayExpr>();
      node->element_type = scalar;
      node->type = plain_type(an, array);
      node->elements = to_span(an.arena, elements);
      result = make_scalar_array(scope, RAW_LIST(expr, name), any, left, node, expr->location);
    }
  }
  for (Expr* value : use_array ? with_columns : all) {
    combine(compare_one(scope, RAW_LIST(expr, name), left, value, expr->location));
  }
  return result;
}

Expr* transform_between(Scope& scope, const PgQuery__AExpr* expr) {
  Analysis& an = scope.an;
  const raw::NodeList bounds = raw::items_of(expr->rexpr);
  const auto compare = [&](std::string_view op, const raw::Node* bound) {
    return make_operator(scope, op, transform(scope, expr->lexpr), transform(scope, bound), expr->location);
  };
  const auto both = [&](BoolOp op, Expr* a, Expr* b) {
    return make_bool_expr(an, op, {a, b}, expr->location);
  };
  switch (expr->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN: {
      Expr* low = compare(">=", bounds[0]);
      return both(BoolOp::kAnd, low, compare("<=", bounds[1]));
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_BETWEEN: {
      Expr* low = compare("<", bounds[0]);
      return both(BoolOp::kOr, low, compare(">", bounds[1]));
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_BETWEEN_SYM: {
      Expr* a = compare(">=", bounds[0]);
      Expr* one = both(BoolOp::kAnd, a, compare("<=", bounds[1]));
      Expr* b = compare(">=", bounds[1]);
      return both(BoolOp::kOr, one, both(BoolOp::kAnd, b, compare("<=", bounds[0])));
    }
    default: {
      Expr* a = compare("<", bounds[0]);
      Expr* one = both(BoolOp::kOr, a, compare(">", bounds[1]));
      Expr* b = compare("<", bounds[1]);
      return both(BoolOp::kAnd, one, both(BoolOp::kOr, b, compare(">", bounds[0])));
    }
  }
}

Expr* transform_plain(Scope& scope, const PgQuery__AExpr* expr) {
  Analysis& an = scope.an;
  // (a, b) op (SELECT ...) compares with the sub-select's one row.
  if (RAW_IS(expr->lexpr, ROW_EXPR) && RAW_IS(expr->rexpr, SUB_LINK) &&
      expr->rexpr->sub_link->sub_link_type == PG_QUERY__SUB_LINK_TYPE__EXPR_SUBLINK) {
    PgQuery__SubLink link = *expr->rexpr->sub_link;
    link.sub_link_type = PG_QUERY__SUB_LINK_TYPE__ROWCOMPARE_SUBLINK;
    link.testexpr = expr->lexpr;
    link.n_oper_name = expr->n_name;
    link.oper_name = expr->name;
    link.location = expr->location;
    return transform_sublink(scope, &link);
  }
  Expr* left = expr->lexpr == nullptr ? nullptr : transform(scope, expr->lexpr);
  Expr* right = transform(scope, expr->rexpr);
  RowExpr* left_row = expr_if<RowExpr>(left);
  RowExpr* right_row = expr_if<RowExpr>(right);
  if (RAW_IS(expr->lexpr, ROW_EXPR) && RAW_IS(expr->rexpr, ROW_EXPR) && left_row != nullptr &&
      right_row != nullptr) {
    return make_row_compare(scope, RAW_LIST(expr, name), left_row->args, right_row->args, expr->location);
  }
  (void)an;
  return make_operator(scope, RAW_LIST(expr, name), left, right, expr->location);
}

}  // namespace

Expr* transform_operator(Scope& scope, const PgQuery__AExpr* expr) {
  switch (expr->kind) {
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP:
      return transform_plain(scope, expr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY:
    case PG_QUERY__A__EXPR__KIND__AEXPR_OP_ALL: {
      Expr* left = transform(scope, expr->lexpr);
      Expr* right = transform(scope, expr->rexpr);
      return make_scalar_array(scope, RAW_LIST(expr, name),
                               expr->kind == PG_QUERY__A__EXPR__KIND__AEXPR_OP_ANY, left, right,
                               expr->location);
    }
    case PG_QUERY__A__EXPR__KIND__AEXPR_DISTINCT:
    case PG_QUERY__A__EXPR__KIND__AEXPR_NOT_DISTINCT:
      return transform_distinct(scope, expr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_NULLIF:
      return transform_nullif(scope, expr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_IN:
      return transform_in(scope, expr);
    case PG_QUERY__A__EXPR__KIND__AEXPR_LIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_ILIKE:
    case PG_QUERY__A__EXPR__KIND__AEXPR_SIMILAR:
      return transform_plain(scope, expr);
    default:
      return transform_between(scope, expr);
  }
}

namespace {

/// What an operator means in btree terms: family and strategy 1..5, or 6 for "<>".
std::vector<OperatorFamilyEntry> interpretations(Analysis& an, Oid op) {
  const std::span<const OperatorFamilyEntry> direct = an.catalog.btree_memberships(op);
  std::vector<OperatorFamilyEntry> result(direct.begin(), direct.end());
  if (!result.empty()) return result;
  const ViewedOperator* info = an.catalog.op(op);
  if (info == nullptr || info->negator.value == 0) return result;
  for (OperatorFamilyEntry entry : an.catalog.btree_memberships(info->negator)) {
    if (entry.strategy != 3) continue;
    entry.strategy = 6;
    result.push_back(entry);
  }
  return result;
}

}  // namespace

Expr* make_row_compare(Scope& scope, raw::NodeList name, std::span<Expr* const> left,
                       std::span<Expr* const> right, int location) {
  Analysis& an = scope.an;
  if (left.size() != right.size()) {
    throw an.error(sqlstate::kSyntaxError, "unequal number of entries in row expressions", location);
  }
  if (left.empty()) {
    throw an.error(sqlstate::kFeatureNotSupported, "cannot compare rows of zero length", location);
  }
  std::vector<Expr*> comparisons;
  for (std::size_t i = 0; i < left.size(); ++i) {
    Expr* compare = make_operator(scope, name, left[i], right[i], location);
    if (compare->type.type != kBoolType) {
      throw an.error(sqlstate::kDatatypeMismatch,
                     cat("row comparison operator must yield type boolean, not type ",
                         type_text(an, compare->type.type)),
                     location);
    }
    comparisons.push_back(compare);
  }
  if (comparisons.size() == 1) return comparisons[0];

  // All the operators must mean the same thing in some btree family.
  unsigned strategies = ~0u;
  for (const Expr* compare : comparisons) {
    unsigned own = 0;
    for (const OperatorFamilyEntry& entry : interpretations(an, expr_cast<OperatorExpr>(compare)->op)) {
      own |= 1u << entry.strategy;
    }
    strategies &= own;
  }
  int strategy = 0;
  for (int s = 1; s <= 6 && strategy == 0; ++s) {
    if (strategies & (1u << s)) strategy = s;
  }
  if (strategy == 0) {
    throw an
        .error(sqlstate::kFeatureNotSupported,
               cat("could not determine interpretation of row comparison operator ",
                   raw::string_of(name.back())),
               location)
        .hint("Row comparison operators must be associated with btree operator families.");
  }
  if (strategy == 3) return make_bool_expr(an, BoolOp::kAnd, std::move(comparisons), location);
  if (strategy == 6) return make_bool_expr(an, BoolOp::kOr, std::move(comparisons), location);

  RowCompareExpr* node = an.arena.make<RowCompareExpr>();
  static constexpr RowCompareOp kOps[] = {RowCompareOp::kLess, RowCompareOp::kLessEqual, RowCompareOp::kLess,
                                          RowCompareOp::kGreaterEqual, RowCompareOp::kGreater};
  node->op = kOps[strategy - 1];
  std::vector<Oid> operators, functions, collations(comparisons.size());
  std::vector<Expr*> lefts, rights;
  for (Expr* compare : comparisons) {
    const OperatorExpr* op = expr_cast<OperatorExpr>(compare);
    operators.push_back(op->op);
    functions.push_back(op->function);
    lefts.push_back(op->args[0]);
    rights.push_back(op->args[1]);
  }
  node->operators = to_span(an.arena, operators);
  node->functions = to_span(an.arena, functions);
  node->collations = to_span(an.arena, collations);
  node->left = to_span(an.arena, lefts);
  node->right = to_span(an.arena, rights);
  node->type = {kBoolType, -1, {}};
  node->location = location;
  return node;
}

}  // namespace pinwheel::sql
