#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/plan_maker.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

bool PlanMaker::is_atom(const Expr* e) const {
  switch (e->kind) {
    case ExprKind::kColumn:
    case ExprKind::kAggregate:
    case ExprKind::kWindowFunction:
      return true;
    default:
      break;
  }
  for (const Expr* group : group_exprs) {
    if (same_expr(group, e)) return true;
  }
  return false;
}

void PlanMaker::add_unique(std::vector<Expr*>& list, Expr* e) {
  for (const Expr* known : list) {
    if (same_expr(known, e)) return;
  }
  list.push_back(e);
}

/// The columns, aggregates... that `e` is made of and that come from below.
void PlanMaker::atoms(Expr* e, std::vector<Expr*>& list) const {
  if (e == nullptr || e->kind == ExprKind::kConst) return;
  if (is_atom(e)) return add_unique(list, e);
  visit_children(e, [&](Expr*& child) { atoms(child, list); });
}

void PlanMaker::columns(Expr* e, RelSet of, std::vector<Expr*>& list) const {
  if (e == nullptr) return;
  if (e->kind == ExprKind::kColumn) {
    if (is_subset(q.relids_of(e), of)) add_unique(list, e);
    return;
  }
  visit_children(e, [&](Expr*& child) { columns(child, of, list); });
}

/// For EXPLAIN: the expression over the plan's own ranges.
const Expr* PlanMaker::origin_of(const Expr* e) {
  return rewrite(q.arena, const_cast<Expr*>(e), [&](Expr* n) -> Expr* {
    auto* column = expr_if<ColumnExpr>(n);
    if (column == nullptr) return nullptr;
    auto* copy = q.arena.make<ColumnExpr>(*column);
    if (static_cast<std::size_t>(column->range_index) < q.plan_ranges.size()) {
      copy->range_index = q.plan_ranges[static_cast<std::size_t>(column->range_index)];
    }
    return copy;
  });
}

SlotColumnExpr* PlanMaker::slot_column(const Expr* e, SlotSource source, int index) {
  auto* column = q.arena.make<SlotColumnExpr>();
  column->type = e->type;
  column->source = source;
  column->index = index;
  column->origin = origin_of(e);
  return column;
}

Expr* PlanMaker::whole_row(const ColumnExpr* column) {
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(column->range_index)];
  auto* row = q.arena.make<RowExpr>();
  row->type = column->type;
  std::vector<Expr*> fields;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < entry.columns.size(); ++i) {
    if (entry.columns[i].name.empty()) continue;
    auto* field = q.arena.make<ColumnExpr>(*column);
    field->attribute = static_cast<std::int16_t>(i + 1);
    field->type = entry.columns[i].type;
    fields.push_back(field);
    names.push_back(entry.columns[i].name);
  }
  row->args = arena_span(q.arena, fields);
  row->names = arena_span(q.arena, names);
  return row;
}

/// Replaces columns (and whatever the inputs already computed) by slot columns.
Expr* PlanMaker::resolve(Expr* e, const Inputs& in) {
  if (e == nullptr) return nullptr;
  const auto find = [](const std::vector<Expr*>* list, const Expr* n) {
    if (list == nullptr) return -1;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (same_expr((*list)[i], n)) return static_cast<int>(i);
    }
    return -1;
  };
  return rewrite(q.arena, e, [&](Expr* n) -> Expr* {
    if (n->kind == ExprKind::kConst || n->kind == ExprKind::kSlotColumn) return n;
    if (const int at = find(in.inner, n); at >= 0) return slot_column(n, SlotSource::kInner, at);
    if (const int at = find(in.outer, n); at >= 0) return slot_column(n, SlotSource::kOuter, at);
    auto* column = expr_if<ColumnExpr>(n);
    if (column == nullptr) return nullptr;
    if (in.scan != nullptr && column->range_index == in.scan->range) {
      if (column->attribute == 0) return resolve(whole_row(column), in);
      if (column->attribute < 0) return slot_column(n, SlotSource::kScan, column->attribute);
      int at = column->attribute - 1;
      if (in.scan_map != nullptr) at = (*in.scan_map)[static_cast<std::size_t>(at)];
      return slot_column(n, SlotSource::kScan, at);
    }
    // composites of the inputs' columns
    if (column->attribute == 0) {
      Expr* row = whole_row(column);
      return resolve(row, in);
    }
    // a value of an outer relation, set by the nested loop above
    if (in.scan != nullptr) return parameter_for(column);
    throw SqlError{sqlstate::kInternalError, "plan node asks for a column that its inputs do not have"};
  });
}

