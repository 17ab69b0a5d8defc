#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "sql/analyze/expression_source.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

KeyTest test_of_strategy(int strategy) {
  switch (strategy) {
    case 1:
      return KeyTest::kLess;
    case 2:
      return KeyTest::kLessEqual;
    case 4:
      return KeyTest::kGreaterEqual;
    case 5:
      return KeyTest::kGreater;
    default:
      return KeyTest::kEqual;
  }
}

/// Pages of a table that fetching `tuples` random rows reads, with a cache of `cache` pages (Mackert and
/// Lohman, 1989).
double pages_fetched(double tuples, double pages, double cache) {
  const double t = std::max(1.0, pages);
  if (t <= cache) return std::min(t, std::ceil(2 * t * tuples / (2 * t + tuples)));
  const double limit = 2 * t * cache / (2 * t - cache);
  if (tuples <= limit) return std::ceil(2 * t * tuples / (2 * t + tuples));
  return std::ceil(cache + (tuples - limit) * (t - cache) / t);
}

}  // namespace

Expr* QueryPlanner::index_expression(const BaseRelation& rel, const IndexInfo& index, int column) {
  const auto& key = index.keys[static_cast<std::size_t>(column)];
  if (key.column != 0) {
    auto* c = arena.make<ColumnExpr>();
    c->type = {key.type, key.type_modifier, key.collation};
    const Column& table_column = rel.relation->column(key.column);
    c->type = {table_column.type, table_column.type_modifier, table_column.collation};
    c->range_index = rel.range;
    c->attribute = key.column;
    return c;
  }
  const AnalyzeContext context{arena, global.input.names, global.input.eval};
  Expr* e = analyze_expression(context, key.expression, global.input.names.relation(rel.relation->oid),
                               SourceUse::kIndexExpression);
  e = fold_constants(global, e);
  return rewrite(arena, e, [&](Expr* n) -> Expr* {
    auto* c = expr_if<ColumnExpr>(n);
    if (c == nullptr) return nullptr;
    auto* copy = arena.make<ColumnExpr>(*c);
    copy->range_index = rel.range;
    return copy;
  });
}

bool QueryPlanner::predicate_implied(BaseRelation& rel, const IndexInfo& index) {
  if (index.predicate.empty()) return true;
  const AnalyzeContext context{arena, global.input.names, global.input.eval};
  Expr* predicate = analyze_expression(
      context, index.predicate, global.input.names.relation(rel.relation->oid), SourceUse::kIndexPredicate);
  predicate = fold_constants(global, predicate);
  std::vector<Expr*> parts;
  split_and(predicate, parts);
  for (Expr* part : parts) {
    Expr* own = rewrite(arena, part, [&](Expr* n) -> Expr* {
      auto* c = expr_if<ColumnExpr>(n);
      if (c == nullptr) return nullptr;
      auto* copy = arena.make<ColumnExpr>(*c);
      copy->range_index = rel.range;
      return copy;
    });
    bool implied = false;
    for (const Clause* clause : rel.clauses) {
      implied = implied || same_expr(clause->expr, own);
      // x IS NOT NULL follows from any strict condition on x
      const auto* test = expr_if<NullTestExpr>(own);
      if (test == nullptr || test->is_null) continue;
      const auto* op = expr_if<OperatorExpr>(clause->expr);
      if (op != nullptr && op->args.size() == 2 &&
          (equality_info(op->op).is_equality || operator_membership(op->op, kBtreeMethod)) &&
          (same_expr(op->args[0], test->arg) || same_expr(op->args[1], test->arg))) {
        implied = true;
      }
    }
    if (!implied) return false;
  }
  return true;
}

