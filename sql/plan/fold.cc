#include "sql/catalog/builtin.h"
#include "sql/execute/program.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

class Folder {
 public:
  explicit Folder(PlannerGlobal& global) : global_{global}, arena_{global.arena} {}

  Expr* fold(Expr* node) {
    if (node == nullptr) return nullptr;
    switch (node->kind) {
      case ExprKind::kParam:
        return parameter(expr_cast<ParamExpr>(node));
      case ExprKind::kBool:
        return boolean(expr_cast<BoolExpr>(node));
      case ExprKind::kCase:
        return case_when(expr_cast<CaseExpr>(node));
      case ExprKind::kCoalesce:
        return coalesce(expr_cast<CoalesceExpr>(node));
      case ExprKind::kConst:
        return node;
      default:
        break;
    }
    Expr* copy = copy_node(arena_, node);
    visit_children(copy, [&](Expr*& child) { child = fold(child); });
    return simplify(copy);
  }

 private:
  Expr* parameter(ParamExpr* node) {
    const auto index = static_cast<std::size_t>(node->index);
    if (index >= global_.input.parameter_values.size()) return node;
    auto* c = arena_.make<ConstExpr>();
    c->type = node->type;
    c->location = node->location;
    c->is_null = global_.input.parameter_nulls[index];
    c->value = global_.input.parameter_values[index];
    if (const TypeInfo* type = find_type(node->type.type);
        type != nullptr && !type->by_value && !c->is_null) {
      c->value = copy_datum(c->value, type->length, false, arena_);
    }
    return c;
  }

  Expr* boolean(BoolExpr* node) {
    if (node->op == BoolOp::kNot) return negate(fold(node->args[0]), node);
    const bool is_and = node->op == BoolOp::kAnd;
    std::vector<Expr*> kept;
    bool saw_null = false;
    for (Expr* arg : node->args) {
      Expr* folded = fold(arg);
      if (auto* inner = expr_if<BoolExpr>(folded); inner != nullptr && inner->op == node->op) {
        kept.insert(kept.end(), inner->args.begin(), inner->args.end());
        continue;
      }
      if (auto* c = expr_if<ConstExpr>(folded)) {
        if (c->is_null)
          saw_null = true;
        else if (c->value.as_bool() != is_and)
          return make_bool(arena_, !is_and);
        continue;
      }
      kept.push_back(folded);
    }
    if (saw_null) {
      if (kept.empty()) return make_null(arena_, ExprType{kBoolType, -1, {}});
      kept.push_back(make_null(arena_, ExprType{kBoolType, -1, {}}));
    }
    if (kept.empty()) return make_bool(arena_, is_and);
    if (kept.size() == 1) return kept[0];
    auto* copy = arena_.make<BoolExpr>(*node);
    copy->args = arena_span(arena_, kept);
    return copy;
  }

  Expr* negate(Expr* arg, BoolExpr* original) {
    switch (arg->kind) {
      case ExprKind::kConst: {
        const auto* c = expr_cast<ConstExpr>(arg);
        return c->is_null ? arg : make_bool(arena_, !c->value.as_bool());
      }
      case ExprKind::kOperator: {
        const auto* o = expr_cast<OperatorExpr>(arg);
        const BuiltinOperator* op = find_operator(o->op);
        const BuiltinOperator* negator = op != nullptr ? find_operator(op->negator) : nullptr;
        if (negator == nullptr) break;
        auto* copy = arena_.make<OperatorExpr>(*o);
        copy->op = negator->oid;
        copy->function = negator->procedure;
        return copy;
      }
      case ExprKind::kScalarArray: {
        const auto* o = expr_cast<ScalarArrayExpr>(arg);
        const BuiltinOperator* op = find_operator(o->op);
        const BuiltinOperator* negator = op != nullptr ? find_operator(op->negator) : nullptr;
        if (negator == nullptr) break;
        auto* copy = arena_.make<ScalarArrayExpr>(*o);
        copy->op = negator->oid;
        copy->function = negator->procedure;
        copy->any = !o->any;
        return copy;
      }
      case ExprKind::kBool: {
        const auto* b = expr_cast<BoolExpr>(arg);
        if (b->op == BoolOp::kNot) return b->args[0];
        auto* copy = arena_.make<BoolExpr>(*b);
        copy->op = b->op == BoolOp::kAnd ? BoolOp::kOr : BoolOp::kAnd;
        std::vector<Expr*> args;
        for (Expr* a : b->args) args.push_back(negate(a, original));
        copy->args = arena_span(arena_, args);
        return boolean(copy);
      }
      case ExprKind::kNullTest: {
        const auto* t = expr_cast<NullTestExpr>(arg);
        if (t->arg_is_row) break;
        auto* copy = arena_.make<NullTestExpr>(*t);
        copy->is_null = !t->is_null;
        return copy;
      }
      case ExprKind::kBooleanTest: {
        auto* copy = arena_.make<BooleanTestExpr>(*expr_cast<BooleanTestExpr>(arg));
        switch (copy->test) {
          case BooleanTest::kIsTrue:
            copy->test = BooleanTest::kIsNotTrue;
            break;
          case BooleanTest::kIsNotTrue:
            copy->test = BooleanTest::kIsTrue;
            break;
          case BooleanTest::kIsFalse:
            copy->test = BooleanTest::kIsNotFalse;
            break;
          case BooleanTest::kIsNotFalse:
            copy->test = BooleanTest::kIsFalse;
            break;
          case BooleanTest::kIsUnknown:
            copy->test = BooleanTest::kIsNotUnknown;
            break;
          case BooleanTest::kIsNotUnknown:
            copy->test = BooleanTest::kIsUnknown;
            break;
        }
        return copy;
      }
      default:
        break;
    }
    auto* copy = arena_.make<BoolExpr>();
    copy->type.type = kBoolType;
    copy->op = BoolOp::kNot;
    copy->location = original->location;
    copy->args = arena_span(arena_, std::vector<Expr*>{arg});
    return copy;
  }