ExprList PlanMaker::resolve_all(const std::vector<Expr*>& list, const Inputs& in) {
  std::vector<Expr*> out;
  out.reserve(list.size());
  for (Expr* e : list) out.push_back(resolve(e, in));
  return arena_span(q.arena, out);
}

Expr* PlanMaker::parameter_for(ColumnExpr* column) {
  for (const SubPlanArgument& known : pending) {
    if (same_expr(known.value, column)) {
      auto* param = q.arena.make<ExecParamExpr>();
      param->type = column->type;
      param->slot = known.slot;
      return param;
    }
  }
  const int slot = q.global.new_slot();
  pending.push_back({slot, column});
  auto* param = q.arena.make<ExecParamExpr>();
  param->type = column->type;
  param->slot = slot;
  return param;
}

void PlanMaker::order_quals(std::vector<Expr*>& quals) {
  std::stable_partition(quals.begin(), quals.end(), [](const Expr* e) {
    return !any_node(e, [](const Expr* n) { return n->kind == ExprKind::kSubPlan; });
  });
}

std::vector<Expr*> PlanMaker::expressions_of(const std::vector<Clause*>& clauses) {
  std::vector<Expr*> list;
  for (const Clause* clause : clauses) list.push_back(clause->expr);
  return list;
}

void PlanMaker::fill_join(JoinPlan* plan, Path* path, const std::vector<Expr*>& wanted, const Layout& outer,
                          const Layout& inner, Layout& out) {
  const Inputs in{&outer, &inner, nullptr, nullptr};
  plan->join = path->join;
  plan->inner_unique = path->inner_unique;
  std::vector<Expr*> joins = expressions_of(path->join_clauses);
  std::vector<Expr*> filters = expressions_of(path->filters);
  order_quals(joins);
  order_quals(filters);
  plan->join_quals = resolve_all(joins, in);
  plan->quals = resolve_all(filters, in);
  plan->targets = resolve_all(wanted, in);
  out = wanted;
}

