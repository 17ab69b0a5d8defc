#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/plan/planner_state.h"
#include "sql/types/compare.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

bool starts_with(const PathKeys& have, const PathKeys& want) {
  return want.size() <= have.size() && std::equal(want.begin(), want.end(), have.begin());
}

void find_aggregates(Expr* e, std::vector<AggregateExpr*>& list) {
  if (e == nullptr) return;
  if (auto* a = expr_if<AggregateExpr>(e)) {
    for (const AggregateExpr* known : list) {
      if (same_expr(known, a)) return;
    }
    list.push_back(a);
    return;
  }
  visit_children(e, [&](Expr*& child) { find_aggregates(child, list); });
}

void find_window_calls(Expr* e, std::vector<WindowFunctionExpr*>& list) {
  if (e == nullptr) return;
  if (auto* w = expr_if<WindowFunctionExpr>(e)) {
    for (const WindowFunctionExpr* known : list) {
      if (same_expr(known, w)) return;
    }
    list.push_back(w);
    return;
  }
  visit_children(e, [&](Expr*& child) { find_window_calls(child, list); });
}

double constant_count(const Expr* e, double otherwise) {
  const auto* c = expr_if<ConstExpr>(e);
  if (c == nullptr || c->is_null) return otherwise;
  return std::max<double>(0, static_cast<double>(c->value.as_int64()));
}

}  // namespace

PathKeys QueryPlanner::keys_of(const std::vector<Expr*>& exprs, const std::vector<Path::Order>& orders) {
  PathKeys keys;
  for (std::size_t i = 0; i < exprs.size(); ++i) {
    if (exprs[i]->kind == ExprKind::kConst) continue;
    const BuiltinOperatorClass* opclass = default_operator_class(exprs[i]->type.type, kBtreeMethod);
    const int ec =
        equivalence_of(exprs[i], opclass != nullptr ? opclass->family : Oid{}, exprs[i]->type.collation);
    if (equivalences_[static_cast<std::size_t>(ec)].has_constant) continue;
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const PathKey& p) { return p.equivalence == ec; });
    if (known) continue;
    keys.push_back(
        {ec, i < orders.size() && orders[i].descending, i < orders.size() && orders[i].nulls_first});
  }
  return keys;
}

Path* QueryPlanner::plan_sort(Path* path, const std::vector<Expr*>& keys,
                              const std::vector<Path::Order>& orders, double limit) {
  const PathKeys wanted = keys_of(keys, orders);
  if (starts_with(path->keys, wanted)) return path;
  const PlannerSettings& s = global.input.settings;
  Path* sort = new_path(PathKind::kSort);
  sort->outer = path;
  sort->relids = path->relids;
  sort->rows = path->rows;
  sort->width = path->width;
  // repeated and constant keys decide nothing
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i]->kind == ExprKind::kConst) continue;
    const bool known = std::any_of(sort->expressions.begin(), sort->expressions.end(),
                                   [&](const Expr* e) { return same_expr(e, keys[i]); });
    if (known) continue;
    sort->expressions.push_back(keys[i]);
    sort->orders.push_back(i < orders.size() ? orders[i] : Path::Order{});
  }
  sort->keys = wanted;
  const double n = std::max(2.0, path->rows);
  const double compare = 2 * s.cpu_operator_cost;
  const double bytes = n * (path->width + 24);
  double work;
  if (limit > 0 && limit < n) {
    work = compare * n * std::log2(2 * std::max(1.0, limit));
  } else {
    work = compare * n * std::log2(n);
    if (bytes > static_cast<double>(s.work_mem_bytes)) {
      const double pages = std::ceil(bytes / kPageSize);
      work += pages * 2 * (s.seq_page_cost * 0.75 + s.random_page_cost * 0.25);
    }
  }
  sort->startup = path->total + work;
  sort->total = sort->startup + s.cpu_operator_cost * n;
  return sort;
}

double QueryPlanner::estimate_groups(const std::vector<Expr*>& exprs, double rows) {
  double groups = 1;
  for (Expr* e : exprs) {
    if (e->kind == ExprKind::kConst) continue;
    std::vector<Expr*> columns;
    any_node(e, [&](const Expr* n) {
      if (n->kind == ExprKind::kColumn) columns.push_back(const_cast<Expr*>(n));
      return false;
    });
    double distinct = e->type.type == kBoolType ? 2 : 1;
    if (e->type.type != kBoolType) {
      for (const Expr* c : columns) distinct *= distinct_values(*this, c);
      if (columns.empty()) distinct = 200;
    }
    groups *= distinct;
  }
  return clamp_rows(std::min(groups, rows));
}

