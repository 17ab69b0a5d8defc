#include "sql/analyze/operators.h"

#include "sql/analyze/coercion.h"
#include "sql/analyze/functions.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

std::string operator_signature(Analysis& an, std::string_view name, Oid left, Oid right) {
  std::string out;
  if (left.value != 0) out = type_text(an, left) + " ";
  return cat(out, name, " ", type_text(an, right));
}

const ViewedOperator* find_operator(Analysis& an, std::string_view schema, std::string_view name, Oid left,
                                    Oid right, bool missing_ok, int location) {
  require_schema(an, schema, location);
  const std::span<const ViewedOperator* const> all = an.catalog.find_operators(schema, name);
  const bool prefix = left.value == 0;
  const auto exact = [&](Oid l, Oid r) -> const ViewedOperator* {
    for (const ViewedOperator* op : all) {
      if (op->left == l && op->right == r) return op;
    }
    return nullptr;
  };

  // An unknown operand is first taken to be of the other's type.
  Oid l = left, r = right;
  bool assumed = false;
  if (!prefix && l != r) {
    if (l == kUnknownType) {
      l = r;
      assumed = true;
    } else if (r == kUnknownType) {
      r = l;
      assumed = true;
    }
  }
  if (const ViewedOperator* op = exact(l, r)) return op;
  if (assumed || (!prefix && l == r)) {
    const Oid base = base_type(an, l);
    if (base != l && base_type(an, r) == base) {
      if (const ViewedOperator* op = exact(base, base)) return op;
    }
  }

  std::vector<Candidate> candidates;
  for (const ViewedOperator* op : all) {
    if ((op->left.value == 0) != prefix) continue;
    Candidate candidate;
    candidate.op = op;
    if (!prefix) candidate.args.push_back(op->left);
    candidate.args.push_back(op->right);
    candidates.push_back(std::move(candidate));
  }
  std::vector<Oid> types;
  if (!prefix) types.push_back(left);
  types.push_back(right);
  std::vector<const Candidate*> fitting = match_candidates(an, types, candidates);
  if (fitting.size() == 1) return fitting.front()->op;
  bool ambiguous = false;
  if (!fitting.empty()) {
    if (const Candidate* best = select_candidate(an, types, fitting)) return best->op;
    ambiguous = true;
  }
  if (missing_ok) return nullptr;
  const std::string qualified = schema.empty() ? std::string{name} : cat(schema, ".", name);
  if (ambiguous) {
    throw an
        .error(sqlstate::kAmbiguousFunction,
               cat("operator is not unique: ", operator_signature(an, qualified, left, right)), location)
        .hint("Could not choose a best candidate operator. You might need to add explicit type casts.");
  }
  throw an
      .error(sqlstate::kUndefinedFunction,
             cat("operator does not exist: ", operator_signature(an, qualified, left, right)), location)
      .hint(prefix ? "No operator matches the given name and argument type. You might need to add an "
                     "explicit type cast."
                   : "No operator matches the given name and argument types. You might need to add explicit "
                     "type casts.");
}

const ViewedOperator* find_operator(Analysis& an, raw::NodeList name, Oid left, Oid right, bool missing_ok,
                                    int location) {
  std::string_view schema, last;
  split_name(an, name, schema, last, location);
  return find_operator(an, schema, last, left, right, missing_ok, location);
}

