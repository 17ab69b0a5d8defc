#include "sql/plan/expression_tools.h"

#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/functions/function.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

template <class T>
std::span<T> copy_span(Arena& arena, std::span<T> from) {
  T* first = static_cast<T*>(arena.allocate(sizeof(T) * from.size() + 1, alignof(T)));
  for (std::size_t i = 0; i < from.size(); ++i) ::new (first + i) T(from[i]);
  return {first, from.size()};
}

template <class T>
T* copy_as(Arena& arena, const Expr* node) {
  return arena.make<T>(*static_cast<const T*>(node));
}

bool same_lists(ExprList a, ExprList b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_expr(a[i], b[i])) return false;
  }
  return true;
}

bool same_constants(const ConstExpr* a, const ConstExpr* b) {
  if (a->type.type != b->type.type || a->is_null != b->is_null) return false;
  if (a->is_null || a->value.bits == b->value.bits) return true;
  const TypeInfo* type = find_type(a->type.type);
  if (type == nullptr || type->by_value) return false;
  const std::size_t size = datum_size(a->value, type->length);
  return size == datum_size(b->value, type->length) &&
         std::memcmp(a->value.as_pointer(), b->value.as_pointer(), size) == 0;
}

template <class T>
const T* as(const Expr* node) {
  return static_cast<const T*>(node);
}

bool same_aggregates(const AggregateExpr* a, const AggregateExpr* b) {
  if (a->function != b->function || a->star != b->star || a->distinct != b->distinct ||
      a->levels_up != b->levels_up || a->order_by.size() != b->order_by.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a->order_by.size(); ++i) {
    const SortClause& x = a->order_by[i];
    const SortClause& y = b->order_by[i];
    if (x.target_index != y.target_index || x.sort_operator != y.sort_operator ||
        x.nulls_first != y.nulls_first) {
      return false;
    }
  }
  return same_lists(a->args, b->args) && same_lists(a->direct_args, b->direct_args) &&
         same_expr(a->filter, b->filter);
}

bool same_subplans(const SubPlanExpr* a, const SubPlanExpr* b) {
  if (a->subplan != b->subplan || a->arguments.size() != b->arguments.size()) return false;
  for (std::size_t i = 0; i < a->arguments.size(); ++i) {
    if (!same_expr(a->arguments[i].value, b->arguments[i].value)) return false;
  }
  return same_expr(a->test, b->test);
}