/// Rows that a LIMIT asks for; 0 = all.
double QueryPlanner::limit_rows() const {
  if (query.limit == nullptr && query.offset == nullptr) return 0;
  double rows = 0;
  if (query.limit != nullptr) {
    const auto* c = expr_if<ConstExpr>(query.limit);
    if (c != nullptr && c->is_null)
      rows = 0;
    else
      rows = std::max(1.0, constant_count(query.limit, 0));
    if (c == nullptr) rows = -1;  // unknown: a tenth
  }
  if (rows > 0 && query.offset != nullptr) rows += constant_count(query.offset, 0);
  return rows;
}

Path* QueryPlanner::cheapest_for_order(JoinRelation& input, const PathKeys& keys,
                                       const std::vector<Expr*>& exprs,
                                       const std::vector<Path::Order>& orders, double fraction) {
  Path* best = nullptr;
  double best_cost = 0;
  for (Path* path : input.paths) {
    if (path->required != 0) continue;
    Path* candidate = keys.empty() ? path : plan_sort(path, exprs, orders, fraction > 1 ? fraction : 0);
    double share = 1;
    if (fraction > 1)
      share = std::min(1.0, fraction / std::max(1.0, candidate->rows));
    else if (fraction > 0)
      share = fraction;
    const double cost = candidate->startup + (candidate->total - candidate->startup) * share;
    if (best == nullptr || cost < best_cost) {
      best = candidate;
      best_cost = cost;
    }
  }
  if (best == nullptr) throw SqlError{sqlstate::kInternalError, "a join relation without paths"};
  return best;
}

Path* QueryPlanner::plan_grouping(JoinRelation& input) {
  const PlannerSettings& s = global.input.settings;
  std::vector<AggregateExpr*> aggregates;
  for (Target& t : query.targets) find_aggregates(t.expr, aggregates);
  find_aggregates(query.having, aggregates);
  std::vector<Expr*> keys;
  std::vector<Path::Order> orders;
  bool can_hash = true;
  bool can_sort = true;
  for (const SortClause& clause : query.group_by) {
    Expr* e = query.targets[static_cast<std::size_t>(clause.target_index)].expr;
    const bool known = std::any_of(keys.begin(), keys.end(), [&](const Expr* k) { return same_expr(k, e); });
    if (known) continue;
    keys.push_back(e);
    orders.push_back({clause.descending, clause.nulls_first});
    can_hash = can_hash && find_hash(e->type.type) != nullptr && find_equal(e->type.type) != nullptr;
    can_sort = can_sort && find_compare(e->type.type) != nullptr;
  }
  for (const AggregateExpr* a : aggregates) can_hash = can_hash && !a->distinct && a->order_by.empty();
  if (!can_hash && !can_sort && !keys.empty()) {
    throw SqlError{sqlstate::kFeatureNotSupported, "could not implement GROUP BY"};
  }
  double transition = 0;
  for (std::size_t i = 0; i < aggregates.size(); ++i) transition += s.cpu_operator_cost;
  std::vector<Expr*> having;
  split_and(query.having, having);

  const auto make = [&](Path* below, AggregateStrategy strategy) {
    Path* path = new_path(PathKind::kAggregate);
    path->outer = below;
    path->relids = below->relids;
    path->strategy = strategy;
    path->aggregates = aggregates;
    path->expressions = keys;
    path->orders = orders;
    path->conditions = having;
    path->width = static_cast<int>(8 * (keys.size() + aggregates.size()));
    const double rows = below->rows;
    double groups = keys.empty() ? 1 : estimate_groups(keys, rows);
    const double per_row = transition + s.cpu_operator_cost * static_cast<double>(keys.size());
    if (strategy == AggregateStrategy::kSorted) {
      path->startup = below->startup;
      path->total = below->total + rows * per_row + groups * s.cpu_tuple_cost;
      path->keys = below->keys;
    } else {
      path->startup = below->total + rows * per_row;
      path->total = path->startup + groups * s.cpu_tuple_cost;
      if (strategy == AggregateStrategy::kHashed) {
        const double bytes = groups * (below->width + 64 + 16 * static_cast<double>(aggregates.size()));
        const double memory = static_cast<double>(s.work_mem_bytes) * s.hash_mem_multiplier;
        if (bytes > memory) {
          const double pages = std::ceil(rows * (below->width + 24) / kPageSize);
          path->startup += pages * s.random_page_cost;
          path->total += pages * (s.random_page_cost + s.seq_page_cost);
        }
        if (!s.enable_hashagg) path->total += kDisabledCost;
      }
    }
    for (std::size_t i = 0; i < having.size(); ++i) groups *= 0.5;
    path->rows = keys.empty() ? 1 : clamp_rows(groups);
    return path;
  };

  if (keys.empty()) {
    return make(cheapest_for_order(input, {}, {}, {}, 0), AggregateStrategy::kPlain);
  }
  // keys in the order that ORDER BY wants let one sort serve both
  std::vector<Expr*> sorted_keys;
  std::vector<Path::Order> sorted_orders;
  for (const SortClause& clause : query.order_by) {
    Expr* e = query.targets[static_cast<std::size_t>(clause.target_index)].expr;
    const bool is_key = std::any_of(keys.begin(), keys.end(), [&](const Expr* k) { return same_expr(k, e); });
    if (!is_key) break;
    sorted_keys.push_back(e);
    sorted_orders.push_back({clause.descending, clause.nulls_first});
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool known = std::any_of(sorted_keys.begin(), sorted_keys.end(),
                                   [&](const Expr* k) { return same_expr(k, keys[i]); });
    if (!known) {
      sorted_keys.push_back(keys[i]);
      sorted_orders.push_back(orders[i]);
    }
  }
  std::vector<Path*> candidates;
  if (can_sort) {
    const PathKeys wanted = keys_of(sorted_keys, sorted_orders);
    for (Path* path : input.paths) {
      if (path->required != 0) continue;
      const bool presorted = starts_with(path->keys, wanted);
      if (!presorted && path != input.cheapest()) continue;
      candidates.push_back(make(plan_sort(path, sorted_keys, sorted_orders, 0), AggregateStrategy::kSorted));
    }
  }
  if (can_hash) candidates.push_back(make(input.cheapest(), AggregateStrategy::kHashed));
  // what the final order costs on top
  std::vector<Expr*> order_exprs;
  std::vector<Path::Order> final_orders;
  for (const SortClause& clause : query.order_by) {
    order_exprs.push_back(query.targets[static_cast<std::size_t>(clause.target_index)].expr);
    final_orders.push_back({clause.descending, clause.nulls_first});
  }
  Path* best = nullptr;
  double best_cost = 0;
  for (Path* candidate : candidates) {
    const bool ordered = query.windows.empty() && query.distinct.empty();
    const double cost = ordered && !order_exprs.empty()
                            ? plan_sort(candidate, order_exprs, final_orders, 0)->total
                            : candidate->total;
    if (best == nullptr || cost < best_cost) {
      best = candidate;
      best_cost = cost;
    }
  }
  return best;
}

