#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/plan/planner_state.h"

namespace pinwheel::sql {
namespace {

bool contains_keys(const PathKeys& have, const PathKeys& want) {
  return want.size() <= have.size() && std::equal(want.begin(), want.end(), have.begin());
}

}  // namespace

Path* JoinRelation::cheapest() const {
  Path* best = nullptr;
  for (Path* path : paths) {
    if (path->required == 0 && (best == nullptr || path->total < best->total)) best = path;
  }
  return best;
}

Path* QueryPlanner::new_path(PathKind kind) {
  Path& path = paths_.emplace_back();
  path.kind = kind;
  return &path;
}

/// Keeps `path` unless one that is there is at least as good in everything; drops those it beats.
void QueryPlanner::add_path(std::vector<Path*>& paths, Path* path) {
  constexpr double kFuzz = 1.01;
  for (std::size_t i = 0; i < paths.size();) {
    Path* other = paths[i];
    const bool other_wins = other->total <= path->total * kFuzz && other->startup <= path->startup * kFuzz &&
                            contains_keys(other->keys, path->keys) &&
                            is_subset(other->required, path->required) && other->rows <= path->rows;
    if (other_wins && !(path->total < other->total && path->keys == other->keys &&
                        path->required == other->required && path->startup <= other->startup)) {
      return;
    }
    const bool path_wins = path->total <= other->total * kFuzz && path->startup <= other->startup * kFuzz &&
                           contains_keys(path->keys, other->keys) &&
                           is_subset(path->required, other->required) && path->rows <= other->rows;
    if (path_wins)
      paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  paths.push_back(path);
}

/// Whether the two sets may be joined now, and as what: `left` as outer side unless reversed.
bool QueryPlanner::join_is_legal(RelSet left, RelSet right, JoinType* type, bool* reversed,
                                 int* special) const {
  *type = JoinType::kInner;
  *reversed = false;
  *special = -1;
  const RelSet both = left | right;
  for (std::size_t i = 0; i < specials_.size(); ++i) {
    const SpecialJoin& s = specials_[i];
    if (!overlaps(s.min_right, both) || is_subset(both, s.min_right)) continue;
    const RelSet needed = s.min_left | s.min_right;
    if (is_subset(needed, left) || is_subset(needed, right)) continue;
    // a semi join is done once its right side is in, whichever part held it
    if (is_subset(s.min_left, left) && is_subset(s.min_right, right)) {
      if (*special >= 0) return false;
      *special = static_cast<int>(i);
      *type = s.type;
      *reversed = false;
    } else if (is_subset(s.min_left, right) && is_subset(s.min_right, left)) {
      if (*special >= 0) return false;
      *special = static_cast<int>(i);
      *type = s.type;
      *reversed = true;
    } else {
      return false;
    }
  }
  // The right side of an outer join must hold nothing but that side.
  if (*special >= 0) {
    const SpecialJoin& s = specials_[static_cast<std::size_t>(*special)];
    const RelSet inner = *reversed ? left : right;
    if (s.type != JoinType::kFull && !is_subset(inner, s.all_right)) return false;
    if (s.type == JoinType::kFull &&
        !(is_subset(left, s.all_left) ? is_subset(right, s.all_right)
                                      : is_subset(left, s.all_right) && is_subset(right, s.all_left))) {
      return false;
    }
  }
  // lateral references point from right to left only
  for (const BaseRelation& base : bases) {
    if (base.lateral == 0) continue;
    if (*type == JoinType::kFull && (overlaps(base.bit, both))) return false;
    const bool in_left = overlaps(base.bit, left);
    const bool in_right = overlaps(base.bit, right);
    if (in_left && overlaps(base.lateral, right) && *type != JoinType::kInner && !*reversed) return false;
    if (in_right && overlaps(base.lateral, left) && *type != JoinType::kInner && *reversed) return false;
  }
  return true;
}

bool QueryPlanner::has_join_reason(const JoinRelation& a, const JoinRelation& b) const {
  for (const Clause* clause : join_clauses_) {
    if (overlaps(clause->relids, a.relids) && overlaps(clause->relids, b.relids)) return true;
  }
  for (const EquivalenceClass& ec : equivalences_) {
    if (!ec.from_clause || ec.has_constant) continue;
    bool in_a = false;
    bool in_b = false;
    for (const EquivalenceClass::Member& m : ec.members) {
      in_a = in_a || (m.relids != 0 && is_subset(m.relids, a.relids));
      in_b = in_b || (m.relids != 0 && is_subset(m.relids, b.relids));
    }
    if (in_a && in_b) return true;
  }
  for (const SpecialJoin& s : specials_) {
    if ((is_subset(s.min_left, a.relids) && is_subset(s.min_right, b.relids)) ||
        (is_subset(s.min_left, b.relids) && is_subset(s.min_right, a.relids))) {
      return true;
    }
  }
  for (const BaseRelation& base : bases) {
    if (base.lateral == 0) continue;
    if ((overlaps(base.bit, a.relids) && overlaps(base.lateral, b.relids)) ||
        (overlaps(base.bit, b.relids) && overlaps(base.lateral, a.relids))) {
      return true;
    }
  }
  return false;
}

/// What a join of the two sides must test: `joins` decide about a match, `filters` afterwards.
void QueryPlanner::collect_clauses(RelSet outer, RelSet inner, int special, std::vector<Clause*>& joins,
                                   std::vector<Clause*>& filters) {
  const RelSet both = outer | inner;
  for (Clause* clause : join_clauses_) {
    if (!is_subset(clause->required, both) || is_subset(clause->required, outer) ||
        is_subset(clause->required, inner)) {
      continue;
    }
    const bool own = clause->outer_join >= 0 && clause->outer_join == special;
    if (special >= 0 && !own)
      filters.push_back(clause);
    else
      joins.push_back(clause);
  }
  const bool outer_type = special >= 0;
  for (std::size_t i = 0; i < equivalences_.size(); ++i) {
    const EquivalenceClass& ec = equivalences_[i];
    if (!ec.from_clause || ec.has_constant) continue;
    int left = -1;
    int right = -1;
    for (std::size_t m = 0; m < ec.members.size(); ++m) {
      const RelSet set = ec.members[m].relids;
      if (left < 0 && is_subset(set, outer)) left = static_cast<int>(m);
      if (right < 0 && is_subset(set, inner)) right = static_cast<int>(m);
    }
    if (left < 0 || right < 0) continue;
    // prefer what was written
    for (Clause* source : ec.sources) {
      for (std::size_t a = 0; a < ec.members.size(); ++a) {
        for (std::size_t b = 0; b < ec.members.size(); ++b) {
          if (is_subset(ec.members[a].relids, outer) && is_subset(ec.members[b].relids, inner) &&
              ((same_expr(source->left, ec.members[a].expr) &&
                same_expr(source->right, ec.members[b].expr)) ||
               (same_expr(source->left, ec.members[b].expr) &&
                same_expr(source->right, ec.members[a].expr)))) {
            left = static_cast<int>(a);
            right = static_cast<int>(b);
          }
        }
      }
    }
    Clause* clause = derived_clause(static_cast<int>(i), left, right);
    (outer_type ? filters : joins).push_back(clause);
  }
}

double QueryPlanner::join_rows(double outer, double inner, JoinType type, const std::vector<Clause*>& joins,
                               const std::vector<Clause*>& filters) {
  const double match = clauses_selectivity(*this, joins);
  const double keep = clauses_selectivity(*this, filters);
  double rows = outer * inner * match;
  switch (type) {
    case JoinType::kInner:
      break;
    case JoinType::kLeft:
      rows = std::max(rows, outer);
      break;
    case JoinType::kRight:
      rows = std::max(rows, inner);
      break;
    case JoinType::kFull:
      rows = std::max({rows, outer, inner});
      break;
    case JoinType::kSemi: {
      // share of outer rows with a partner, from the distinct counts of the equality
      double share = std::min(1.0, inner * match);
      for (const Clause* clause : joins) {
        if (!clause->can_hash) continue;
        const double nd1 = distinct_values(*this, clause->left);
        const double nd2 = distinct_values(*this, clause->right);
        share = std::min(share, nd1 <= nd2 ? 1.0 : nd2 / nd1);
      }
      rows = outer * share;
      break;
    }
    case JoinType::kAnti:
      rows = std::max(1.0, outer * (1 - std::min(1.0, inner * match)));
      break;
  }
  return clamp_rows(rows * keep);
}

bool QueryPlanner::is_unique_for(const JoinRelation& inner, const std::vector<Clause*>& joins,
                                 RelSet outer) const {
  if ((inner.relids & (inner.relids - 1)) != 0) return false;
  const BaseRelation& rel = bases[static_cast<std::size_t>(__builtin_ctzll(inner.relids))];
  if (rel.relation == nullptr) return false;
  for (const IndexInfo& index : rel.relation->indexes) {
    if (!index.unique || !index.immediate || !index.valid || !index.predicate.empty()) continue;
    bool all = true;
    for (int k = 0; k < index.key_count && all; ++k) {
      bool found = false;
      const auto matches = [&](const Expr* e) {
        const auto* c = expr_if<ColumnExpr>(strip_relabel(e));
        return c != nullptr && c->range_index == rel.range &&
               c->attribute == index.keys[static_cast<std::size_t>(k)].column;
      };
      for (const Clause* clause : joins) {
        const auto* op = expr_if<OperatorExpr>(clause->expr);
        if (op == nullptr || op->args.size() != 2 || !equality_info(op->op).is_equality) continue;
        found = found || (matches(op->args[0]) && is_subset(clause->right_relids, outer)) ||
                (matches(op->args[1]) && is_subset(clause->left_relids, outer));
      }
      for (const Clause* clause : rel.clauses) {
        const auto* op = expr_if<OperatorExpr>(clause->expr);
        if (op == nullptr || op->args.size() != 2 || !equality_info(op->op).is_equality) continue;
        found = found || (matches(op->args[0]) && clause->right_relids == 0) ||
                (matches(op->args[1]) && clause->left_relids == 0);
      }
      all = found;
    }
    if (all) return true;
  }
  return false;
}

void QueryPlanner::try_nest_loop(JoinRelation& joined, Path* outer, Path* inner, JoinType type,
                                 const std::vector<Clause*>& joins, const std::vector<Clause*>& filters,
                                 bool unique) {
  const PlannerSettings& s = global.input.settings;
  if (type == JoinType::kFull || type == JoinType::kRight) return;
  const RelSet required = (outer->required | inner->required) & ~outer->relids & ~inner->relids;
  if (overlaps(outer->required, inner->relids)) return;
  if (required != 0) {
    // only lateral references may stay open
    RelSet lateral = 0;
    for (const BaseRelation& base : bases) {
      if (overlaps(base.bit, joined.relids)) lateral |= base.lateral;
    }
    if (!is_subset(required, lateral)) return;
  }
  Path* path = new_path(PathKind::kNestLoop);
  path->join = type;
  path->outer = outer;
  path->relids = joined.relids;
  path->required = required;
  path->keys = outer->keys;
  path->rows = joined.rows;
  path->width = joined.width;
  path->inner_unique = unique;
  path->filters = filters;
  for (Clause* clause : joins) {
    const bool inside = std::find(inner->parameter_clauses.begin(), inner->parameter_clauses.end(), clause) !=
                        inner->parameter_clauses.end();
    if (!inside) path->join_clauses.push_back(clause);
  }
  Path* scanned = inner;
  const double loops = std::max(1.0, outer->rows);
  double rescan = inner->total - inner->startup * 0.0;
  if (inner->required == 0 && loops > 1 && s.enable_material && inner->kind != PathKind::kMaterialize) {
    Path* material = new_path(PathKind::kMaterialize);
    *material = Path{};
    material->kind = PathKind::kMaterialize;
    material->outer = inner;
    material->relids = inner->relids;
    material->rows = inner->rows;
    material->width = inner->width;
    material->startup = inner->startup;
    material->total = inner->total + 2 * s.cpu_operator_cost * inner->rows;
    material->keys = inner->keys;
    const double again = s.cpu_operator_cost * inner->rows;
    if (material->total + again * (loops - 1) < inner->total * loops) {
      scanned = material;
      rescan = again;
    }
  }
  path->inner = scanned;
  const bool stops_early = unique || type == JoinType::kSemi || type == JoinType::kAnti;
  const double pairs =
      outer->rows * std::max(1.0, inner->rows) * (stops_early && path->join_clauses.size() > 0 ? 0.5 : 1);
  path->startup = outer->startup + scanned->startup;
  double run = outer->total - outer->startup;
  run += scanned->total - scanned->startup +
         (loops - 1) * rescan * (stops_early && inner->required == 0 ? 0.5 : 1);
  run += pairs * (s.cpu_tuple_cost + s.cpu_operator_cost * static_cast<double>(path->join_clauses.size()));
  run += joined.rows * s.cpu_operator_cost * static_cast<double>(filters.size());
  path->total = path->startup + run + (s.enable_nestloop ? 0 : kDisabledCost);
  add_path(joined.paths, path);
}

void QueryPlanner::try_hash_join(JoinRelation& joined, Path* outer, Path* inner, JoinType type,
                                 const std::vector<Clause*>& joins, const std::vector<Clause*>& filters,
                                 bool unique) {
  const PlannerSettings& s = global.input.settings;
  if (outer->required != 0 || inner->required != 0) return;
  std::vector<Clause*> hashed;
  std::vector<Clause*> others;
  for (Clause* clause : joins) {
    const bool fits =
        clause->can_hash &&
        ((is_subset(clause->left_relids, outer->relids) && is_subset(clause->right_relids, inner->relids)) ||
         (is_subset(clause->right_relids, outer->relids) && is_subset(clause->left_relids, inner->relids)));
    (fits ? hashed : others).push_back(clause);
  }
  if (hashed.empty()) return;
  Path* path = new_path(PathKind::kHashJoin);
  path->join = type;
  path->outer = outer;
  path->inner = inner;
  path->relids = joined.relids;
  path->rows = joined.rows;
  path->width = joined.width;
  path->hash_clauses = hashed;
  path->join_clauses = others;
  path->filters = filters;
  path->inner_unique = unique;
  const auto keys = static_cast<double>(hashed.size());
  const double inner_bytes = inner->rows * (inner->width + 24);
  const double memory = static_cast<double>(s.work_mem_bytes) * s.hash_mem_multiplier;
  path->startup =
      outer->startup + inner->total + inner->rows * (s.cpu_operator_cost * keys + s.cpu_tuple_cost);
  double run = outer->total - outer->startup + outer->rows * s.cpu_operator_cost * keys;
  if (inner_bytes > memory) {
    const double pages = std::ceil(inner_bytes / kPageSize);
    const double outer_pages = std::ceil(outer->rows * (outer->width + 24) / kPageSize);
    path->startup += s.seq_page_cost * pages;
    run += s.seq_page_cost * (pages + 2 * outer_pages);
  }
  const double matched = std::max(1.0, std::min(joined.rows, outer->rows * std::max(1.0, inner->rows)));
  run += outer->rows * s.cpu_operator_cost * keys * 0.5;
  run += matched * s.cpu_tuple_cost;
  run += matched * s.cpu_operator_cost * static_cast<double>(others.size() + filters.size());
  path->total = path->startup + run + (s.enable_hashjoin ? 0 : kDisabledCost);
  add_path(joined.paths, path);
}

void QueryPlanner::add_join_paths(JoinRelation& joined, JoinRelation& outer, JoinRelation& inner,
                                  JoinType type, int special) {
  std::vector<Clause*> joins;
  std::vector<Clause*> filters;
  collect_clauses(outer.relids, inner.relids, special, joins, filters);
  const bool unique = is_unique_for(inner, joins, outer.relids);
  Path* cheapest_inner = inner.cheapest();
  for (Path* outer_path : outer.paths) {
    for (Path* inner_path : inner.paths) {
      if (inner_path->required != 0) {
        if (overlaps(inner_path->required, outer.relids)) {
          try_nest_loop(joined, outer_path, inner_path, type, joins, filters, unique);
        }
        continue;
      }
      if (inner_path == cheapest_inner) {
        try_nest_loop(joined, outer_path, inner_path, type, joins, filters, unique);
      }
    }
  }
  Path* cheapest_outer = outer.cheapest();
  if (cheapest_outer != nullptr && cheapest_inner != nullptr) {
    try_hash_join(joined, cheapest_outer, cheapest_inner, type, joins, filters, unique);
    // a cheap start matters below LIMIT
    for (Path* path : outer.paths) {
      if (path != cheapest_outer && path->required == 0 && path->startup < cheapest_outer->startup) {
        try_hash_join(joined, path, cheapest_inner, type, joins, filters, unique);
      }
    }
  }
}

JoinRelation* QueryPlanner::make_join(JoinRelation& a, JoinRelation& b) {
  JoinType type;
  bool reversed;
  int special;
  if (!join_is_legal(a.relids, b.relids, &type, &reversed, &special)) return nullptr;
  JoinRelation& left = reversed ? b : a;
  JoinRelation& right = reversed ? a : b;
  const RelSet both = a.relids | b.relids;
  JoinRelation* joined = nullptr;
  for (JoinRelation& known : join_relations_) {
    if (known.relids == both) joined = &known;
  }
  if (joined == nullptr) {
    joined = &join_relations_.emplace_back();
    joined->relids = both;
    std::vector<Clause*> joins;
    std::vector<Clause*> filters;
    collect_clauses(left.relids, right.relids, special, joins, filters);
    joined->rows = join_rows(left.rows, right.rows, type, joins, filters);
    joined->width = left.width + (type == JoinType::kSemi || type == JoinType::kAnti ? 0 : right.width);
  }
  switch (type) {
    case JoinType::kInner:
      add_join_paths(*joined, left, right, JoinType::kInner, special);
      add_join_paths(*joined, right, left, JoinType::kInner, special);
      break;
    case JoinType::kLeft:
      add_join_paths(*joined, left, right, JoinType::kLeft, special);
      add_join_paths(*joined, right, left, JoinType::kRight, special);
      break;
    case JoinType::kFull:
      add_join_paths(*joined, left, right, JoinType::kFull, special);
      break;
    default:
      add_join_paths(*joined, left, right, type, special);
      break;
  }
  return joined;
}

/// Dynamic programming over subsets while there are few relations, then greedily the cheapest join next.
JoinRelation* QueryPlanner::join_search() {
  const std::size_t count = bases.size();
  std::vector<JoinRelation*> singles;
  for (BaseRelation& base : bases) {
    JoinRelation& rel = join_relations_.emplace_back();
    rel.relids = base.bit;
    rel.rows = base.rows;
    rel.width = base.width;
    rel.paths = base.paths;
    singles.push_back(&rel);
  }
  if (count == 1) return singles[0];
  const std::size_t limit = 10;
  if (count <= limit) {
    std::vector<std::vector<JoinRelation*>> levels(count + 1);
    levels[1] = singles;
    const auto join_pair = [&](std::size_t level, JoinRelation* a, JoinRelation* b) {
      JoinRelation* made = make_join(*a, *b);
      if (made == nullptr || made->paths.empty()) return;
      if (std::find(levels[level].begin(), levels[level].end(), made) == levels[level].end()) {
        levels[level].push_back(made);
      }
    };
    for (std::size_t level = 2; level <= count; ++level) {
      for (const bool cross : {false, true}) {
        if (cross && !levels[level].empty()) break;
        for (std::size_t size = 1; size <= level / 2; ++size) {
          for (JoinRelation* a : levels[level - size]) {
            for (JoinRelation* b : levels[size]) {
              if (overlaps(a->relids, b->relids) || (level == 2 * size && a->relids < b->relids)) continue;
              if (!cross && !has_join_reason(*a, *b)) continue;
              join_pair(level, a, b);
            }
          }
        }
      }
    }
    if (!levels[count].empty()) return levels[count][0];
  }
  std::vector<JoinRelation*> left = singles;
  while (left.size() > 1) {
    JoinRelation* best = nullptr;
    std::size_t best_a = 0;
    std::size_t best_b = 0;
    double best_cost = std::numeric_limits<double>::infinity();
    for (const bool cross : {false, true}) {
      if (cross && best != nullptr) break;
      for (std::size_t a = 0; a < left.size(); ++a) {
        for (std::size_t b = a + 1; b < left.size(); ++b) {
          if (!cross && !has_join_reason(*left[a], *left[b])) continue;
          JoinRelation* made = make_join(*left[a], *left[b]);
          if (made == nullptr || made->paths.empty()) continue;
          double cost = std::numeric_limits<double>::infinity();
          for (const Path* path : made->paths) cost = std::min(cost, path->total);
          cost += made->rows * 0.01;
          if (best == nullptr || cost < best_cost) {
            best = made;
            best_cost = cost;
            best_a = a;
            best_b = b;
          }
        }
      }
    }
    if (best == nullptr) throw SqlError{sqlstate::kInternalError, "no legal join order"};
    left[best_a] = best;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best_b));
  }
  return left[0];
}

}  // namespace pinwheel::sql
