#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/plan/planner_state.h"
#include "sql/types/compare.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {
constexpr Oid kHashMethod{405};
constexpr int kMaxRelations = 64;
}  // namespace

EqualityInfo equality_info(Oid op) {
  EqualityInfo info;
  const BuiltinFamilyOperator* member = operator_membership(op, kBtreeMethod);
  if (member != nullptr && member->strategy == 3) {
    info.is_equality = true;
    info.family = member->family;
  }
  const BuiltinOperator* row = find_operator(op);
  info.can_hash = row != nullptr && row->can_hash && operator_membership(op, kHashMethod) != nullptr &&
                  find_hash(row->left) != nullptr && find_hash(row->right) != nullptr;
  return info;
}

RelSet QueryPlanner::relids_of(const Expr* node) const {
  if (node == nullptr) return 0;
  if (const auto* column = expr_if<ColumnExpr>(node)) {
    const int number = range_numbers[static_cast<std::size_t>(column->range_index)];
    if (number < 0) throw SqlError{sqlstate::kInternalError, "column of a range that is not in FROM"};
    return RelSet{1} << number;
  }
  RelSet set = 0;
  visit_children(node, [&](const Expr* child) { set |= relids_of(child); });
  return set;
}

void QueryPlanner::add_base(int range) {
  if (bases.size() >= kMaxRelations) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "too many tables in one query level (at most 64)"};
  }
  BaseRelation& rel = bases.emplace_back();
  rel.number = static_cast<int>(bases.size()) - 1;
  rel.range = range;
  rel.bit = RelSet{1} << rel.number;
  range_numbers.resize(ranges.size(), -1);
  range_numbers[static_cast<std::size_t>(range)] = rel.number;
}

namespace {
void add_ranges(const JoinNode* node, std::vector<int>& order) {
  if (node->kind == JoinNode::Kind::kRange) order.push_back(node->range);
  for (const JoinNode* child : node->children) add_ranges(child, order);
}
}  // namespace

void QueryPlanner::deconstruct() {
  range_numbers.assign(ranges.size(), -1);
  std::vector<int> order;
  add_ranges(tree_, order);
  for (const int range : order) add_base(range);
  deconstruct(tree_, false);
  generate_base_equalities();
}

QueryPlanner::Scope QueryPlanner::deconstruct(JoinNode* node, bool below_outer) {
  if (node->kind == JoinNode::Kind::kRange) {
    return {RelSet{1} << range_numbers[static_cast<std::size_t>(node->range)], 0};
  }
  if (node->kind == JoinNode::Kind::kList) {
    Scope scope;
    for (JoinNode* child : node->children) {
      const Scope s = deconstruct(child, below_outer);
      scope.below |= s.below;
      scope.nullable |= s.nullable;
    }
    for (Expr* qual : node->quals) distribute(qual, scope.below, -1, below_outer);
    return scope;
  }
  const bool inner = node->type == JoinType::kInner;
  const bool right_outer = !inner && node->type != JoinType::kSemi;
  const Scope left = deconstruct(node->children[0], below_outer || node->type == JoinType::kFull);
  const Scope right = deconstruct(node->children[1], below_outer || right_outer);
  Scope scope{left.below | right.below, left.nullable | right.nullable};
  if (inner) {
    for (Expr* qual : node->quals) distribute(qual, scope.below, -1, below_outer);
    return scope;
  }
  SpecialJoin special;
  special.type = node->type;
  special.all_left = left.below;
  special.all_right = right.below;
  RelSet mentioned = 0;
  for (Expr* qual : node->quals) mentioned |= relids_of(qual);
  special.min_left = mentioned & left.below;
  special.min_right = right.below;
  if (node->type == JoinType::kFull || special.min_left == 0) special.min_left = left.below;
  // Joins below that null-extend what this condition looks at come first.
  for (const SpecialJoin& lower : specials_) {
    const RelSet all = lower.all_left | lower.all_right;
    if (!is_subset(all, left.below)) continue;
    if (overlaps(special.min_left, lower.min_right) || lower.type == JoinType::kFull) {
      special.min_left |= lower.min_left | lower.min_right;
    }
  }
  const int index = static_cast<int>(specials_.size());
  specials_.push_back(special);
  if (node->type == JoinType::kLeft || node->type == JoinType::kAnti) scope.nullable |= right.below;
  if (node->type == JoinType::kFull) scope.nullable |= scope.below;
  for (Expr* qual : node->quals) distribute(qual, scope.below, index, true);
  return scope;
}

Clause* QueryPlanner::make_clause(Expr* expr) {
  Clause& clause = clauses_.emplace_back();
  clause.expr = expr;
  clause.relids = relids_of(expr);
  clause.required = clause.relids;
  clause.is_volatile = has_volatile(expr);
  analyze_clause(clause);
  return &clause;
}