/// The fields beside the children and the type.
bool same_heads(const Expr* a, const Expr* b) {
  switch (a->kind) {
    case ExprKind::kConst:
      return same_constants(as<ConstExpr>(a), as<ConstExpr>(b));
    case ExprKind::kParam:
      return as<ParamExpr>(a)->index == as<ParamExpr>(b)->index;
    case ExprKind::kColumn:
      return as<ColumnExpr>(a)->range_index == as<ColumnExpr>(b)->range_index &&
             as<ColumnExpr>(a)->attribute == as<ColumnExpr>(b)->attribute &&
             as<ColumnExpr>(a)->levels_up == as<ColumnExpr>(b)->levels_up;
    case ExprKind::kFunction:
      return as<FunctionExpr>(a)->function == as<FunctionExpr>(b)->function &&
             as<FunctionExpr>(a)->input_collation == as<FunctionExpr>(b)->input_collation;
    case ExprKind::kOperator:
    case ExprKind::kDistinct:
    case ExprKind::kNullIf:
      return as<OperatorExpr>(a)->op == as<OperatorExpr>(b)->op &&
             as<OperatorExpr>(a)->input_collation == as<OperatorExpr>(b)->input_collation;
    case ExprKind::kScalarArray:
      return as<ScalarArrayExpr>(a)->op == as<ScalarArrayExpr>(b)->op &&
             as<ScalarArrayExpr>(a)->any == as<ScalarArrayExpr>(b)->any;
    case ExprKind::kBool:
      return as<BoolExpr>(a)->op == as<BoolExpr>(b)->op;
    case ExprKind::kCase:
      return as<CaseExpr>(a)->whens.size() == as<CaseExpr>(b)->whens.size() &&
             (as<CaseExpr>(a)->argument == nullptr) == (as<CaseExpr>(b)->argument == nullptr) &&
             (as<CaseExpr>(a)->otherwise == nullptr) == (as<CaseExpr>(b)->otherwise == nullptr);
    case ExprKind::kMinMax:
      return as<MinMaxExpr>(a)->greatest == as<MinMaxExpr>(b)->greatest;
    case ExprKind::kNullTest:
      return as<NullTestExpr>(a)->is_null == as<NullTestExpr>(b)->is_null;
    case ExprKind::kBooleanTest:
      return as<BooleanTestExpr>(a)->test == as<BooleanTestExpr>(b)->test;
    case ExprKind::kSubscript:
      return as<SubscriptExpr>(a)->lower.size() == as<SubscriptExpr>(b)->lower.size() &&
             as<SubscriptExpr>(a)->upper.size() == as<SubscriptExpr>(b)->upper.size();
    case ExprKind::kRowCompare:
      return as<RowCompareExpr>(a)->op == as<RowCompareExpr>(b)->op;
    case ExprKind::kFieldSelect:
      return as<FieldSelectExpr>(a)->field == as<FieldSelectExpr>(b)->field;
    case ExprKind::kSqlValue:
      return as<SqlValueExpr>(a)->value == as<SqlValueExpr>(b)->value;
    case ExprKind::kExecParam:
      return as<ExecParamExpr>(a)->slot == as<ExecParamExpr>(b)->slot;
    case ExprKind::kSlotColumn:
      return as<SlotColumnExpr>(a)->source == as<SlotColumnExpr>(b)->source &&
             as<SlotColumnExpr>(a)->index == as<SlotColumnExpr>(b)->index;
    case ExprKind::kSubLink:
    case ExprKind::kSetToDefault:
      return false;
    case ExprKind::kWindowFunction:
      return as<WindowFunctionExpr>(a)->function == as<WindowFunctionExpr>(b)->function &&
             as<WindowFunctionExpr>(a)->window_index == as<WindowFunctionExpr>(b)->window_index &&
             as<WindowFunctionExpr>(a)->star == as<WindowFunctionExpr>(b)->star &&
             (as<WindowFunctionExpr>(a)->filter == nullptr) == (as<WindowFunctionExpr>(b)->filter == nullptr);
    default:
      return true;
  }
}

}  // namespace

