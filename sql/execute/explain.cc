#include "sql/execute/explain.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/deparse/deparse.h"
#include "sql/execute/explain_expression.h"
#include "sql/functions/function.h"
#include "sql/plan/expression_tools.h"

namespace pinwheel::sql {
namespace {

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string join_words(JoinType join, std::string_view prefix, std::string_view inner) {
  switch (join) {
    case JoinType::kLeft:
      return std::string{prefix} + " Left Join";
    case JoinType::kRight:
      return std::string{prefix} + " Right Join";
    case JoinType::kFull:
      return std::string{prefix} + " Full Join";
    case JoinType::kSemi:
      return std::string{prefix} + " Semi Join";
    case JoinType::kAnti:
      return std::string{prefix} + " Anti Join";
    default:
      return std::string{inner};
  }
}

class Explainer {
 public:
  Explainer(const CachedPlan& plan, const NodeCounters* counters, const ExplainOptions& options)
      : plan_{plan}, counters_{counters}, options_{options}, text_{plan, options.verbose} {}

  void node(const Plan* plan, int indent) {
    std::string line(static_cast<std::size_t>(indent) * 2, ' ');
    if (indent != 0) {
      line += "->  ";
      indent += 2;
    }
    line += title(plan);
    line += costs(plan) + actual(plan);
    lines.push_back(line);
    ++indent;
    if (options_.verbose && !plan->targets.empty()) {
      std::string output;
      for (const Expr* e : plan->targets) output += (output.empty() ? "" : ", ") + text_.output(e);
      property(indent, "Output", output);
    }
    details(plan, indent);
    if (options_.buffers && counters_ != nullptr)
      property(indent, "Buffers", buffers(counters_[plan->node_id].buffers));
    children(plan, indent);
  }

  void planning() {
    const std::string used = options_.buffers ? buffers(options_.planning_buffers) : "";
    if (used.empty()) return;
    raw(0, "Planning:");
    property(1, "Buffers", used);
  }

  std::vector<std::string> lines;

 private:
  /// "" when no buffer was touched.
  static std::string buffers(const shm::BufferUsage& used) {
    std::string text;
    const auto part = [&](const char* name, std::uint64_t pages) {
      if (pages != 0)
        text += std::string{text.empty() ? "shared " : " "} + name + "=" + std::to_string(pages);
    };
    part("hit", used.hits);
    part("read", used.reads);
    part("dirtied", used.dirtied);
    part("written", used.written);
    return text;
  }
  void property(int indent, const std::string& name, const std::string& value) {
    if (value.empty()) return;
    lines.push_back(std::string(static_cast<std::size_t>(indent) * 2, ' ') + name + ": " + value);
  }
  void raw(int indent, const std::string& text) {
    lines.push_back(std::string(static_cast<std::size_t>(indent) * 2, ' ') + text);
  }
  const PlanRange& range(const Plan* plan) const {
    return plan_.ranges[static_cast<std::size_t>(plan_cast<ScanPlan>(plan)->range)];
  }
  std::string on_range(const PlanRange& r) {
    std::string name = r.name.empty() ? quote_identifier(r.alias) : quote_identifier(r.name);
    if (options_.verbose && !r.schema.empty()) name = quote_identifier(r.schema) + "." + name;
    if (!r.name.empty() && r.alias != r.name) name += " " + quote_identifier(r.alias);
    return name;
  }
  std::string index_title(const Plan* plan, std::string_view what) {
    const auto* scan = plan_cast<IndexScanPlan>(plan);
    return std::string{what} + (scan->direction == ScanDirection::kBackward ? " Backward" : "") + " using " +
           quote_identifier(scan->info->name) + " on " + on_range(range(plan));
  }