/// Conditions on index columns that `clause` gives; false when the index has no use for it.
bool QueryPlanner::match_index_clause(BaseRelation& rel, const IndexInfo& index, Clause* clause,
                                      std::vector<IndexClause>& out) {
  bool matched = false;
  for (int k = 0; k < index.key_count; ++k) {
    const auto& key = index.keys[static_cast<std::size_t>(k)];
    const auto is_key = [&](const Expr* e) {
      const Expr* plain = strip_relabel(e);
      if (key.column != 0) {
        const auto* c = expr_if<ColumnExpr>(plain);
        return c != nullptr && c->range_index == rel.range && c->attribute == key.column && c->levels_up == 0;
      }
      return same_expr(strip_relabel(index_expression(rel, index, k)), plain);
    };
    const auto free_of_rel = [&](const Expr* e) {
      return !overlaps(relids_of(e), rel.bit) && !has_volatile(e);
    };
    const auto collation_fits = [&](Oid used) {
      return key.collation == used || key.collation.value == 0 || used.value == 0;
    };
    if (auto* op = expr_if<OperatorExpr>(clause->expr); op != nullptr && op->args.size() == 2) {
      Expr* value = nullptr;
      Oid used = op->op;
      if (is_key(op->args[0]) && free_of_rel(op->args[1])) {
        value = op->args[1];
      } else if (is_key(op->args[1]) && free_of_rel(op->args[0])) {
        value = op->args[0];
        const BuiltinOperator* row = find_operator(op->op);
        used = row != nullptr ? row->commutator : Oid{};
      }
      if (value == nullptr || !is_valid(used) || !collation_fits(op->input_collation)) continue;
      const BuiltinFamilyOperator* member = operator_in_family(used, key.operator_family);
      if (member == nullptr || member->strategy < 1 || member->strategy > 5) continue;
      out.push_back({k, test_of_strategy(member->strategy), value, member->right, clause, false});
      matched = true;
    } else if (auto* array = expr_if<ScalarArrayExpr>(clause->expr)) {
      if (!array->any || !is_key(array->left) || !free_of_rel(array->array) ||
          !collation_fits(array->input_collation))
        continue;
      const BuiltinFamilyOperator* member = operator_in_family(array->op, key.operator_family);
      if (member == nullptr || member->strategy != 3) continue;
      out.push_back({k, KeyTest::kEqualAny, array->array, member->right, clause, false});
      matched = true;
    } else if (auto* test = expr_if<NullTestExpr>(clause->expr)) {
      if (test->arg_is_row || !is_key(test->arg)) continue;
      out.push_back({k, test->is_null ? KeyTest::kIsNull : KeyTest::kNotNull, nullptr, Oid{}, clause, false});
      matched = true;
    } else if (key.type == kBoolType) {
      const auto* negated = expr_if<BoolExpr>(clause->expr);
      const bool is_not = negated != nullptr && negated->op == BoolOp::kNot;
      const Expr* bare = is_not ? negated->args[0] : clause->expr;
      if (!is_key(bare)) continue;
      out.push_back({k, KeyTest::kEqual, make_bool(arena, !is_not), kBoolType, clause, false});
      matched = true;
    }
  }
  return matched;
}

bool QueryPlanner::index_covers(const BaseRelation& rel, const IndexInfo& index) const {
  if (rel.whole_row) return false;
  for (const std::int16_t attribute : rel.needed) {
    if (attribute <= 0) return false;
    bool found = false;
    for (const auto& key : index.keys) found = found || key.column == attribute;
    if (!found) return false;
  }
  return true;
}

PathKeys QueryPlanner::index_order(const BaseRelation& rel, const IndexInfo& index, bool backward) {
  PathKeys keys;
  for (int k = 0; k < index.key_count; ++k) {
    const auto& key = index.keys[static_cast<std::size_t>(k)];
    Expr* e = index_expression(rel, index, k);
    const int ec = equivalence_of(e, key.operator_family, key.collation);
    if (equivalences_[static_cast<std::size_t>(ec)].has_constant) continue;
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const PathKey& p) { return p.equivalence == ec; });
    if (!known) keys.push_back({ec, key.descending != backward, key.nulls_first != backward});
  }
  return keys;
}

double QueryPlanner::index_pages(const IndexInfo& index, const BaseRelation& rel) const {
  if (index.file.relation.value == 0) return 1;
  const auto pages = global.input.catalog.services().storage.files.size(index.file, Fork::kMain).value;
  static_cast<void>(rel);
  return std::max<double>(1, pages);
}