Path* QueryPlanner::plan_windows(Path* path) {
  std::vector<WindowFunctionExpr*> calls;
  for (Target& t : query.targets) find_window_calls(t.expr, calls);
  const PlannerSettings& s = global.input.settings;
  for (std::size_t w = 0; w < query.windows.size(); ++w) {
    std::vector<WindowFunctionExpr*> mine;
    for (WindowFunctionExpr* call : calls) {
      if (call->window_index == static_cast<int>(w)) mine.push_back(call);
    }
    if (mine.empty()) continue;
    const WindowClause& window = query.windows[w];
    std::vector<Expr*> keys;
    std::vector<Path::Order> orders;
    for (const SortClause& clause : window.partition_by) {
      keys.push_back(query.targets[static_cast<std::size_t>(clause.target_index)].expr);
      orders.push_back({clause.descending, clause.nulls_first});
    }
    for (const SortClause& clause : window.order_by) {
      keys.push_back(query.targets[static_cast<std::size_t>(clause.target_index)].expr);
      orders.push_back({clause.descending, clause.nulls_first});
    }
    Path* below = keys.empty() ? path : plan_sort(path, keys, orders, 0);
    Path* node = new_path(PathKind::kWindow);
    node->outer = below;
    node->relids = below->relids;
    node->window = static_cast<int>(w);
    node->window_calls = mine;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      node->expressions.push_back(keys[i]);
      node->orders.push_back(orders[i]);
    }
    node->rows = below->rows;
    node->width = below->width + static_cast<int>(8 * mine.size());
    node->startup = below->startup;
    node->total = below->total +
                  below->rows * (static_cast<double>(mine.size()) * s.cpu_operator_cost + s.cpu_tuple_cost +
                                 static_cast<double>(keys.size()) * s.cpu_operator_cost);
    node->keys = below->keys;
    path = node;
  }
  return path;
}

