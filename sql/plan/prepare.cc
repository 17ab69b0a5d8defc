#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

template <class T>
std::span<T> own_span(Arena& arena, std::span<T> from) {
  return arena_span(arena, std::vector<T>(from.begin(), from.end()));
}

struct FlattenContext {
  QueryPlanner& planner;
};

/// The expression behind a merged column of a join, for use `depth` levels further down.
Expr* flatten_node(void* context, Expr* node, int depth) {
  auto& planner = static_cast<FlattenContext*>(context)->planner;
  auto* column = expr_if<ColumnExpr>(node);
  if (column == nullptr || column->levels_up != depth) return nullptr;
  const RangeEntry& entry = planner.ranges[static_cast<std::size_t>(column->range_index)];
  if (entry.kind != RangeKind::kJoin) return nullptr;
  Arena& arena = planner.arena;
  DeepRewrite again{arena, flatten_node, context};
  if (column->attribute == 0) {
    auto* row = arena.make<RowExpr>();
    row->type = column->type;
    std::vector<Expr*> fields;
    for (Expr* e : entry.join_columns) fields.push_back(shift_levels(arena, again.expression(e, 0), depth));
    row->args = arena_span(arena, fields);
    return row;
  }
  Expr* inner = entry.join_columns[static_cast<std::size_t>(column->attribute) - 1];
  return shift_levels(arena, again.expression(inner, 0), depth);
}

struct Substitution {
  Arena& arena;
  int range;
  const std::vector<Expr*>& targets;
};

/// Columns of a pulled-up subquery become its target expressions.
Expr* substitute_node(void* context, Expr* node, int depth) {
  auto& s = *static_cast<Substitution*>(context);
  auto* column = expr_if<ColumnExpr>(node);
  if (column == nullptr || column->levels_up != depth || column->range_index != s.range) return nullptr;
  if (column->attribute == 0) {
    auto* row = s.arena.make<RowExpr>();
    row->type = column->type;
    std::vector<Expr*> fields;
    for (Expr* e : s.targets) fields.push_back(shift_levels(s.arena, e, depth));
    row->args = arena_span(s.arena, fields);
    return row;
  }
  return shift_levels(s.arena, s.targets[static_cast<std::size_t>(column->attribute) - 1], depth);
}

struct Absorption {
  Arena& arena;
  int offset;
};

/// What was a level of its own joins its parent: own columns move by `offset`, outer ones come one level
/// closer. Runs with the absorbed query at depth 1.
Expr* absorb_node(void* context, Expr* node, int depth) {
  auto& a = *static_cast<Absorption*>(context);
  auto* column = expr_if<ColumnExpr>(node);
  if (column == nullptr) return nullptr;
  auto* copy = a.arena.make<ColumnExpr>(*column);
  if (column->levels_up == depth - 1)
    copy->range_index += a.offset;
  else if (column->levels_up >= depth)
    --copy->levels_up;
  return copy;
}

bool refers_to_level(Query* query, int depth, int level);

/// True when `node`, which stands `depth` levels below, has columns of the level `depth` - `level`...
bool expr_refers(Expr* node, int depth, int level) {
  if (node == nullptr) return false;
  return any_node(node, [&](const Expr* n) {
    if (const auto* c = expr_if<ColumnExpr>(n)) return c->levels_up == depth + level;
    if (const auto* a = expr_if<AggregateExpr>(n); a != nullptr && a->levels_up > 0) return true;
    if (const auto* s = expr_if<SubLinkExpr>(n)) return refers_to_level(s->query, depth + 1, level);
    return false;
  });
}

/// True when the query at `depth` (0 = the query asked about) uses columns `level` levels above depth 0.
bool refers_to_level(Query* query, int depth, int level) {
  bool found = false;
  for_each_expression(*query, [&](Expr*& e) { found = found || expr_refers(e, depth, level); });
  for_each_subquery(*query, [&](Query& sub) { found = found || refers_to_level(&sub, depth + 1, level); });
  return found;
}

}  // namespace