/// PostgreSQL's model: index pages and entries read, heap pages between the best and the worst case by
/// correlation.
void QueryPlanner::cost_index(BaseRelation& rel, Path& path, double loops) {
  const PlannerSettings& s = global.input.settings;
  const IndexInfo& index = *path.index;
  // entries between the bounds: equalities of a prefix, then one inequality
  std::vector<Clause*> bounds;
  std::vector<Clause*> all;
  double array_loops = 1;
  bool open = true;
  bool prefix_equal = true;
  int equal_columns = 0;
  for (int k = 0; k < index.key_count && open; ++k) {
    bool equal = false;
    bool any = false;
    for (const IndexClause& c : path.index_clauses) {
      if (c.column != k) continue;
      any = true;
      if (c.test == KeyTest::kEqual || c.test == KeyTest::kIsNull || c.test == KeyTest::kEqualAny)
        equal = true;
      if (c.test == KeyTest::kEqualAny) {
        const auto* a = expr_if<ScalarArrayExpr>(c.clause->expr);
        const auto* list = a != nullptr ? expr_if<ArrayExpr>(strip_relabel(a->array)) : nullptr;
        array_loops *= list != nullptr ? std::max<double>(1, static_cast<double>(list->elements.size())) : 10;
      }
      bounds.push_back(c.clause);
    }
    if (equal && prefix_equal) ++equal_columns;
    prefix_equal = prefix_equal && equal;
    open = any && equal;
  }
  for (const IndexClause& c : path.index_clauses) {
    if (std::find(all.begin(), all.end(), c.clause) == all.end()) all.push_back(c.clause);
  }
  const double bound_selectivity = clauses_selectivity(*this, bounds);
  const double selectivity = clauses_selectivity(*this, all);
  path.unique_lookup = index.unique && equal_columns == index.key_count && index.predicate.empty();
  for (const IndexClause& c : path.index_clauses) {
    if (c.test == KeyTest::kIsNull || c.test == KeyTest::kEqualAny) path.unique_lookup = false;
  }
  const double pages = index_pages(index, rel);
  const double index_tuples = std::max(1.0, rel.tuples);
  double entries =
      path.unique_lookup ? 1 : std::max(1.0, std::round(bound_selectivity * rel.tuples / array_loops));
  entries = std::min(entries, index_tuples);
  double leaf_pages = pages > 1 && index_tuples > 1 ? std::ceil(entries * pages / index_tuples) : 1;
  double io;
  if (array_loops * loops > 1) {
    const double scans = array_loops * loops;
    io = pages_fetched(leaf_pages * scans, pages, s.effective_cache_pages) * s.random_page_cost / loops;
  } else {
    io = leaf_pages * s.random_page_cost;
  }
  const double quals = std::max<double>(1, static_cast<double>(all.size()));
  double cpu = entries * array_loops * (s.cpu_index_tuple_cost + quals * s.cpu_operator_cost);
  // levels above the leaves; the first page is the tree's own
  const double height = pages > 2 ? std::ceil(std::log(pages - 1) / std::log(256.0)) : 0;
  double descent = std::ceil(std::log2(index_tuples + 1)) * s.cpu_operator_cost * array_loops;
  descent += (height + 1) * 50 * s.cpu_operator_cost * array_loops;
  const double index_startup = descent;
  const double index_total = io + cpu + descent;

  double fetched = path.unique_lookup ? 1 : clamp_rows(selectivity * rel.tuples);
  if (path.index_only) fetched = std::ceil(fetched * (1 - rel.all_visible_fraction));
  double min_io;
  double max_io;
  const double whole = rel.pages;
  if (loops > 1) {
    const double scanned = pages_fetched(fetched * loops, whole, s.effective_cache_pages);
    max_io = scanned * s.random_page_cost / loops;
    const double best = pages_fetched(std::ceil(selectivity * whole) * loops, whole, s.effective_cache_pages);
    min_io = best * s.random_page_cost / loops;
  } else {
    max_io = pages_fetched(fetched, whole, s.effective_cache_pages) * s.random_page_cost;
    const double best = path.index_only
                            ? std::ceil(std::ceil(selectivity * whole) * (1 - rel.all_visible_fraction))
                            : std::ceil(selectivity * whole);
    min_io = best > 0 ? s.random_page_cost + std::max(0.0, best - 1) * s.seq_page_cost : 0;
  }
  if (path.index_only && fetched == 0) max_io = min_io = 0;
  double correlation = 0;
  const auto& first = index.keys[0];
  if (first.column != 0) {
    auto* c = arena.make<ColumnExpr>();
    c->range_index = rel.range;
    c->attribute = first.column;
    const ColumnStatistics* stats = statistics_of(*this, c);
    if (stats != nullptr && stats->has_correlation) {
      correlation = index.key_count > 1 ? stats->correlation * 0.75 : stats->correlation;
    }
  }
  const double square = correlation * correlation;
  const double heap_io = max_io + square * (min_io - max_io);
  double filter_ops = 0;
  for (const Clause* clause : rel.clauses) {
    if (std::find(all.begin(), all.end(), clause) == all.end()) filter_ops += 1;
  }
  const double returned = path.unique_lookup ? 1 : clamp_rows(selectivity * rel.tuples);
  path.startup = index_startup;
  path.total = index_total + heap_io + returned * (s.cpu_tuple_cost + filter_ops * s.cpu_operator_cost);
  if (path.index_only ? !s.enable_indexonlyscan : !s.enable_indexscan) {
    path.startup += kDisabledCost;
    path.total += kDisabledCost;
  }
}

