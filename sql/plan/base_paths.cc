#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/functions/function.h"
#include "sql/plan/planner_state.h"
#include "sql/types/type_info.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

/// Bytes of a heap tuple besides its data: header and line pointer.
constexpr double kTupleOverhead = 44;

double operator_count(std::span<Clause* const> clauses) {
  double count = 0;
  for (const Clause* clause : clauses) {
    any_node(clause->expr, [&](const Expr* n) {
      switch (n->kind) {
        case ExprKind::kOperator:
        case ExprKind::kFunction:
        case ExprKind::kDistinct:
        case ExprKind::kNullIf:
        case ExprKind::kCoerceViaIo:
          count += 1;
          break;
        case ExprKind::kScalarArray:
          count += 5;
          break;
        case ExprKind::kSubPlan:
          count += 100;
          break;
        default:
          break;
      }
      return false;
    });
  }
  return count;
}

/// Whether a unique index finds the one row. A sequential scan is then not worth a thought, however small the
/// table: it would look at every version of every row, and a small table that is updated often holds many
/// that no statistics know of.
bool has_unique_lookup(const BaseRelation& rel) {
  return std::any_of(rel.paths.begin(), rel.paths.end(), [](const Path* path) {
    return path->unique_lookup && path->required == 0 && path->total < kDisabledCost;
  });
}

}  // namespace

void QueryPlanner::note_needed(const Expr* expr) {
  any_node(expr, [&](const Expr* n) {
    const auto* c = expr_if<ColumnExpr>(n);
    if (c == nullptr || c->levels_up != 0) return false;
    const int number = range_numbers[static_cast<std::size_t>(c->range_index)];
    if (number < 0) return false;
    BaseRelation& rel = bases[static_cast<std::size_t>(number)];
    if (c->attribute == 0) rel.whole_row = true;
    if (std::find(rel.needed.begin(), rel.needed.end(), c->attribute) == rel.needed.end()) {
      rel.needed.push_back(c->attribute);
    }
    return false;
  });
}

void QueryPlanner::note_needed_columns() {
  const auto look = [&](const Expr* e) { note_needed(e); };
  for (const Target& t : query.targets) look(t.expr);
  for (const Target& t : query.returning) look(t.expr);
  for (const Expr* e : extra_wanted_) look(e);
  look(query.having);
  for (const Clause& clause : clauses_) look(clause.expr);
  for (const RangeEntry& entry : ranges) {
    if (entry.kind == RangeKind::kJoin) continue;
    for (const Expr* e : entry.functions) look(e);
    for (const ExprList& row : entry.rows) {
      for (const Expr* e : row) look(e);
    }
  }
}