QueryPlanner::QueryPlanner(PlannerGlobal& g, QueryPlanner* p, const Query& q)
    : global{g}, arena{g.arena}, parent{p}, query{q} {
  ranges.assign(q.range_table.begin(), q.range_table.end());
  for (const RangeEntry& entry : ranges) global.note_privileges(entry);
}

void QueryPlanner::replace_everywhere(ReplaceInQuery replace, void* context) {
  const DeepRewrite deep{arena, replace, context};
  const auto one = [&](Expr*& e) {
    if (e != nullptr) e = deep.expression(e, 0);
  };
  const auto targets = [&](std::span<Target>& list) {
    list = own_span(arena, list);
    for (Target& t : list) one(t.expr);
  };
  targets(query.targets);
  targets(query.returning);
  targets(query.on_conflict.assignments);
  one(query.on_conflict.where);
  one(query.where);
  one(query.having);
  one(query.limit);
  one(query.offset);
  query.windows = own_span(arena, query.windows);
  for (WindowClause& window : query.windows) {
    one(window.frame.start_offset);
    one(window.frame.end_offset);
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    RangeEntry& entry = ranges[i];
    if (entry.kind == RangeKind::kJoin) continue;
    entry.functions = own_span(arena, entry.functions);
    for (Expr*& e : entry.functions) one(e);
    entry.rows = own_span(arena, entry.rows);
    for (ExprList& row : entry.rows) {
      row = own_span(arena, row);
      for (Expr*& e : row) one(e);
    }
    if (entry.kind == RangeKind::kSubquery) entry.subquery = deep.query(entry.subquery, 1);
  }
  for (JoinNode& node : nodes_) {
    for (Expr*& e : node.quals) one(e);
  }
  for (CteBinding& cte : ctes_) {
    if (cte.inline_query != nullptr) cte.inline_query = deep.query(cte.inline_query, 1);
  }
}

void QueryPlanner::flatten_join_columns() {
  bool any = false;
  for (const RangeEntry& entry : ranges) any = any || entry.kind == RangeKind::kJoin;
  if (!any) return;
  FlattenContext context{*this};
  // the FROM tree still hangs off the query: its conditions were taken over by build_join_tree()
  replace_everywhere(flatten_node, &context);
}

void QueryPlanner::fold_everything() {
  const auto one = [&](Expr*& e) { e = fold_constants(global, e); };
  for (Target& t : query.targets) one(t.expr);
  for (Target& t : query.returning) one(t.expr);
  one(query.having);
  one(query.limit);
  one(query.offset);
  for (JoinNode& node : nodes_) {
    std::vector<Expr*> quals;
    for (Expr* e : node.quals) {
      one(e);
      split_and(e, quals);
    }
    node.quals = std::move(quals);
  }
  for (RangeEntry& entry : ranges) {
    for (Expr*& e : entry.functions) one(e);
    for (ExprList& row : entry.rows) {
      for (Expr*& e : row) one(e);
    }
  }
}

JoinNode* QueryPlanner::build_join_tree(FromItem* item) {
  JoinNode& node = nodes_.emplace_back();
  if (item->kind == FromItem::Kind::kRange) {
    node.kind = JoinNode::Kind::kRange;
    node.range = item->range_index;
    return &node;
  }
  node.kind = JoinNode::Kind::kJoin;
  FromItem* left = item->left;
  FromItem* right = item->right;
  switch (item->join) {
    case JoinKind::kInner:
      node.type = JoinType::kInner;
      break;
    case JoinKind::kLeft:
      node.type = JoinType::kLeft;
      break;
    case JoinKind::kRight:
      node.type = JoinType::kLeft;
      std::swap(left, right);
      break;
    case JoinKind::kFull:
      node.type = JoinType::kFull;
      break;
  }
  if (item->condition != nullptr) split_and(item->condition, node.quals);
  JoinNode* l = build_join_tree(left);
  JoinNode* r = build_join_tree(right);
  node.children = {l, r};
  return &node;
}

int QueryPlanner::absorb_ranges(Query& sub) {
  const int offset = static_cast<int>(ranges.size());
  for (const RangeEntry& entry : sub.range_table) {
    global.note_privileges(entry);
    ranges.push_back(entry);
  }
  return offset;
}