void QueryPlanner::build_index_path(BaseRelation& rel, const IndexInfo& index,
                                    std::vector<IndexClause> clauses, RelSet required,
                                    std::vector<Clause*> parameter_clauses) {
  const bool only = index_covers(rel, index);
  for (const bool backward : {false, true}) {
    Path* path = new_path(PathKind::kIndexScan);
    path->rel = &rel;
    path->relids = rel.bit;
    path->required = required;
    path->index = &index;
    path->index_clauses = clauses;
    path->backward = backward;
    path->index_only = only;
    path->parameter_clauses = parameter_clauses;
    path->width = rel.width;
    double loops = 1;
    if (required != 0) {
      for (const BaseRelation& other : bases) {
        if (overlaps(other.bit, required)) loops = std::max(loops, other.rows);
      }
      std::vector<Clause*> all = rel.clauses;
      all.insert(all.end(), parameter_clauses.begin(), parameter_clauses.end());
      path->rows = clamp_rows(rel.tuples * clauses_selectivity(*this, all));
      path->rows = std::min(path->rows, rel.rows);
    } else {
      path->rows = rel.rows;
      path->keys = index_order(rel, index, backward);
    }
    cost_index(rel, *path, loops);
    if (path->unique_lookup) path->rows = 1;
    // Without conditions only its order or its narrowness can make the scan worth while.
    const bool ordered_use = !path->keys.empty() && !query_order_.empty() && path->keys[0] == query_order_[0];
    if (clauses.empty() && !ordered_use && !only) continue;
    if (backward && !ordered_use) continue;
    if (!ordered_use) path->keys.clear();
    add_path(rel.paths, path);
  }
}

void QueryPlanner::add_index_paths(BaseRelation& rel) {
  std::vector<Clause*> join_clauses;
  collect_join_clauses(rel, join_clauses);
  for (const IndexInfo& index : rel.relation->indexes) {
    if (!index.valid || index.access_method != kBtreeMethod || !predicate_implied(rel, index)) continue;
    std::vector<IndexClause> base;
    for (Clause* clause : rel.clauses) match_index_clause(rel, index, clause, base);
    const bool first_bound =
        std::any_of(base.begin(), base.end(), [](const IndexClause& c) { return c.column == 0; });
    build_index_path(rel, index, base, rel.lateral, {});
    static_cast<void>(first_bound);
    // nested loops: conditions whose other side comes from relations joined before
    std::vector<std::pair<Clause*, std::vector<IndexClause>>> candidates;
    for (Clause* clause : join_clauses) {
      std::vector<IndexClause> matched;
      if (match_index_clause(rel, index, clause, matched)) candidates.emplace_back(clause, matched);
    }
    std::vector<RelSet> outers;
    for (const auto& [clause, matched] : candidates) {
      const RelSet other = clause->relids & ~rel.bit;
      const std::size_t known = outers.size();
      for (std::size_t i = 0; i < known && outers.size() < 16; ++i) {
        const RelSet both = outers[i] | other;
        if (std::find(outers.begin(), outers.end(), both) == outers.end()) outers.push_back(both);
      }
      if (std::find(outers.begin(), outers.end(), other) == outers.end()) outers.push_back(other);
    }
    for (const RelSet outer : outers) {
      std::vector<IndexClause> with = base;
      std::vector<Clause*> parameter_clauses;
      RelSet required = rel.lateral;
      for (const auto& [clause, matched] : candidates) {
        if (!is_subset(clause->relids & ~rel.bit, outer)) continue;
        // one condition per class and column is enough
        bool redundant = false;
        for (const Clause* chosen : parameter_clauses) {
          redundant = redundant || (clause->equivalence >= 0 && chosen->equivalence == clause->equivalence);
        }
        if (redundant) continue;
        with.insert(with.end(), matched.begin(), matched.end());
        parameter_clauses.push_back(clause);
        required |= clause->relids & ~rel.bit;
      }
      const bool usable =
          std::any_of(with.begin(), with.end(), [](const IndexClause& c) { return c.column == 0; });
      if (usable) build_index_path(rel, index, with, required, parameter_clauses);
    }
  }
  add_bitmap_paths(rel);
}

