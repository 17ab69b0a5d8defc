#include "sql/analyze/coercion.h"

#include "sql/analyze/types.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

using Path = CoercionPath::Kind;

// --- Nodes

Expr* make_const(Analysis& an, ExprType type, Datum value, int location) {
  ConstExpr* node = an.arena.make<ConstExpr>();
  node->type = type;
  node->value = value;
  node->location = location;
  return node;
}

Expr* make_null(Analysis& an, ExprType type) {
  ConstExpr* node = an.arena.make<ConstExpr>();
  node->type = type;
  node->is_null = true;
  return node;
}

Expr* make_bool(Analysis& an, bool value) {
  return make_const(an, {kBoolType, -1, {}}, Datum::from_bool(value));
}

int location_of(const Expr* expr) {
  if (expr == nullptr) return -1;
  int at = expr->location;
  switch (expr->kind) {
    case ExprKind::kFunction:
    case ExprKind::kOperator:
    case ExprKind::kDistinct:
    case ExprKind::kNullIf:
    case ExprKind::kScalarArray:
    case ExprKind::kBool:
    case ExprKind::kNullTest:
    case ExprKind::kBooleanTest:
    case ExprKind::kRelabel:
    case ExprKind::kCoerceViaIo:
    case ExprKind::kArrayCoerce:
    case ExprKind::kCollate:
    case ExprKind::kFieldSelect:
    case ExprKind::kSubscript:
    case ExprKind::kRowCompare:
    case ExprKind::kSubLink:
      for_each_child(expr, [&](const Expr* child) {
        const int below = location_of(child);
        if (below >= 0 && (at < 0 || below < at)) at = below;
      });
      return at;
    default:
      return at;
  }
}

// --- Finding casts

bool binary_coercible(Analysis& an, Oid source, Oid target) {
  if (source == target || target == kAnyType || target == kAnyElementType || target == kAnyCompatibleType)
    return true;
  source = base_type(an, source);
  if (source == target) return true;
  if (target == kAnyArrayType || target == kAnyCompatibleArrayType)
    return element_type(an, source).value != 0;
  if (target == kAnyNonArrayType || target == kAnyCompatibleNonArrayType)
    return element_type(an, source).value == 0;
  if (target == kAnyEnumType) return type_of(an, source).kind == 'e';
  if (target == kRecordType) return is_row_type(an, source);
  if (target == kRecordArrayType) {
    const Oid element = element_type(an, source);
    return element.value != 0 && is_row_type(an, element);
  }
  const std::optional<ViewedCast> cast = an.catalog.find_cast(source, target);
  return cast && cast->method == 'b' && cast->context == 'i';
}

CoercionPath find_coercion_path(Analysis& an, Oid target, Oid source, CoercionContext context) {
  source = base_type(an, source);
  target = base_type(an, target);
  if (source == target) return {Path::kRelabel, {}};
  if (const std::optional<ViewedCast> cast = an.catalog.find_cast(source, target)) {
    const CoercionContext needed = cast->context == 'i'   ? CoercionContext::kImplicit
                                   : cast->context == 'a' ? CoercionContext::kAssignment
                                                          : CoercionContext::kExplicit;
    if (context < needed) return {};
    if (cast->method == 'f') return {Path::kFunction, cast->function};
    return {cast->method == 'i' ? Path::kViaIo : Path::kRelabel, {}};
  }
  // Arrays go element by element; the two vector types have no elements of their own to convert to.
  if (target != kOidVectorType && target != kInt2VectorType) {
    const Oid target_element = element_type(an, target);
    const Oid source_element = element_type(an, source);
    if (target_element.value != 0 && source_element.value != 0) {
      const CoercionPath element = find_coercion_path(an, target_element, source_element, context);
      if (element.kind == Path::kNone) return {};
      if (element.kind == Path::kViaIo) return {Path::kViaIo, {}};
      return {Path::kArray, {}};
    }
  }
  if (context >= CoercionContext::kAssignment && type_category(an, target) == 'S') return {Path::kViaIo, {}};
  if (context >= CoercionContext::kExplicit && type_category(an, source) == 'S') return {Path::kViaIo, {}};
  return {};
}