Plan* PlanMaker::make_join(Path* path, const std::vector<Expr*>& wanted, Layout& out) {
  Path* outer = path->outer;
  Path* inner = path->inner;
  std::vector<Expr*> outer_wanted;
  std::vector<Expr*> inner_wanted;
  const auto need = [&](Expr* e) {
    columns(e, outer->relids, outer_wanted);
    columns(e, inner->relids, inner_wanted);
  };
  for (Expr* e : wanted) need(e);
  for (const Clause* c : path->join_clauses) need(c->expr);
  for (const Clause* c : path->filters) need(c->expr);
  for (const Clause* c : path->hash_clauses) need(c->expr);
  if (path->kind == PathKind::kNestLoop) {
    auto* plan = node<NestLoopPlan>(path);
    const std::vector<SubPlanArgument> before = std::move(pending);
    pending.clear();
    Layout inner_layout;
    Layout outer_layout;
    plan->right = make(inner, inner_wanted, true, inner_layout);
    std::vector<SubPlanArgument> mine;
    std::vector<SubPlanArgument> still;
    for (const SubPlanArgument& p : pending)
      (is_subset(q.relids_of(p.value), outer->relids) ? mine : still).push_back(p);
    for (const SubPlanArgument& p : mine) columns(p.value, outer->relids, outer_wanted);
    pending = before;
    plan->left = make(outer, outer_wanted, true, outer_layout);
    const Inputs in{&outer_layout, nullptr, nullptr, nullptr};
    for (SubPlanArgument& p : mine) p.value = resolve(p.value, in);
    plan->parameters = arena_span(q.arena, mine);
    for (const SubPlanArgument& p : still) pending.push_back(p);
    fill_join(plan, path, wanted, outer_layout, inner_layout, out);
    return plan;
  }
  auto* plan = node<HashJoinPlan>(path);
  Layout inner_layout;
  Layout outer_layout;
  plan->left = make(outer, outer_wanted, true, outer_layout);
  plan->right = make(inner, inner_wanted, false, inner_layout);
  const Inputs in{&outer_layout, &inner_layout, nullptr, nullptr};
  std::vector<JoinKey> keys;
  for (Clause* clause : path->hash_clauses) {
    JoinKey key;
    const bool straight = is_subset(clause->left_relids, outer->relids);
    key.outer = resolve(straight ? clause->left : clause->right, in);
    key.inner = resolve(straight ? clause->right : clause->left, in);
    key.outer_type = straight ? clause->left_type : clause->right_type;
    key.inner_type = straight ? clause->right_type : clause->left_type;
    key.collation = expr_cast<OperatorExpr>(clause->expr)->input_collation;
    key.clause = resolve(clause->expr, in);
    keys.push_back(key);
  }
  plan->keys = arena_span(q.arena, keys);
  fill_join(plan, path, wanted, outer_layout, inner_layout, out);
  return plan;
}

std::span<SortKey> PlanMaker::sort_keys(const std::vector<Expr*>& exprs,
                                        const std::vector<Path::Order>& orders, const Layout& layout) {
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    SortKey key;
    key.column = -1;
    for (std::size_t c = 0; c < layout.size() && key.column < 0; ++c) {
      if (same_expr(layout[c], exprs[i])) key.column = static_cast<int>(c);
    }
    if (key.column < 0) throw SqlError{sqlstate::kInternalError, "sort key is not in the input"};
    key.type = exprs[i]->type.type;
    key.collation = exprs[i]->type.collation;
    if (i < orders.size()) {
      key.descending = orders[i].descending;
      key.nulls_first = orders[i].nulls_first;
    }
    keys.push_back(key);
  }
  return arena_span(q.arena, keys);
}

/// Nodes that hand on their input's rows.
Plan* PlanMaker::make_passing(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  std::vector<Expr*> below = wanted;
  if (path->kind == PathKind::kSort || path->kind == PathKind::kUnique) {
    for (Expr* e : path->expressions) {
      if (e->kind != ExprKind::kConst) add_unique(below, e);
    }
  }
  if (path->kind == PathKind::kLockRows) {
    for (Expr* e : q.extra_wanted_) add_unique(below, e);
  }
  const bool buffers = path->kind == PathKind::kSort || path->kind == PathKind::kMaterialize;
  Layout layout;
  Plan* input = make(path->outer, below, loose && !buffers, layout);
  Plan* plan = nullptr;
  switch (path->kind) {
    case PathKind::kSort: {
      auto* sort = node<SortPlan>(path);
      sort->keys = sort_keys(path->expressions, path->orders, layout);
      sort->bounded = path->bounded;
      plan = sort;
      break;
    }
    case PathKind::kUnique: {
      auto* unique = node<UniquePlan>(path);
      unique->keys = sort_keys(path->expressions, path->orders, layout);
      plan = unique;
      break;
    }
    case PathKind::kMaterialize:
      plan = node<MaterializePlan>(path);
      break;
    case PathKind::kLimit: {
      auto* limit = node<LimitPlan>(path);
      limit->limit = path->limit;
      limit->offset = path->offset;
      limit->with_ties = path->with_ties;
      if (path->with_ties) limit->tie_keys = sort_keys(path->expressions, path->orders, layout);
      plan = limit;
      break;
    }
    case PathKind::kGate: {
      auto* result = node<ResultPlan>(path);
      result->constant_quals = arena_span(q.arena, path->conditions);
      plan = result;
      break;
    }
    default: {
      auto* lock = node<LockRowsPlan>(path);
      fill_lock_rows(lock, layout);
      plan = lock;
      break;
    }
  }
  plan->left = input;
  plan->passes_input = true;
  const Inputs in{&layout, nullptr, nullptr, nullptr};
  plan->targets = resolve_all(layout, in);
  out = layout;
  return plan;
}