BitmapTree* QueryPlanner::bitmap_for_or(BaseRelation& rel, Clause* clause) {
  auto* node = expr_if<BoolExpr>(clause->expr);
  if (node == nullptr || node->op != BoolOp::kOr) return nullptr;
  BitmapTree& tree = bitmaps_.emplace_back();
  tree.kind = BitmapTree::Kind::kOr;
  double miss = 1;
  for (Expr* arg : node->args) {
    std::vector<Expr*> parts;
    split_and(arg, parts);
    std::vector<Clause*> arm;
    for (Expr* part : parts) arm.push_back(make_clause(part));
    BitmapTree* best = best_bitmap(rel, arm);
    if (best == nullptr) return nullptr;
    tree.inputs.push_back(best);
    tree.cost += best->cost;
    miss *= 1 - best->selectivity;
  }
  tree.selectivity = 1 - miss;
  return &tree;
}

BitmapTree* QueryPlanner::best_bitmap(BaseRelation& rel, std::span<Clause* const> clauses) {
  BitmapTree* best = nullptr;
  const auto consider = [&](BitmapTree* tree) {
    if (tree != nullptr && (best == nullptr || tree->selectivity < best->selectivity ||
                            (tree->selectivity == best->selectivity && tree->cost < best->cost))) {
      best = tree;
    }
  };
  for (const IndexInfo& index : rel.relation->indexes) {
    if (!index.valid || index.access_method != kBtreeMethod || !predicate_implied(rel, index)) continue;
    std::vector<IndexClause> matched;
    for (Clause* clause : clauses) match_index_clause(rel, index, clause, matched);
    if (std::none_of(matched.begin(), matched.end(), [](const IndexClause& c) { return c.column == 0; }))
      continue;
    Path probe;
    probe.index = &index;
    probe.index_clauses = matched;
    probe.index_only = true;
    BitmapTree& tree = bitmaps_.emplace_back();
    tree.index = &index;
    tree.clauses = matched;
    std::vector<Clause*> used;
    for (const IndexClause& c : matched) {
      if (std::find(used.begin(), used.end(), c.clause) == used.end()) used.push_back(c.clause);
    }
    tree.selectivity = clauses_selectivity(*this, used);
    const double saved = rel.all_visible_fraction;
    rel.all_visible_fraction = 1;  // the heap's part is costed by cost_bitmap_heap
    cost_index(rel, probe, 1);
    rel.all_visible_fraction = saved;
    tree.cost = probe.total >= kDisabledCost ? probe.total - kDisabledCost : probe.total;
    consider(&tree);
  }
  for (Clause* clause : clauses) consider(bitmap_for_or(rel, clause));
  return best;
}

void QueryPlanner::cost_bitmap_heap(BaseRelation& rel, Path& path) {
  const PlannerSettings& s = global.input.settings;
  const double fetched = clamp_rows(path.bitmap->selectivity * rel.tuples);
  const double t = std::max(1.0, rel.pages);
  const double pages = std::min(t, std::ceil(2 * t * fetched / (2 * t + fetched)));
  const double per_page =
      pages >= 2 ? s.random_page_cost - (s.random_page_cost - s.seq_page_cost) * std::sqrt(pages / t)
                 : s.random_page_cost;
  path.startup = path.bitmap->cost + 0.1 * s.cpu_operator_cost * fetched;
  path.total =
      path.startup + pages * per_page +
      fetched * (s.cpu_tuple_cost + s.cpu_operator_cost * static_cast<double>(rel.clauses.size() + 1));
  if (!s.enable_bitmapscan) {
    path.startup += kDisabledCost;
    path.total += kDisabledCost;
  }
}

void QueryPlanner::add_bitmap_paths(BaseRelation& rel) {
  if (rel.clauses.empty() || rel.lateral != 0) return;
  BitmapTree* best = best_bitmap(rel, rel.clauses);
  if (best == nullptr) return;
  Path* path = new_path(PathKind::kBitmapHeap);
  path->rel = &rel;
  path->relids = rel.bit;
  path->rows = rel.rows;
  path->width = rel.width;
  path->bitmap = best;
  cost_bitmap_heap(rel, *path);
  add_path(rel.paths, path);
}

}  // namespace pinwheel::sql