JoinNode* QueryPlanner::absorb_from(const Query& sub, int offset) {
  const std::size_t first = nodes_.size();
  JoinNode& list = nodes_.emplace_back();
  for (FromItem* item : sub.from) {
    JoinNode* child = build_join_tree(item);
    list.children.push_back(child);
  }
  for (std::size_t i = first; i < nodes_.size(); ++i) {
    if (nodes_[i].kind == JoinNode::Kind::kRange) nodes_[i].range += offset;
  }
  if (sub.where != nullptr) split_and(sub.where, list.quals);
  return &list;
}

bool QueryPlanner::is_simple_subquery(const Query& sub) const {
  return sub.command == CommandKind::kSelect && sub.set_operation == nullptr && !sub.has_aggregates &&
         !sub.has_group_by && sub.group_by.empty() && sub.having == nullptr && !sub.has_windows &&
         sub.distinct.empty() && sub.limit == nullptr && sub.offset == nullptr && sub.order_by.empty() &&
         sub.row_marks.empty() && sub.ctes.empty() && !sub.has_set_functions && !sub.from.empty();
}

bool QueryPlanner::pull_up_subquery(JoinNode* node, bool nullable) {
  RangeEntry entry = ranges[static_cast<std::size_t>(node->range)];
  if (entry.kind != RangeKind::kSubquery || entry.subquery == nullptr) return false;
  if (!is_simple_subquery(*entry.subquery)) return false;
  for (const RangeEntry& inner : entry.subquery->range_table) {
    // a lateral item may see this level only through the subquery's own position
    if (inner.lateral && entry.lateral) return false;
  }
  if (entry.lateral) return false;
  for (const Target& t : entry.subquery->targets) {
    if (has_volatile(t.expr)) return false;
    const Expr* plain = strip_relabel(t.expr);
    if (nullable && (plain->kind != ExprKind::kColumn || expr_cast<ColumnExpr>(plain)->levels_up != 0))
      return false;
    if (t.hidden) return false;
  }
  Absorption absorption{arena, static_cast<int>(ranges.size())};
  Query& sub = *DeepRewrite{arena, absorb_node, &absorption, -1}.query(entry.subquery, 1);
  const int offset = absorb_ranges(sub);
  JoinNode* list = absorb_from(sub, offset);
  std::vector<Expr*> targets;
  for (const Target& t : sub.targets) targets.push_back(t.expr);
  const int range = node->range;
  ranges[static_cast<std::size_t>(range)].kind = RangeKind::kResult;
  ranges[static_cast<std::size_t>(range)].subquery = nullptr;
  *node = *list;
  Substitution substitution{arena, range, targets};
  replace_everywhere(substitute_node, &substitution);
  FlattenContext flatten{*this};
  bool joins = false;
  for (const RangeEntry& inner : sub.range_table) joins = joins || inner.kind == RangeKind::kJoin;
  if (joins) {
    replace_everywhere(flatten_node, &flatten);
  }
  expand_cte_references();
  return true;
}

void QueryPlanner::pull_up_subqueries(JoinNode* node, bool nullable) {
  if (node->kind == JoinNode::Kind::kRange) {
    if (!pull_up_subquery(node, nullable)) return;
    // what came up may hold sub-links and subqueries of its own
    pull_up_sublinks(node);
    pull_up_subqueries(node, nullable);
    return;
  }
  if (node->kind == JoinNode::Kind::kList) {
    for (JoinNode* child : std::vector<JoinNode*>(node->children)) pull_up_subqueries(child, nullable);
    return;
  }
  const bool left_nullable = nullable || node->type == JoinType::kFull;
  const bool right_nullable = nullable || node->type != JoinType::kInner;
  const bool semi = node->type == JoinType::kSemi || node->type == JoinType::kAnti;
  pull_up_subqueries(node->children[0], left_nullable);
  pull_up_subqueries(node->children[1], semi ? nullable : right_nullable);
}

