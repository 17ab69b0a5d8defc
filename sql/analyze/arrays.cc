#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/types.h"

/// ARRAY[...] and subscripts.
namespace pinwheel::sql {

Expr* transform_subscripts(Scope& scope, Expr* container, raw::NodeList indices) {
  Analysis& an = scope.an;
  const Oid base = base_type(an, container->type.type);
  const ViewedType& type = type_of(an, base);
  if (type.element.value == 0 || (type.category != 'A' && !type.fixed_subscript)) {
    throw an.error(sqlstate::kDatatypeMismatch,
                   cat("cannot subscript type ", type_text(an, container->type.type),
                       " because it does not support subscripting"),
                   location_of(container));
  }
  bool slice = false;
  for (const raw::Node* index : indices) slice = slice || index->a_indices->is_slice;
  const auto bound = [&](const raw::Node* node) -> Expr* {
    if (node == nullptr) return nullptr;
    Expr* value = transform(scope, node);
    Expr* coerced = coerce_to_target(scope, value, value->type.type, {kInt4Type, -1, {}},
                                     CoercionContext::kAssignment, CallForm::kImplicitCast, -1);
    if (coerced == nullptr) {
      throw an.error(sqlstate::kDatatypeMismatch, "array subscript must have type integer",
                     location_of(value));
    }
    return coerced;
  };
  std::vector<Expr*> upper, lower;
  for (const raw::Node* node : indices) {
    const PgQuery__AIndices* index = node->a_indices;
    if (slice) {
      // In a slice a lone subscript [n] means [1:n].
      lower.push_back(index->is_slice ? bound(index->lidx)
                                      : make_const(an, {kInt4Type, -1, {}}, Datum::from_int32(1)));
    }
    upper.push_back(bound(index->uidx));
  }
  if (upper.size() > 6) {
    throw an.error(sqlstate::kProgramLimitExceeded,
                   cat("number of array dimensions (", upper.size(), ") exceeds the maximum allowed (6)"));
  }
  SubscriptExpr* node = an.arena.make<SubscriptExpr>();
  node->container = container;
  node->container_type = base;
  node->element_type = type.element;
  node->upper = to_span(an.arena, upper);
  node->lower = to_span(an.arena, lower);
  const Oid result = slice ? base : type.element;
  node->type = {result, container->type.type_modifier, type_collation(an, result)};
  return node;
}

Expr* transform_array(Scope& scope, const PgQuery__AArrayExpr* array, ExprType array_type_wanted) {
  Analysis& an = scope.an;
  ArrayExpr* node = an.arena.make<ArrayExpr>();
  node->location = array->location;
  Oid wanted_element;
  if (array_type_wanted.type.value != 0) wanted_element = element_type(an, array_type_wanted.type);
  std::vector<Expr*> elements;
  for (const raw::Node* item : RAW_LIST(array, elements)) {
    Expr* element;
    if (RAW_IS(item, A_ARRAY_EXPR)) {
      element = transform_array(scope, item->a_array_expr, array_type_wanted);
      node->nested = true;
    } else {
      element = transform(scope, item);
      const Oid type = element->type.type;
      if (type != kInt2VectorType && type != kOidVectorType && element_type(an, type).value != 0)
        node->nested = true;
    }
    elements.push_back(element);
  }
  ExprType element;
  Oid result;
  if (array_type_wanted.type.value != 0) {
    result = array_type_wanted.type;
    element = {node->nested ? result : wanted_element, array_type_wanted.type_modifier, {}};
  } else {
    if (elements.empty()) {
      throw an
          .error(sqlstate::kIndeterminateDatatype, "cannot determine type of empty array", array->location)
          .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].");
    }
    element.type = select_common_type(scope, elements, "ARRAY");
    if (node->nested) {
      result = element.type;
      wanted_element = element_type(an, result);
      if (wanted_element.value == 0) {
        throw an.error(sqlstate::kUndefinedObject,
                       cat("could not find element type for data type ", type_text(an, result)),
                       array->location);
      }
    } else {
      wanted_element = element.type;
      result = array_type(an, element.type);
      if (result.value == 0) {
        throw an.error(sqlstate::kUndefinedObject,
                       cat("could not find array type for data type ", type_text(an, element.type)),
                       array->location);
      }
    }
  }
  const bool explicit_type = array_type_wanted.type.value != 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    Expr*& value = elements[i];
    if (explicit_type) {
      Expr* coerced =
          coerce_to_target(scope, value, value->type.type,
                           {element.type, element.type_modifier, type_collation(an, element.type)},
                           CoercionContext::kExplicit, CallForm::kExplicitCast, -1);
      if (coerced == nullptr) {
        throw an.error(
            sqlstate::kCannotCoerce,
            cat("cannot cast type ", type_text(an, value->type.type), " to ", type_text(an, element.type)),
            location_of(value));
      }
      value = coerced;
    } else {
      value = coerce_to_common(scope, value, element.type, "ARRAY");
    }
  }
  node->elements = to_span(an.arena, elements);
  node->element_type = wanted_element;
  node->type = plain_type(an, result);
  return node;
}

}  // namespace pinwheel::sql