Path* QueryPlanner::plan_distinct(Path* path) {
  const PlannerSettings& s = global.input.settings;
  std::vector<Expr*> keys;
  std::vector<Path::Order> orders;
  std::vector<Expr*> order_exprs;
  std::vector<Path::Order> final_orders;
  for (const SortClause& clause : query.order_by) {
    order_exprs.push_back(query.targets[static_cast<std::size_t>(clause.target_index)].expr);
    final_orders.push_back({clause.descending, clause.nulls_first});
  }
  bool can_hash = !query.distinct_on;
  for (const SortClause& clause : query.distinct) {
    Expr* e = query.targets[static_cast<std::size_t>(clause.target_index)].expr;
    keys.push_back(e);
    Path::Order order{clause.descending, clause.nulls_first};
    for (std::size_t i = 0; i < order_exprs.size(); ++i) {
      if (same_expr(order_exprs[i], e)) order = final_orders[i];
    }
    orders.push_back(order);
    can_hash = can_hash && find_hash(e->type.type) != nullptr && find_equal(e->type.type) != nullptr;
  }
  const double groups = estimate_groups(keys, path->rows);
  // sorted: by ORDER BY first, then by what is left
  std::vector<Expr*> sort_exprs;
  std::vector<Path::Order> sort_orders;
  const auto add = [&](Expr* e, Path::Order order) {
    const bool known =
        std::any_of(sort_exprs.begin(), sort_exprs.end(), [&](const Expr* k) { return same_expr(k, e); });
    if (known) return;
    sort_exprs.push_back(e);
    sort_orders.push_back(order);
  };
  bool compatible = true;
  for (std::size_t i = 0; i < order_exprs.size(); ++i) {
    const bool is_key =
        std::any_of(keys.begin(), keys.end(), [&](const Expr* k) { return same_expr(k, order_exprs[i]); });
    if (!is_key) {
      compatible = query.distinct_on;
      break;
    }
    add(order_exprs[i], final_orders[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) add(keys[i], orders[i]);
  if (query.distinct_on) {
    for (std::size_t i = 0; i < order_exprs.size(); ++i) add(order_exprs[i], final_orders[i]);
  }
  static_cast<void>(compatible);
  Path* sorted = plan_sort(path, sort_exprs, sort_orders, 0);
  Path* unique = new_path(PathKind::kUnique);
  unique->outer = sorted;
  unique->relids = sorted->relids;
  unique->expressions = keys;
  unique->orders = orders;
  unique->rows = groups;
  unique->width = path->width;
  unique->keys = sorted->keys;
  unique->startup = sorted->startup;
  unique->total = sorted->total + sorted->rows * s.cpu_operator_cost * static_cast<double>(keys.size());
  if (!can_hash) return unique;
  Path* hashed = new_path(PathKind::kAggregate);
  hashed->outer = path;
  hashed->relids = path->relids;
  hashed->strategy = AggregateStrategy::kHashed;
  hashed->expressions = keys;
  hashed->orders = orders;
  hashed->rows = groups;
  hashed->width = path->width;
  hashed->startup = path->total + path->rows * s.cpu_operator_cost * static_cast<double>(keys.size());
  hashed->total = hashed->startup + groups * s.cpu_tuple_cost;
  const double bytes = groups * (path->width + 64);
  if (bytes > static_cast<double>(s.work_mem_bytes) * s.hash_mem_multiplier || !s.enable_hashagg) {
    hashed->startup += 1e6;
    hashed->total += s.enable_hashagg ? 1e6 : kDisabledCost;
  }
  const auto final_cost = [&](Path* p) {
    return order_exprs.empty() ? p->total : plan_sort(p, order_exprs, final_orders, 0)->total;
  };
  return final_cost(hashed) < final_cost(unique) ? hashed : unique;
}

Path* QueryPlanner::add_gate(Path* path) {
  if (constant_quals_.empty()) return path;
  Path* gate = new_path(PathKind::kGate);
  gate->outer = path;
  gate->relids = path->relids;
  gate->conditions = constant_quals_;
  gate->rows = path->rows;
  gate->width = path->width;
  gate->startup = path->startup;
  gate->total = path->total;
  gate->keys = path->keys;
  return gate;
}

PathKeys QueryPlanner::required_order(double* useful_fraction) {
  *useful_fraction = 0;
  std::vector<Expr*> exprs;
  std::vector<Path::Order> orders;
  const auto take = [&](std::span<SortClause> list) {
    for (const SortClause& clause : list) {
      Expr* e = query.targets[static_cast<std::size_t>(clause.target_index)].expr;
      if (has_aggregate(e) || has_window(e) || has_set_function(e) || has_volatile(e)) break;
      exprs.push_back(e);
      orders.push_back({clause.descending, clause.nulls_first});
    }
  };
  if (!query.group_by.empty()) {
    // one order serves grouping and ORDER BY when they agree
    take(query.order_by);
    take(query.group_by);
  } else if (query.has_windows && !query.windows.empty()) {
    take(query.windows[0].partition_by);
    take(query.windows[0].order_by);
  } else if (!query.order_by.empty()) {
    take(query.order_by);
  } else {
    take(query.distinct);
  }
  return keys_of(exprs, orders);
}

Path* QueryPlanner::plan_upper(JoinRelation* input, double tuple_fraction) {
  const PlannerSettings& s = global.input.settings;
  const bool grouping =
      query.has_aggregates || query.has_group_by || !query.group_by.empty() || query.having != nullptr;
  std::vector<Expr*> order_exprs;
  std::vector<Path::Order> orders;
  for (const SortClause& clause : query.order_by) {
    order_exprs.push_back(query.targets[static_cast<std::size_t>(clause.target_index)].expr);
    orders.push_back({clause.descending, clause.nulls_first});
  }
  double wanted_rows = limit_rows();
  double fraction = tuple_fraction;
  if (wanted_rows < 0)
    fraction = fraction > 0 ? fraction : 0.1;
  else if (wanted_rows > 0)
    fraction = fraction > 1 ? std::min(fraction, wanted_rows) : std::max(1.0001, wanted_rows);
  const bool blocking = grouping || query.has_windows || !query.distinct.empty();

  Path* path;
  if (grouping) {
    for (Path*& p : input->paths) {
      if (p->required == 0) p = add_gate(p);
    }
    path = plan_grouping(*input);
  } else if (query.has_windows || query.has_set_functions) {
    path = add_gate(cheapest_for_order(*input, {}, {}, {}, 0));
  } else if (!query.distinct.empty()) {
    path = add_gate(cheapest_for_order(*input, {}, {}, {}, 0));
  } else {
    const PathKeys keys = keys_of(order_exprs, orders);
    path = cheapest_for_order(*input, keys, order_exprs, orders, blocking ? 0 : fraction);
    if (!constant_quals_.empty()) path = add_gate(path);
  }
  if (query.has_windows) path = plan_windows(path);
  bool set_functions = false;
  for (const Target& t : query.targets) set_functions = set_functions || has_set_function(t.expr);
  if (set_functions) {
    Path* project = new_path(PathKind::kProjectSet);
    project->outer = path;
    project->relids = path->relids;
    for (Target& t : query.targets) project->expressions.push_back(t.expr);
    project->rows = clamp_rows(path->rows * 1000);
    project->width = path->width;
    project->startup = path->startup;
    project->total = path->total + project->rows * s.cpu_tuple_cost;
    path = project;
  }
  if (!query.distinct.empty()) path = plan_distinct(path);
  if (!order_exprs.empty()) {
    const double bound = wanted_rows > 0 ? wanted_rows : 0;
    Path* sorted = plan_sort(path, order_exprs, orders, bound);
    path = sorted;
  }
  if (!query.row_marks.empty()) {
    Path* lock = new_path(PathKind::kLockRows);
    lock->outer = path;
    lock->relids = path->relids;
    lock->rows = path->rows;
    lock->width = path->width;
    lock->startup = path->startup;
    lock->total = path->total + path->rows * s.cpu_tuple_cost;
    lock->keys = path->keys;
    path = lock;
  }
  if (query.limit != nullptr || query.offset != nullptr) {
    const auto* all = expr_if<ConstExpr>(query.limit);
    const bool no_limit = query.limit == nullptr || (all != nullptr && all->is_null);
    if (path->kind == PathKind::kSort && !query.limit_with_ties && !no_limit) path->bounded = true;
    Path* limit = new_path(PathKind::kLimit);
    limit->outer = path;
    limit->relids = path->relids;
    limit->limit = no_limit ? nullptr : query.limit;
    limit->offset = query.offset;
    limit->with_ties = query.limit_with_ties;
    if (query.limit_with_ties) {
      limit->expressions = order_exprs;
      limit->orders = orders;
    }
    limit->width = path->width;
    limit->keys = path->keys;
    const double skip = query.offset != nullptr ? constant_count(query.offset, path->rows * 0.1) : 0;
    const double count = no_limit ? path->rows : std::max(1.0, constant_count(query.limit, path->rows * 0.1));
    const double per_row = (path->total - path->startup) / std::max(1.0, path->rows);
    limit->startup = path->startup + std::min(skip, path->rows) * per_row;
    limit->rows = clamp_rows(std::min(count, path->rows - std::min(skip, path->rows)));
    limit->total = std::min(path->total, limit->startup + limit->rows * per_row);
    path = limit;
  }
  return path;
}

}  // namespace pinwheel::sql
