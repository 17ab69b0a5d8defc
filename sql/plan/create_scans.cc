// PlanMaker's part for scans: tables by all their access paths, sub-selects, functions, VALUES, CTEs.

#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/plan_maker.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

/// Fills targets and quals of a scan and decides whether its slot can be passed on as it is.
Plan* PlanMaker::finish_scan(ScanPlan* plan, Path* path, std::vector<Expr*> quals,
                             const std::vector<Expr*>& wanted, bool loose, Layout& out,
                             const std::vector<int>* map) {
  BaseRelation& rel = *path->rel;
  plan->range = q.plan_ranges[static_cast<std::size_t>(rel.range)];
  const Inputs in{nullptr, nullptr, &rel, map};
  order_quals(quals);
  plan->quals = resolve_all(quals, in);
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(rel.range)];
  const bool plain = std::all_of(wanted.begin(), wanted.end(), [](const Expr* e) {
    const auto* c = expr_if<ColumnExpr>(e);
    return c != nullptr && c->attribute > 0;
  });
  if (plain && loose) {
    out.clear();
    plan->passes_input = true;
    const std::size_t count = entry.columns.size();
    std::vector<Expr*> all;
    if (map == nullptr) {
      for (std::size_t i = 0; i < count; ++i) all.push_back(column_of(rel, static_cast<int>(i) + 1));
    } else {
      const std::size_t width = path->index->keys.size();
      all.resize(width, nullptr);
      for (std::size_t i = 0; i < map->size(); ++i) {
        if ((*map)[i] >= 0)
          all[static_cast<std::size_t>((*map)[i])] = column_of(rel, static_cast<int>(i) + 1);
      }
      for (Expr*& e : all) {
        if (e == nullptr) e = make_null(q.arena, {});
      }
    }
    out = all;
    plan->targets = resolve_all(wanted, in);  // what is read; the slot holds more
    return plan;
  }
  plan->targets = resolve_all(wanted, in);
  out = wanted;
  return plan;
}

Expr* PlanMaker::column_of(const BaseRelation& rel, int attribute) {
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(rel.range)];
  auto* column = q.arena.make<ColumnExpr>();
  column->range_index = rel.range;
  column->attribute = static_cast<std::int16_t>(attribute);
  column->type = entry.columns[static_cast<std::size_t>(attribute) - 1].type;
  return column;
}

void PlanMaker::fill_index(IndexScanPlan* plan, Path* path, const BaseRelation& rel,
                           std::vector<IndexClause> clauses) {
  // by index column: scans want their keys so, and readers of EXPLAIN the conditions
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const IndexClause& a, const IndexClause& b) { return a.column < b.column; });
  plan->index = path->index->oid;
  plan->info = path->index;
  plan->direction = path->backward ? ScanDirection::kBackward : ScanDirection::kForward;
  plan->unique_lookup = path->unique_lookup;
  const Inputs in{nullptr, nullptr, &rel, nullptr};
  std::vector<ScanKey> keys;
  std::vector<Expr*> quals;
  for (const IndexClause& c : clauses) {
    const auto& key = path->index->keys[static_cast<std::size_t>(c.column)];
    ScanKey scan_key;
    scan_key.column = c.column;
    scan_key.test = c.test;
    scan_key.collation = key.collation;
    if (c.value != nullptr) {
      scan_key.value = resolve(c.value, in);
      scan_key.value_type = c.value_type;
      const BuiltinOperatorClass* opclass = find_operator_class(key.operator_class);
      const Oid key_type = opclass != nullptr ? opclass->input_type : key.type;
      if (c.value_type != key_type)
        scan_key.function = family_proc(key.operator_family, key_type, c.value_type, 1);
    }
    keys.push_back(scan_key);
    add_unique(quals, c.clause->expr);
  }
  plan->keys = arena_span(q.arena, keys);
  plan->key_quals = resolve_all(quals, in);
}