bool can_coerce(Analysis& an, std::span<const Oid> sources, std::span<const Oid> targets,
                CoercionContext context) {
  bool polymorphic = false;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Oid source = sources[i], target = targets[i];
    if (source == target || target == kAnyType) continue;
    if (is_polymorphic(target)) {
      polymorphic = true;
      continue;
    }
    if (source == kUnknownType) continue;
    if (find_coercion_path(an, target, source, context).kind != Path::kNone) continue;
    // Rows: an anonymous row to any composite and back.
    if (source == kRecordType && is_row_type(an, target)) continue;
    if (target == kRecordType && is_row_type(an, source)) continue;
    if (target == kRecordArrayType) {
      const Oid element = element_type(an, source);
      if (element.value != 0 && is_row_type(an, element)) continue;
    }
    return false;
  }
  return !polymorphic || check_polymorphic(an, sources, targets);
}

// --- Applying casts

namespace {

/// The function that applies a length modifier to values of a type; 0 none.
Oid find_modifier_function(Analysis& an, Oid type) {
  const std::optional<ViewedCast> cast = an.catalog.find_cast(type, type);
  return cast && cast->method == 'f' ? cast->function : Oid{};
}

Expr* call_cast(Scope& scope, Oid function, Expr* arg, ExprType result, std::int32_t modifier,
                bool is_explicit, CallForm form, int location) {
  Analysis& an = scope.an;
  const ViewedFunction* info = an.catalog.function(function);
  if (info == nullptr) {
    throw SqlError{sqlstate::kInternalError, cat("cache lookup failed for function ", function.value)};
  }
  std::vector<Expr*> args{arg};
  if (info->args.size() >= 2)
    args.push_back(make_const(an, {kInt4Type, -1, {}}, Datum::from_int32(modifier)));
  if (info->args.size() >= 3) args.push_back(make_bool(an, is_explicit));
  FunctionExpr* call = an.arena.make<FunctionExpr>();
  call->type = result;
  call->function = function;
  call->form = form;
  call->args = to_span(an.arena, args);
  call->location = location;
  return call;
}

Expr* relabel(Analysis& an, Expr* arg, ExprType type, CallForm form, int location) {
  // One relabelling over another is only the outer one; a constant simply takes the type.
  RelabelExpr* node = an.arena.make<RelabelExpr>();
  node->arg = arg;
  node->type = type;
  node->form = form;
  node->location = location;
  return node;
}

/// Applies `modifier` to a value that already has the type.
Expr* apply_modifier(Scope& scope, Expr* expr, Oid type, std::int32_t modifier, CoercionContext context,
                     CallForm form, int location, bool hide_inner);

/// In PostgreSQL a cast's inner steps print as nothing when the outer one says it all.
void hide_cast(Expr* expr) {
  if (auto* call = expr_if<FunctionExpr>(expr)) {
    if (call->form == CallForm::kExplicitCast) call->form = CallForm::kImplicitCast;
  } else if (auto* label = expr_if<RelabelExpr>(expr)) {
    label->form = CallForm::kImplicitCast;
  } else if (auto* io = expr_if<CoerceViaIoExpr>(expr)) {
    io->form = CallForm::kImplicitCast;
  } else if (auto* array = expr_if<ArrayCoerceExpr>(expr)) {
    array->form = CallForm::kImplicitCast;
  }
}

Expr* coerce_array(Scope& scope, Expr* expr, Oid source, ExprType target, CoercionContext context,
                   CallForm form, int location) {
  Analysis& an = scope.an;
  CaseValueExpr* value = an.arena.make<CaseValueExpr>();
  value->type = plain_type(an, element_type(an, source));
  value->type.type_modifier = expr->type.type_modifier;
  const Oid element = element_type(an, target.type);
  Expr* per_element =
      coerce_to_target(scope, value, value->type.type,
                       {element, target.type_modifier, type_collation(an, element)}, context, form, location);
  if (per_element == nullptr)
    throw SqlError{sqlstate::kInternalError, "failed to coerce array element type as expected"};
  ArrayCoerceExpr* node = an.arena.make<ArrayCoerceExpr>();
  node->arg = expr;
  node->element = per_element;
  node->type = {target.type, per_element->type.type_modifier, target.collation};
  node->form = form;
  node->location = location;
  return node;
}

Expr* apply_modifier(Scope& scope, Expr* expr, Oid type, std::int32_t modifier, CoercionContext context,
                     CallForm form, int location, bool hide_inner) {
  Analysis& an = scope.an;
  if (modifier == expr->type.type_modifier) return expr;
  const Oid element = element_type(an, type);
  const Oid function = modifier < 0 ? Oid{} : find_modifier_function(an, element.value != 0 ? element : type);
  if (hide_inner) hide_cast(expr);
  if (function.value == 0) {
    // Nothing to compute: the value only shows the modifier.
    const ExprType shown{type, modifier, type_collation(an, type)};
    if (const auto* constant = expr_if<ConstExpr>(expr)) {
      ConstExpr* copy = an.arena.make<ConstExpr>(*constant);
      copy->type = shown;
      return copy;
    }
    while (auto* inner = expr_if<RelabelExpr>(expr)) expr = inner->arg;
    return relabel(an, expr, shown, form, location);
  }
  const ExprType target{type, modifier, type_collation(an, type)};
  if (element.value != 0) return coerce_array(scope, expr, type, target, context, form, location);
  return call_cast(scope, function, expr, target, modifier, context == CoercionContext::kExplicit, form,
                   location);
}

/// An untyped literal becomes a constant of the type by its input function.
Expr* coerce_literal(Scope& scope, ConstExpr* literal, Oid target, std::int32_t modifier,
                     CoercionContext context, CallForm form, int location) {
  Analysis& an = scope.an;
  const Oid base = base_type(an, target);
  // Only intervals read their modifier on input ('3' day); for others truncation has to obey the cast's kind.
  const std::int32_t input_modifier = base == kIntervalType ? modifier : -1;
  ConstExpr* node = an.arena.make<ConstExpr>();
  node->type = {base, input_modifier, type_collation(an, base)};
  node->is_null = literal->is_null;
  node->location = literal->location;
  if (!literal->is_null) {
    const std::string_view text = cstring_view(literal->value);
    try {
      if (const TypeInfo* info = find_type(base); info != nullptr && info->input != nullptr) {
        node->value = input_value(*info, text, an.arena, an.eval, input_modifier);
      } else if (an.eval.catalog != nullptr) {
        node->value = an.eval.catalog->input_user_type(base, text, input_modifier, an.arena);
      } else {
        throw SqlError{sqlstate::kFeatureNotSupported,
                       cat("cannot accept a value of type ", type_text(an, base))};
      }
    } catch (SqlError& error) {
      if (error.fields().position == 0)
        error.fields().position = character_position(an.text, literal->location);
      throw;
    }
  }
  if (base != target) return relabel(an, node, plain_type(an, target), form, location);
  (void)context;
  return node;
}

Expr* coerce_parameter(Scope& scope, ParamExpr* param, Oid target) {
  Analysis& an = scope.an;
  Oid& known = an.parameters[param->index];
  if (known.value == 0 || known == kUnknownType) {
    known = target;
  } else if (known != target) {
    throw an
        .error(sqlstate::kAmbiguousParameter,
               cat("inconsistent types deduced for parameter $", param->index + 1), param->location)
        .detail(cat(type_text(an, known), " versus ", type_text(an, target)));
  }
  param->type = plain_type(an, target);
  return param;
}

Expr* coerce_row(Scope& scope, Expr* expr, Oid target, CoercionContext context, CallForm form, int location) {
  Analysis& an = scope.an;
  RowExpr* row = expr_if<RowExpr>(expr);
  const ViewedType& type = type_of(an, base_type(an, target));
  const ViewedRelation* relation = an.catalog.relation(type.relation);
  std::vector<Expr*> args;
  if (row != nullptr) {
    args.assign(row->args.begin(), row->args.end());
  } else {
    const std::span<ColumnDefinition> columns = row_columns(scope, expr);
    for (const ColumnDefinition& column : columns) {
      if (column.name.empty()) continue;  // dropped
      FieldSelectExpr* field = an.arena.make<FieldSelectExpr>();
      field->arg = expr;
      field->field = static_cast<std::int16_t>(args.size() + 1);
      field->type = column.type;
      args.push_back(field);
    }
  }
  const auto fail = [&](std::string why) {
    return an
        .error(sqlstate::kCannotCoerce,
               cat("cannot cast type ", type_text(an, expr->type.type), " to ", type_text(an, target)),
               location)
        .detail(std::move(why));
  };
  if (relation == nullptr) throw fail("Input has no columns.");
  std::vector<Expr*> values;
  std::size_t next = 0;
  for (const ViewedColumn& column : relation->columns) {
    if (column.dropped) {
      values.push_back(make_null(an, {kInt4Type, -1, {}}));
      continue;
    }
    if (next >= args.size()) throw fail("Input has too few columns.");
    Expr* arg = args[next];
    Expr* value =
        coerce_to_target(scope, arg, arg->type.type, {column.type, column.type_modifier, column.collation},
                         context, CallForm::kImplicitCast, -1);
    if (value == nullptr) {
      throw fail(cat("Cannot cast type ", type_text(an, arg->type.type), " to ", type_text(an, column.type),
                     " in column ", next + 1, "."));
    }
    values.push_back(value);
    ++next;
  }
  if (next < args.size()) throw fail("Input has too many columns.");
  RowExpr* result = an.arena.make<RowExpr>();
  result->type = plain_type(an, target);
  result->args = to_span(an.arena, values);
  result->location = location;
  (void)form;
  return result;
}

}  // namespace