  std::string title(const Plan* plan) {
    switch (plan->kind) {
      case PlanKind::kResult:
        return "Result";
      case PlanKind::kProjectSet:
        return "ProjectSet";
      case PlanKind::kSeqScan:
        return "Seq Scan on " + on_range(range(plan));
      case PlanKind::kIndexScan:
        return index_title(plan, "Index Scan");
      case PlanKind::kIndexOnlyScan:
        return index_title(plan, "Index Only Scan");
      case PlanKind::kBitmapIndexScan:
        return "Bitmap Index Scan on " + quote_identifier(plan_cast<IndexScanPlan>(plan)->info->name);
      case PlanKind::kBitmapAnd:
        return "BitmapAnd";
      case PlanKind::kBitmapOr:
        return "BitmapOr";
      case PlanKind::kBitmapHeapScan:
        return "Bitmap Heap Scan on " + on_range(range(plan));
      case PlanKind::kTidScan:
        return "Tid Scan on " + on_range(range(plan));
      case PlanKind::kSubqueryScan:
        return "Subquery Scan on " + on_range(range(plan));
      case PlanKind::kFunctionScan: {
        const auto* scan = plan_cast<FunctionScanPlan>(plan);
        const auto* f = scan->functions.size() == 1 ? expr_if<FunctionExpr>(scan->functions[0]) : nullptr;
        const ProcInfo* info = f != nullptr ? find_proc_info(f->function) : nullptr;
        std::string name = info != nullptr ? std::string{info->name} : "";
        if (options_.verbose && info != nullptr) name = "pg_catalog." + name;
        const std::string alias = quote_identifier(range(plan).alias);
        if (name.empty()) return "Function Scan on " + alias;
        return "Function Scan on " + name + (alias != name ? " " + alias : "");
      }
      case PlanKind::kValuesScan:
        return "Values Scan on " + quote_identifier(range(plan).alias);
      case PlanKind::kCteScan: {
        const SubPlan& sub = plan_.subplans[static_cast<std::size_t>(plan_cast<CteScanPlan>(plan)->subplan)];
        const std::string_view alias = range(plan).alias;
        return "CTE Scan on " + quote_identifier(sub.cte_name) +
               (alias != sub.cte_name ? " " + quote_identifier(alias) : "");
      }
      case PlanKind::kWorkTableScan:
        return "WorkTable Scan on " + quote_identifier(range(plan).alias);
      case PlanKind::kNestLoop:
        return join_words(plan_cast<JoinPlan>(plan)->join, "Nested Loop", "Nested Loop");
      case PlanKind::kHashJoin:
        return join_words(plan_cast<JoinPlan>(plan)->join, "Hash", "Hash Join");
      case PlanKind::kMergeJoin:
        return join_words(plan_cast<JoinPlan>(plan)->join, "Merge", "Merge Join");
      case PlanKind::kMaterialize:
        return "Materialize";
      case PlanKind::kSort:
        return "Sort";
      case PlanKind::kUnique:
        return "Unique";
      case PlanKind::kAggregate:
        switch (plan_cast<AggregatePlan>(plan)->strategy) {
          case AggregateStrategy::kPlain:
            return "Aggregate";
          case AggregateStrategy::kSorted:
            return plan_cast<AggregatePlan>(plan)->calls.empty() ? "Group" : "GroupAggregate";
          default:
            return "HashAggregate";
        }
      case PlanKind::kWindowAgg:
        return "WindowAgg";
      case PlanKind::kSetOp: {
        const auto* op = plan_cast<SetOpPlan>(plan);
        return std::string{"HashSetOp "} +
               (op->operation == SetOperation::kIntersect ? "Intersect" : "Except") + (op->all ? " All" : "");
      }
      case PlanKind::kAppend:
        return "Append";
      case PlanKind::kRecursiveUnion:
        return "Recursive Union";
      case PlanKind::kLimit:
        return "Limit";
      case PlanKind::kLockRows:
        return "LockRows";
      case PlanKind::kModifyTable: {
        const auto* modify = plan_cast<ModifyTablePlan>(plan);
        const char* word = modify->command == CommandKind::kInsert   ? "Insert"
                           : modify->command == CommandKind::kUpdate ? "Update"
                                                                     : "Delete";
        return std::string{word} + " on " + on_range(plan_.ranges[static_cast<std::size_t>(modify->range)]);
      }
    }
    return "?";
  }