void QueryPlanner::set_base_sizes() {
  note_needed_columns();
  plan_ranges.assign(ranges.size(), -1);
  for (BaseRelation& rel : bases) {
    const RangeEntry& entry = ranges[static_cast<std::size_t>(rel.range)];
    PlanRange range;
    range.kind = entry.kind;
    range.columns = entry.columns;
    range.alias = global.unique_alias(entry.alias);
    if (entry.kind == RangeKind::kRelation) {
      rel.relation = global.open_relation(entry.relation, entry.table_lock);
      range.relation = rel.relation;
      range.name = rel.relation->name;
      range.schema = rel.relation->schema_name;
    }
    plan_ranges[static_cast<std::size_t>(rel.range)] = static_cast<int>(global.ranges.size());
    global.ranges.push_back(range);

    rel.width = 0;
    for (const std::int16_t attribute : rel.needed) {
      if (attribute <= 0) {
        rel.width += attribute == 0 ? 32 : 6;
        continue;
      }
      const ColumnDefinition& column = entry.columns[static_cast<std::size_t>(attribute) - 1];
      rel.width += type_width(column.type.type, column.type.type_modifier);
    }
    switch (entry.kind) {
      case RangeKind::kRelation: {
        const Relation& r = *rel.relation;
        if (r.file.relation.value != 0) {
          rel.pages = global.input.catalog.services().storage.files.size(r.file, Fork::kMain).value;
        }
        double density;
        if (r.tuples >= 0 && r.pages > 0) {
          density = static_cast<double>(r.tuples) / r.pages;
        } else {
          double width = kTupleOverhead;
          for (const Column& c : r.columns) {
            if (!c.dropped) width += type_width(c.type, c.type_modifier);
          }
          density = std::max(1.0, std::floor((kPageSize - 24) / width));
          // a new table will not stay empty
          if (r.pages == 0 && r.tuples < 0) rel.pages = std::max(rel.pages, 10.0);
        }
        rel.tuples = std::max(1.0, std::round(density * rel.pages));
        if (rel.pages > 0)
          rel.all_visible_fraction = std::min(1.0, r.all_visible_pages / std::max(1.0, rel.pages));
        break;
      }
      case RangeKind::kFunction: {
        rel.tuples = 1;
        for (const Expr* e : entry.functions) {
          const auto* f = expr_if<FunctionExpr>(e);
          if (f == nullptr || !f->returns_set) continue;
          double estimate = 1000;
          const BuiltinProc* proc = find_proc(f->function);
          if (proc != nullptr && proc->rows > 0) estimate = proc->rows;
          // generate_series over constants says how many it makes
          if (proc != nullptr && proc->name == "generate_series" && f->args.size() >= 2) {
            const auto* from = expr_if<ConstExpr>(f->args[0]);
            const auto* to = expr_if<ConstExpr>(f->args[1]);
            const auto* by = f->args.size() > 2 ? expr_if<ConstExpr>(f->args[2]) : nullptr;
            const bool integers = f->type.type == kInt4Type || f->type.type == kInt8Type;
            if (integers && from != nullptr && to != nullptr && !from->is_null && !to->is_null &&
                (f->args.size() == 2 || (by != nullptr && !by->is_null && by->value.as_int64() != 0))) {
              const double step = by != nullptr ? static_cast<double>(by->value.as_int64()) : 1;
              estimate = std::max(0.0, std::floor((static_cast<double>(to->value.as_int64()) -
                                                   static_cast<double>(from->value.as_int64()) + step) /
                                                  step));
            }
          }
          rel.tuples = std::max(rel.tuples, estimate);
        }
        for (const Expr* e : entry.functions) rel.lateral |= relids_of(e);
        break;
      }
      case RangeKind::kValues:
        rel.tuples = static_cast<double>(entry.rows.size());
        for (const ExprList& row : entry.rows) {
          for (const Expr* e : row) rel.lateral |= relids_of(e);
        }
        break;
      case RangeKind::kCte: {
        const CteBinding* cte = find_cte(entry.cte_name, entry.cte_levels_up);
        rel.tuples = cte->rows;
        break;
      }
      case RangeKind::kSubquery:
        plan_range_subquery(rel);
        break;
      default:
        rel.tuples = 1;
        break;
    }
    rel.tuples = std::max(1.0, rel.tuples);
    rel.rows = clamp_rows(rel.tuples * clauses_selectivity(*this, rel.clauses));
  }
}

void QueryPlanner::plan_range_subquery(BaseRelation& rel) {
  RangeEntry& entry = ranges[static_cast<std::size_t>(rel.range)];
  QueryPlanner child{global, this, *entry.subquery};
  rel.subquery = child.plan(0);
  std::vector<SubPlanArgument> arguments;
  adopt_outer_values(rel.subquery, arguments);
  for (SubPlanArgument& argument : arguments) {
    argument.value = finish_expression(argument.value);
    rel.lateral |= relids_of(argument.value);
    note_needed(argument.value);  // index-only scans of siblings must bring it
  }
  rel.lateral_values = arguments;
  rel.tuples = rel.subquery.rows;
}

void QueryPlanner::set_base_paths(BaseRelation& rel) {
  const RangeEntry& entry = ranges[static_cast<std::size_t>(rel.range)];
  const PlannerSettings& s = global.input.settings;
  const double filter = operator_count(rel.clauses) * s.cpu_operator_cost;
  const auto simple = [&](PathKind kind, double startup, double per_row) {
    Path* path = new_path(kind);
    path->rel = &rel;
    path->relids = rel.bit;
    path->required = rel.lateral;
    path->rows = rel.rows;
    path->width = rel.width;
    path->startup = startup;
    path->total = startup + rel.tuples * (per_row + filter);
    rel.paths.push_back(path);
    return path;
  };
  switch (entry.kind) {
    case RangeKind::kRelation:
      add_index_paths(rel);
      if (!has_unique_lookup(rel)) add_seq_path(rel);
      add_tid_path(rel);
      break;
    case RangeKind::kSubquery: {
      Path* path = simple(PathKind::kSubquery, rel.subquery.startup, s.cpu_tuple_cost);
      path->total = rel.subquery.total + rel.tuples * filter;
      path->ready = rel.subquery.plan;
      break;
    }
    case RangeKind::kFunction:
      simple(PathKind::kFunction, s.cpu_operator_cost, s.cpu_tuple_cost);
      break;
    case RangeKind::kValues:
      simple(PathKind::kValues, 0, s.cpu_operator_cost);
      break;
    case RangeKind::kCte: {
      const CteBinding* cte = find_cte(entry.cte_name, entry.cte_levels_up);
      simple(cte->work_table >= 0 ? PathKind::kWorkTable : PathKind::kCte, 0, s.cpu_tuple_cost);
      break;
    }
    default:
      simple(PathKind::kResult, 0, s.cpu_tuple_cost);
      break;
  }
}

