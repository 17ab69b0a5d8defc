#include "sql/analyze/functions.h"

#include "sql/analyze/coercion.h"
#include "sql/analyze/expressions.h"
#include "sql/analyze/types.h"

namespace pinwheel::sql {

std::string function_signature(Analysis& an, std::string_view name, std::span<const Oid> types,
                               std::span<const std::string_view> arg_names) {
  std::string out = cat(name, "(");
  const std::size_t positional = types.size() - arg_names.size();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += ", ";
    if (i >= positional) out += cat(arg_names[i - positional], " => ");
    out += type_text(an, types[i]);
  }
  return out + ")";
}

namespace {

/// Matches named arguments to parameters; false when the function does not take them.
bool match_names(const ViewedFunction& function, std::size_t positional,
                 std::span<const std::string_view> names, Candidate& candidate) {
  if (function.arg_names.empty()) return false;
  std::vector<bool> given(function.args.size(), false);
  for (std::size_t i = 0; i < positional; ++i) {
    candidate.arg_numbers.push_back(static_cast<int>(i));
    given[i] = true;
  }
  for (std::string_view name : names) {
    int input = 0;
    bool found = false;
    const std::size_t total = function.all_args.empty() ? function.args.size() : function.all_args.size();
    for (std::size_t i = 0; i < total && i < function.arg_names.size(); ++i) {
      const char mode = function.arg_modes.empty() ? 'i' : function.arg_modes[i];
      if (mode != 'i' && mode != 'b' && mode != 'v') continue;
      if (function.arg_names[i] == name) {
        if (given[input]) return false;
        given[input] = true;
        candidate.arg_numbers.push_back(input);
        found = true;
        break;
      }
      ++input;
    }
    if (!found) return false;
  }
  // What was not given must have a default.
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i]) continue;
    if (i + function.defaults.size() < given.size()) return false;
    candidate.arg_numbers.push_back(static_cast<int>(i));
    ++candidate.default_args;
  }
  for (int number : candidate.arg_numbers) candidate.args.push_back(function.args[number]);
  return true;
}

std::vector<Candidate> collect(Analysis& an, std::string_view schema, std::string_view name,
                               std::size_t nargs, std::span<const std::string_view> arg_names,
                               bool expand_variadic) {
  std::vector<Candidate> candidates;
  for (const ViewedFunction* function : an.catalog.find_functions(schema, name)) {
    Candidate candidate;
    candidate.function = function;
    const std::size_t declared = function->args.size();
    if (!arg_names.empty()) {
      if (declared < nargs || (function->variadic.value != 0 && expand_variadic)) continue;
      if (!match_names(*function, nargs - arg_names.size(), arg_names, candidate)) continue;
      candidates.push_back(std::move(candidate));
      continue;
    }
    const bool variadic = function->variadic.value != 0 && expand_variadic;
    if (declared > nargs) {
      if (nargs + function->defaults.size() < declared) continue;
      candidate.args.assign(function->args.begin(), function->args.end());
      candidate.default_args = static_cast<int>(declared - nargs);
    } else if (variadic && declared <= nargs) {
      candidate.args.assign(function->args.begin(), function->args.end() - 1);
      candidate.args.resize(nargs, function->variadic);
      candidate.variadic_args = static_cast<int>(nargs - declared + 1);
    } else if (declared == nargs) {
      candidate.args.assign(function->args.begin(), function->args.end());
    } else {
      continue;
    }
    candidates.push_back(std::move(candidate));
  }
  // Of equal signatures the plain one beats the variadic one, and fewer defaults beat more.
  std::vector<Candidate> kept;
  for (Candidate& candidate : candidates) {
    bool drop = false;
    for (Candidate& other : kept) {
      if (!std::equal(other.args.begin(),
                      other.args.begin() + static_cast<long>(std::min(other.args.size(), nargs)),
                      candidate.args.begin(),
                      candidate.args.begin() + static_cast<long>(std::min(candidate.args.size(), nargs)))) {
        continue;
      }
      const auto rank = [](const Candidate& c) { return (c.variadic_args > 0 ? 1000 : 0) + c.default_args; };
      if (rank(candidate) < rank(other)) std::swap(other, candidate);
      drop = true;
      break;
    }
    if (!drop) kept.push_back(std::move(candidate));
  }
  return kept;
}