void QueryPlanner::collect_ranges(const JoinNode* node, std::vector<int>& list) const {
  if (node->kind == JoinNode::Kind::kRange) list.push_back(node->range);
  for (const JoinNode* child : node->children) collect_ranges(child, list);
}

namespace {

struct PlaceholderContext {
  Arena& arena;
  int range;
  const std::vector<Target>& targets;
};

/// ExecParam -k, the stand-in for column k of the sub-select, becomes a column of the new range.
Expr* placeholder_node(void* context, Expr* node, int depth) {
  auto& c = *static_cast<PlaceholderContext*>(context);
  auto* param = expr_if<ExecParamExpr>(node);
  if (param == nullptr || param->slot >= 0 || depth != 0) return nullptr;
  auto* column = c.arena.make<ColumnExpr>();
  column->type = param->type;
  column->range_index = c.range;
  column->attribute = static_cast<std::int16_t>(-param->slot);
  return column;
}

}  // namespace

JoinNode* QueryPlanner::convert_any(SubLinkExpr* link, JoinNode* left) {
  if (link->query == nullptr || link->test == nullptr || refers_to_level(link->query, 0, 1)) return nullptr;
  if (has_volatile(link->test) || !any_node(link->test, [](const Expr* n) {
        const auto* c = expr_if<ColumnExpr>(n);
        return c != nullptr && c->levels_up == 0;
      })) {
    return nullptr;
  }
  // equalities only: they are what semi-joins are fast at, and NULLs then behave as in WHERE
  RangeEntry entry;
  entry.kind = RangeKind::kSubquery;
  entry.alias = "ANY_subquery";
  entry.subquery = link->query;
  std::vector<ColumnDefinition> columns;
  std::vector<Target> visible;
  for (const Target& t : link->query->targets) {
    if (!t.hidden) {
      columns.push_back({t.name, t.expr->type});
      visible.push_back(t);
    }
  }
  entry.columns = arena_span(arena, columns);
  const int range = static_cast<int>(ranges.size());
  ranges.push_back(entry);
  PlaceholderContext context{arena, range, visible};
  JoinNode& leaf = nodes_.emplace_back();
  leaf.kind = JoinNode::Kind::kRange;
  leaf.range = range;
  JoinNode& join = nodes_.emplace_back();
  join.kind = JoinNode::Kind::kJoin;
  join.type = JoinType::kSemi;
  join.children = {left, &leaf};
  split_and(DeepRewrite{arena, placeholder_node, &context}.expression(link->test, 0), join.quals);
  return &join;
}

JoinNode* QueryPlanner::convert_exists(SubLinkExpr* link, JoinNode* left, bool negated) {
  Query* inner = link->query;
  if (inner->command != CommandKind::kSelect || inner->set_operation != nullptr || inner->has_aggregates ||
      inner->has_group_by || inner->having != nullptr || inner->has_windows || inner->has_set_functions ||
      inner->offset != nullptr || !inner->row_marks.empty() || !inner->ctes.empty() || inner->from.empty() ||
      inner->limit != nullptr || inner->where == nullptr) {
    return nullptr;
  }
  // only WHERE may look outside: otherwise the right side could not be scanned by itself
  if (!expr_refers(inner->where, 0, 1) || has_volatile(inner->where)) return nullptr;
  Query without = *inner;
  without.where = nullptr;
  without.targets = {};
  if (refers_to_level(&without, 0, 1)) return nullptr;
  for (const RangeEntry& entry : inner->range_table) {
    if (entry.lateral) return nullptr;
  }
  Absorption absorption{arena, static_cast<int>(ranges.size())};
  Query& sub = *DeepRewrite{arena, absorb_node, &absorption, -1}.query(inner, 1);
  const int offset = absorb_ranges(sub);
  JoinNode* right = absorb_from(sub, offset);
  JoinNode& join = nodes_.emplace_back();
  join.kind = JoinNode::Kind::kJoin;
  join.type = negated ? JoinType::kAnti : JoinType::kSemi;
  join.quals = std::move(right->quals);
  right->quals.clear();
  join.children = {left, right};
  FlattenContext flatten{*this};
  for (const RangeEntry& entry : sub.range_table) {
    if (entry.kind == RangeKind::kJoin) {
      replace_everywhere(flatten_node, &flatten);
      break;
    }
  }
  expand_cte_references();
  return &join;
}