Expr* coerce_type(Scope& scope, Expr* expr, Oid source, Oid target, std::int32_t modifier,
                  CoercionContext context, CallForm form, int location) {
  Analysis& an = scope.an;
  if (source == target) return expr;
  if (target == kAnyType || target == kAnyElementType || target == kAnyNonArrayType ||
      target == kAnyCompatibleType || target == kAnyCompatibleNonArrayType) {
    return expr;
  }
  if (target == kAnyArrayType || target == kAnyEnumType || target == kAnyCompatibleArrayType) {
    if (source != kUnknownType) {
      const Oid base = base_type(an, source);
      return base == source ? expr
                            : relabel(an, expr, plain_type(an, base), CallForm::kImplicitCast, location);
    }
  }
  if (source == kUnknownType) {
    if (auto* literal = expr_if<ConstExpr>(expr)) {
      return coerce_literal(scope, literal, target, modifier, context, form, location);
    }
    if (auto* param = expr_if<ParamExpr>(expr)) return coerce_parameter(scope, param, target);
  }
  if (auto* collate = expr_if<CollateExpr>(expr)) {
    // The collation stays on the outside of the cast, or goes when the target has none.
    Expr* inner = coerce_type(scope, collate->arg, source, target, modifier, context, form, location);
    if (type_collation(an, target).value == 0) return inner;
    CollateExpr* outer = an.arena.make<CollateExpr>();
    outer->arg = inner;
    outer->type = inner->type;
    outer->type.collation = collate->type.collation;
    outer->location = collate->location;
    return outer;
  }
  const CoercionPath path = find_coercion_path(an, target, source, context);
  const Oid base = base_type(an, target);
  switch (path.kind) {
    case Path::kFunction: {
      Expr* result = call_cast(scope, path.function, expr, plain_type(an, base), -1,
                               context == CoercionContext::kExplicit, form, location);
      if (base != target) return relabel(an, result, plain_type(an, target), form, location);
      return result;
    }
    case Path::kViaIo: {
      CoerceViaIoExpr* io = an.arena.make<CoerceViaIoExpr>();
      io->arg = expr;
      io->type = plain_type(an, target);
      io->form = form;
      io->location = location;
      return io;
    }
    case Path::kArray:
      return coerce_array(scope, expr, source, plain_type(an, target), context, form, location);
    case Path::kRelabel: {
      ExprType type = plain_type(an, target);
      return relabel(an, expr, type, form, location);
    }
    case Path::kNone:
      break;
  }
  if (source == kRecordType && is_row_type(an, target))
    return coerce_row(scope, expr, target, context, form, location);
  if (target == kRecordType || target == kRecordArrayType) return expr;
  throw SqlError{sqlstate::kInternalError, cat("failed to find conversion function from ",
                                               type_text(an, source), " to ", type_text(an, target))};
}