/// A lone argument and a name that is a type: a cast in function notation. Returns the type, 0 when it is
/// none.
Oid cast_notation(Analysis& an, raw::NodeList names, const Expr* arg) {
  const Oid target = find_type_by_names(an, names);
  if (target.value == 0 || type_of(an, target).kind == 'p') return {};
  const Oid source = arg->type.type;
  if (source == kUnknownType) return target;
  switch (find_coercion_path(an, target, source, CoercionContext::kExplicit).kind) {
    case CoercionPath::Kind::kRelabel:
      return target;
    case CoercionPath::Kind::kViaIo:
      return is_row_type(an, source) && type_category(an, target) == 'S' ? Oid{} : target;
    default:
      return {};
  }
}

[[noreturn]] void throw_not_found(Scope& scope, raw::NodeList names, std::span<const Oid> types,
                                  std::span<const std::string_view> arg_names, const PgQuery__FuncCall* call,
                                  bool ambiguous, int location) {
  Analysis& an = scope.an;
  const std::string signature = function_signature(an, dotted(names), types, arg_names);
  if (ambiguous) {
    throw an.error(sqlstate::kAmbiguousFunction, cat("function ", signature, " is not unique"), location)
        .hint("Could not choose a best candidate function. You might need to add explicit type casts.");
  }
  if (call != nullptr && call->n_agg_order > 0 && !call->agg_within_group) {
    throw an.error(sqlstate::kUndefinedFunction, cat("function ", signature, " does not exist"), location)
        .hint(
            "No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER "
            "BY; ORDER "
            "BY must appear after all regular arguments of the aggregate.");
  }
  throw an.error(sqlstate::kUndefinedFunction, cat("function ", signature, " does not exist"), location)
      .hint(
          "No function matches the given name and argument types. You might need to add explicit type "
          "casts.");
}

void refuse_decorations(Analysis& an, const PgQuery__FuncCall* call, std::string_view name, int location) {
  if (call == nullptr) return;
  const auto refuse = [&](std::string_view what, std::string_view kind = "an aggregate function") {
    throw an.error(sqlstate::kWrongObjectType, cat(what, " specified, but ", name, " is not ", kind),
                   location);
  };
  if (call->agg_star) refuse(cat(name, "(*)"));
  if (call->agg_distinct) refuse("DISTINCT");
  if (call->agg_within_group) refuse("WITHIN GROUP");
  if (call->n_agg_order > 0) refuse("ORDER BY");
  if (call->agg_filter != nullptr) refuse("FILTER");
  if (call->over != nullptr) refuse("OVER", "a window function nor an aggregate function");
}

/// Set-returning functions stand in targets, FROM, and few other places.
void check_set_placement(Scope& scope, const PgQuery__Node* seen_before, int location) {
  Analysis& an = scope.an;
  (void)seen_before;
  switch (scope.use) {
    case ExprUse::kSelectTarget:
    case ExprUse::kInsertTarget:
    case ExprUse::kDistinctOn:
    case ExprUse::kGroupBy:
    case ExprUse::kOrderBy:
    case ExprUse::kValuesSingle:
      scope.has_set_functions = true;
      return;
    case ExprUse::kFromFunction:
      return;
    case ExprUse::kNone:
      return;
    default:
      break;
  }
  std::string place;
  switch (scope.use) {
    case ExprUse::kJoinOn:
    case ExprUse::kJoinUsing:
      place = "JOIN conditions";
      break;
    case ExprUse::kWindowPartition:
    case ExprUse::kWindowOrder:
    case ExprUse::kWindowRange:
    case ExprUse::kWindowRows:
    case ExprUse::kWindowGroups:
      place = "window definitions";
      break;
    default:
      place = placement_name(scope.use);
      break;
  }
  throw an.error(sqlstate::kFeatureNotSupported, cat("set-returning functions are not allowed in ", place),
                 location);
}