void QueryPlanner::analyze_clause(Clause& clause) {
  auto* op = expr_if<OperatorExpr>(clause.expr);
  if (op == nullptr || op->args.size() != 2) return;
  clause.left = op->args[0];
  clause.right = op->args[1];
  clause.left_relids = relids_of(clause.left);
  clause.right_relids = relids_of(clause.right);
  clause.left_type = clause.left->type.type;
  clause.right_type = clause.right->type.type;
  if (clause.is_volatile) return;
  if (clause.left_relids != 0 && clause.right_relids != 0 &&
      !overlaps(clause.left_relids, clause.right_relids)) {
    const BuiltinOperator* row = find_operator(op->op);
    clause.can_hash = equality_info(op->op).can_hash;
    if (clause.can_hash && row != nullptr) {
      clause.left_type = row->left;
      clause.right_type = row->right;
    }
  }
}

void QueryPlanner::distribute(Expr* qual, RelSet scope, int outer_join, bool below_outer) {
  Clause* clause = make_clause(qual);
  if (clause->relids == 0) {
    // Without columns: a gate above everything when that is the same as testing it here.
    if (outer_join < 0 && !below_outer) {
      constant_quals_.push_back(qual);
      return;
    }
    clause->required = outer_join >= 0 ? specials_[static_cast<std::size_t>(outer_join)].min_left |
                                             specials_[static_cast<std::size_t>(outer_join)].min_right
                                       : scope;
    clause->outer_join = outer_join;
    if (clause->required != 0 && (clause->required & (clause->required - 1)) == 0) {
      add_restriction(bases[static_cast<std::size_t>(__builtin_ctzll(clause->required))], clause);
    } else {
      join_clauses_.push_back(clause);
    }
    return;
  }
  bool delayed = false;
  if (outer_join >= 0) {
    const SpecialJoin& special = specials_[static_cast<std::size_t>(outer_join)];
    const bool right_only = is_subset(clause->relids, special.all_right) && special.type != JoinType::kFull;
    const bool semi_left_only =
        special.type == JoinType::kSemi && is_subset(clause->relids, special.all_left);
    if (right_only || semi_left_only) {
      // may filter that side before the join
      distribute(qual, right_only ? special.all_right : special.all_left, -1, true);
      return;
    }
    clause->outer_join = outer_join;
    clause->required = clause->relids | special.min_left | special.min_right;
    join_clauses_.push_back(clause);
    return;
  }
  // A filter must see the nulls that outer joins below it make.
  bool grew = true;
  while (grew) {
    grew = false;
    for (const SpecialJoin& special : specials_) {
      const bool extends =
          special.type == JoinType::kFull
              ? overlaps(clause->required, special.min_left | special.min_right)
              : (special.type == JoinType::kLeft && overlaps(clause->required, special.min_right));
      const RelSet needed = special.min_left | special.min_right;
      if (extends && is_subset(needed, scope) && !is_subset(needed, clause->required)) {
        clause->required |= needed;
        delayed = grew = true;
      }
    }
  }
  if (!delayed && !below_outer && try_equivalence(clause)) return;
  if ((clause->required & (clause->required - 1)) == 0) {
    add_restriction(bases[static_cast<std::size_t>(__builtin_ctzll(clause->required))], clause);
  } else {
    join_clauses_.push_back(clause);
  }
}

void QueryPlanner::add_restriction(BaseRelation& rel, Clause* clause) {
  for (const Clause* known : rel.clauses) {
    if (same_expr(known->expr, clause->expr)) return;
  }
  rel.clauses.push_back(clause);
}

int QueryPlanner::find_equivalence(const Expr* expr, Oid family) const {
  const Expr* plain = strip_relabel(expr);
  for (std::size_t i = 0; i < equivalences_.size(); ++i) {
    if (equivalences_[i].family != family) continue;
    for (const EquivalenceClass::Member& member : equivalences_[i].members) {
      if (same_expr(strip_relabel(member.expr), plain)) return static_cast<int>(i);
    }
  }
  return -1;
}

int QueryPlanner::equivalence_of(Expr* expr, Oid family, Oid collation) {
  if (const int known = find_equivalence(expr, family); known >= 0) return known;
  EquivalenceClass& made = equivalences_.emplace_back();
  made.family = family;
  made.collation = collation;
  made.members.push_back({expr, relids_of(expr), expr->type.type});
  return static_cast<int>(equivalences_.size()) - 1;
}

bool QueryPlanner::try_equivalence(Clause* clause) {
  auto* op = expr_if<OperatorExpr>(clause->expr);
  if (op == nullptr || op->args.size() != 2 || clause->is_volatile) return false;
  const EqualityInfo info = equality_info(op->op);
  if (!info.is_equality || same_expr(op->args[0], op->args[1])) return false;
  const auto single = [](RelSet s) { return (s & (s - 1)) == 0; };
  if (!single(clause->left_relids) || !single(clause->right_relids)) return false;
  if (clause->left_relids == 0 && clause->right_relids == 0) return false;
  const auto subplan = [](const Expr* n) { return n->kind == ExprKind::kSubPlan; };
  if (any_node(clause->expr, subplan)) return false;
  const int a = equivalence_of(op->args[0], info.family, op->input_collation);
  const int b = equivalence_of(op->args[1], info.family, op->input_collation);
  EquivalenceClass& into = equivalences_[static_cast<std::size_t>(a)];
  if (into.collation != op->input_collation ||
      equivalences_[static_cast<std::size_t>(b)].collation != op->input_collation) {
    return false;
  }
  into.from_clause = true;
  into.sources.push_back(clause);
  if (a != b) {
    EquivalenceClass& from = equivalences_[static_cast<std::size_t>(b)];
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    into.sources.insert(into.sources.end(), from.sources.begin(), from.sources.end());
    from.members.clear();
    from.sources.clear();
    from.from_clause = false;
  }
  return true;
}

