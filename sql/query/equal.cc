#include <algorithm>
#include <cstring>

#include "sql/query/walk.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

namespace {

template <class T>
bool equal_oids(std::span<T> a, std::span<T> b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

bool equal_sort(std::span<SortClause> a, std::span<SortClause> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].target_index != b[i].target_index || a[i].equality_operator != b[i].equality_operator ||
        a[i].sort_operator != b[i].sort_operator || a[i].descending != b[i].descending ||
        a[i].nulls_first != b[i].nulls_first) {
      return false;
    }
  }
  return true;
}

bool equal_constants(const ConstExpr* a, const ConstExpr* b) {
  if (a->is_null || b->is_null) return a->is_null == b->is_null;
  const TypeInfo* type = find_type(a->type.type);
  if (type == nullptr || type->by_value) return a->value.bits == b->value.bits;
  const std::size_t size = datum_size(a->value, type->length);
  return size == datum_size(b->value, type->length) &&
         std::memcmp(a->value.as_pointer(), b->value.as_pointer(), size) == 0;
}

/// Fields of the nodes that are no expressions; kinds are known to agree.
bool equal_fields(const Expr* a, const Expr* b) {
  const auto both = [&]<class T>(const T* x, auto compare) { return compare(x, static_cast<const T*>(b)); };
  switch (a->kind) {
    case ExprKind::kConst:
      return equal_constants(expr_cast<ConstExpr>(a), expr_cast<ConstExpr>(b));
    case ExprKind::kParam:
      return both(expr_cast<ParamExpr>(a), [](auto x, auto y) { return x->index == y->index; });
    case ExprKind::kColumn:
      return both(expr_cast<ColumnExpr>(a), [](auto x, auto y) {
        return x->range_index == y->range_index && x->attribute == y->attribute &&
               x->levels_up == y->levels_up;
      });
    case ExprKind::kFunction:
      return both(expr_cast<FunctionExpr>(a), [](auto x, auto y) {
        return x->function == y->function && x->variadic == y->variadic &&
               x->input_collation == y->input_collation;
      });
    case ExprKind::kOperator:
    case ExprKind::kDistinct:
    case ExprKind::kNullIf: {
      const auto* x = expr_cast<OperatorExpr>(a);
      const auto* y = expr_cast<OperatorExpr>(b);
      return x->op == y->op && x->input_collation == y->input_collation;
    }
    case ExprKind::kScalarArray:
      return both(expr_cast<ScalarArrayExpr>(a), [](auto x, auto y) {
        return x->op == y->op && x->any == y->any && x->input_collation == y->input_collation;
      });
    case ExprKind::kBool:
      return both(expr_cast<BoolExpr>(a), [](auto x, auto y) { return x->op == y->op; });
    case ExprKind::kCase:
      return both(expr_cast<CaseExpr>(a), [](auto x, auto y) {
        return x->whens.size() == y->whens.size() && !x->argument == !y->argument &&
               !x->otherwise == !y->otherwise;
      });
    case ExprKind::kMinMax:
      return both(expr_cast<MinMaxExpr>(a), [](auto x, auto y) { return x->greatest == y->greatest; });
    case ExprKind::kNullTest:
      return both(expr_cast<NullTestExpr>(a), [](auto x, auto y) { return x->is_null == y->is_null; });
    case ExprKind::kBooleanTest:
      return both(expr_cast<BooleanTestExpr>(a), [](auto x, auto y) { return x->test == y->test; });
    case ExprKind::kSubscript:
      return both(expr_cast<SubscriptExpr>(a), [](auto x, auto y) {
        return x->upper.size() == y->upper.size() && x->lower.size() == y->lower.size() &&
               !x->assign == !y->assign;
      });
    case ExprKind::kRowCompare:
      return both(expr_cast<RowCompareExpr>(a),
                  [](auto x, auto y) { return x->op == y->op && equal_oids(x->operators, y->operators); });
    case ExprKind::kFieldSelect:
      return both(expr_cast<FieldSelectExpr>(a), [](auto x, auto y) { return x->field == y->field; });
    case ExprKind::kSubLink:
      return both(expr_cast<SubLinkExpr>(a), [](auto x, auto y) { return x->query == y->query; });
    case ExprKind::kAggregate:
      return both(expr_cast<AggregateExpr>(a), [](auto x, auto y) {
        return x->function == y->function && x->star == y->star && x->distinct == y->distinct &&
               x->levels_up == y->levels_up && x->hidden_args == y->hidden_args &&
               x->direct_args.size() == y->direct_args.size() && equal_sort(x->order_by, y->order_by) &&
               !x->filter == !y->filter;
      });
    case ExprKind::kWindowFunction:
      return both(expr_cast<WindowFunctionExpr>(a), [](auto x, auto y) {
        return x->function == y->function && x->window_index == y->window_index && x->star == y->star &&
               !x->filter == !y->filter;
      });
    case ExprKind::kSqlValue:
      return both(expr_cast<SqlValueExpr>(a), [](auto x, auto y) { return x->value == y->value; });
    case ExprKind::kExecParam:
      return both(expr_cast<ExecParamExpr>(a), [](auto x, auto y) { return x->slot == y->slot; });
    case ExprKind::kSetToDefault:
      return both(expr_cast<SetToDefaultExpr>(a),
                  [](auto x, auto y) { return x->attribute == y->attribute; });
    case ExprKind::kSubPlan:
    case ExprKind::kSlotColumn:
      return false;  // the planner's own
    default:
      return true;
  }
}

}  // namespace

bool equal(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind) return false;
  if (a->type.type != b->type.type || a->type.type_modifier != b->type.type_modifier ||
      a->type.collation != b->type.collation) {
    return false;
  }
  if (!equal_fields(a, b)) return false;
  // Children in order; equal_fields has compared what decides which children there are.
  Expr* left[256];
  std::size_t left_count = 0;
  bool overflow = false;
  for_each_child(a, [&](const Expr* child) {
    if (left_count < 256) {
      left[left_count++] = const_cast<Expr*>(child);
    } else {
      overflow = true;
    }
  });
  if (overflow) return false;
  std::size_t at = 0;
  bool same = true;
  for_each_child(b, [&](const Expr* child) {
    same = same && at < left_count && equal(left[at], child);
    ++at;
  });
  return same && at == left_count;
}

}  // namespace pinwheel::sql