  std::string costs(const Plan* plan) const {
    if (!options_.costs) return "";
    return "  (cost=" + number("%.2f", plan->startup_cost) + ".." + number("%.2f", plan->total_cost) +
           " rows=" + number("%.0f", plan->rows) + " width=" + std::to_string(plan->width) + ")";
  }
  std::string actual(const Plan* plan) const {
    if (counters_ == nullptr) return "";
    const NodeCounters& c = counters_[plan->node_id];
    if (c.loops == 0) return " (never executed)";
    const std::string rows =
        "rows=" + number("%.0f", c.rows / c.loops) + " loops=" + number("%.0f", c.loops) + ")";
    if (!options_.timing) return " (actual " + rows;
    return " (actual time=" + number("%.3f", c.startup_ns / c.loops / 1e6) + ".." +
           number("%.3f", c.total_ns / c.loops / 1e6) + " " + rows;
  }
  void removed(const Plan* plan, int indent, const char* what, double count) {
    if (counters_ == nullptr || count == 0) return;
    const double loops = std::max(1.0, counters_[plan->node_id].loops);
    property(indent, std::string{"Rows Removed by "} + what, number("%.0f", count / loops));
  }
  void filter(const Plan* plan, int indent, const char* name = "Filter") {
    if (plan->quals.empty()) return;
    const bool scan = plan->kind >= PlanKind::kSeqScan && plan->kind <= PlanKind::kWorkTableScan &&
                      plan->kind != PlanKind::kSubqueryScan;
    property(indent, name, scan ? text_.scan_condition(plan->quals) : text_.condition(plan->quals));
    if (counters_ != nullptr) removed(plan, indent, "Filter", counters_[plan->node_id].filtered);
  }
  std::string keys(const Plan* input, std::span<const SortKey> list, bool directions) {
    std::string text;
    for (const SortKey& key : list) {
      if (!text.empty()) text += ", ";
      const auto at = static_cast<std::size_t>(key.column);
      // a scan that hands on its slot lists only what is read: find the column by number
      const Expr* shown = nullptr;
      if (input->passes_input && input->kind <= PlanKind::kWorkTableScan &&
          input->kind >= PlanKind::kSeqScan) {
        for (const Expr* e : input->targets) {
          const auto* c = expr_if<SlotColumnExpr>(e);
          if (c != nullptr && c->index == key.column) shown = e;
        }
      } else if (at < input->targets.size()) {
        shown = input->targets[at];
      }
      std::string one = shown != nullptr ? text_.expression(shown) : "?";
      if (shown != nullptr && needs_parentheses(shown)) one = "(" + one + ")";
      text += one;
      if (directions) {
        if (key.descending) text += " DESC";
        if (key.nulls_first != key.descending) text += key.nulls_first ? " NULLS FIRST" : " NULLS LAST";
      }
    }
    return text;
  }
  static bool needs_parentheses(const Expr* e) {
    const auto* c = expr_if<SlotColumnExpr>(e);
    const Expr* shown = c != nullptr && c->origin != nullptr ? c->origin : e;
    return shown->kind != ExprKind::kColumn && shown->kind != ExprKind::kOperator &&
           shown->kind != ExprKind::kSlotColumn;
  }
  static std::string kilobytes(std::int64_t bytes) {
    return std::to_string(std::max<std::int64_t>(1, (bytes + 1023) / 1024)) + "kB";
  }