  Expr* case_when(CaseExpr* node) {
    auto* copy = arena_.make<CaseExpr>(*node);
    if (node->argument != nullptr) {
      // the WHENs compare a stand-in: only the parts are folded
      copy = expr_cast<CaseExpr>(copy_node(arena_, node));
      visit_children(copy, [&](Expr*& child) { child = fold(child); });
      return copy;
    }
    std::vector<CaseWhen> whens;
    for (const CaseWhen& when : node->whens) {
      Expr* condition = fold(when.condition);
      if (is_false_or_null(condition)) continue;
      if (is_true(condition)) {
        Expr* result = fold(when.result);
        if (whens.empty()) return result;
        copy->whens = arena_span(arena_, whens);
        copy->otherwise = result;
        return copy;
      }
      whens.push_back({condition, fold(when.result)});
    }
    Expr* otherwise = node->otherwise != nullptr ? fold(node->otherwise) : nullptr;
    if (whens.empty()) return otherwise != nullptr ? otherwise : make_null(arena_, node->type);
    copy->whens = arena_span(arena_, whens);
    copy->otherwise = otherwise;
    return copy;
  }

  Expr* coalesce(CoalesceExpr* node) {
    std::vector<Expr*> kept;
    for (Expr* arg : node->args) {
      Expr* folded = fold(arg);
      if (auto* c = expr_if<ConstExpr>(folded)) {
        if (c->is_null) continue;
        kept.push_back(folded);
        break;
      }
      kept.push_back(folded);
    }
    if (kept.empty()) return make_null(arena_, node->type);
    if (kept.size() == 1) return kept[0];
    auto* copy = arena_.make<CoalesceExpr>(*node);
    copy->args = arena_span(arena_, kept);
    return copy;
  }

  /// `node` is our copy, its children are folded.
  Expr* simplify(Expr* node) {
    switch (node->kind) {
      case ExprKind::kFunction: {
        auto* f = expr_cast<FunctionExpr>(node);
        const ProcInfo* info = find_proc_info(f->function);
        if (info != nullptr && info->strict && !f->returns_set && info->kind == 'f' && any_null(f->args)) {
          return make_null(arena_, node->type);
        }
        return children_constant(node) && is_immutable_constant(node) ? evaluate(node) : node;
      }
      case ExprKind::kOperator: {
        auto* o = expr_cast<OperatorExpr>(node);
        const ProcInfo* info = find_proc_info(o->function);
        if (info != nullptr && info->strict && any_null(o->args)) return make_null(arena_, node->type);
        return children_constant(node) && is_immutable_constant(node) ? evaluate(node) : node;
      }
      case ExprKind::kRelabel: {
        if (auto* c = expr_if<ConstExpr>(expr_cast<RelabelExpr>(node)->arg)) return retyped(c, node->type);
        return node;
      }
      case ExprKind::kCollate: {
        if (auto* c = expr_if<ConstExpr>(expr_cast<CollateExpr>(node)->arg)) return retyped(c, node->type);
        return node;
      }
      case ExprKind::kNullTest: {
        auto* t = expr_cast<NullTestExpr>(node);
        if (auto* c = expr_if<ConstExpr>(t->arg); c != nullptr && !t->arg_is_row) {
          return make_bool(arena_, c->is_null == t->is_null);
        }
        return node;
      }
      case ExprKind::kDistinct:
      case ExprKind::kNullIf:
      case ExprKind::kScalarArray:
      case ExprKind::kMinMax:
      case ExprKind::kBooleanTest:
      case ExprKind::kArray:
      case ExprKind::kArrayCoerce:
      case ExprKind::kSubscript:
        return children_constant(node) && is_immutable_constant(node) ? evaluate(node) : node;
      default:
        return node;
    }
  }

  static bool any_null(ExprList args) {
    for (const Expr* arg : args) {
      const auto* c = expr_if<ConstExpr>(arg);
      if (c != nullptr && c->is_null) return true;
    }
    return false;
  }
  static bool children_constant(const Expr* node) {
    bool all = true;
    visit_children(node, [&](const Expr* child) { all = all && child->kind == ExprKind::kConst; });
    return all;
  }
  Expr* retyped(ConstExpr* from, ExprType type) {
    auto* c = arena_.make<ConstExpr>(*from);
    c->type = type;
    return c;
  }
  Expr* evaluate(Expr* node) {
    auto* c = arena_.make<ConstExpr>();
    c->type = node->type;
    c->location = node->location;
    c->value = evaluate_once(node, arena_, global_.input.eval, &c->is_null);
    return c;
  }

  PlannerGlobal& global_;
  Arena& arena_;
};

}  // namespace

Expr* fold_constants(PlannerGlobal& global, Expr* node) { return Folder{global}.fold(node); }

}  // namespace pinwheel::sql