void PlanMaker::fill_lock_rows(LockRowsPlan* plan, const Layout& layout) {
  std::vector<LockTarget> locks;
  std::vector<RecheckSource> sources;
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const auto* c = expr_if<ColumnExpr>(layout[i]);
    if (c == nullptr || c->attribute != kRowIdentityAttribute) continue;
    const int range = q.plan_ranges[static_cast<std::size_t>(c->range_index)];
    sources.push_back({range, static_cast<int>(i)});
    for (const RowMark& mark : q.query.row_marks) {
      if (mark.range_index == c->range_index)
        locks.push_back({range, static_cast<int>(i), mark.strength, mark.wait});
    }
  }
  plan->locks = arena_span(q.arena, locks);
  plan->recheck_sources = arena_span(q.arena, sources);
}

Plan* PlanMaker::make_aggregate(Path* path, const std::vector<Expr*>& wanted, Layout& out) {
  std::vector<Expr*> below;
  for (Expr* e : path->expressions) add_unique(below, e);
  std::vector<Expr*> aggregates(path->aggregates.begin(), path->aggregates.end());
  const auto columns_below = [&](auto& self, Expr* e) -> void {
    if (e == nullptr) return;
    for (const Expr* key : path->expressions) {
      if (same_expr(key, e)) return;
    }
    if (e->kind == ExprKind::kColumn) return add_unique(below, e);
    visit_children(e, [&](Expr*& child) { self(self, child); });
  };
  for (Expr* e : wanted) columns_below(columns_below, e);
  for (Expr* e : path->conditions) columns_below(columns_below, e);
  // arguments are computed here: their columns come from below even if a whole argument is a group key
  for (Expr* e : aggregates) {
    const auto inside = [&](auto& self, Expr* x) -> void {
      if (x == nullptr) return;
      if (x->kind == ExprKind::kColumn) return add_unique(below, x);
      visit_children(x, [&](Expr*& child) { self(self, child); });
    };
    visit_children(e, [&](Expr*& child) { inside(inside, child); });
  }
  Layout layout;
  const std::vector<Expr*> outer_groups = std::move(group_exprs);
  group_exprs.clear();
  Plan* input = make(path->outer, below, true, layout);
  group_exprs = outer_groups;
  auto* plan = node<AggregatePlan>(path);
  plan->left = input;
  plan->strategy = path->strategy;
  plan->group_keys = sort_keys(path->expressions, path->orders, layout);
  const Inputs rows{&layout, nullptr, nullptr, nullptr};
  std::vector<AggregateCall> calls;
  for (AggregateExpr* aggregate : path->aggregates) {
    auto* resolved = expr_cast<AggregateExpr>(copy_node(q.arena, aggregate));
    visit_children(resolved, [&](Expr*& child) { child = resolve(child, rows); });
    calls.push_back({resolved, aggregate->function});
  }
  plan->calls = arena_span(q.arena, calls);
  const Inputs in{&layout, &aggregates, nullptr, nullptr};
  plan->targets = resolve_all(wanted, in);
  plan->quals = resolve_all(path->conditions, in);
  out = wanted;
  return plan;
}