Expr* coerce_to_target(Scope& scope, Expr* expr, Oid source, ExprType target, CoercionContext context,
                       CallForm form, int location) {
  Analysis& an = scope.an;
  if (!can_coerce(an, source, target.type, context)) return nullptr;
  CollateExpr* collate = expr_if<CollateExpr>(expr);
  Expr* inner = expr;
  while (CollateExpr* c = expr_if<CollateExpr>(inner)) inner = c->arg;
  Expr* result =
      coerce_type(scope, inner, source, target.type, target.type_modifier, context, form, location);
  const bool changed = result != inner && !expr_if<ConstExpr>(result) && !expr_if<ParamExpr>(result);
  result = apply_modifier(scope, result, base_type(an, target.type), target.type_modifier, context, form,
                          location, changed);
  if (collate != nullptr && type_collation(an, target.type).value != 0) {
    CollateExpr* outer = an.arena.make<CollateExpr>();
    outer->arg = result;
    outer->type = result->type;
    outer->type.collation = collate->type.collation;
    outer->location = collate->location;
    result = outer;
  }
  return result;
}

namespace {

bool returns_set(const Expr* expr) {
  if (const auto* call = expr_if<FunctionExpr>(expr); call != nullptr && call->returns_set) return true;
  bool found = false;
  for_each_child(expr, [&](const Expr* child) { found = found || returns_set(child); });
  return found;
}

}  // namespace