/// members[left] = members[right] as a clause; the written one when it exists. Null when no operator compares
/// them.
Clause* QueryPlanner::derived_clause(int equivalence, int left, int right) {
  EquivalenceClass& ec = equivalences_[static_cast<std::size_t>(equivalence)];
  for (const EquivalenceClass::Derived& d : ec.derived) {
    if ((d.left == left && d.right == right) || (d.left == right && d.right == left)) return d.clause;
  }
  const EquivalenceClass::Member& a = ec.members[static_cast<std::size_t>(left)];
  const EquivalenceClass::Member& b = ec.members[static_cast<std::size_t>(right)];
  Clause* made = nullptr;
  for (Clause* source : ec.sources) {
    if ((same_expr(source->left, a.expr) && same_expr(source->right, b.expr)) ||
        (same_expr(source->left, b.expr) && same_expr(source->right, a.expr))) {
      made = source;
      break;
    }
  }
  if (made == nullptr) {
    const auto input_type = [&](Oid type) {
      const BuiltinOperatorClass* opclass = default_operator_class(type, kBtreeMethod);
      return opclass != nullptr && opclass->family == ec.family ? opclass->input_type : type;
    };
    const Oid oid = family_operator(ec.family, input_type(a.type), input_type(b.type), 3);
    const BuiltinOperator* row = is_valid(oid) ? find_operator(oid) : nullptr;
    if (row != nullptr) {
      auto* op = arena.make<OperatorExpr>();
      op->op = oid;
      op->function = row->procedure;
      op->type.type = kBoolType;
      op->input_collation = ec.collation;
      op->args = arena_span(arena, std::vector<Expr*>{a.expr, b.expr});
      made = make_clause(op);
    }
  }
  if (made != nullptr) made->equivalence = equivalence;
  ec.derived.push_back({left, right, made});
  return made;
}

void QueryPlanner::generate_base_equalities() {
  for (std::size_t i = 0; i < equivalences_.size(); ++i) {
    EquivalenceClass& ec = equivalences_[i];
    if (!ec.from_clause) continue;
    const int count = static_cast<int>(ec.members.size());
    int constant = -1;
    for (int m = 0; m < count; ++m) {
      const EquivalenceClass::Member& member = ec.members[static_cast<std::size_t>(m)];
      if (member.relids != 0) continue;
      if (constant < 0 || member.expr->kind == ExprKind::kConst) constant = m;
    }
    bool covered = true;
    if (constant >= 0) {
      for (int m = 0; m < count && covered; ++m) {
        if (m == constant) continue;
        const EquivalenceClass::Member& member = ec.members[static_cast<std::size_t>(m)];
        if (member.relids == 0) continue;
        covered = derived_clause(static_cast<int>(i), m, constant) != nullptr;
      }
    }
    if (constant >= 0 && covered) {
      ec.has_constant = true;
      for (int m = 0; m < count; ++m) {
        if (m == constant) continue;
        const EquivalenceClass::Member& member = ec.members[static_cast<std::size_t>(m)];
        Clause* clause = derived_clause(static_cast<int>(i), m, constant);
        if (member.relids == 0) {
          if (clause != nullptr) constant_quals_.push_back(clause->expr);
          continue;
        }
        add_restriction(bases[static_cast<std::size_t>(__builtin_ctzll(member.relids))], clause);
      }
      continue;
    }
    // within one relation
    bool complete = true;
    for (int m = 0; m < count; ++m) {
      for (int n = m + 1; n < count; ++n)
        complete = complete && derived_clause(static_cast<int>(i), m, n) != nullptr;
    }
    if (!complete || constant >= 0) {
      // Some pair has no operator: keep what was written, derive nothing.
      for (Clause* source : ec.sources) {
        if ((source->required & (source->required - 1)) == 0) {
          add_restriction(bases[static_cast<std::size_t>(__builtin_ctzll(source->required))], source);
        } else {
          source->equivalence = -1;
          join_clauses_.push_back(source);
        }
      }
      ec.from_clause = false;
      continue;
    }
    for (int m = 0; m < count; ++m) {
      for (int n = m + 1; n < count; ++n) {
        const EquivalenceClass::Member& a = ec.members[static_cast<std::size_t>(m)];
        const EquivalenceClass::Member& b = ec.members[static_cast<std::size_t>(n)];
        if (a.relids != b.relids) continue;
        add_restriction(bases[static_cast<std::size_t>(__builtin_ctzll(a.relids))],
                        derived_clause(static_cast<int>(i), m, n));
      }
    }
  }
}

}  // namespace pinwheel::sql