  void details(const Plan* plan, int indent) {
    const NodeCounters* c = counters_ != nullptr ? &counters_[plan->node_id] : nullptr;
    switch (plan->kind) {
      case PlanKind::kResult:
        property(indent, "One-Time Filter", text_.condition(plan_cast<ResultPlan>(plan)->constant_quals));
        filter(plan, indent);
        break;
      case PlanKind::kIndexScan:
      case PlanKind::kIndexOnlyScan:
      case PlanKind::kBitmapIndexScan:
        property(indent, "Index Cond", text_.scan_condition(plan_cast<IndexScanPlan>(plan)->key_quals));
        filter(plan, indent);
        if (plan->kind == PlanKind::kIndexOnlyScan && c != nullptr) {
          property(indent, "Heap Fetches", std::to_string(c->heap_fetches));
        }
        break;
      case PlanKind::kBitmapHeapScan:
        property(indent, "Recheck Cond", text_.scan_condition(plan_cast<BitmapHeapScanPlan>(plan)->recheck));
        filter(plan, indent);
        if (c != nullptr && c->exact_pages + c->lossy_pages != 0) {
          std::string blocks;
          if (c->exact_pages != 0) blocks += "exact=" + std::to_string(c->exact_pages);
          if (c->lossy_pages != 0)
            blocks += (blocks.empty() ? "lossy=" : " lossy=") + std::to_string(c->lossy_pages);
          property(indent, "Heap Blocks", blocks);
        }
        break;
      case PlanKind::kTidScan:
        property(indent, "TID Cond", text_.scan_condition(plan_cast<TidScanPlan>(plan)->tid_quals));
        filter(plan, indent);
        break;
      case PlanKind::kNestLoop:
      case PlanKind::kHashJoin: {
        const auto* join = plan_cast<JoinPlan>(plan);
        if (options_.verbose) property(indent, "Inner Unique", join->inner_unique ? "true" : "false");
        if (plan->kind == PlanKind::kHashJoin) {
          std::vector<Expr*> clauses;
          for (const JoinKey& key : plan_cast<HashJoinPlan>(plan)->keys) clauses.push_back(key.clause);
          property(indent, "Hash Cond", text_.condition(clauses));
        }
        property(indent, "Join Filter", text_.condition(join->join_quals));
        if (c != nullptr) removed(plan, indent, "Join Filter", c->join_filtered);
        filter(plan, indent);
        break;
      }
      case PlanKind::kSort: {
        const auto* sort = plan_cast<SortPlan>(plan);
        property(indent, "Sort Key", keys(plan->left, sort->keys, true));
        if (c != nullptr && c->loops != 0) {
          if (c->disk_bytes != 0)
            raw(indent, "Sort Method: external merge  Disk: " + kilobytes(c->disk_bytes));
          else
            raw(indent, std::string{"Sort Method: "} + (sort->bounded ? "top-N heapsort" : "quicksort") +
                            "  Memory: " + kilobytes(std::max<std::int64_t>(c->memory_bytes, 25 * 1024)));
        }
        break;
      }
      case PlanKind::kAggregate: {
        const auto* aggregate = plan_cast<AggregatePlan>(plan);
        property(indent, "Group Key", keys(plan->left, aggregate->group_keys, false));
        filter(plan, indent);
        if (c != nullptr && aggregate->strategy == AggregateStrategy::kHashed && c->loops != 0) {
          raw(indent, "Batches: " + std::to_string(std::max<std::int64_t>(1, c->batches)) +
                          "  Memory Usage: " + kilobytes(c->memory_bytes) +
                          (c->disk_bytes != 0 ? "  Disk Usage: " + kilobytes(c->disk_bytes) : ""));
        }
        break;
      }
      case PlanKind::kFunctionScan:
        if (options_.verbose) {
          std::string calls;
          for (const Expr* e : plan_cast<FunctionScanPlan>(plan)->functions)
            calls += (calls.empty() ? "" : ", ") + text_.expression(e);
          property(indent, "Function Call", calls);
        }
        filter(plan, indent);
        break;
      case PlanKind::kModifyTable: {
        const auto* modify = plan_cast<ModifyTablePlan>(plan);
        if (modify->conflict.action != ConflictAction::kNone) {
          property(indent, "Conflict Resolution",
                   modify->conflict.action == ConflictAction::kNothing ? "NOTHING" : "UPDATE");
          std::string arbiters;
          for (const Oid oid : modify->conflict.arbiter_indexes) {
            const IndexInfo* index = modify->relation->find_index(oid);
            if (index != nullptr) arbiters += (arbiters.empty() ? "" : ", ") + quote_identifier(index->name);
          }
          property(indent, "Conflict Arbiter Indexes", arbiters);
          property(indent, "Conflict Filter", text_.condition(modify->conflict.where));
        }
        break;
      }
      default:
        filter(plan, indent);
        break;
    }
  }