void QueryPlanner::add_seq_path(BaseRelation& rel) {
  const PlannerSettings& s = global.input.settings;
  Path* path = new_path(PathKind::kSeqScan);
  path->rel = &rel;
  path->relids = rel.bit;
  path->rows = rel.rows;
  path->width = rel.width;
  path->total = rel.pages * s.seq_page_cost +
                rel.tuples * (s.cpu_tuple_cost + operator_count(rel.clauses) * s.cpu_operator_cost);
  if (!s.enable_seqscan) {
    path->startup += kDisabledCost;
    path->total += kDisabledCost;
  }
  add_path(rel.paths, path);
}

void QueryPlanner::add_tid_path(BaseRelation& rel) {
  if (!global.input.settings.enable_tidscan) return;
  const PlannerSettings& s = global.input.settings;
  const auto is_tid = [&](const Expr* e) {
    const auto* c = expr_if<ColumnExpr>(e);
    return c != nullptr && c->range_index == rel.range && c->attribute == kTidAttribute;
  };
  for (Clause* clause : rel.clauses) {
    double count = 1;
    if (auto* op = expr_if<OperatorExpr>(clause->expr);
        op != nullptr && op->args.size() == 2 && op->op.value == 387) {
      const bool left = is_tid(op->args[0]) && clause->right_relids == 0;
      const bool right = is_tid(op->args[1]) && clause->left_relids == 0;
      if (!left && !right) continue;
    } else if (auto* a = expr_if<ScalarArrayExpr>(clause->expr);
               a != nullptr && a->any && a->op.value == 387 && is_tid(a->left) && relids_of(a->array) == 0) {
      count = 10;
    } else {
      continue;
    }
    if (clause->is_volatile) continue;
    Path* path = new_path(PathKind::kTidScan);
    path->rel = &rel;
    path->relids = rel.bit;
    path->rows = std::min(rel.rows, count);
    path->width = rel.width;
    path->tid_clauses.push_back(clause);
    path->total = count * (s.random_page_cost + s.cpu_tuple_cost + s.cpu_operator_cost);
    add_path(rel.paths, path);
    rel.rows = std::min(rel.rows, path->rows);
    return;
  }
}

// --- finish: equality of every class member with something outside

void QueryPlanner::collect_join_clauses(BaseRelation& rel, std::vector<Clause*>& out) {
  for (Clause* clause : join_clauses_) {
    if (!overlaps(clause->relids, rel.bit) || clause->is_volatile) continue;
    // A filter above an outer join that null-extends this relation cannot be tested here.
    if (clause->outer_join < 0 && clause->required != clause->relids) continue;
    if (clause->outer_join >= 0) {
      const SpecialJoin& special = specials_[static_cast<std::size_t>(clause->outer_join)];
      if (!is_subset(rel.bit, special.all_right) || special.type == JoinType::kFull) continue;
    }
    out.push_back(clause);
  }
  for (std::size_t i = 0; i < equivalences_.size(); ++i) {
    const EquivalenceClass& ec = equivalences_[i];
    if (!ec.from_clause || ec.has_constant) continue;
    for (std::size_t m = 0; m < ec.members.size(); ++m) {
      if (ec.members[m].relids != rel.bit) continue;
      for (std::size_t n = 0; n < ec.members.size(); ++n) {
        if (ec.members[n].relids == 0 || overlaps(ec.members[n].relids, rel.bit)) continue;
        if (Clause* clause = derived_clause(static_cast<int>(i), static_cast<int>(m), static_cast<int>(n))) {
          out.push_back(clause);
        }
      }
    }
  }
}

}  // namespace pinwheel::sql