/// Gathers the arguments that VARIADIC spreads into one array.
void gather_variadic(Scope& scope, const Candidate& candidate, std::vector<Expr*>& args, Oid array,
                     int location) {
  Analysis& an = scope.an;
  const std::size_t fixed = args.size() - static_cast<std::size_t>(candidate.variadic_args);
  std::vector<Expr*> elements(args.begin() + static_cast<long>(fixed), args.end());
  args.resize(fixed);
  ArrayExpr* node = an.arena.make<ArrayExpr>();
  node->element_type = elements.empty() ? element_type(an, array) : elements[0]->type.type;
  node->type = plain_type(an, array_type(an, node->element_type));
  node->elements = to_span(an.arena, elements);
  node->location = elements.empty() ? location : location_of(elements[0]);
  args.push_back(node);
}

}  // namespace

Expr* resolve_function(Scope& scope, raw::NodeList names, std::vector<Expr*> args,
                       std::vector<std::string_view> arg_names, const PgQuery__FuncCall* call, int location) {
  Analysis& an = scope.an;
  if (args.size() > 100) {
    throw an.error(sqlstate::kTooManyArguments, "cannot pass more than 100 arguments to a function",
                   location);
  }
  std::string_view schema, name;
  split_name(an, names, schema, name, location);
  require_schema(an, schema, location);
  std::vector<Oid> types;
  for (const Expr* arg : args) types.push_back(arg->type.type);
  const bool written_variadic = call != nullptr && call->func_variadic;

  std::vector<Candidate> candidates = collect(an, schema, name, args.size(), arg_names, !written_variadic);
  const Candidate* chosen = nullptr;
  for (const Candidate& candidate : candidates) {
    if (candidate.args.size() >= types.size() &&
        std::equal(types.begin(), types.end(), candidate.args.begin())) {
      chosen = &candidate;
      break;
    }
  }
  bool ambiguous = false;
  const bool bare = call == nullptr || (!call->agg_star && !call->agg_distinct && !call->agg_within_group &&
                                        call->n_agg_order == 0 && call->agg_filter == nullptr &&
                                        call->over == nullptr && !call->func_variadic);
  if (chosen == nullptr) {
    if (args.size() == 1 && arg_names.empty() && bare) {
      if (const Oid target = cast_notation(an, names, args[0]); target.value != 0) {
        return coerce_type(scope, args[0], types[0], target, -1, CoercionContext::kExplicit,
                           CallForm::kExplicitCast, location);
      }
    }
    std::vector<const Candidate*> fitting = match_candidates(an, types, candidates);
    if (fitting.size() == 1) {
      chosen = fitting.front();
    } else if (!fitting.empty()) {
      chosen = select_candidate(an, types, fitting);
      ambiguous = chosen == nullptr;
    }
  }
  if (chosen == nullptr) {
    // f(row) may be a column in function notation.
    if (args.size() == 1 && arg_names.empty() && bare && schema.empty() && !ambiguous) {
      if (Expr* field = select_field(scope, args[0], name, location)) return field;
    }
    throw_not_found(scope, names, types, arg_names, call, ambiguous, location);
  }

  const ViewedFunction& function = *chosen->function;
  if (function.kind == 'p') {
    throw an
        .error(sqlstate::kWrongObjectType,
               cat(function_signature(an, dotted(names), types, arg_names), " is a procedure"), location)
        .hint("To call a procedure, use CALL.");
  }
  if (function.kind == 'f') refuse_decorations(an, call, dotted(names), location);
  if (function.kind == 'w') {
    if (call == nullptr || call->over == nullptr) {
      throw an.error(sqlstate::kWrongObjectType,
                     cat("window function ", dotted(names), " requires an OVER clause"), location);
    }
    if (call->agg_within_group) {
      throw an.error(sqlstate::kWrongObjectType,
                     cat("window function ", dotted(names), " cannot have WITHIN GROUP"), location);
    }
  }
  if (function.kind == 'a' && call != nullptr) {
    if (call->agg_within_group && function.aggregate_kind == 'n') {
      throw an.error(sqlstate::kWrongObjectType,
                     cat(dotted(names), " is not an ordered-set aggregate, so it cannot have WITHIN GROUP"),
                     location);
    }
    if (!call->agg_within_group && function.aggregate_kind != 'n') {
      throw an.error(sqlstate::kWrongObjectType,
                     cat("WITHIN GROUP is required for ordered-set aggregate ", dotted(names)), location);
    }
    if (call->over != nullptr && function.aggregate_kind != 'n') {
      throw an.error(sqlstate::kFeatureNotSupported,
                     cat("OVER is not supported for ordered-set aggregate ", dotted(names)), location);
    }
    if (!arg_names.empty()) {
      throw an.error(sqlstate::kFeatureNotSupported, "aggregates cannot use named arguments", location);
    }
  }

  // Defaults stand for what was not given.
  for (int i = chosen->default_args; i > 0; --i) {
    const std::size_t which = chosen->arg_numbers.empty()
                                  ? function.defaults.size() - static_cast<std::size_t>(i)
                                  : static_cast<std::size_t>(chosen->arg_numbers[args.size()]) +
                                        function.defaults.size() - function.args.size();
    Expr* value = transform_source_text(an, function.defaults[which], ExprUse::kNone);
    args.push_back(value);
    types.push_back(value->type.type);
  }
  std::vector<Oid> declared = chosen->args;
  declared.resize(args.size(), kAnyType);
  Oid result;
  try {
    result = resolve_polymorphic(scope, types, declared, function.result);
  } catch (SqlError& error) {
    if (error.fields().position == 0) error.fields().position = character_position(an.text, location);
    throw;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    args[i] = coerce_type(scope, args[i], types[i], declared[i], -1, CoercionContext::kImplicit,
                          CallForm::kImplicitCast, -1);
  }
  bool variadic = written_variadic;
  if (!chosen->arg_numbers.empty()) {
    std::vector<Expr*> ordered(args.size());
    for (std::size_t i = 0; i < args.size(); ++i)
      ordered[static_cast<std::size_t>(chosen->arg_numbers[i])] = args[i];
    args = std::move(ordered);
  }
  if (chosen->variadic_args > 0 && function.variadic != kAnyType) {
    // The declared parameter is an array; printing spreads it again.
    gather_variadic(scope, *chosen, args, declared.back(), location);
    variadic = true;
  } else if (written_variadic && function.variadic == kAnyType && !args.empty()) {
    if (element_type(an, args.back()->type.type).value == 0) {
      throw an.error(sqlstate::kDatatypeMismatch, "VARIADIC argument must be an array",
                     location_of(args.back()));
    }
  }
  Expr* filter = nullptr;
  if (call != nullptr && call->agg_filter != nullptr) {
    UseGuard guard{scope, ExprUse::kFilter};
    filter = coerce_to_boolean(scope, transform(scope, call->agg_filter), "FILTER");
  }
  if (function.kind == 'a' && (call == nullptr || call->over == nullptr)) {
    if (args.empty() && !(call != nullptr && (call->agg_star || call->agg_within_group))) {
      throw an.error(sqlstate::kWrongObjectType,
                     cat(dotted(names), "(*) must be used to call a parameterless aggregate function"),
                     location);
    }
    return finish_aggregate(scope, function, std::move(args), result, call, variadic, filter, location);
  }
  if (function.kind == 'a' || function.kind == 'w') {
    if (args.empty() && function.kind == 'a' && !call->agg_star) {
      throw an.error(sqlstate::kWrongObjectType,
                     cat(dotted(names), "(*) must be used to call a parameterless aggregate function"),
                     location);
    }
    return finish_window_function(scope, function, std::move(args), result, call, filter, location);
  }
  if (function.returns_set) check_set_placement(scope, nullptr, location);
  FunctionExpr* node = an.arena.make<FunctionExpr>();
  node->function = function.oid;
  node->type = plain_type(an, result);
  node->returns_set = function.returns_set;
  node->variadic = variadic;
  node->form = call != nullptr && call->funcformat == PG_QUERY__COERCION_FORM__COERCE_SQL_SYNTAX
                   ? CallForm::kSqlSyntax
                   : CallForm::kCall;
  node->args = to_span(an.arena, args);
  node->location = location;
  if (function.returns_set) scope.last_set_expr = node;
  return node;
}

}  // namespace pinwheel::sql