Plan* PlanMaker::make_window(Path* path, const std::vector<Expr*>& wanted, Layout& out) {
  const WindowClause& window = q.query.windows[static_cast<std::size_t>(path->window)];
  std::vector<Expr*> calls(path->window_calls.begin(), path->window_calls.end());
  std::vector<Expr*> below;
  for (Expr* e : path->expressions) {
    if (e->kind != ExprKind::kConst) add_unique(below, e);
  }
  const auto inputs = [&](auto& self, Expr* e) -> void {
    if (e == nullptr || e->kind == ExprKind::kConst) return;
    for (const Expr* call : calls) {
      if (same_expr(call, e)) {
        visit_children(e, [&](Expr*& child) { self(self, child); });
        return;
      }
    }
    if (is_atom(e)) return add_unique(below, e);
    visit_children(e, [&](Expr*& child) { self(self, child); });
  };
  for (Expr* e : wanted) inputs(inputs, e);
  for (Expr* e : calls) inputs(inputs, e);
  Layout layout;
  auto* plan = node<WindowAggPlan>(path);
  plan->left = make(path->outer, below, false, layout);
  std::vector<Expr*> partition;
  std::vector<Expr*> order;
  std::vector<Path::Order> orders;
  for (const SortClause& key : window.partition_by) {
    partition.push_back(q.query.targets[static_cast<std::size_t>(key.target_index)].expr);
  }
  for (const SortClause& key : window.order_by) {
    order.push_back(q.query.targets[static_cast<std::size_t>(key.target_index)].expr);
    orders.push_back({key.descending, key.nulls_first});
  }
  const auto drop_constants = [](std::vector<Expr*>& list, std::vector<Path::Order>* with) {
    for (std::size_t i = list.size(); i-- > 0;) {
      if (list[i]->kind != ExprKind::kConst) continue;
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
      if (with != nullptr) with->erase(with->begin() + static_cast<std::ptrdiff_t>(i));
    }
  };
  drop_constants(partition, nullptr);
  drop_constants(order, &orders);
  plan->partition_keys = sort_keys(partition, {}, layout);
  plan->order_keys = sort_keys(order, orders, layout);
  const Inputs rows{&layout, nullptr, nullptr, nullptr};
  plan->frame = window.frame;
  plan->frame.start_offset = resolve(window.frame.start_offset, rows);
  plan->frame.end_offset = resolve(window.frame.end_offset, rows);
  plan->name = window.name;
  std::vector<WindowCall> window_calls;
  for (WindowFunctionExpr* call : path->window_calls) {
    auto* resolved = expr_cast<WindowFunctionExpr>(copy_node(q.arena, call));
    visit_children(resolved, [&](Expr*& child) { child = resolve(child, rows); });
    window_calls.push_back({resolved});
  }
  plan->calls = arena_span(q.arena, window_calls);
  const Inputs in{&layout, &calls, nullptr, nullptr};
  plan->targets = resolve_all(wanted, in);
  out = wanted;
  return plan;
}

Plan* PlanMaker::make_projection(Path* path, const std::vector<Expr*>& wanted, Layout& out) {
  std::vector<Expr*> below;
  const std::vector<Expr*>& all = path->kind == PathKind::kProjectSet ? path->expressions : wanted;
  for (Expr* e : all) atoms(e, below);
  for (Expr* e : wanted) {
    const bool computed = std::any_of(all.begin(), all.end(), [&](const Expr* x) { return same_expr(x, e); });
    if (!computed) atoms(e, below);
  }
  Layout layout;
  Plan* input = path->outer != nullptr ? make(path->outer, below, true, layout) : nullptr;
  const Inputs in{&layout, nullptr, nullptr, nullptr};
  if (path->kind == PathKind::kProjectSet) {
    auto* plan = node<ProjectSetPlan>(path);
    plan->left = input;
    std::vector<Expr*> list = wanted;
    plan->targets = resolve_all(list, in);
    out = list;
    return plan;
  }
  auto* plan = node<ResultPlan>(path);
  plan->left = input;
  plan->quals = resolve_all(path->conditions, in);
  plan->targets = resolve_all(wanted, in);
  out = wanted;
  return plan;
}

