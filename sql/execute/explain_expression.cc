#include "sql/execute/explain_expression.h"

#include <algorithm>
#include <utility>

#include "sql/catalog/builtin.h"
#include "sql/deparse/deparse.h"
#include "sql/functions/function.h"
#include "sql/plan/plan_expression.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

std::string type_text(Oid type, std::int32_t modifier = -1) {
  std::string text = format_builtin_type(type, modifier, modifier >= 0);
  return text.empty() ? std::to_string(type.value) : text;
}

std::string operator_name(Oid op) {
  const BuiltinOperator* row = find_operator(op);
  return row != nullptr ? std::string{row->name} : "?";
}

}  // namespace

ExplainText::ExplainText(const CachedPlan& plan, bool verbose)
    : plan_{plan},
      verbose_{verbose},
      several_{std::count_if(
                   plan.ranges.begin(), plan.ranges.end(),
                   [](const PlanRange& r) { return !r.alias.empty() && r.kind != RangeKind::kResult; }) > 1},
      prefix_{verbose || several_} {}

void ExplainText::define(std::span<const SubPlanArgument> parameters) {
  for (const SubPlanArgument& parameter : parameters) parameters_[parameter.slot] = parameter.value;
}

std::string ExplainText::range_name(int range) {
  return quote_identifier(plan_.ranges[static_cast<std::size_t>(range)].alias);
}

std::string ExplainText::column(const ColumnExpr* c) {
  if (c->range_index < 0 || static_cast<std::size_t>(c->range_index) >= plan_.ranges.size()) return "?";
  const PlanRange& range = plan_.ranges[static_cast<std::size_t>(c->range_index)];
  std::string name;
  switch (c->attribute) {
    case 0:
      return range_name(c->range_index) + ".*";
    case kTidAttribute:
    case kRowIdentityAttribute:
      name = "ctid";
      break;
    case kTableOidAttribute:
      name = "tableoid";
      break;
    case kXminAttribute:
      name = "xmin";
      break;
    case kXmaxAttribute:
      name = "xmax";
      break;
    case kCminAttribute:
      name = "cmin";
      break;
    case kCmaxAttribute:
      name = "cmax";
      break;
    default:
      if (static_cast<std::size_t>(c->attribute) > range.columns.size()) return "?";
      name = quote_identifier(range.columns[static_cast<std::size_t>(c->attribute) - 1].name);
      break;
  }
  return prefix_ && !range.alias.empty() ? range_name(c->range_index) + "." + name : name;
}

std::string ExplainText::constant(const ConstExpr* c) {
  if (c->is_null) return "NULL::" + type_text(c->type.type, c->type.type_modifier);
  const TypeInfo* type = find_type(c->type.type);
  if (type == nullptr) return "?";
  const std::string text = output_value(*type, c->value, arena_, eval_);
  switch (c->type.type.value) {
    case 16:
      return text == "t" ? "true" : "false";
    case 23:
      return text[0] == '-' ? "'" + text + "'::integer" : text;
    case 1700:
      if (text.find_first_not_of("0123456789.") == std::string::npos) return text;
      break;
    default:
      break;
  }
  return quote_literal(text) + "::" + type_text(c->type.type, c->type.type_modifier);
}

std::string ExplainText::list(ExprList args) {
  std::string text;
  for (const Expr* arg : args) {
    if (!text.empty()) text += ", ";
    text += expression(arg);
  }
  return text;
}

std::string ExplainText::call(Oid function, ExprList args) {
  const ProcInfo* info = find_proc_info(function);
  return std::string{info != nullptr ? info->name : "?"} + "(" + list(args) + ")";
}

std::string ExplainText::operand(const Expr* e) { return expression(e); }

