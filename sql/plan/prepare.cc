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

struct LevelSearch {
  int level;
  bool found = false;
};

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

bool query_is_volatile(Query* query) {
  bool found = false;
  for_each_expression(*query, [&](Expr*& e) {
    found = found || has_volatile(e) || any_node(e, [](const Expr* n) {
              const auto* s = expr_if<SubLinkExpr>(n);
              return s != nullptr && query_is_volatile(s->query);
            });
  });
  for_each_subquery(*query, [&](Query& sub) { found = found || query_is_volatile(&sub); });
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

CteBinding* QueryPlanner::find_cte(std::string_view name, int levels_up) {
  QueryPlanner* level = this;
  for (int i = 0; i < levels_up && level != nullptr; ++i) level = level->parent;
  if (level != nullptr) {
    for (CteBinding& cte : level->ctes_) {
      if (cte.name == name) return &cte;
    }
  }
  throw SqlError{sqlstate::kInternalError, "reference to an unknown CTE"};
}

void QueryPlanner::plan_ctes() {
  for (CommonTable& cte : query.ctes) {
    CteBinding& binding = ctes_.emplace_back();
    binding.name = cte.name;
    binding.columns = cte.columns;
    const bool modifies = cte.query->command != CommandKind::kSelect;
    if (!modifies && cte.reference_count == 0 && !query_is_volatile(cte.query)) continue;
    if (!modifies && !cte.recursive && !cte.materialized && cte.query->row_marks.empty() &&
        (cte.not_materialized || (cte.reference_count <= 1 && !query_is_volatile(cte.query)))) {
      binding.inline_query = cte.query;
      continue;
    }
    if (cte.recursive && cte.query->set_operation != nullptr) {
      bind_recursive(cte, binding);
      continue;
    }
    QueryPlanner child{global, this, *cte.query};
    PlannedQuery planned = modifies ? child.plan_modification() : child.plan(0);
    std::vector<SubPlanArgument> arguments;
    adopt_outer_values(planned, arguments);
    if (!arguments.empty())
      throw SqlError{sqlstate::kFeatureNotSupported, "correlated CTEs are not supported"};
    SubPlan sub;
    sub.plan = planned.plan;
    sub.is_cte = true;
    sub.cte_name = arena.copy(cte.name);
    sub.modifies = modifies;
    binding.subplan = static_cast<int>(global.subplans.size());
    binding.rows = planned.rows;
    binding.cost = planned.total;
    global.subplans.push_back(sub);
    init_plans_.push_back(binding.subplan);
  }
}

void QueryPlanner::bind_recursive(CommonTable& cte, CteBinding& binding) {
  const Query& body = *cte.query;
  SetNode* set = body.set_operation;
  if (!body.ctes.empty() || !body.order_by.empty() || body.limit != nullptr || body.offset != nullptr) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "ORDER BY, LIMIT or WITH in a recursive query is not implemented"};
  }
  // Both sides are planned as children of a stand-in for the UNION's own level.
  QueryPlanner union_level{global, this, body};
  const auto leaf = [&](SetNode* node) -> Query* {
    if (node->operation != SetOperation::kNone) {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "nested set operations in a recursive query are not supported"};
    }
    return body.range_table[static_cast<std::size_t>(node->range_index)].subquery;
  };
  QueryPlanner start{global, &union_level, *leaf(set->left)};
  const PlannedQuery left = start.plan(0);
  binding.work_table = global.work_tables++;
  binding.rows = clamp_rows(left.rows * 10);
  QueryPlanner step{global, &union_level, *leaf(set->right)};
  const PlannedQuery right = step.plan(0);
  if (!left.outer_values.empty() || !right.outer_values.empty()) {
    throw SqlError{sqlstate::kFeatureNotSupported, "correlated recursive CTEs are not supported"};
  }
  auto* plan = arena.make<RecursiveUnionPlan>();
  plan->node_id = global.nodes++;
  plan->left = left.plan;
  plan->right = right.plan;
  plan->work_table = binding.work_table;
  plan->all = set->all;
  plan->rows = clamp_rows(left.rows + 10 * right.rows);
  plan->startup_cost = left.startup;
  plan->total_cost = left.total + 10 * right.total + plan->rows * global.input.settings.cpu_tuple_cost;
  plan->width = left.plan->width;
  plan->depends_on_parameters = true;
  std::vector<Expr*> targets;
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < set->column_types.size(); ++i) {
    auto* column = arena.make<SlotColumnExpr>();
    column->type = set->column_types[i];
    column->index = static_cast<int>(i);
    targets.push_back(column);
    keys.push_back({static_cast<int>(i), column->type.type, column->type.collation, false, false});
  }
  plan->targets = arena_span(arena, targets);
  if (!set->all) plan->keys = arena_span(arena, keys);
  SubPlan sub;
  sub.plan = plan;
  sub.is_cte = true;
  sub.cte_name = arena.copy(cte.name);
  binding.work_table = -1;
  binding.subplan = static_cast<int>(global.subplans.size());
  binding.rows = plan->rows;
  binding.cost = plan->total_cost;
  global.subplans.push_back(sub);
  init_plans_.push_back(binding.subplan);
}