Plan* PlanMaker::make(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  switch (path->kind) {
    case PathKind::kSeqScan: {
      auto* plan = node<SeqScanPlan>(path);
      return finish_scan(plan, path, expressions_of(path->rel->clauses), wanted, loose, out, nullptr);
    }
    case PathKind::kIndexScan:
      return make_index_scan(path, wanted, loose, out);
    case PathKind::kBitmapHeap:
      return make_bitmap_heap(path, wanted, loose, out);
    case PathKind::kTidScan:
      return make_tid_scan(path, wanted, loose, out);
    case PathKind::kSubquery:
      return make_subquery_scan(path, wanted, loose, out);
    case PathKind::kFunction:
    case PathKind::kValues:
    case PathKind::kCte:
    case PathKind::kWorkTable:
      return make_other_scan(path, wanted, loose, out);
    case PathKind::kNestLoop:
    case PathKind::kHashJoin:
    case PathKind::kMergeJoin:
      return make_join(path, wanted, out);
    case PathKind::kMaterialize:
    case PathKind::kSort:
    case PathKind::kUnique:
    case PathKind::kLimit:
    case PathKind::kLockRows:
    case PathKind::kGate:
      return make_passing(path, wanted, loose, out);
    case PathKind::kAggregate:
      return make_aggregate(path, wanted, out);
    case PathKind::kWindow:
      return make_window(path, wanted, out);
    case PathKind::kProjectSet:
    case PathKind::kProject:
      return make_projection(path, wanted, out);
    case PathKind::kResult: {
      if (path->ready != nullptr) {
        const bool direct = wanted.size() <= path->ready_output.size() &&
                            std::equal(wanted.begin(), wanted.end(), path->ready_output.begin(),
                                       [](const Expr* a, const Expr* b) { return same_expr(a, b); });
        if (direct || loose) {
          out = path->ready_output;
          return path->ready;
        }
        auto* plan = node<ResultPlan>(path);
        plan->left = path->ready;
        const Inputs in{&path->ready_output, nullptr, nullptr, nullptr};
        plan->targets = resolve_all(wanted, in);
        out = wanted;
        return plan;
      }
      auto* plan = node<ResultPlan>(path);
      const Inputs in{nullptr, nullptr, nullptr, nullptr};
      plan->constant_quals = resolve_all(path->conditions, in);
      plan->targets = resolve_all(wanted, in);
      out = wanted;
      return plan;
    }
  }
  throw SqlError{sqlstate::kInternalError, "path of unknown kind"};
}

Plan* QueryPlanner::make_plan(Path* path, const std::vector<Expr*>& wanted) {
  PlanMaker maker{*this};
  if (query.has_aggregates || query.has_group_by || !query.group_by.empty()) {
    for (const SortClause& key : query.group_by) {
      maker.group_exprs.push_back(query.targets[static_cast<std::size_t>(key.target_index)].expr);
    }
  }
  PlanMaker::Layout layout;
  Plan* plan = maker.make(path, wanted, false, layout);
  if (!maker.pending.empty())
    throw SqlError{sqlstate::kInternalError, "a parameter of a nested loop was left without a value"};
  return plan;
}

PlannedQuery QueryPlanner::finish(Path* path, const std::vector<Expr*>& wanted) {
  PlannedQuery result;
  result.plan = make_plan(path, wanted);
  result.plan->init_plans = arena_span(arena, init_plans_);
  result.startup = path->startup;
  result.total = path->total;
  result.rows = path->rows;
  result.outer_values = outer_values_;
  for (const Target& t : query.targets) {
    if (!t.hidden) result.targets.push_back(t.expr);
  }
  return result;
}

}  // namespace pinwheel::sql
