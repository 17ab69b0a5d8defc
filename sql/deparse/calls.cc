#include "sql/deparse/deparser.h"
#include "sql/types/type_oids.h"

/// Casts, functions (with SQL's own syntax where it was used), aggregates and window functions.
namespace pinwheel::sql {

void Deparser::cast(const Expr* arg, Oid type, std::int32_t modifier, const Expr* parent) {
  const ConstExpr* value = expr_if<ConstExpr>(arg);
  if (value != nullptr && value->type.type == type && value->type.type_modifier == -1) {
    constant(value, -1);  // the cast itself is the label
  } else {
    wrapped(!pretty(), [&] { paren(arg, false, parent); });
  }
  out_ += "::" + type_text(type, modifier);
}

namespace {

/// The modifier that a length-coercion call applies; -1 for any other.
std::int32_t length_modifier(const FunctionExpr* call) {
  if (call->form == CallForm::kCall || call->args.size() < 2 || call->args.size() > 3) return -1;
  const ConstExpr* modifier = expr_if<ConstExpr>(call->args[1]);
  if (modifier == nullptr || modifier->type.type != kInt4Type || modifier->is_null) return -1;
  return modifier->value.as_int32();
}

}  // namespace

bool Deparser::sql_syntax(const FunctionExpr* call, std::string_view name) {
  const ExprList args = call->args;
  const auto arg = [&](std::size_t i) { expression(args[i], false); };
  if (name == "timezone" && args.size() == 2) {
    out_ += '(';
    paren(args[1], false, call);
    out_ += " AT TIME ZONE ";
    paren(args[0], false, call);
    out_ += ')';
    return true;
  }
  if (name == "overlaps" && args.size() == 4) {
    out_ += "((";
    arg(0);
    out_ += ", ";
    arg(1);
    out_ += ") OVERLAPS (";
    arg(2);
    out_ += ", ";
    arg(3);
    out_ += "))";
    return true;
  }
  if (name == "extract" && args.size() == 2) {
    const ConstExpr* field = expr_if<ConstExpr>(args[0]);
    if (field == nullptr || field->is_null) return false;
    out_ += "EXTRACT(" + std::string{var_view(field->value)} + " FROM ";
    arg(1);
    out_ += ')';
    return true;
  }
  if (name == "overlay") {
    out_ += "OVERLAY(";
    arg(0);
    out_ += " PLACING ";
    arg(1);
    out_ += " FROM ";
    arg(2);
    if (args.size() == 4) {
      out_ += " FOR ";
      arg(3);
    }
    out_ += ')';
    return true;
  }
  if (name == "position" && args.size() == 2) {
    out_ += "POSITION((";
    arg(1);
    out_ += ") IN (";
    arg(0);
    out_ += "))";
    return true;
  }
  if (name == "substring" && args.size() >= 2 && (args.size() == 3 || args[1]->type.type == kInt4Type)) {
    const bool similar = args.size() == 3 && args[1]->type.type == kTextType;
    out_ += "SUBSTRING(";
    arg(0);
    out_ += similar ? " SIMILAR " : " FROM ";
    arg(1);
    if (args.size() == 3) {
      out_ += similar ? " ESCAPE " : " FOR ";
      arg(2);
    }
    out_ += ')';
    return true;
  }
  if (name == "btrim" || name == "ltrim" || name == "rtrim") {
    out_ += name[0] == 'b' ? "TRIM(BOTH" : name[0] == 'l' ? "TRIM(LEADING" : "TRIM(TRAILING";
    if (args.size() == 2) {
      out_ += ' ';
      arg(1);
    }
    out_ += " FROM ";
    arg(0);
    out_ += ')';
    return true;
  }
  if (name == "normalize") {
    out_ += "NORMALIZE(";
    arg(0);
    if (args.size() == 2) {
      const ConstExpr* form = expr_if<ConstExpr>(args[1]);
      if (form != nullptr && !form->is_null) out_ += ", " + std::string{var_view(form->value)};
    }
    out_ += ')';
    return true;
  }
  return false;
}

void Deparser::function(const FunctionExpr* call, bool show_implicit) {
  if (call->form == CallForm::kImplicitCast && !show_implicit && !call->args.empty()) {
    paren(call->args[0], false, call);
    return;
  }
  if ((call->form == CallForm::kExplicitCast || call->form == CallForm::kImplicitCast) &&
      !call->args.empty()) {
    cast(call->args[0], call->type.type, length_modifier(call), call);
    return;
  }
  const ViewedFunction* info = catalog_.function(call->function);
  if (call->form == CallForm::kSqlSyntax && info != nullptr && sql_syntax(call, info->name)) return;
  out_ += function_name(call->function) + "(";
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    if (i > 0) out_ += ", ";
    if (call->variadic && i + 1 == call->args.size()) out_ += "VARIADIC ";
    expression(call->args[i], true);
  }
  out_ += ')';
}

void Deparser::aggregate(const AggregateExpr* aggregate) {
  out_ += function_name(aggregate->function) + "(";
  if (aggregate->distinct) out_ += "DISTINCT ";
  std::vector<Target> targets;
  for (Expr* arg : aggregate->args) {
    Target target;
    target.expr = arg;
    targets.push_back(target);
  }
  const std::size_t passed = aggregate->args.size() - aggregate->hidden_args;
  const ViewedFunction* info = catalog_.function(aggregate->function);
  if (info != nullptr && info->aggregate_kind != 'n') {
    list(aggregate->direct_args, true);
    out_ += ") WITHIN GROUP (ORDER BY ";
    order_by(aggregate->order_by, targets, false);
  } else {
    if (aggregate->star) out_ += '*';
    for (std::size_t i = 0; i < passed; ++i) {
      if (i > 0) out_ += ", ";
      if (aggregate->variadic && i + 1 == passed) out_ += "VARIADIC ";
      expression(aggregate->args[i], true);
    }
    if (!aggregate->order_by.empty()) {
      out_ += " ORDER BY ";
      order_by(aggregate->order_by, targets, false);
    }
  }
  if (aggregate->filter != nullptr) {
    out_ += ") FILTER (WHERE ";
    expression(aggregate->filter, false);
  }
  out_ += ')';
}

void Deparser::window_function(const WindowFunctionExpr* call) {
  out_ += function_name(call->function) + "(";
  if (call->star) {
    out_ += '*';
  } else {
    list(call->args, true);
  }
  if (call->filter != nullptr) {
    out_ += ") FILTER (WHERE ";
    expression(call->filter, false);
  }
  out_ += ") OVER ";
  const DeparseLevel* at = level(0);
  if (at == nullptr || at->query == nullptr ||
      call->window_index >= static_cast<int>(at->query->windows.size())) {
    out_ += "(?)";
    return;
  }
  const WindowClause& window = at->query->windows[call->window_index];
  if (!window.name.empty()) {
    out_ += quote_identifier(window.name);
  } else {
    window_spec(window, *at->query);
  }
}

}  // namespace pinwheel::sql
