#include "sql/analyze/expressions.h"

#include <charconv>

#include "sql/analyze/coercion.h"
#include "sql/analyze/functions.h"
#include "sql/analyze/names.h"
#include "sql/analyze/operators.h"
#include "sql/analyze/types.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

Expr* make_bool_expr(Analysis& an, BoolOp op, std::vector<Expr*> args, int location) {
  BoolExpr* node = an.arena.make<BoolExpr>();
  node->op = op;
  node->type = {kBoolType, -1, {}};
  node->args = to_span(an.arena, args);
  node->location = location;
  return node;
}

bool contains_set_function(const Expr* expr) {
  if (expr == nullptr) return false;
  if (const auto* call = expr_if<FunctionExpr>(expr); call != nullptr && call->returns_set) return true;
  bool found = false;
  for_each_child(expr, [&](const Expr* child) { found = found || contains_set_function(child); });
  return found;
}

namespace {

Expr* unknown_literal(Analysis& an, std::string_view text, int location) {
  return make_const(an, {kUnknownType, -2, {}}, make_cstring(an.arena, text), location);
}

Expr* transform_constant(Analysis& an, const PgQuery__AConst* constant) {
  const int location = constant->location;
  if (constant->isnull) {
    Expr* node = make_null(an, {kUnknownType, -2, {}});
    node->location = location;
    return node;
  }
  switch (constant->val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      return make_const(an, {kInt4Type, -1, {}}, Datum::from_int32(constant->ival->ival), location);
    case PG_QUERY__A__CONST__VAL_FVAL: {
      const std::string_view text = constant->fval->fval;
      std::int64_t value = 0;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (problem == std::errc{} && end == text.data() + text.size()) {
        if (value >= INT32_MIN && value <= INT32_MAX) {
          return make_const(an, {kInt4Type, -1, {}}, Datum::from_int32(static_cast<std::int32_t>(value)),
                            location);
        }
        return make_const(an, {kInt8Type, -1, {}}, Datum::from_int64(value), location);
      }
      return make_const(an, {kNumericType, -1, {}},
                        input_value(type_info(kNumericType), text, an.arena, an.eval), location);
    }
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      return make_const(an, {kBoolType, -1, {}}, Datum::from_bool(constant->boolval->boolval), location);
    case PG_QUERY__A__CONST__VAL_BSVAL: {
      const TypeInfo* type = find_type(kBitType);
      if (type == nullptr || type->input == nullptr) {
        throw an.error(sqlstate::kFeatureNotSupported, "bit strings are not supported", location);
      }
      return make_const(an, {kBitType, -1, {}}, input_value(*type, constant->bsval->bsval, an.arena, an.eval),
                        location);
    }
    case PG_QUERY__A__CONST__VAL_SVAL:
      return unknown_literal(an, constant->sval->sval, location);
    default:
      // An integer zero is written as an empty message.
      return make_const(an, {kInt4Type, -1, {}}, Datum::from_int32(0), location);
  }
}

Expr* transform_param(Scope& scope, const PgQuery__ParamRef* ref) {
  Analysis& an = scope.an;
  const int number = ref->number;
  const bool known = number >= 1 && number <= static_cast<int>(an.parameters.size());
  if (number < 1 || number > 65535 || an.mode == ParameterMode::kNone ||
      (an.mode == ParameterMode::kFixed && !known)) {
    throw an.error(sqlstate::kUndefinedParameter, cat("there is no parameter $", number), ref->location);
  }
  if (!known) an.parameters.resize(number);
  Oid type = an.parameters[number - 1];
  if (type.value == 0) type = kUnknownType;
  ParamExpr* node = an.arena.make<ParamExpr>();
  node->index = number - 1;
  node->type = plain_type(an, type);
  node->location = ref->location;
  an.parameter_uses.push_back(node);
  return node;
}

Expr* transform_bool(Scope& scope, const PgQuery__BoolExpr* expr) {
  BoolOp op = BoolOp::kAnd;
  std::string_view name = "AND";
  if (expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__OR_EXPR) {
    op = BoolOp::kOr;
    name = "OR";
  } else if (expr->boolop == PG_QUERY__BOOL_EXPR_TYPE__NOT_EXPR) {
    op = BoolOp::kNot;
    name = "NOT";
  }
  std::vector<Expr*> args;
  for (const raw::Node* arg : RAW_LIST(expr, args)) {
    args.push_back(coerce_to_boolean(scope, transform(scope, arg), name));
  }
  return make_bool_expr(scope.an, op, std::move(args), expr->location);
}

void refuse_set_function(Scope& scope, Expr* before, std::string_view construct) {
  if (scope.last_set_expr == before) return;
  throw scope.an
      .error(sqlstate::kFeatureNotSupported, cat("set-returning functions are not allowed in ", construct),
             location_of(scope.last_set_expr))
      .hint("You might be able to move the set-returning function into a LATERAL FROM item.");
}

Expr* transform_case(Scope& scope, const PgQuery__CaseExpr* expr) {
  Analysis& an = scope.an;
  Expr* const set_before = scope.last_set_expr;
  CaseExpr* node = an.arena.make<CaseExpr>();
  node->location = expr->location;
  CaseValueExpr* placeholder = nullptr;
  if (expr->arg != nullptr) {
    Expr* arg = transform(scope, expr->arg);
    if (arg->type.type == kUnknownType) {
      arg = coerce_type(scope, arg, kUnknownType, kTextType, -1, CoercionContext::kImplicit,
                        CallForm::kImplicitCast, -1);
    }
    node->argument = arg;
    placeholder = an.arena.make<CaseValueExpr>();
    placeholder->type = arg->type;
  }
  std::vector<CaseWhen> whens;
  std::vector<Expr*> results{nullptr};
  for (const raw::Node* item : RAW_LIST(expr, args)) {
    const PgQuery__CaseWhen* when = item->case_when;
    Expr* condition = transform(scope, when->expr);
    if (placeholder != nullptr) condition = make_operator(scope, "=", placeholder, condition, when->location);
    condition = coerce_to_boolean(scope, condition, "CASE/WHEN");
    Expr* result = transform(scope, when->result);
    whens.push_back({condition, result});
    results.push_back(result);
  }
  Expr* otherwise =
      expr->defresult != nullptr ? transform(scope, expr->defresult) : make_null(an, {kUnknownType, -2, {}});
  results[0] = otherwise;
  const Oid type = select_common_type(scope, results, "CASE");
  for (CaseWhen& when : whens) when.result = coerce_to_common(scope, when.result, type, "CASE/WHEN");
  otherwise = coerce_to_common(scope, otherwise, type, "CASE/ELSE");
  node->whens = to_span(an.arena, whens);
  node->otherwise = otherwise;
  std::vector<Expr*> finals{otherwise};
  for (const CaseWhen& when : whens) finals.push_back(when.result);
  node->type = plain_type(an, type);
  node->type.type_modifier = select_common_modifier(finals, type);
  refuse_set_function(scope, set_before, "CASE");
  return node;
}

std::vector<Expr*> transform_all(Scope& scope, raw::NodeList list) {
  std::vector<Expr*> exprs;
  for (const raw::Node* node : list) exprs.push_back(transform(scope, node));
  return exprs;
}

Expr* transform_coalesce(Scope& scope, const PgQuery__CoalesceExpr* expr) {
  Analysis& an = scope.an;
  Expr* const set_before = scope.last_set_expr;
  std::vector<Expr*> args = transform_all(scope, RAW_LIST(expr, args));
  CoalesceExpr* node = an.arena.make<CoalesceExpr>();
  const Oid type = select_common_type(scope, args, "COALESCE");
  for (Expr*& arg : args) arg = coerce_to_common(scope, arg, type, "COALESCE");
  refuse_set_function(scope, set_before, "COALESCE");
  node->type = plain_type(an, type);
  node->type.type_modifier = select_common_modifier(args, type);
  node->args = to_span(an.arena, args);
  node->location = expr->location;
  return node;
}

Expr* transform_min_max(Scope& scope, const PgQuery__MinMaxExpr* expr) {
  Analysis& an = scope.an;
  MinMaxExpr* node = an.arena.make<MinMaxExpr>();
  node->greatest = expr->op == PG_QUERY__MIN_MAX_OP__IS_GREATEST;
  const char* name = node->greatest ? "GREATEST" : "LEAST";
  std::vector<Expr*> args = transform_all(scope, RAW_LIST(expr, args));
  const Oid type = select_common_type(scope, args, name);
  for (Expr*& arg : args) arg = coerce_to_common(scope, arg, type, name);
  if (an.catalog.sort_operators(base_type(an, type)).less.value == 0) {
    throw an.error(sqlstate::kUndefinedFunction,
                   cat("could not identify a comparison function for type ", type_text(an, type)));
  }
  node->type = plain_type(an, type);
  node->type.type_modifier = select_common_modifier(args, type);
  node->args = to_span(an.arena, args);
  node->location = expr->location;
  return node;
}

Expr* transform_sql_value(Scope& scope, const PgQuery__SQLValueFunction* function) {
  Analysis& an = scope.an;
  SqlValueExpr* node = an.arena.make<SqlValueExpr>();
  node->location = function->location;
  const auto set = [&](SqlValue value, Oid type, bool with_modifier = false) {
    node->value = value;
    node->type = plain_type(an, type);
    if (with_modifier) node->type.type_modifier = std::min(function->typmod, 6);
    return node;
  };
  switch (function->op) {
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_DATE:
      return set(SqlValue::kCurrentDate, kDateType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME:
      return set(SqlValue::kCurrentTime, kTimeTzType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIME_N:
      return set(SqlValue::kCurrentTime, kTimeTzType, true);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP:
      return set(SqlValue::kCurrentTimestamp, kTimestampTzType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_TIMESTAMP_N:
      return set(SqlValue::kCurrentTimestamp, kTimestampTzType, true);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME:
      return set(SqlValue::kLocaltime, kTimeType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIME_N:
      return set(SqlValue::kLocaltime, kTimeType, true);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP:
      return set(SqlValue::kLocaltimestamp, kTimestampType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_LOCALTIMESTAMP_N:
      return set(SqlValue::kLocaltimestamp, kTimestampType, true);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_ROLE:
      return set(SqlValue::kCurrentRole, kNameType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_USER:
      return set(SqlValue::kCurrentUser, kNameType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_USER:
      return set(SqlValue::kUser, kNameType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_SESSION_USER:
      return set(SqlValue::kSessionUser, kNameType);
    case PG_QUERY__SQLVALUE_FUNCTION_OP__SVFOP_CURRENT_CATALOG:
      return set(SqlValue::kCurrentCatalog, kNameType);
    default:
      return set(SqlValue::kCurrentSchema, kNameType);
  }
}

Expr* transform_null_test(Scope& scope, const PgQuery__NullTest* test) {
  NullTestExpr* node = scope.an.arena.make<NullTestExpr>();
  node->arg = transform(scope, test->arg);
  node->is_null = test->nulltesttype == PG_QUERY__NULL_TEST_TYPE__IS_NULL;
  node->arg_is_row = is_row_type(scope.an, node->arg->type.type);
  node->type = {kBoolType, -1, {}};
  node->location = test->location;
  return node;
}

Expr* transform_boolean_test(Scope& scope, const PgQuery__BooleanTest* test) {
  BooleanTestExpr* node = scope.an.arena.make<BooleanTestExpr>();
  static constexpr std::string_view kNames[] = {"IS TRUE",      "IS NOT TRUE", "IS FALSE",
                                                "IS NOT FALSE", "IS UNKNOWN",  "IS NOT UNKNOWN"};
  const int which = static_cast<int>(test->booltesttype) - 1;
  node->test = static_cast<BooleanTest>(which);
  node->arg = coerce_to_boolean(scope, transform(scope, test->arg), kNames[which]);
  node->type = {kBoolType, -1, {}};
  node->location = test->location;
  return node;
}

Expr* transform_row(Scope& scope, const PgQuery__RowExpr* row) {
  Analysis& an = scope.an;
  RowExpr* node = an.arena.make<RowExpr>();
  std::vector<Expr*> args;
  for (const raw::Node* arg : RAW_LIST(row, args)) {
    // ROW(t.*) spreads t's columns.
    if (RAW_IS(arg, COLUMN_REF) && arg->column_ref->n_fields >= 2 &&
        RAW_IS(arg->column_ref->fields[arg->column_ref->n_fields - 1], A_STAR)) {
      const PgQuery__ColumnRef* ref = arg->column_ref;
      int levels_up = 0;
      const std::string_view schema =
          ref->n_fields >= 3 ? raw::string_of(ref->fields[ref->n_fields - 3]) : std::string_view{};
      const std::string_view table = raw::string_of(ref->fields[ref->n_fields - 2]);
      const NamespaceItem* item = find_item(scope, schema, table, ref->location, &levels_up);
      if (item == nullptr) throw_missing_item(scope, schema, table, ref->location);
      for (std::size_t i = 0; i < item->columns.size(); ++i) {
        if (item->columns[i].name.empty() || item->columns[i].star_hidden) continue;
        args.push_back(make_column(scope, *item, item->columns[i], static_cast<std::int16_t>(i + 1),
                                   levels_up, ref->location));
      }
      continue;
    }
    args.push_back(transform(scope, arg));
  }
  if (args.size() > 1664) {
    throw an.error(sqlstate::kTooManyColumns, "ROW expressions can have at most 1664 entries", row->location);
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < args.size(); ++i) names.push_back(an.arena.copy(cat("f", i + 1)));
  node->args = to_span(an.arena, args);
  node->names = to_span(an.arena, names);
  node->type = {kRecordType, -1, {}};
  node->location = row->location;
  return node;
}

Expr* transform_collate(Scope& scope, const PgQuery__CollateClause* clause) {
  Analysis& an = scope.an;
  Expr* arg = transform(scope, clause->arg);
  if (type_collation(an, arg->type.type).value == 0 && arg->type.type != kUnknownType) {
    throw an.error(sqlstate::kDatatypeMismatch,
                   cat("collations are not supported by type ", type_text(an, arg->type.type)),
                   clause->location);
  }
  CollateExpr* node = an.arena.make<CollateExpr>();
  node->arg = arg;
  node->type = arg->type;
  node->type.collation = resolve_collation(an, RAW_LIST(clause, collname), clause->location);
  node->location = clause->location;
  return node;
}

Expr* transform_indirection(Scope& scope, const PgQuery__AIndirection* indirection) {
  Analysis& an = scope.an;
  Expr* result = transform(scope, indirection->arg);
  const raw::NodeList steps = RAW_LIST(indirection, indirection);
  const int location = location_of(result);
  std::size_t first = 0;
  for (std::size_t i = 0; i <= steps.size(); ++i) {
    if (i < steps.size() && RAW_IS(steps[i], A_INDICES)) continue;
    if (i > first)
      result = transform_subscripts(scope, result, raw::NodeList{steps.nodes + first, i - first});
    first = i + 1;
    if (i == steps.size()) break;
    if (RAW_IS(steps[i], A_STAR)) {
      throw an.error(sqlstate::kFeatureNotSupported, "row expansion via \"*\" is not supported here",
                     location);
    }
    const std::string_view name = raw::string_of(steps[i]);
    Expr* field = select_field(scope, result, name, location);
    if (field == nullptr) {
      if (const ColumnExpr* whole = expr_if<ColumnExpr>(result); whole != nullptr && whole->attribute == 0) {
        Scope* level = &scope;
        for (int up = whole->levels_up; up > 0; --up) level = level->parent;
        throw an.error(
            sqlstate::kUndefinedColumn,
            cat("column ", level->range_table[whole->range_index].alias, ".", name, " does not exist"),
            location);
      }
      if (is_row_type(an, result->type.type) && result->type.type != kRecordType) {
        throw an.error(
            sqlstate::kUndefinedColumn,
            cat("column ", quoted(name), " not found in data type ", type_text(an, result->type.type)),
            location);
      }
      if (result->type.type == kRecordType) {
        throw an.error(sqlstate::kUndefinedColumn,
                       cat("could not identify column ", quoted(name), " in record data type"), location);
      }
      throw an.error(sqlstate::kWrongObjectType,
                     cat("column notation .", name, " applied to type ", type_text(an, result->type.type),
                         ", which is not a composite type"),
                     location);
    }
    result = field;
  }
  return result;
}

}  // namespace

Expr* transform_function_call(Scope& scope, const PgQuery__FuncCall* call) {
  Analysis& an = scope.an;
  std::vector<Expr*> args;
  std::vector<std::string_view> names;
  for (const raw::Node* arg : RAW_LIST(call, args)) {
    if (RAW_IS(arg, NAMED_ARG_EXPR)) {
      const std::string_view name = raw::text(arg->named_arg_expr->name);
      for (std::string_view other : names) {
        if (other == name) {
          throw an.error(sqlstate::kSyntaxError, cat("argument name ", quoted(name), " used more than once"),
                         arg->named_arg_expr->location);
        }
      }
      names.push_back(name);
      args.push_back(transform(scope, arg->named_arg_expr->arg));
      continue;
    }
    if (!names.empty()) {
      throw an.error(sqlstate::kSyntaxError, "positional argument cannot follow named argument",
                     raw::location(arg));
    }
    args.push_back(transform(scope, arg));
  }
  if (call->agg_within_group) {
    for (const raw::Node* item : RAW_LIST(call, agg_order)) {
      args.push_back(transform(scope, item->sort_by->node, ExprUse::kOrderBy));
    }
  }
  return resolve_function(scope, RAW_LIST(call, funcname), std::move(args), std::move(names), call,
                          call->location);
}

Expr* transform_type_cast(Scope& scope, const PgQuery__TypeCast* cast) {
  Analysis& an = scope.an;
  const ExprType target = resolve_type(an, cast->type_name);
  Expr* arg = nullptr;
  if (RAW_IS(cast->arg, A_ARRAY_EXPR)) {
    const Oid base = base_type(an, target.type);
    if (element_type(an, base).value != 0 && type_category(an, base) == 'A') {
      arg = transform_array(scope, cast->arg->a_array_expr, {base, target.type_modifier, {}});
    }
  }
  if (arg == nullptr) arg = transform(scope, cast->arg);
  const int location = cast->location >= 0 ? cast->location : cast->type_name->location;
  Expr* result = coerce_to_target(scope, arg, arg->type.type, target, CoercionContext::kExplicit,
                                  CallForm::kExplicitCast, location);
  if (result == nullptr) {
    throw an.error(
        sqlstate::kCannotCoerce,
        cat("cannot cast type ", type_text(an, arg->type.type), " to ", type_text(an, target.type)),
        location);
  }
  return result;
}

Expr* transform(Scope& scope, const raw::Node* node) {
  check_stack_depth();
  Analysis& an = scope.an;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_COLUMN_REF:
      return transform_column_ref(scope, node->column_ref);
    case PG_QUERY__NODE__NODE_PARAM_REF:
      return transform_param(scope, node->param_ref);
    case PG_QUERY__NODE__NODE_A_CONST:
      return transform_constant(an, node->a_const);
    case PG_QUERY__NODE__NODE_A_INDIRECTION:
      return transform_indirection(scope, node->a_indirection);
    case PG_QUERY__NODE__NODE_A_ARRAY_EXPR:
      return transform_array(scope, node->a_array_expr, {});
    case PG_QUERY__NODE__NODE_TYPE_CAST:
      return transform_type_cast(scope, node->type_cast);
    case PG_QUERY__NODE__NODE_COLLATE_CLAUSE:
      return transform_collate(scope, node->collate_clause);
    case PG_QUERY__NODE__NODE_A_EXPR:
      return transform_operator(scope, node->a_expr);
    case PG_QUERY__NODE__NODE_BOOL_EXPR:
      return transform_bool(scope, node->bool_expr);
    case PG_QUERY__NODE__NODE_FUNC_CALL:
      return transform_function_call(scope, node->func_call);
    case PG_QUERY__NODE__NODE_SUB_LINK:
      return transform_sublink(scope, node->sub_link);
    case PG_QUERY__NODE__NODE_CASE_EXPR:
      return transform_case(scope, node->case_expr);
    case PG_QUERY__NODE__NODE_ROW_EXPR:
      return transform_row(scope, node->row_expr);
    case PG_QUERY__NODE__NODE_COALESCE_EXPR:
      return transform_coalesce(scope, node->coalesce_expr);
    case PG_QUERY__NODE__NODE_MIN_MAX_EXPR:
      return transform_min_max(scope, node->min_max_expr);
    case PG_QUERY__NODE__NODE_SQLVALUE_FUNCTION:
      return transform_sql_value(scope, node->sqlvalue_function);
    case PG_QUERY__NODE__NODE_NULL_TEST:
      return transform_null_test(scope, node->null_test);
    case PG_QUERY__NODE__NODE_BOOLEAN_TEST:
      return transform_boolean_test(scope, node->boolean_test);
    case PG_QUERY__NODE__NODE_SET_TO_DEFAULT:
      throw an.error(sqlstate::kSyntaxError, "DEFAULT is not allowed in this context",
                     node->set_to_default->location);
    case PG_QUERY__NODE__NODE_GROUPING_FUNC:
      throw an.error(sqlstate::kFeatureNotSupported, "GROUPING is not supported",
                     node->grouping_func->location);
    case PG_QUERY__NODE__NODE_CURRENT_OF_EXPR:
      throw an.error(sqlstate::kFeatureNotSupported, "WHERE CURRENT OF is not supported");
    case PG_QUERY__NODE__NODE_XML_EXPR:
    case PG_QUERY__NODE__NODE_XML_SERIALIZE:
      throw an.error(sqlstate::kFeatureNotSupported, "unsupported XML feature", raw::location(node));
    default:
      throw an.error(sqlstate::kFeatureNotSupported, "this kind of expression is not supported",
                     raw::location(node));
  }
}

}  // namespace pinwheel::sql