Plan* PlanMaker::make_index_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  BaseRelation& rel = *path->rel;
  std::vector<Expr*> filters;
  const auto covered = [&](const Clause* clause) {
    for (const IndexClause& c : path->index_clauses) {
      if (c.clause == clause && !c.lossy) return true;
      // an equality of the same class says the same
    }
    return false;
  };
  for (const Clause* clause : rel.clauses) {
    if (!covered(clause)) filters.push_back(clause->expr);
  }
  for (const Clause* clause : path->parameter_clauses) {
    if (!covered(clause)) filters.push_back(clause->expr);
  }
  if (!path->index_only) {
    auto* plan = node<IndexScanPlan>(path);
    fill_index(plan, path, rel, path->index_clauses);
    return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
  }
  auto* plan = node<IndexOnlyScanPlan>(path);
  fill_index(plan, path, rel, path->index_clauses);
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(rel.range)];
  std::vector<int> map(entry.columns.size(), -1);
  for (std::size_t k = path->index->keys.size(); k-- > 0;) {
    const int attribute = path->index->keys[k].column;
    if (attribute > 0) map[static_cast<std::size_t>(attribute) - 1] = static_cast<int>(k);
  }
  return finish_scan(plan, path, filters, wanted, loose, out, &map);
}

Plan* PlanMaker::make_bitmap(BitmapTree* tree, Path* path) {
  if (tree->kind == BitmapTree::Kind::kIndex) {
    Path part;
    part.index = tree->index;
    part.startup = 0;
    part.total = tree->cost;
    part.rows = clamp_rows(tree->selectivity * path->rel->tuples);
    part.width = 0;
    auto* plan = node<BitmapIndexScanPlan>(&part);
    plan->range = q.plan_ranges[static_cast<std::size_t>(path->rel->range)];
    fill_index(plan, &part, *path->rel, tree->clauses);
    return plan;
  }
  Path part;
  part.total = tree->cost;
  part.rows = clamp_rows(tree->selectivity * path->rel->tuples);
  part.width = 0;
  auto* plan = node<BitmapCombinePlan>(&part);
  plan->kind = tree->kind == BitmapTree::Kind::kAnd ? PlanKind::kBitmapAnd : PlanKind::kBitmapOr;
  std::vector<Plan*> inputs;
  for (BitmapTree* input : tree->inputs) inputs.push_back(make_bitmap(input, path));
  plan->inputs = arena_span(q.arena, inputs);
  return plan;
}

namespace {
/// The condition that a bitmap stands for.
Expr* bitmap_condition(Arena& arena, const BitmapTree* tree) {
  std::vector<Expr*> parts;
  if (tree->kind == BitmapTree::Kind::kIndex) {
    for (const IndexClause& c : tree->clauses) {
      if (std::find(parts.begin(), parts.end(), c.clause->expr) == parts.end())
        parts.push_back(c.clause->expr);
    }
    return join_and(arena, parts);
  }
  for (const BitmapTree* input : tree->inputs) parts.push_back(bitmap_condition(arena, input));
  auto* e = arena.make<BoolExpr>();
  e->type.type = kBoolType;
  e->op = tree->kind == BitmapTree::Kind::kAnd ? BoolOp::kAnd : BoolOp::kOr;
  e->args = arena_span(arena, parts);
  return e;
}
}  // namespace

Plan* PlanMaker::make_bitmap_heap(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  BaseRelation& rel = *path->rel;
  auto* plan = node<BitmapHeapScanPlan>(path);
  plan->left = make_bitmap(path->bitmap, path);
  std::vector<Expr*> recheck;
  split_and(bitmap_condition(q.arena, path->bitmap), recheck);
  const Inputs in{nullptr, nullptr, &rel, nullptr};
  plan->recheck = resolve_all(recheck, in);
  std::vector<Expr*> filters;
  for (const Clause* clause : rel.clauses) {
    const bool same = std::any_of(recheck.begin(), recheck.end(),
                                  [&](const Expr* e) { return same_expr(e, clause->expr); });
    if (!same) filters.push_back(clause->expr);
  }
  return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
}