Expr* coerce_to_specific(Scope& scope, Expr* expr, Oid target, std::string_view construct) {
  Analysis& an = scope.an;
  const Oid source = expr->type.type;
  if (source != target) {
    Expr* result = coerce_to_target(scope, expr, source, plain_type(an, target), CoercionContext::kAssignment,
                                    CallForm::kImplicitCast, -1);
    if (result == nullptr) {
      throw an.error(sqlstate::kDatatypeMismatch,
                     cat("argument of ", construct, " must be type ", type_text(an, target), ", not type ",
                         type_text(an, source)),
                     location_of(expr));
    }
    expr = result;
  }
  if (returns_set(expr)) {
    throw an.error(sqlstate::kDatatypeMismatch, cat("argument of ", construct, " must not return a set"),
                   location_of(expr));
  }
  return expr;
}

Expr* coerce_to_boolean(Scope& scope, Expr* expr, std::string_view construct) {
  return coerce_to_specific(scope, expr, kBoolType, construct);
}

// --- Common types

Oid select_common_type(Scope& scope, std::span<Expr* const> exprs, const char* construct, Expr** which) {
  Analysis& an = scope.an;
  Expr* picked = exprs[0];
  Oid type = picked->type.type;
  if (type != kUnknownType) {
    bool all_same = true;
    for (Expr* expr : exprs) all_same = all_same && expr->type.type == type;
    if (all_same) {
      if (which != nullptr) *which = picked;
      return type;
    }
  }
  type = base_type(an, type);
  char category = type_category(an, type);
  bool preferred = type_of(an, type).preferred;
  for (Expr* expr : exprs.subspan(1)) {
    const Oid next = base_type(an, expr->type.type);
    if (next == kUnknownType || next == type) continue;
    const ViewedType& info = type_of(an, next);
    if (type == kUnknownType) {
      picked = expr;
      type = next;
      category = info.category;
      preferred = info.preferred;
    } else if (info.category != category) {
      if (construct == nullptr) return {};
      throw an.error(
          sqlstate::kDatatypeMismatch,
          cat(construct, " types ", type_text(an, type), " and ", type_text(an, next), " cannot be matched"),
          location_of(expr));
    } else if (!preferred && can_coerce(an, type, next, CoercionContext::kImplicit) &&
               !can_coerce(an, next, type, CoercionContext::kImplicit)) {
      picked = expr;
      type = next;
      category = info.category;
      preferred = info.preferred;
    }
  }
  if (type == kUnknownType) type = kTextType;
  if (which != nullptr) *which = picked;
  return type;
}

std::int32_t select_common_modifier(std::span<Expr* const> exprs, Oid common) {
  bool first = true;
  std::int32_t modifier = -1;
  for (const Expr* expr : exprs) {
    if (expr->type.type != common) return -1;
    if (first) {
      modifier = expr->type.type_modifier;
      first = false;
    } else if (modifier != expr->type.type_modifier) {
      return -1;
    }
  }
  return modifier;
}

Expr* coerce_to_common(Scope& scope, Expr* expr, Oid target, const char* construct) {
  Analysis& an = scope.an;
  const Oid source = expr->type.type;
  if (source == target) return expr;
  if (!can_coerce(an, source, target, CoercionContext::kImplicit)) {
    throw an.error(
        sqlstate::kCannotCoerce,
        cat(construct, " could not convert type ", type_text(an, source), " to ", type_text(an, target)),
        location_of(expr));
  }
  return coerce_type(scope, expr, source, target, -1, CoercionContext::kImplicit, CallForm::kImplicitCast,
                     -1);
}

void check_parameters(Analysis& an) {
  for (std::size_t i = 0; i < an.parameters.size(); ++i) {
    if (an.parameters[i].value != 0 && an.parameters[i] != kUnknownType) continue;
    throw an.error(sqlstate::kIndeterminateDatatype,
                   cat("could not determine data type of parameter $", i + 1));
  }
  for (ParamExpr* use : an.parameter_uses) {
    if (use->type.type == an.parameters[use->index]) continue;
    throw an.error(sqlstate::kAmbiguousParameter,
                   cat("could not determine data type of parameter $", use->index + 1), use->location);
  }
}

}  // namespace pinwheel::sql
