#include <algorithm>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/analyze/expression_source.h"
#include "sql/plan/plan_maker.h"
#include "sql/plan/planner_state.h"

namespace pinwheel::sql {
namespace {

/// Columns of `range` become slot columns of `source`; others are looked for in `input`.
struct RowResolver {
  QueryPlanner& q;
  PlanMaker& maker;
  int scan_range;
  int inner_range = -1;
  const PlanMaker::Layout* input = nullptr;

  Expr* operator()(Expr* e) const {
    if (e == nullptr) return nullptr;
    return rewrite(q.arena, e, [&](Expr* n) -> Expr* {
      auto* column = expr_if<ColumnExpr>(n);
      if (column == nullptr) return nullptr;
      const bool scan = column->range_index == scan_range;
      if (!scan && column->range_index != inner_range) {
        if (input == nullptr)
          throw SqlError{sqlstate::kInternalError, "column of a range that a changed row does not know"};
        return maker.resolve(column, {input, nullptr, nullptr, nullptr});
      }
      if (column->attribute == 0) return whole_row(column);
      auto* slot = q.arena.make<SlotColumnExpr>();
      slot->type = column->type;
      slot->source = scan ? SlotSource::kScan : SlotSource::kInner;
      slot->index = column->attribute > 0 ? column->attribute - 1 : column->attribute;
      auto* origin = q.arena.make<ColumnExpr>(*column);
      const auto at = static_cast<std::size_t>(column->range_index);
      if (at < q.plan_ranges.size()) origin->range_index = q.plan_ranges[at];
      slot->origin = origin;
      return slot;
    });
  }
  Expr* whole_row(const ColumnExpr* column) const {
    const RangeEntry& entry = q.ranges[static_cast<std::size_t>(column->range_index)];
    auto* row = q.arena.make<RowExpr>();
    row->type = column->type;
    std::vector<Expr*> fields;
    for (std::size_t i = 0; i < entry.columns.size(); ++i) {
      if (entry.columns[i].name.empty()) continue;
      auto* field = q.arena.make<ColumnExpr>(*column);
      field->attribute = static_cast<std::int16_t>(i + 1);
      field->type = entry.columns[i].type;
      fields.push_back((*this)(field));
    }
    row->args = arena_span(q.arena, fields);
    return row;
  }
  ExprList all(const std::vector<Expr*>& list) const {
    std::vector<Expr*> out;
    for (Expr* e : list) out.push_back((*this)(e));
    return arena_span(q.arena, out);
  }
};

/// Expressions kept as source text have range 0; here they are over the changed row.
Expr* over_row(QueryPlanner& q, Expr* e) {
  return rewrite(q.arena, e, [&](Expr* n) -> Expr* {
    auto* column = expr_if<ColumnExpr>(n);
    if (column == nullptr) return nullptr;
    auto* slot = q.arena.make<SlotColumnExpr>();
    slot->type = column->type;
    slot->source = SlotSource::kScan;
    slot->index = column->attribute - 1;
    slot->origin = column;
    return slot;
  });
}

}  // namespace

void QueryPlanner::plan_row_checks(ModifyTablePlan& plan, const Relation& relation) {
  AnalyzerCatalog& names = global.input.names;
  const AnalyzeContext context{arena, names, global.input.eval};
  const auto source = [&](std::string_view text, SourceUse use) {
    Expr* e = analyze_expression(context, text, names.relation(relation.oid), use);
    return fold_constants(global, e);
  };
  if (query.command != CommandKind::kDelete) {
    std::vector<CheckPlan> checks;
    for (const CheckConstraint& check : relation.checks) {
      checks.push_back({check.name, over_row(*this, source(check.source, SourceUse::kCheck))});
    }
    plan.checks = arena_span(arena, checks);
    std::vector<GeneratedColumn> generated;
    for (const Column& column : relation.columns) {
      if (column.dropped || column.generated == 0) continue;
      Expr* value = analyze_column_value(context, column.default_source, names.relation(relation.oid),
                                         SourceUse::kGenerated, column.name,
                                         {column.type, column.type_modifier, column.collation});
      generated.push_back({column.number, over_row(*this, fold_constants(global, value))});
    }
    plan.generated = arena_span(arena, generated);
  }
  std::vector<IndexMaintenancePlan> indexes;
  for (const IndexInfo& index : relation.indexes) {
    if (!index.has_expressions && index.predicate.empty()) continue;
    IndexMaintenancePlan maintenance;
    maintenance.index = index.oid;
    std::vector<Expr*> expressions;
    for (const auto& key : index.keys) {
      if (key.column == 0)
        expressions.push_back(over_row(*this, source(key.expression, SourceUse::kIndexExpression)));
    }
    maintenance.expressions = arena_span(arena, expressions);
    std::vector<Expr*> predicate;
    if (!index.predicate.empty())
      split_and(over_row(*this, source(index.predicate, SourceUse::kIndexPredicate)), predicate);
    maintenance.predicate = arena_span(arena, predicate);
    indexes.push_back(maintenance);
  }
  plan.indexes = arena_span(arena, indexes);
}

void QueryPlanner::plan_conflict(ModifyTablePlan& plan, const Relation& relation) {
  const OnConflict& conflict = query.on_conflict;
  plan.conflict.action = conflict.action;
  if (conflict.action == ConflictAction::kNone) return;
  plan.conflict.arbiter_indexes =
      arena_span(arena, std::vector<Oid>(conflict.arbiter_indexes.begin(), conflict.arbiter_indexes.end()));
  PlanMaker maker{*this};
  const RowResolver resolver{*this, maker, query.result_range_index, conflict.excluded_range_index};
  std::vector<AssignedColumn> assigned;
  std::vector<Expr*> values;
  for (const Target& t : conflict.assignments) {
    assigned.push_back({t.attribute, static_cast<int>(values.size())});
    values.push_back(resolver(fold_constants(global, t.expr)));
  }
  plan.conflict.assigned = arena_span(arena, assigned);
  plan.conflict.values = arena_span(arena, values);
  std::vector<Expr*> where;
  if (conflict.where != nullptr) split_and(fold_constants(global, conflict.where), where);
  plan.conflict.where = resolver.all(where);
  static_cast<void>(relation);
}

PlannedQuery QueryPlanner::plan_modification() {
  prepare();
  const int result = query.result_range_index;
  std::vector<int> in_from;
  collect_ranges(tree_, in_from);
  const bool is_insert = query.command == CommandKind::kInsert;
  if (!is_insert && std::find(in_from.begin(), in_from.end(), result) == in_from.end()) {
    JoinNode& leaf = nodes_.emplace_back();
    leaf.kind = JoinNode::Kind::kRange;
    leaf.range = result;
    tree_->children.insert(tree_->children.begin(), &leaf);
    in_from.push_back(result);
  }
  std::vector<Expr*> wanted;
  std::vector<AssignedColumn> assigned;
  for (const Target& t : query.targets) {
    if (t.hidden) continue;
    assigned.push_back({t.attribute, static_cast<int>(wanted.size())});
    wanted.push_back(t.expr);
  }
  const auto identity = [&](int range) {
    auto* column = arena.make<ColumnExpr>();
    column->type.type = kInt8Type;
    column->range_index = range;
    column->attribute = kRowIdentityAttribute;
    return column;
  };
  int identity_column = -1;
  std::vector<std::pair<int, int>> recheck;  // level range, input column
  if (!is_insert) {
    identity_column = static_cast<int>(wanted.size());
    wanted.push_back(identity(result));
    if (in_from.size() > 1) {
      for (const int range : in_from) {
        if (range == result || ranges[static_cast<std::size_t>(range)].kind != RangeKind::kRelation) continue;
        recheck.emplace_back(range, static_cast<int>(wanted.size()));
        wanted.push_back(identity(range));
      }
    }
  }
  // RETURNING may show columns of other relations
  for (const Target& t : query.returning) {
    any_node(t.expr, [&](const Expr* n) {
      const auto* c = expr_if<ColumnExpr>(n);
      if (c == nullptr || c->range_index == result) return false;
      const bool known =
          std::any_of(wanted.begin(), wanted.end(), [&](const Expr* e) { return same_expr(e, c); });
      if (!known) wanted.push_back(const_cast<Expr*>(n));
      return false;
    });
  }
  extra_wanted_ = wanted;

  // Semi-joins and the like made the relation set; an INSERT's target is no part of it.
  deconstruct();
  set_base_sizes();
  for (BaseRelation& rel : bases) set_base_paths(rel);
  JoinRelation* input;
  if (bases.empty()) {
    input = &join_relations_.emplace_back();
    Path* path = new_path(PathKind::kResult);
    path->total = global.input.settings.cpu_tuple_cost;
    path->conditions = constant_quals_;
    constant_quals_.clear();
    input->paths.push_back(path);
  } else {
    input = join_search();
  }
  Path* path = add_gate(cheapest_for_order(*input, {}, {}, {}, 0));
  bool set_functions = false;
  for (const Expr* e : wanted) set_functions = set_functions || has_set_function(e);
  if (set_functions) {
    Path* project = new_path(PathKind::kProjectSet);
    project->outer = path;
    project->relids = path->relids;
    project->expressions = wanted;
    project->rows = clamp_rows(path->rows * 1000);
    project->width = path->width;
    project->startup = path->startup;
    project->total = path->total + project->rows * global.input.settings.cpu_tuple_cost;
    path = project;
  }

  const std::uint8_t lock = std::max<std::uint8_t>(ranges[static_cast<std::size_t>(result)].table_lock, 3);
  const Relation* relation = global.open_relation(ranges[static_cast<std::size_t>(result)].relation, lock);
  plan_ranges.resize(ranges.size(), -1);
  if (plan_ranges[static_cast<std::size_t>(result)] < 0) {
    PlanRange range;
    range.alias = global.unique_alias(ranges[static_cast<std::size_t>(result)].alias);
    range.columns = ranges[static_cast<std::size_t>(result)].columns;
    range.relation = relation;
    range.name = relation->name;
    range.schema = relation->schema_name;
    plan_ranges[static_cast<std::size_t>(result)] = static_cast<int>(global.ranges.size());
    global.ranges.push_back(range);
  }
  if (query.on_conflict.excluded_range_index >= 0) {
    const auto excluded = static_cast<std::size_t>(query.on_conflict.excluded_range_index);
    PlanRange range;
    range.kind = RangeKind::kResult;
    range.alias = "excluded";
    range.columns = ranges[excluded].columns;
    plan_ranges[excluded] = static_cast<int>(global.ranges.size());
    global.ranges.push_back(range);
  }

  PlanMaker maker{*this};
  PlanMaker::Layout layout;
  auto* plan = arena.make<ModifyTablePlan>();
  plan->left = maker.make(path, wanted, false, layout);
  if (!maker.pending.empty())
    throw SqlError{sqlstate::kInternalError, "a parameter of a nested loop was left without a value"};
  plan->node_id = global.nodes++;
  plan->startup_cost = path->startup;
  plan->total_cost = path->total;
  plan->rows = query.returning.empty() ? 0 : path->rows;
  plan->width = query.returning.empty() ? 0 : path->width;
  plan->command = query.command;
  plan->range = plan_ranges[static_cast<std::size_t>(result)];
  plan->relation = relation;
  plan->assigned = arena_span(arena, assigned);
  plan->identity_column = identity_column;
  plan->has_returning = !query.returning.empty();
  std::vector<RecheckSource> sources;
  for (const auto& [range, column] : recheck)
    sources.push_back({plan_ranges[static_cast<std::size_t>(range)], column});
  plan->recheck_sources = arena_span(arena, sources);
  const RowResolver resolver{*this, maker, result, -1, &layout};
  std::vector<Expr*> returning;
  for (const Target& t : query.returning) returning.push_back(resolver(t.expr));
  plan->targets = arena_span(arena, returning);
  plan_row_checks(*plan, *relation);
  plan_conflict(*plan, *relation);
  for (const IndexInfo& index : relation->indexes) {
    if (index.has_expressions || !index.predicate.empty()) plan->may_change_keys = true;
    for (const auto& key : index.keys) {
      for (const AssignedColumn& a : plan->assigned)
        plan->may_change_keys = plan->may_change_keys || a.attribute == key.column;
      for (const AssignedColumn& a : plan->conflict.assigned) {
        plan->may_change_keys = plan->may_change_keys || a.attribute == key.column;
      }
      for (const GeneratedColumn& g : plan->generated)
        plan->may_change_keys = plan->may_change_keys || g.attribute == key.column;
    }
  }
  for (const ForeignKey& key : relation->references) {
    for (const std::int16_t column : key.from_columns) {
      for (const AssignedColumn& a : plan->assigned)
        plan->may_change_keys = plan->may_change_keys || a.attribute == column;
    }
  }
  plan->init_plans = arena_span(arena, init_plans_);

  PlannedQuery planned;
  planned.plan = plan;
  planned.startup = path->startup;
  planned.total = path->total;
  planned.rows = plan->rows;
  planned.outer_values = outer_values_;
  for (const Target& t : query.returning) planned.targets.push_back(t.expr);
  return planned;
}

}  // namespace pinwheel::sql