void QueryPlanner::expand_cte_references() {
  for (RangeEntry& entry : ranges) {
    if (entry.kind != RangeKind::kCte) continue;
    const CteBinding* cte = find_cte(entry.cte_name, entry.cte_levels_up);
    if (cte->inline_query == nullptr) continue;
    entry.kind = RangeKind::kSubquery;
    entry.subquery = shift_query_levels(arena, cte->inline_query, entry.cte_levels_up);
  }
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

void QueryPlanner::reduce_outer_joins(JoinNode* node, std::vector<Expr*>& upper) {
  if (node->kind == JoinNode::Kind::kRange) return;
  const std::size_t before = upper.size();
  if (node->kind == JoinNode::Kind::kList) {
    upper.insert(upper.end(), node->quals.begin(), node->quals.end());
    for (JoinNode* child : node->children) reduce_outer_joins(child, upper);
    upper.resize(before);
    return;
  }
  const auto forced = [&](const JoinNode* side) {
    std::vector<int> list;
    collect_ranges(side, list);
    for (const Expr* qual : upper) {
      for (const int range : list) {
        if (is_strict_for(qual, range)) return true;
      }
    }
    return false;
  };
  if (node->type == JoinType::kFull) {
    const bool left = forced(node->children[0]);
    const bool right = forced(node->children[1]);
    if (left && right) {
      node->type = JoinType::kInner;
    } else if (left) {
      node->type = JoinType::kLeft;
    } else if (right) {
      node->type = JoinType::kLeft;
      std::swap(node->children[0], node->children[1]);
    }
  }
  if (node->type == JoinType::kLeft && forced(node->children[1])) node->type = JoinType::kInner;
  if (node->type == JoinType::kInner || node->type == JoinType::kSemi) {
    upper.insert(upper.end(), node->quals.begin(), node->quals.end());
    for (JoinNode* child : node->children) reduce_outer_joins(child, upper);
  } else if (node->type == JoinType::kFull) {
    std::vector<Expr*> none;
    for (JoinNode* child : node->children) reduce_outer_joins(child, none);
  } else {
    // the left side is filtered by what is above; the right side by what is above and the condition, for its
    // own joins
    reduce_outer_joins(node->children[0], upper);
    std::vector<Expr*> inner(node->quals.begin(), node->quals.end());
    reduce_outer_joins(node->children[1], inner);
  }
  upper.resize(before);
}

/// min(x), max(x) of a whole table become sub-selects that read one end of an index.
void QueryPlanner::min_max_by_index() {
  if (!query.has_aggregates || query.has_group_by || !query.group_by.empty() || query.having != nullptr ||
      query.has_windows || !query.distinct.empty() || !query.row_marks.empty()) {
    return;
  }
  if (tree_->children.size() != 1 || !tree_->quals.empty()) return;
  const JoinNode* leaf = tree_->children[0];
  if (leaf->kind != JoinNode::Kind::kRange) return;
  const RangeEntry& entry = ranges[static_cast<std::size_t>(leaf->range)];
  if (entry.kind != RangeKind::kRelation) return;
  const Relation* relation = global.open_relation(entry.relation, entry.table_lock);
  const auto usable = [&](const AggregateExpr* a) -> const AggregateInfo* {
    const AggregateInfo* info = find_aggregate(a->function);
    if (info == nullptr || !is_valid(info->sort_operator) || a->args.size() != 1 || a->filter != nullptr)
      return nullptr;
    const auto* column = expr_if<ColumnExpr>(strip_relabel(a->args[0]));
    if (column == nullptr || column->levels_up != 0 || column->attribute <= 0) return nullptr;
    for (const IndexInfo& index : relation->indexes) {
      if (index.valid && index.predicate.empty() && index.keys[0].column == column->attribute &&
          operator_in_family(info->sort_operator, index.keys[0].operator_family) != nullptr) {
        return info;
      }
    }
    return nullptr;
  };
  bool all = true;
  for (const Target& t : query.targets) {
    const auto plain = [&](auto& self, const Expr* e) -> void {
      if (const auto* a = expr_if<AggregateExpr>(e)) {
        all = all && usable(a) != nullptr;
        return;
      }
      if (e->kind == ExprKind::kColumn || e->kind == ExprKind::kSubLink) all = false;
      visit_children(e, [&](const Expr* child) { self(self, child); });
    };
    plain(plain, t.expr);
  }
  if (!all) return;
  const auto sub_select = [&](AggregateExpr* a) -> Expr* {
    const BuiltinFamilyOperator* member = operator_membership(usable(a)->sort_operator, Oid{403});
    auto* q = arena.make<Query>();
    q->range_table = arena_span(arena, std::vector<RangeEntry>{entry});
    auto* item = arena.make<FromItem>();
    item->range_index = 0;
    q->from = arena_span(arena, std::vector<FromItem*>{item});
    auto* column = arena.make<ColumnExpr>(*expr_cast<ColumnExpr>(strip_relabel(a->args[0])));
    column->range_index = 0;
    auto* not_null = arena.make<NullTestExpr>();
    not_null->type.type = kBoolType;
    not_null->arg = column;
    not_null->is_null = false;
    q->where = not_null;
    Target target;
    target.expr = rewrite(arena, a->args[0],
                          [&](Expr* n) -> Expr* { return n->kind == ExprKind::kColumn ? column : nullptr; });
    target.name = "min_max";
    q->targets = arena_span(arena, std::vector<Target>{target});
    SortClause order;
    order.sort_operator = usable(a)->sort_operator;
    order.descending = member != nullptr && member->strategy == 5;
    order.nulls_first = order.descending;
    q->order_by = arena_span(arena, std::vector<SortClause>{order});
    auto* one = arena.make<ConstExpr>();
    one->type.type = kInt8Type;
    one->value = Datum::from_int64(1);
    q->limit = one;
    auto* link = arena.make<SubLinkExpr>();
    link->type = a->type;
    link->kind_of_link = SubLinkKind::kExpression;
    link->query = q;
    return link;
  };
  for (Target& t : query.targets) {
    t.expr = rewrite(arena, t.expr, [&](Expr* n) -> Expr* {
      auto* a = expr_if<AggregateExpr>(n);
      return a != nullptr ? sub_select(a) : nullptr;
    });
  }
  tree_->children.clear();
  query.has_aggregates = false;
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