std::string ExplainText::expression(const Expr* e) {
  if (e == nullptr) return "";
  switch (e->kind) {
    case ExprKind::kSlotColumn: {
      const auto* c = expr_cast<SlotColumnExpr>(e);
      return c->origin != nullptr ? expression(c->origin) : "\"column" + std::to_string(c->index + 1) + "\"";
    }
    case ExprKind::kColumn:
      return column(expr_cast<ColumnExpr>(e));
    case ExprKind::kConst:
      return constant(expr_cast<ConstExpr>(e));
    case ExprKind::kParam:
      return "$" + std::to_string(expr_cast<ParamExpr>(e)->index + 1);
    case ExprKind::kExecParam: {
      const int slot = expr_cast<ExecParamExpr>(e)->slot;
      const auto found = parameters_.find(slot);
      if (found == parameters_.end()) return "$" + std::to_string(slot);
      // It is another relation's value: that has to be seen even where columns are shown bare.
      const bool prefix = std::exchange(prefix_, true);
      std::string text = expression(found->second);
      prefix_ = prefix;
      return text;
    }
    case ExprKind::kFunction: {
      const auto* f = expr_cast<FunctionExpr>(e);
      if (f->form != CallForm::kCall && f->form != CallForm::kSqlSyntax && !f->args.empty()) {
        if (f->form == CallForm::kImplicitCast) return expression(f->args[0]);
        return "(" + expression(f->args[0]) + ")::" + type_text(f->type.type, f->type.type_modifier);
      }
      return call(f->function, f->args);
    }
    case ExprKind::kOperator: {
      const auto* o = expr_cast<OperatorExpr>(e);
      if (o->args.size() == 1) return "(" + operator_name(o->op) + " " + operand(o->args[0]) + ")";
      return "(" + operand(o->args[0]) + " " + operator_name(o->op) + " " + operand(o->args[1]) + ")";
    }
    case ExprKind::kDistinct: {
      const auto* o = expr_cast<OperatorExpr>(e);
      return "(" + operand(o->args[0]) + " IS DISTINCT FROM " + operand(o->args[1]) + ")";
    }
    case ExprKind::kNullIf:
      return "NULLIF(" + list(expr_cast<OperatorExpr>(e)->args) + ")";
    case ExprKind::kScalarArray: {
      const auto* s = expr_cast<ScalarArrayExpr>(e);
      return "(" + operand(s->left) + " " + operator_name(s->op) + (s->any ? " ANY (" : " ALL (") +
             expression(s->array) + "))";
    }
    case ExprKind::kBool: {
      const auto* b = expr_cast<BoolExpr>(e);
      if (b->op == BoolOp::kNot) return "(NOT " + expression(b->args[0]) + ")";
      std::string text = "(";
      for (std::size_t i = 0; i < b->args.size(); ++i) {
        if (i != 0) text += b->op == BoolOp::kAnd ? " AND " : " OR ";
        text += expression(b->args[i]);
      }
      return text + ")";
    }
    case ExprKind::kCase: {
      const auto* c = expr_cast<CaseExpr>(e);
      std::string text = "CASE";
      if (c->argument != nullptr) text += " " + expression(c->argument);
      for (const CaseWhen& when : c->whens)
        text += " WHEN " + expression(when.condition) + " THEN " + expression(when.result);
      if (c->otherwise != nullptr) text += " ELSE " + expression(c->otherwise);
      return text + " END";
    }
    case ExprKind::kCaseValue:
      return "CASE_TEST_EXPR";
    case ExprKind::kCoalesce:
      return "COALESCE(" + list(expr_cast<CoalesceExpr>(e)->args) + ")";
    case ExprKind::kMinMax:
      return std::string{expr_cast<MinMaxExpr>(e)->greatest ? "GREATEST(" : "LEAST("} +
             list(expr_cast<MinMaxExpr>(e)->args) + ")";
    case ExprKind::kNullTest: {
      const auto* t = expr_cast<NullTestExpr>(e);
      return "(" + expression(t->arg) + (t->is_null ? " IS NULL)" : " IS NOT NULL)");
    }
    case ExprKind::kBooleanTest: {
      constexpr const char* kWords[] = {" IS TRUE)",      " IS NOT TRUE)", " IS FALSE)",
                                        " IS NOT FALSE)", " IS UNKNOWN)",  " IS NOT UNKNOWN)"};
      const auto* t = expr_cast<BooleanTestExpr>(e);
      return "(" + expression(t->arg) + kWords[static_cast<int>(t->test)];
    }
    case ExprKind::kRelabel: {
      const auto* r = expr_cast<RelabelExpr>(e);
      if (r->form == CallForm::kImplicitCast && r->type.type != kTextType) return expression(r->arg);
      return "(" + expression(r->arg) + ")::" + type_text(r->type.type, r->type.type_modifier);
    }
    case ExprKind::kCoerceViaIo:
      return "(" + expression(expr_cast<CoerceViaIoExpr>(e)->arg) +
             ")::" + type_text(e->type.type, e->type.type_modifier);
    case ExprKind::kArrayCoerce:
      return "(" + expression(expr_cast<ArrayCoerceExpr>(e)->arg) +
             ")::" + type_text(e->type.type, e->type.type_modifier);
    case ExprKind::kArray:
      return "ARRAY[" + list(expr_cast<ArrayExpr>(e)->elements) + "]";
    case ExprKind::kSubscript: {
      const auto* s = expr_cast<SubscriptExpr>(e);
      std::string text = expression(s->container);
      for (std::size_t i = 0; i < s->upper.size(); ++i) {
        text += "[";
        if (!s->lower.empty()) text += expression(s->lower[i]) + ":";
        text += expression(s->upper[i]) + "]";
      }
      return text;
    }
    case ExprKind::kRow:
      return "ROW(" + list(expr_cast<RowExpr>(e)->args) + ")";
    case ExprKind::kRowCompare: {
      constexpr const char* kWords[] = {" < ", " <= ", " >= ", " > "};
      const auto* r = expr_cast<RowCompareExpr>(e);
      return "(ROW(" + list(r->left) + ")" + kWords[static_cast<int>(r->op)] + "ROW(" + list(r->right) + "))";
    }
    case ExprKind::kFieldSelect:
      return "(" + expression(expr_cast<FieldSelectExpr>(e)->arg) + ").f" +
             std::to_string(expr_cast<FieldSelectExpr>(e)->field);
    case ExprKind::kAggregate: {
      const auto* a = expr_cast<AggregateExpr>(e);
      const ProcInfo* info = find_proc_info(a->function);
      std::string text = std::string{info != nullptr ? info->name : "?"} + "(";
      if (a->star)
        text += "*";
      else
        text += (a->distinct ? "DISTINCT " : "") + list(a->args);
      text += ")";
      if (a->filter != nullptr) text += " FILTER (WHERE " + expression(a->filter) + ")";
      return text;
    }
    case ExprKind::kWindowFunction: {
      const auto* w = expr_cast<WindowFunctionExpr>(e);
      const ProcInfo* info = find_proc_info(w->function);
      return std::string{info != nullptr ? info->name : "?"} + "(" + (w->star ? "*" : list(w->args)) +
             ") OVER (?)";
    }
    case ExprKind::kSqlValue: {
      constexpr const char* kWords[] = {"CURRENT_DATE",   "CURRENT_TIME",    "CURRENT_TIMESTAMP", "LOCALTIME",
                                        "LOCALTIMESTAMP", "CURRENT_ROLE",    "CURRENT_USER",      "USER",
                                        "SESSION_USER",   "CURRENT_CATALOG", "CURRENT_SCHEMA"};
      return kWords[static_cast<int>(expr_cast<SqlValueExpr>(e)->value)];
    }
    case ExprKind::kCollate:
      return expression(expr_cast<CollateExpr>(e)->arg);
    case ExprKind::kSubPlan: {
      const auto* s = expr_cast<SubPlanExpr>(e);
      return std::string{s->hashed ? "(hashed " : "("} + "SubPlan " + std::to_string(s->subplan + 1) + ")";
    }
    default:
      return "?";
  }
}

std::string ExplainText::output(const Expr* e) {
  const bool prefix = std::exchange(prefix_, several_);
  std::string text = expression(e);
  prefix_ = prefix;
  return text;
}

std::string ExplainText::scan_condition(ExprList quals) {
  const bool prefix = std::exchange(prefix_, verbose_);
  std::string text = condition(quals);
  prefix_ = prefix;
  return text;
}

std::string ExplainText::condition(ExprList quals) {
  if (quals.empty()) return "";
  if (quals.size() == 1) {
    const std::string text = expression(quals[0]);
    return text;
  }
  std::string text = "(";
  for (std::size_t i = 0; i < quals.size(); ++i) {
    if (i != 0) text += " AND ";
    text += expression(quals[i]);
  }
  return text + ")";
}

}  // namespace pinwheel::sql