Plan* PlanMaker::make_tid_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  BaseRelation& rel = *path->rel;
  auto* plan = node<TidScanPlan>(path);
  const Inputs in{nullptr, nullptr, &rel, nullptr};
  std::vector<Expr*> tids;
  for (const Clause* clause : path->tid_clauses) {
    if (auto* a = expr_if<ScalarArrayExpr>(clause->expr))
      tids.push_back(a->array);
    else
      tids.push_back(clause->right_relids == 0 ? clause->right : clause->left);
  }
  plan->tids = resolve_all(tids, in);
  plan->tid_quals = resolve_all(expressions_of(path->tid_clauses), in);
  std::vector<Expr*> filters;
  for (Clause* clause : rel.clauses) {
    if (std::find(path->tid_clauses.begin(), path->tid_clauses.end(), clause) == path->tid_clauses.end()) {
      filters.push_back(clause->expr);
    }
  }
  return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
}

Plan* PlanMaker::make_subquery_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  BaseRelation& rel = *path->rel;
  for (const SubPlanArgument& value : rel.lateral_values) {
    const bool known = std::any_of(pending.begin(), pending.end(),
                                   [&](const SubPlanArgument& p) { return p.slot == value.slot; });
    if (!known) pending.push_back(value);
  }
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(rel.range)];
  const bool plain = std::all_of(wanted.begin(), wanted.end(), [](const Expr* e) {
    const auto* c = expr_if<ColumnExpr>(e);
    return c != nullptr && c->attribute > 0;
  });
  if (rel.clauses.empty() && loose && plain) {
    out.clear();
    for (std::size_t i = 0; i < entry.columns.size(); ++i)
      out.push_back(column_of(rel, static_cast<int>(i) + 1));
    return path->ready;
  }
  auto* plan = node<SubqueryScanPlan>(path);
  plan->left = path->ready;
  return finish_scan(plan, path, expressions_of(rel.clauses), wanted, loose, out, nullptr);
}

Plan* PlanMaker::make_other_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out) {
  BaseRelation& rel = *path->rel;
  const RangeEntry& entry = q.ranges[static_cast<std::size_t>(rel.range)];
  const Inputs in{nullptr, nullptr, &rel, nullptr};
  const std::vector<Expr*> filters = expressions_of(rel.clauses);
  switch (path->kind) {
    case PathKind::kFunction: {
      auto* plan = node<FunctionScanPlan>(path);
      plan->functions = resolve_all({entry.functions.begin(), entry.functions.end()}, in);
      plan->with_ordinality = entry.with_ordinality;
      std::vector<int> counts;
      const int total = static_cast<int>(entry.columns.size()) - (entry.with_ordinality ? 1 : 0);
      for (std::size_t i = 0; i < entry.functions.size(); ++i) {
        const bool one = entry.functions.size() > 1 || entry.scalar_function;
        counts.push_back(i < entry.function_columns.size() ? entry.function_columns[i] : one ? 1 : total);
      }
      plan->column_counts = arena_span(q.arena, counts);
      return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
    }
    case PathKind::kValues: {
      auto* plan = node<ValuesScanPlan>(path);
      std::vector<ExprList> rows;
      for (const ExprList& row : entry.rows) rows.push_back(resolve_all({row.begin(), row.end()}, in));
      plan->value_rows = arena_span(q.arena, rows);
      return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
    }
    case PathKind::kCte: {
      auto* plan = node<CteScanPlan>(path);
      plan->subplan = q.find_cte(entry.cte_name, entry.cte_levels_up)->subplan;
      return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
    }
    default: {
      auto* plan = node<WorkTableScanPlan>(path);
      plan->work_table = q.find_cte(entry.cte_name, entry.cte_levels_up)->work_table;
      return finish_scan(plan, path, filters, wanted, loose, out, nullptr);
    }
  }
}

}  // namespace pinwheel::sql
