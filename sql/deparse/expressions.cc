#include <algorithm>

#include "sql/deparse/deparser.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

// --- Names

std::string Deparser::type_text(Oid type, std::int32_t modifier) const {
  return type_name_text(type, modifier, catalog_, options_.qualify_all, true);
}

std::string Deparser::operator_text(Oid oid) const {
  const ViewedOperator* op = catalog_.op(oid);
  if (op == nullptr) return "???";
  if (op->schema_name.empty() || op->schema_name == "pg_catalog") return std::string{op->name};
  return "OPERATOR(" + quote_identifier(op->schema_name) + "." + std::string{op->name} + ")";
}

std::string Deparser::function_name(Oid oid) const {
  const ViewedFunction* function = catalog_.function(oid);
  if (function == nullptr) return "???";
  const bool builtin = function->schema_name.empty() || function->schema_name == "pg_catalog";
  return quote_qualified(builtin ? std::string_view{} : function->schema_name, function->name);
}

void Deparser::list(std::span<Expr* const> exprs, bool show_implicit) {
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    if (i > 0) out_ += ", ";
    expression(exprs[i], show_implicit);
  }
}

// --- Parentheses

namespace {

std::string_view simple_operator(const Expr* expr, AnalyzerCatalog& catalog) {
  const OperatorExpr* op = expr_if<OperatorExpr>(expr);
  if (op == nullptr || op->args.size() != 2) return {};
  const ViewedOperator* info = catalog.op(op->op);
  return info != nullptr && info->name.size() == 1 ? info->name : std::string_view{};
}

/// Parents that put parentheses, brackets or keywords around their arguments.
bool parent_encloses(const Expr* parent) {
  if (parent == nullptr) return false;
  switch (parent->kind) {
    case ExprKind::kFunction:
      return expr_cast<FunctionExpr>(parent)->form == CallForm::kCall;
    case ExprKind::kBool:
    case ExprKind::kSubscript:
    case ExprKind::kArray:
    case ExprKind::kRow:
    case ExprKind::kCoalesce:
    case ExprKind::kMinMax:
    case ExprKind::kNullIf:
    case ExprKind::kAggregate:
    case ExprKind::kWindowFunction:
    case ExprKind::kCase:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// True when the text needs no parentheses below `parent` (pretty mode only).
bool Deparser::is_simple(const Expr* expr, const Expr* parent) const {
  if (expr == nullptr) return false;
  switch (expr->kind) {
    case ExprKind::kColumn:
    case ExprKind::kConst:
    case ExprKind::kParam:
    case ExprKind::kSetToDefault:
    case ExprKind::kSubscript:
    case ExprKind::kArray:
    case ExprKind::kRow:
    case ExprKind::kCoalesce:
    case ExprKind::kMinMax:
    case ExprKind::kSqlValue:
    case ExprKind::kNullIf:
    case ExprKind::kAggregate:
    case ExprKind::kWindowFunction:
    case ExprKind::kFunction:
    case ExprKind::kCase:
    case ExprKind::kExecParam:
    case ExprKind::kSlotColumn:
      return true;
    case ExprKind::kFieldSelect:
      return parent == nullptr || parent->kind != ExprKind::kFieldSelect;
    case ExprKind::kRelabel:
      return is_simple(expr_cast<RelabelExpr>(expr)->arg, expr);
    case ExprKind::kCoerceViaIo:
      return is_simple(expr_cast<CoerceViaIoExpr>(expr)->arg, expr);
    case ExprKind::kArrayCoerce:
      return is_simple(expr_cast<ArrayCoerceExpr>(expr)->arg, expr);
    case ExprKind::kOperator: {
      if (parent != nullptr && parent->kind == ExprKind::kOperator) {
        const std::string_view own = simple_operator(expr, catalog_),
                               outer = simple_operator(parent, catalog_);
        if (own.empty() || outer.empty()) return false;
        const auto one_of = [](std::string_view set, std::string_view op) {
          return set.find(op[0]) != set.npos;
        };
        const bool low = one_of("+-", own), high = one_of("*/%", own);
        const bool outer_low = one_of("+-", outer), outer_high = one_of("*/%", outer);
        if (!(low || high) || !(outer_low || outer_high)) return false;
        if (high && outer_low) return true;
        if (low && outer_high) return false;
        return expr_cast<OperatorExpr>(parent)->args[0] == expr;
      }
      return parent_encloses(parent);
    }
    case ExprKind::kSubLink:
    case ExprKind::kNullTest:
    case ExprKind::kBooleanTest:
    case ExprKind::kDistinct:
      return parent_encloses(parent);
    case ExprKind::kBool: {
      if (parent != nullptr && parent->kind == ExprKind::kBool) {
        const BoolOp own = expr_cast<BoolExpr>(expr)->op, outer = expr_cast<BoolExpr>(parent)->op;
        if (own == BoolOp::kOr) return outer == BoolOp::kOr;
        return outer != BoolOp::kNot;
      }
      return parent_encloses(parent);
    }
    default:
      return false;
  }
}

void Deparser::paren(const Expr* expr, bool show_implicit, const Expr* parent) {
  wrapped(pretty() && !is_simple(expr, parent), [&] { expression(expr, show_implicit); });
}

// --- Leaves

void Deparser::column_name(const ColumnExpr* node, std::string* bare, bool top_level) {
  const DeparseLevel* at = level(node->levels_up);
  int index = node->range_index;
  std::int16_t attribute = node->attribute;
  if (node->named_range_index >= 0) {
    index = node->named_range_index;
    attribute = node->named_attribute;
  }
  if (at == nullptr || index < 0 || index >= static_cast<int>(at->entries.size())) {
    out_ += "???";
    return;
  }
  const RangeEntry& entry = at->entries[index];
  const std::string& table = at->names[static_cast<std::size_t>(index)];
  std::string_view name;
  if (attribute > 0) {
    name = attribute <= static_cast<int>(entry.columns.size()) ? entry.columns[attribute - 1].name
                                                               : std::string_view{"???"};
    if (name.empty()) name = "?dropped?column?";
  } else if (attribute < 0) {
    static constexpr std::string_view kSystem[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
    name = attribute >= -6 ? kSystem[-attribute - 1] : std::string_view{"???"};
  }
  if (!table.empty() && (at->prefix || attribute == 0)) out_ += quote_identifier(table) + ".";
  if (attribute == 0) {
    out_ += '*';
    if (top_level) out_ += "::" + type_text(node->type.type, node->type.type_modifier);
    return;
  }
  out_ += quote_identifier(name);
  if (bare != nullptr) *bare = name;
}

namespace {

/// As standard_conforming_strings has it: only quotes are doubled.
std::string plain_literal(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + '\'';
}

}  // namespace

void Deparser::column(const ColumnExpr* node, bool top_level) { column_name(node, nullptr, top_level); }

void Deparser::constant(const ConstExpr* constant, int show_type) {
  const Oid type = constant->type.type;
  if (constant->is_null) {
    out_ += "NULL";
    if (show_type >= 0 && type != kUnknownType) {
      out_ += "::" + type_text(type, constant->type.type_modifier);
    } else if (show_type >= 0) {
      out_ += "::unknown";
    }
    return;
  }
  std::string text;
  if (const TypeInfo* info = find_type(type); info != nullptr && info->output != nullptr) {
    text = output_value(*info, constant->value, scratch_, eval_);
  } else if (type == kUnknownType) {
    text = cstring_view(constant->value);
  } else if (eval_.catalog != nullptr) {
    eval_.catalog->output_user_type(type, constant->value, text);
  }
  bool label = false;
  if (type == kInt4Type) {
    // A negative number would bind to operators around it in surprising ways.
    if (text[0] == '-') {
      out_ += "'" + text + "'";
      label = true;
    } else {
      out_ += text;
    }
  } else if (type == kNumericType) {
    if (!text.empty() && text[0] >= '0' && text[0] <= '9' && text.find_first_of("eE.") != std::string::npos) {
      out_ += text;
    } else {
      out_ += "'" + text + "'";
      label = true;
    }
  } else if (type == kBoolType) {
    out_ += text == "t" || text == "true" ? "true" : "false";
  } else {
    out_ += plain_literal(text);
  }
  if (show_type < 0) return;
  if (type == kNumericType) {
    label = label || constant->type.type_modifier >= 0;
  } else if (type != kBoolType && type != kUnknownType && type != kInt4Type) {
    label = true;
  }
  if (label || show_type > 0) out_ += "::" + type_text(type, constant->type.type_modifier);
  if (constant->type.collation.value != 0) {
    const ViewedType* info = catalog_.type(type);
    if (info != nullptr && info->collation != constant->type.collation) {
      out_ += " COLLATE " + catalog_.collation_name(constant->type.collation);
    }
  }
}

void Deparser::sql_value(const SqlValueExpr* value) {
  static constexpr std::string_view kNames[] = {"CURRENT_DATE",    "CURRENT_TIME",   "CURRENT_TIMESTAMP",
                                                "LOCALTIME",       "LOCALTIMESTAMP", "CURRENT_ROLE",
                                                "CURRENT_USER",    "USER",           "SESSION_USER",
                                                "CURRENT_CATALOG", "CURRENT_SCHEMA"};
  out_ += kNames[static_cast<int>(value->value)];
  if (value->type.type_modifier >= 0) out_ += "(" + std::to_string(value->type.type_modifier) + ")";
}

void Deparser::operation(const OperatorExpr* op, std::string_view word) {
  wrapped(!pretty(), [&] {
    if (op->args.size() == 2) {
      paren(op->args[0], true, op);
      out_ += " " + (word.empty() ? operator_text(op->op) : std::string{word}) + " ";
      paren(op->args[1], true, op);
    } else {
      out_ += operator_text(op->op) + " ";
      paren(op->args[0], true, op);
    }
  });
}

void Deparser::boolean(const BoolExpr* expr) {
  if (expr->op == BoolOp::kNot) {
    wrapped(!pretty(), [&] {
      out_ += "NOT ";
      paren(expr->args[0], false, expr);
    });
    return;
  }
  wrapped(!pretty(), [&] {
    for (std::size_t i = 0; i < expr->args.size(); ++i) {
      if (i > 0) out_ += expr->op == BoolOp::kAnd ? " AND " : " OR ";
      paren(expr->args[i], false, expr);
    }
  });
}

void Deparser::row(const RowExpr* row) {
  out_ += "ROW(";
  list(row->args, true);
  out_ += ')';
  if (row->type.type != kRecordType) out_ += "::" + type_text(row->type.type, -1);
}

void Deparser::row_compare(const RowCompareExpr* compare) {
  out_ += "(ROW(";
  list(compare->left, true);
  out_ += ") " + operator_text(compare->operators[0]) + " ROW(";
  list(compare->right, true);
  out_ += "))";
}

// --- Sub-selects

void Deparser::sublink(const SubLinkExpr* link) {
  const bool array = link->kind_of_link == SubLinkKind::kArray;
  out_ += array ? "ARRAY(" : "(";
  std::string op_text;
  if (link->test != nullptr) {
    // The left side: what is compared with the sub-select's columns.
    if (const OperatorExpr* op = expr_if<OperatorExpr>(link->test)) {
      expression(op->args[0], true);
      op_text = operator_text(op->op);
    } else if (const BoolExpr* all = expr_if<BoolExpr>(link->test)) {
      out_ += '(';
      for (std::size_t i = 0; i < all->args.size(); ++i) {
        if (i > 0) out_ += ", ";
        const OperatorExpr* part = expr_if<OperatorExpr>(all->args[i]);
        if (part == nullptr) continue;
        expression(part->args[0], true);
        if (op_text.empty()) op_text = operator_text(part->op);
      }
      out_ += ')';
    } else if (const RowCompareExpr* compare = expr_if<RowCompareExpr>(link->test)) {
      out_ += '(';
      list(compare->left, true);
      out_ += ')';
      op_text = operator_text(compare->operators[0]);
    }
  }
  bool parentheses = true;
  switch (link->kind_of_link) {
    case SubLinkKind::kExists:
      out_ += "EXISTS ";
      break;
    case SubLinkKind::kAny:
      out_ += op_text == "=" ? std::string{" IN "} : " " + op_text + " ANY ";
      break;
    case SubLinkKind::kAll:
      out_ += " " + op_text + " ALL ";
      break;
    case SubLinkKind::kRowCompare:
      out_ += " " + op_text + " ";
      break;
    default:
      parentheses = false;
      break;
  }
  if (parentheses) out_ += '(';
  query(*link->query, false);
  out_ += parentheses ? "))" : ")";
}

// --- CASE, aggregates, arrays

namespace {

/// The WHEN value in "placeholder = value"; the whole condition when it does not look like that.
const Expr* when_value(const Expr* condition) {
  const OperatorExpr* op = expr_if<OperatorExpr>(condition);
  if (op == nullptr || op->args.size() != 2) return condition;
  const Expr* left = op->args[0];
  for (;;) {
    if (const RelabelExpr* relabel = expr_if<RelabelExpr>(left)) {
      left = relabel->arg;
    } else if (const CoerceViaIoExpr* io = expr_if<CoerceViaIoExpr>(left)) {
      left = io->arg;
    } else if (const FunctionExpr* call = expr_if<FunctionExpr>(left);
               call != nullptr && call->form == CallForm::kImplicitCast && !call->args.empty()) {
      left = call->args[0];
    } else {
      break;
    }
  }
  return left->kind == ExprKind::kCaseValue ? op->args[1] : condition;
}

}  // namespace

void Deparser::case_expr(const CaseExpr* expr) {
  keyword("CASE", 0, kItem, 0);
  if (expr->argument != nullptr) {
    out_ += ' ';
    expression(expr->argument, true);
  }
  for (const CaseWhen& when : expr->whens) {
    const Expr* condition = expr->argument != nullptr ? when_value(when.condition) : when.condition;
    if (!indent_lines_) out_ += ' ';
    keyword("WHEN ", 0, 0, 0);
    expression(condition, false);
    out_ += " THEN ";
    expression(when.result, true);
  }
  if (!indent_lines_) out_ += ' ';
  keyword("ELSE ", 0, 0, 0);
  if (expr->otherwise != nullptr) {
    expression(expr->otherwise, true);
  } else {
    out_ += "NULL";
  }
  if (!indent_lines_) out_ += ' ';
  keyword("END", -kItem, 0, 0);
}

void Deparser::subscript(const SubscriptExpr* expr, bool show_implicit) {
  const Expr* container = expr->container;
  const bool parentheses = container->kind != ExprKind::kColumn && container->kind != ExprKind::kFieldSelect;
  wrapped(parentheses, [&] { expression(container, show_implicit); });
  for (std::size_t i = 0; i < expr->upper.size(); ++i) {
    out_ += '[';
    if (!expr->lower.empty()) {
      if (expr->lower[i] != nullptr) expression(expr->lower[i], false);
      out_ += ':';
    }
    if (expr->upper[i] != nullptr) expression(expr->upper[i], false);
    out_ += ']';
  }
}

void Deparser::field_select(const FieldSelectExpr* field, bool show_implicit) {
  const Expr* arg = field->arg;
  const bool parentheses = arg->kind != ExprKind::kSubscript && arg->kind != ExprKind::kFieldSelect;
  wrapped(parentheses, [&] { expression(arg, show_implicit); });
  std::string name = "f" + std::to_string(field->field);
  const ViewedType* type = catalog_.type(arg->type.type);
  if (type != nullptr && type->relation.value != 0) {
    const ViewedRelation* relation = catalog_.relation(type->relation);
    int place = 0;  // dropped columns have no field
    for (std::size_t i = 0; relation != nullptr && i < relation->columns.size(); ++i) {
      if (relation->columns[i].dropped || ++place != field->field) continue;
      name = relation->columns[i].name;
    }
  } else if (const RowExpr* row = expr_if<RowExpr>(arg);
             row != nullptr && field->field >= 1 && field->field <= static_cast<int>(row->names.size())) {
    name = row->names[static_cast<std::size_t>(field->field) - 1];
  } else if (const ColumnExpr* whole = expr_if<ColumnExpr>(arg)) {
    const DeparseLevel* at = level(whole->levels_up);
    if (at != nullptr && whole->range_index < static_cast<int>(at->entries.size()) && whole->attribute == 0) {
      const RangeEntry& entry = at->entries[whole->range_index];
      if (field->field >= 1 && field->field <= static_cast<int>(entry.columns.size())) {
        name = entry.columns[static_cast<std::size_t>(field->field) - 1].name;
      }
    }
  }
  out_ += "." + quote_identifier(name);
}

// --- Dispatch

void Deparser::expression(const Expr* expr, bool show_implicit) {
  switch (expr->kind) {
    case ExprKind::kConst:
      return constant(expr_cast<ConstExpr>(expr), 0);
    case ExprKind::kParam:
      out_ += "$" + std::to_string(expr_cast<ParamExpr>(expr)->index + 1);
      return;
    case ExprKind::kColumn:
      return column(expr_cast<ColumnExpr>(expr), false);
    case ExprKind::kFunction:
      return function(expr_cast<FunctionExpr>(expr), show_implicit);
    case ExprKind::kOperator:
      return operation(expr_cast<OperatorExpr>(expr), {});
    case ExprKind::kDistinct:
      return operation(expr_cast<DistinctExpr>(expr), "IS DISTINCT FROM");
    case ExprKind::kNullIf:
      out_ += "NULLIF(";
      list(static_cast<const OperatorExpr*>(expr)->args, true);
      out_ += ')';
      return;
    case ExprKind::kScalarArray: {
      const ScalarArrayExpr* node = expr_cast<ScalarArrayExpr>(expr);
      wrapped(!pretty(), [&] {
        paren(node->left, true, node);
        out_ += " " + operator_text(node->op) + (node->any ? " ANY (" : " ALL (");
        paren(node->array, true, node);
        // A lone sub-select would read as the other kind of ANY.
        if (const SubLinkExpr* link = expr_if<SubLinkExpr>(node->array);
            link != nullptr && link->kind_of_link == SubLinkKind::kExpression) {
          out_ += "::" + type_text(node->array->type.type, node->array->type.type_modifier);
        }
        out_ += ')';
      });
      return;
    }
    case ExprKind::kBool:
      return boolean(expr_cast<BoolExpr>(expr));
    case ExprKind::kCase:
      return case_expr(expr_cast<CaseExpr>(expr));
    case ExprKind::kCaseValue:
      out_ += "CASE_TEST_EXPR";
      return;
    case ExprKind::kCoalesce:
      out_ += "COALESCE(";
      list(expr_cast<CoalesceExpr>(expr)->args, true);
      out_ += ')';
      return;
    case ExprKind::kMinMax:
      out_ += expr_cast<MinMaxExpr>(expr)->greatest ? "GREATEST(" : "LEAST(";
      list(expr_cast<MinMaxExpr>(expr)->args, true);
      out_ += ')';
      return;
    case ExprKind::kNullTest: {
      const NullTestExpr* node = expr_cast<NullTestExpr>(expr);
      wrapped(!pretty(), [&] {
        paren(node->arg, true, node);
        const ViewedType* type = catalog_.type(node->arg->type.type);
        const bool row = type != nullptr && (type->kind == 'c' || type->oid == kRecordType);
        if (node->arg_is_row || !row) {
          out_ += node->is_null ? " IS NULL" : " IS NOT NULL";
        } else {
          out_ += node->is_null ? " IS NOT DISTINCT FROM NULL" : " IS DISTINCT FROM NULL";
        }
      });
      return;
    }
    case ExprKind::kBooleanTest: {
      const BooleanTestExpr* node = expr_cast<BooleanTestExpr>(expr);
      static constexpr std::string_view kTests[] = {" IS TRUE",      " IS NOT TRUE", " IS FALSE",
                                                    " IS NOT FALSE", " IS UNKNOWN",  " IS NOT UNKNOWN"};
      wrapped(!pretty(), [&] {
        paren(node->arg, false, node);
        out_ += kTests[static_cast<int>(node->test)];
      });
      return;
    }
    case ExprKind::kRelabel: {
      const RelabelExpr* node = expr_cast<RelabelExpr>(expr);
      if (node->form == CallForm::kImplicitCast && !show_implicit) return paren(node->arg, false, node);
      return cast(node->arg, node->type.type, node->type.type_modifier, node);
    }
    case ExprKind::kCoerceViaIo: {
      const CoerceViaIoExpr* node = expr_cast<CoerceViaIoExpr>(expr);
      if (node->form == CallForm::kImplicitCast && !show_implicit) return paren(node->arg, false, node);
      return cast(node->arg, node->type.type, -1, node);
    }
    case ExprKind::kArrayCoerce: {
      const ArrayCoerceExpr* node = expr_cast<ArrayCoerceExpr>(expr);
      if (node->form == CallForm::kImplicitCast && !show_implicit) return paren(node->arg, false, node);
      return cast(node->arg, node->type.type, node->type.type_modifier, node);
    }
    case ExprKind::kArray: {
      const ArrayExpr* node = expr_cast<ArrayExpr>(expr);
      out_ += "ARRAY[";
      list(node->elements, true);
      out_ += ']';
      if (node->elements.empty()) out_ += "::" + type_text(node->type.type, -1);
      return;
    }
    case ExprKind::kSubscript:
      return subscript(expr_cast<SubscriptExpr>(expr), show_implicit);
    case ExprKind::kRow:
      return row(expr_cast<RowExpr>(expr));
    case ExprKind::kRowCompare:
      return row_compare(expr_cast<RowCompareExpr>(expr));
    case ExprKind::kFieldSelect:
      return field_select(expr_cast<FieldSelectExpr>(expr), show_implicit);
    case ExprKind::kSubLink:
      return sublink(expr_cast<SubLinkExpr>(expr));
    case ExprKind::kAggregate:
      return aggregate(expr_cast<AggregateExpr>(expr));
    case ExprKind::kWindowFunction:
      return window_function(expr_cast<WindowFunctionExpr>(expr));
    case ExprKind::kSqlValue:
      return sql_value(expr_cast<SqlValueExpr>(expr));
    case ExprKind::kCollate: {
      const CollateExpr* node = expr_cast<CollateExpr>(expr);
      wrapped(!pretty(), [&] {
        paren(node->arg, show_implicit, node);
        out_ += " COLLATE " + catalog_.collation_name(node->type.collation);
      });
      return;
    }
    case ExprKind::kSetToDefault:
      out_ += "DEFAULT";
      return;
    case ExprKind::kExecParam:
      out_ += "$" + std::to_string(expr_cast<ExecParamExpr>(expr)->slot);
      return;
    case ExprKind::kSubPlan:
      out_ += "(SubPlan)";
      return;
    case ExprKind::kSlotColumn:
      out_ += "?";
      return;
  }
}

}  // namespace pinwheel::sql