Expr* copy_node(Arena& arena, const Expr* node) {
  switch (node->kind) {
    case ExprKind::kConst:
      return copy_as<ConstExpr>(arena, node);
    case ExprKind::kParam:
      return copy_as<ParamExpr>(arena, node);
    case ExprKind::kColumn:
      return copy_as<ColumnExpr>(arena, node);
    case ExprKind::kFunction: {
      auto* e = copy_as<FunctionExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kOperator:
    case ExprKind::kDistinct:
    case ExprKind::kNullIf: {
      auto* e = copy_as<OperatorExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kScalarArray:
      return copy_as<ScalarArrayExpr>(arena, node);
    case ExprKind::kBool: {
      auto* e = copy_as<BoolExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kCase: {
      auto* e = copy_as<CaseExpr>(arena, node);
      e->whens = copy_span(arena, e->whens);
      return e;
    }
    case ExprKind::kCaseValue:
      return copy_as<CaseValueExpr>(arena, node);
    case ExprKind::kCoalesce: {
      auto* e = copy_as<CoalesceExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kMinMax: {
      auto* e = copy_as<MinMaxExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kNullTest:
      return copy_as<NullTestExpr>(arena, node);
    case ExprKind::kBooleanTest:
      return copy_as<BooleanTestExpr>(arena, node);
    case ExprKind::kRelabel:
      return copy_as<RelabelExpr>(arena, node);
    case ExprKind::kCoerceViaIo:
      return copy_as<CoerceViaIoExpr>(arena, node);
    case ExprKind::kArrayCoerce:
      return copy_as<ArrayCoerceExpr>(arena, node);
    case ExprKind::kArray: {
      auto* e = copy_as<ArrayExpr>(arena, node);
      e->elements = copy_span(arena, e->elements);
      return e;
    }
    case ExprKind::kSubscript: {
      auto* e = copy_as<SubscriptExpr>(arena, node);
      e->upper = copy_span(arena, e->upper);
      e->lower = copy_span(arena, e->lower);
      return e;
    }
    case ExprKind::kRow: {
      auto* e = copy_as<RowExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kRowCompare: {
      auto* e = copy_as<RowCompareExpr>(arena, node);
      e->left = copy_span(arena, e->left);
      e->right = copy_span(arena, e->right);
      return e;
    }
    case ExprKind::kFieldSelect:
      return copy_as<FieldSelectExpr>(arena, node);
    case ExprKind::kSubLink:
      return copy_as<SubLinkExpr>(arena, node);
    case ExprKind::kAggregate: {
      auto* e = copy_as<AggregateExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      e->direct_args = copy_span(arena, e->direct_args);
      return e;
    }
    case ExprKind::kWindowFunction: {
      auto* e = copy_as<WindowFunctionExpr>(arena, node);
      e->args = copy_span(arena, e->args);
      return e;
    }
    case ExprKind::kSqlValue:
      return copy_as<SqlValueExpr>(arena, node);
    case ExprKind::kCollate:
      return copy_as<CollateExpr>(arena, node);
    case ExprKind::kSetToDefault:
      return copy_as<SetToDefaultExpr>(arena, node);
    case ExprKind::kExecParam:
      return copy_as<ExecParamExpr>(arena, node);
    case ExprKind::kSubPlan: {
      auto* e = copy_as<SubPlanExpr>(arena, node);
      e->arguments = copy_span(arena, e->arguments);
      e->hash_left = copy_span(arena, e->hash_left);
      return e;
    }
    case ExprKind::kSlotColumn:
      return copy_as<SlotColumnExpr>(arena, node);
  }
  throw SqlError{sqlstate::kInternalError, "expression of unknown kind"};
}

bool same_expr(const Expr* a, const Expr* b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr || a->kind != b->kind || a->type.type != b->type.type) return false;
  if (a->type.collation != b->type.collation && a->kind != ExprKind::kColumn) return false;
  if (a->kind == ExprKind::kAggregate) return same_aggregates(as<AggregateExpr>(a), as<AggregateExpr>(b));
  if (a->kind == ExprKind::kSubPlan) return same_subplans(as<SubPlanExpr>(a), as<SubPlanExpr>(b));
  if (!same_heads(a, b)) return false;
  const Expr* left[64];
  int count = 0;
  bool same = true;
  visit_children(a, [&](const Expr* child) {
    if (count < 64)
      left[count++] = child;
    else
      same = false;  // very long lists are never taken for equal; that only costs an optimisation
  });
  int at = 0;
  visit_children(b, [&](const Expr* child) {
    same = same && at < count && same_expr(left[at], child);
    ++at;
  });
  return same && at == count;
}

namespace {

struct QueryRewriter {
  const DeepRewrite& deep;
  int depth;
  Arena& arena = deep.arena;

  Expr* expr(Expr* node) const { return deep.expression(node, depth); }
  ExprList list(ExprList from) const {
    ExprList to = copy_span(arena, from);
    for (Expr*& e : to) e = expr(e);
    return to;
  }
  std::span<Target> targets(std::span<Target> from) const {
    auto to = copy_span(arena, from);
    for (Target& t : to) t.expr = expr(t.expr);
    return to;
  }
  FromItem* from_item(const FromItem* from) const {
    auto* to = arena.make<FromItem>(*from);
    if (to->left != nullptr) to->left = from_item(to->left);
    if (to->right != nullptr) to->right = from_item(to->right);
    to->condition = expr(to->condition);
    return to;
  }
  void range(RangeEntry& entry) const {
    if (entry.subquery != nullptr) entry.subquery = deep.query(entry.subquery, depth + 1);
    if (entry.kind == RangeKind::kCte && entry.cte_levels_up >= depth) entry.cte_levels_up += deep.cte_shift;
    entry.functions = list(entry.functions);
    entry.join_columns = list(entry.join_columns);
    entry.rows = copy_span(arena, entry.rows);
    for (ExprList& row : entry.rows) row = list(row);
  }
};

struct LevelShift {
  Arena& arena;
  int delta;
};

Expr* shift_node(void* context, Expr* node, int depth) {
  auto& shift = *static_cast<LevelShift*>(context);
  if (auto* column = expr_if<ColumnExpr>(node); column != nullptr && column->levels_up >= depth) {
    auto* copy = shift.arena.make<ColumnExpr>(*column);
    copy->levels_up += shift.delta;
    return copy;
  }
  return nullptr;
}

}  // namespace

Expr* DeepRewrite::expression(Expr* node, int depth) const {
  return rewrite(arena, node, [&](Expr* n) -> Expr* {
    if (Expr* other = replace(context, n, depth)) return other;
    if (n->kind != ExprKind::kSubLink) return nullptr;
    auto* copy = expr_cast<SubLinkExpr>(copy_node(arena, n));
    copy->test = expression(copy->test, depth);
    copy->query = query(copy->query, depth + 1);
    return copy;
  });
}

Query* DeepRewrite::query(const Query* from, int depth) const {
  const QueryRewriter r{*this, depth};
  auto* to = arena.make<Query>(*from);
  to->range_table = copy_span(arena, to->range_table);
  for (RangeEntry& entry : to->range_table) r.range(entry);
  to->from = copy_span(arena, to->from);
  for (FromItem*& item : to->from) item = r.from_item(item);
  to->where = r.expr(to->where);
  to->targets = r.targets(to->targets);
  to->returning = r.targets(to->returning);
  to->on_conflict.assignments = r.targets(to->on_conflict.assignments);
  to->on_conflict.where = r.expr(to->on_conflict.where);
  to->having = r.expr(to->having);
  to->limit = r.expr(to->limit);
  to->offset = r.expr(to->offset);
  to->ctes = copy_span(arena, to->ctes);
  for (CommonTable& cte : to->ctes) cte.query = query(cte.query, depth + 1);
  to->windows = copy_span(arena, to->windows);
  for (WindowClause& window : to->windows) {
    window.frame.start_offset = r.expr(window.frame.start_offset);
    window.frame.end_offset = r.expr(window.frame.end_offset);
  }
  return to;
}

Expr* shift_levels(Arena& arena, Expr* node, int delta) {
  if (delta == 0) return node;
  LevelShift shift{arena, delta};
  return DeepRewrite{arena, shift_node, &shift, delta}.expression(node, 0);
}

Query* shift_query_levels(Arena& arena, Query* query, int delta) {
  if (delta == 0) return query;
  LevelShift shift{arena, delta};
  return DeepRewrite{arena, shift_node, &shift, delta}.query(query, 1);
}

bool has_volatile(const Expr* node) {
  return any_node(node, [](const Expr* n) {
    Oid function;
    if (const auto* f = expr_if<FunctionExpr>(n))
      function = f->function;
    else if (n->kind == ExprKind::kOperator)
      function = as<OperatorExpr>(n)->function;
    else
      return false;
    const ProcInfo* info = find_proc_info(function);
    return info != nullptr && info->volatility == 'v';
  });
}

bool is_immutable_constant(const Expr* node) {
  return !any_node(node, [](const Expr* n) {
    switch (n->kind) {
      case ExprKind::kParam:
      case ExprKind::kExecParam:
      case ExprKind::kColumn:
      case ExprKind::kSlotColumn:
      case ExprKind::kSubLink:
      case ExprKind::kSubPlan:
      case ExprKind::kAggregate:
      case ExprKind::kWindowFunction:
      case ExprKind::kSqlValue:
      case ExprKind::kSetToDefault:
      case ExprKind::kCaseValue:
      case ExprKind::kCoerceViaIo:  // input functions may look at settings
        return true;
      case ExprKind::kFunction: {
        const ProcInfo* info = find_proc_info(as<FunctionExpr>(n)->function);
        return info == nullptr || info->volatility != 'i' || as<FunctionExpr>(n)->returns_set;
      }
      case ExprKind::kOperator:
      case ExprKind::kDistinct:
      case ExprKind::kNullIf: {
        const ProcInfo* info = find_proc_info(as<OperatorExpr>(n)->function);
        return info == nullptr || info->volatility != 'i';
      }
      case ExprKind::kScalarArray: {
        const ProcInfo* info = find_proc_info(as<ScalarArrayExpr>(n)->function);
        return info == nullptr || info->volatility != 'i';
      }
      default:
        return false;
    }
  });
}

bool has_set_function(const Expr* node) {
  return any_node(node, [](const Expr* n) {
    const auto* f = expr_if<FunctionExpr>(n);
    return f != nullptr && f->returns_set;
  });
}
bool has_aggregate(const Expr* node) {
  return any_node(node, [](const Expr* n) { return n->kind == ExprKind::kAggregate; });
}
bool has_window(const Expr* node) {
  return any_node(node, [](const Expr* n) { return n->kind == ExprKind::kWindowFunction; });
}

bool is_strict_for(const Expr* node, int range) {
  if (node == nullptr) return false;
  const auto any_child = [&] {
    bool found = false;
    visit_children(node, [&](const Expr* child) { found = found || is_strict_for(child, range); });
    return found;
  };
  switch (node->kind) {
    case ExprKind::kColumn: {
      const auto* c = as<ColumnExpr>(node);
      return c->levels_up == 0 && c->range_index == range && c->attribute != 0;
    }
    case ExprKind::kFunction: {
      const ProcInfo* info = find_proc_info(as<FunctionExpr>(node)->function);
      return info != nullptr && info->strict && !info->returns_set && any_child();
    }
    case ExprKind::kOperator: {
      const ProcInfo* info = find_proc_info(as<OperatorExpr>(node)->function);
      return info != nullptr && info->strict && any_child();
    }
    case ExprKind::kScalarArray: {
      const auto* e = as<ScalarArrayExpr>(node);
      const ProcInfo* info = find_proc_info(e->function);
      return e->any && info != nullptr && info->strict && is_strict_for(e->left, range);
    }
    case ExprKind::kBool: {
      const auto* e = as<BoolExpr>(node);
      if (e->op == BoolOp::kOr) {
        for (const Expr* arg : e->args) {
          if (!is_strict_for(arg, range)) return false;
        }
        return !e->args.empty();
      }
      return any_child();
    }
    case ExprKind::kRelabel:
    case ExprKind::kCoerceViaIo:
    case ExprKind::kCollate:
      return any_child();
    case ExprKind::kNullTest:
      return !as<NullTestExpr>(node)->is_null && any_child();
    case ExprKind::kBooleanTest: {
      const BooleanTest test = as<BooleanTestExpr>(node)->test;
      return (test == BooleanTest::kIsTrue || test == BooleanTest::kIsFalse) && any_child();
    }
    default:
      return false;
  }
}

ConstExpr* make_bool(Arena& arena, bool value) {
  auto* e = arena.make<ConstExpr>();
  e->type.type = kBoolType;
  e->value = Datum::from_bool(value);
  return e;
}

ConstExpr* make_null(Arena& arena, ExprType type) {
  auto* e = arena.make<ConstExpr>();
  e->type = type;
  e->is_null = true;
  return e;
}

bool is_false_or_null(const Expr* node) {
  const auto* e = expr_if<ConstExpr>(node);
  return e != nullptr && (e->is_null || !e->value.as_bool());
}
bool is_true(const Expr* node) {
  const auto* e = expr_if<ConstExpr>(node);
  return e != nullptr && !e->is_null && e->value.as_bool();
}

void split_and(Expr* node, std::vector<Expr*>& list) {
  if (node == nullptr) return;
  if (auto* e = expr_if<BoolExpr>(node); e != nullptr && e->op == BoolOp::kAnd) {
    for (Expr* arg : e->args) split_and(arg, list);
  } else if (!is_true(node)) {
    list.push_back(node);
  }
}

Expr* join_and(Arena& arena, std::span<Expr* const> list) {
  if (list.empty()) return nullptr;
  if (list.size() == 1) return list[0];
  auto* e = arena.make<BoolExpr>();
  e->type.type = kBoolType;
  e->args = arena_span(arena, std::vector<Expr*>(list.begin(), list.end()));
  return e;
}

Expr* strip_relabel(Expr* node) {
  while (node != nullptr) {
    if (auto* r = expr_if<RelabelExpr>(node))
      node = r->arg;
    else if (auto* c = expr_if<CollateExpr>(node))
      node = c->arg;
    else
      break;
  }
  return node;
}
const Expr* strip_relabel(const Expr* node) { return strip_relabel(const_cast<Expr*>(node)); }

}  // namespace pinwheel::sql