/// Turns conjuncts that are sub-links into semi or anti joins over `attach`; others are returned to stay.
Expr* QueryPlanner::pull_up_qual(Expr* qual, JoinNode*& attach) {
  if (auto* link = expr_if<SubLinkExpr>(qual)) {
    JoinNode* join = nullptr;
    if (link->kind_of_link == SubLinkKind::kAny)
      join = convert_any(link, attach);
    else if (link->kind_of_link == SubLinkKind::kExists)
      join = convert_exists(link, attach, false);
    if (join == nullptr) return qual;
    attach = join;
    return nullptr;
  }
  if (auto* b = expr_if<BoolExpr>(qual); b != nullptr && b->op == BoolOp::kNot) {
    auto* link = expr_if<SubLinkExpr>(b->args[0]);
    if (link == nullptr || link->kind_of_link != SubLinkKind::kExists) return qual;
    JoinNode* join = convert_exists(link, attach, true);
    if (join == nullptr) return qual;
    attach = join;
    return nullptr;
  }
  return qual;
}

void QueryPlanner::pull_up_sublinks(JoinNode* node) {
  if (node->kind == JoinNode::Kind::kRange) return;
  for (JoinNode* child : std::vector<JoinNode*>(node->children)) pull_up_sublinks(child);
  if (node->kind == JoinNode::Kind::kJoin && node->type != JoinType::kInner) return;
  std::vector<Expr*> quals = std::move(node->quals);
  node->quals.clear();
  bool any = false;
  for (Expr* qual : quals) {
    any = any || any_node(qual, [](const Expr* n) { return n->kind == ExprKind::kSubLink; });
  }
  if (!any) {
    node->quals = std::move(quals);
    return;
  }
  // the joins are made over everything that the node holds now
  JoinNode& inner = nodes_.emplace_back();
  inner = *node;
  inner.quals.clear();
  JoinNode* attach = &inner;
  if (node->kind == JoinNode::Kind::kList && node->children.size() == 1) attach = node->children[0];
  if (node->kind == JoinNode::Kind::kList && node->children.empty()) {
    node->quals = std::move(quals);
    return;
  }
  std::vector<Expr*> kept;
  for (Expr* qual : quals) {
    if (Expr* stays = pull_up_qual(qual, attach)) kept.push_back(stays);
  }
  if (node->kind == JoinNode::Kind::kJoin) inner.quals = kept;
  if (attach == &inner || (node->kind == JoinNode::Kind::kList && attach == node->children[0])) {
    node->quals = std::move(kept);
    return;
  }
  node->kind = JoinNode::Kind::kList;
  node->range = -1;
  node->children = {attach};
  node->quals = inner.kind == JoinNode::Kind::kJoin ? std::vector<Expr*>{} : std::move(kept);
  // sub-links inside what was just pulled up
  for (JoinNode* at = attach;
       at->kind == JoinNode::Kind::kJoin && (at->type == JoinType::kSemi || at->type == JoinType::kAnti);
       at = at->children[0]) {
    pull_up_sublinks(at->children[1]);
  }
}

void QueryPlanner::prepare() {
  // spans shared with the caller's tree must not be written to
  query.targets = own_span(arena, query.targets);
  query.returning = own_span(arena, query.returning);
  query.ctes = own_span(arena, query.ctes);
  tree_ = &nodes_.emplace_back();
  for (FromItem* item : query.from) {
    JoinNode* child = build_join_tree(item);
    tree_->children.push_back(child);
  }
  if (query.where != nullptr) split_and(query.where, tree_->quals);
  query.where = nullptr;
  plan_ctes();
  flatten_join_columns();
  expand_cte_references();
  fold_everything();
  pull_up_sublinks(tree_);
  pull_up_subqueries(tree_, false);
  fold_everything();
  std::vector<Expr*> none;
  reduce_outer_joins(tree_, none);
  min_max_by_index();
  finish_expressions();
}

}  // namespace pinwheel::sql