  void children(const Plan* plan, int indent) {
    if (plan->kind == PlanKind::kNestLoop) text_.define(plan_cast<NestLoopPlan>(plan)->parameters);
    for (const int index : plan->init_plans) subplan(index, indent);
    if (plan->left != nullptr) node(plan->left, indent);
    if (plan->right != nullptr) {
      if (plan->kind == PlanKind::kHashJoin)
        hash(plan, indent);
      else
        node(plan->right, indent);
    }
    if (plan->kind == PlanKind::kAppend) {
      for (const Plan* input : plan_cast<AppendPlan>(plan)->inputs) node(input, indent);
    }
    if (plan->kind == PlanKind::kBitmapAnd || plan->kind == PlanKind::kBitmapOr) {
      for (const Plan* input : plan_cast<BitmapCombinePlan>(plan)->inputs) node(input, indent);
    }
    std::set<int> used;
    const auto look = [&](const Expr* e) {
      any_node(e, [&](const Expr* n) {
        if (n->kind == ExprKind::kSubPlan) {
          const auto* sub = expr_cast<SubPlanExpr>(n);
          text_.define(sub->arguments);
          used.insert(sub->subplan);
        }
        return false;
      });
    };
    for (const Expr* e : plan->targets) look(e);
    for (const Expr* e : plan->quals) look(e);
    if (plan->kind == PlanKind::kNestLoop || plan->kind == PlanKind::kHashJoin) {
      for (const Expr* e : plan_cast<JoinPlan>(plan)->join_quals) look(e);
    }
    for (const int index : used) {
      if (shown_.insert(index).second) {
        raw(indent, "SubPlan " + std::to_string(index + 1));
        node(plan_.subplans[static_cast<std::size_t>(index)].plan, indent + 1);
      }
    }
  }
  void subplan(int index, int indent) {
    const SubPlan& sub = plan_.subplans[static_cast<std::size_t>(index)];
    if (sub.is_cte) {
      raw(indent, "CTE " + quote_identifier(sub.cte_name));
    } else {
      std::string slots;
      for (const int slot : sub.output_slots) slots += (slots.empty() ? "$" : ",$") + std::to_string(slot);
      raw(indent, "InitPlan " + std::to_string(index + 1) + " (returns " + slots + ")");
    }
    node(sub.plan, indent + 1);
  }
  /// The hashed side, shown as the node of its own that PostgreSQL has.
  void hash(const Plan* plan, int indent) {
    const Plan* inner = plan->right;
    std::string line(static_cast<std::size_t>(indent) * 2, ' ');
    line += "->  Hash";
    if (options_.costs) {
      line += "  (cost=" + number("%.2f", inner->total_cost) + ".." + number("%.2f", inner->total_cost) +
              " rows=" + number("%.0f", inner->rows) + " width=" + std::to_string(inner->width) + ")";
    }
    line += actual(inner);
    lines.push_back(line);
    if (counters_ != nullptr && counters_[plan->node_id].loops != 0) {
      const NodeCounters& c = counters_[plan->node_id];
      raw(indent + 3, "Buckets: " + std::to_string(std::max<std::int64_t>(1024, c.buckets)) +
                          "  Batches: " + std::to_string(std::max<std::int64_t>(1, c.batches)) +
                          "  Memory Usage: " + kilobytes(c.memory_bytes));
    }
    if (options_.buffers && counters_ != nullptr)
      property(indent + 3, "Buffers", buffers(counters_[inner->node_id].buffers));
    node(inner, indent + 3);
  }

  const CachedPlan& plan_;
  const NodeCounters* counters_;
  const ExplainOptions& options_;
  ExplainText text_;
  std::set<int> shown_;
};

}  // namespace

std::vector<std::string> explain_plan(const CachedPlan& plan, const ExecutorState* state, double execution_ms,
                                      const ExplainOptions& options) {
  if (options.format != ExplainOptions::Format::kText) {
    throw SqlError{sqlstate::kFeatureNotSupported, "EXPLAIN format JSON is not supported"};
  }
  Explainer explainer{plan, state != nullptr ? state->counters() : nullptr, options};
  explainer.node(plan.root, 0);
  explainer.planning();
  if (options.summary) {
    explainer.lines.push_back("Planning Time: " + number("%.3f", options.planning_ms) + " ms");
    if (options.analyze) explainer.lines.push_back("Execution Time: " + number("%.3f", execution_ms) + " ms");
  }
  return std::move(explainer.lines);
}

}  // namespace pinwheel::sql