namespace {

Oid expr_type_or_none(const Expr* expr) { return expr == nullptr ? Oid{} : expr->type.type; }

Expr* build(Scope& scope, const ViewedOperator* op, Expr* left, Expr* right, int location) {
  Analysis& an = scope.an;
  std::vector<Expr*> args;
  std::vector<Oid> actual, declared;
  if (left != nullptr) {
    args.push_back(left);
    actual.push_back(left->type.type);
    declared.push_back(op->left);
  }
  args.push_back(right);
  actual.push_back(right->type.type);
  declared.push_back(op->right);
  Oid result;
  try {
    result = resolve_polymorphic(scope, actual, declared, op->result);
  } catch (SqlError& error) {
    if (error.fields().position == 0) error.fields().position = character_position(an.text, location);
    throw;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    args[i] = coerce_type(scope, args[i], actual[i], declared[i], -1, CoercionContext::kImplicit,
                          CallForm::kImplicitCast, -1);
  }
  OperatorExpr* node = an.arena.make<OperatorExpr>();
  node->op = op->oid;
  node->function = op->function;
  node->type = plain_type(an, result);
  node->args = to_span(an.arena, args);
  node->location = location;
  return node;
}

Expr* build_scalar_array(Scope& scope, std::string_view schema, std::string_view name, bool any, Expr* left,
                         Expr* array, int location) {
  Analysis& an = scope.an;
  Oid array_oid = array->type.type;
  Oid element;
  if (array_oid == kUnknownType) {
    element = kUnknownType;
  } else {
    element = element_type(an, array_oid);
    if (element.value == 0) {
      throw an.error(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires array on right side", location);
    }
  }
  const ViewedOperator* op = find_operator(an, schema, name, left->type.type, element, false, location);
  std::vector<Oid> actual{left->type.type, element};
  std::vector<Oid> declared{op->left, op->right};
  const Oid result = resolve_polymorphic(scope, actual, declared, op->result);
  if (result != kBoolType) {
    throw an.error(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires operator to yield boolean",
                   location);
  }
  if (an.catalog.function(op->function) != nullptr && an.catalog.function(op->function)->returns_set) {
    throw an.error(sqlstate::kWrongObjectType, "op ANY/ALL (array) requires operator not to return a set",
                   location);
  }
  const Oid wanted_array =
      is_polymorphic(op->right) && array_oid != kUnknownType ? array_oid : array_type(an, declared[1]);
  if (wanted_array.value == 0) {
    throw an.error(sqlstate::kUndefinedObject,
                   cat("could not find array type for data type ", type_text(an, declared[1])), location);
  }
  ScalarArrayExpr* node = an.arena.make<ScalarArrayExpr>();
  node->op = op->oid;
  node->function = op->function;
  node->any = any;
  node->left = coerce_type(scope, left, left->type.type, declared[0], -1, CoercionContext::kImplicit,
                           CallForm::kImplicitCast, -1);
  node->array = coerce_type(scope, array, array_oid, wanted_array, -1, CoercionContext::kImplicit,
                            CallForm::kImplicitCast, -1);
  node->type = {kBoolType, -1, {}};
  node->location = location;
  return node;
}

}  // namespace

Expr* make_operator(Scope& scope, raw::NodeList name, Expr* left, Expr* right, int location) {
  std::string_view schema, last;
  split_name(scope.an, name, schema, last, location);
  const ViewedOperator* op =
      find_operator(scope.an, schema, last, expr_type_or_none(left), right->type.type, false, location);
  return build(scope, op, left, right, location);
}

Expr* make_operator(Scope& scope, std::string_view name, Expr* left, Expr* right, int location) {
  const ViewedOperator* op =
      find_operator(scope.an, {}, name, expr_type_or_none(left), right->type.type, false, location);
  return build(scope, op, left, right, location);
}

Expr* make_scalar_array(Scope& scope, raw::NodeList name, bool any, Expr* left, Expr* array, int location) {
  std::string_view schema, last;
  split_name(scope.an, name, schema, last, location);
  return build_scalar_array(scope, schema, last, any, left, array, location);
}

Expr* make_scalar_array(Scope& scope, std::string_view name, bool any, Expr* left, Expr* array,
                        int location) {
  return build_scalar_array(scope, {}, name, any, left, array, location);
}

SortOperators require_sort_operators(Analysis& an, Oid type, bool need_less, bool need_equal, int location) {
  const SortOperators operators = an.catalog.sort_operators(base_type(an, type));
  if (need_less && operators.less.value == 0) {
    throw an
        .error(sqlstate::kUndefinedFunction,
               cat("could not identify an ordering operator for type ", type_text(an, type)), location)
        .hint("Use an explicit ordering operator or modify the query.");
  }
  if (need_equal && operators.equal.value == 0) {
    throw an.error(sqlstate::kUndefinedFunction,
                   cat("could not identify an equality operator for type ", type_text(an, type)), location);
  }
  return operators;
}

}  // namespace pinwheel::sql
