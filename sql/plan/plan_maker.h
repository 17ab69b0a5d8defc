#pragma once

#include "sql/plan/planner_state.h"

namespace pinwheel::sql {

/// Turns the chosen paths of one query level into plan nodes, from the top down: each node is asked for
/// expressions and asks its inputs for what it needs to compute them. Private to sql/plan.
struct PlanMaker {
  /// What a node puts out: the expression in each column.
  using Layout = std::vector<Expr*>;
  /// Where a node's expressions may read.
  struct Inputs {
    const Layout* outer = nullptr;
    const Layout* inner = nullptr;
    const BaseRelation* scan = nullptr;
    const std::vector<int>* scan_map = nullptr;  ///< attribute - 1 to slot column, for index-only scans
  };

  QueryPlanner& q;
  std::vector<Expr*> group_exprs{};        ///< computed by the aggregation: not to be taken apart above it
  std::vector<SubPlanArgument> pending{};  ///< parameters that a nested loop above must set

  /// `wanted` are the first columns of `out`, unless `loose`: then they are among them.
  Plan* make(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  Expr* resolve(Expr* e, const Inputs& in);
  ExprList resolve_all(const std::vector<Expr*>& list, const Inputs& in);
  Expr* column_of(const BaseRelation& rel, int attribute);

 private:
  template <class T>
  T* node(const Path* path) {
    T* plan = q.arena.make<T>();
    plan->node_id = q.global.nodes++;
    plan->startup_cost = path->startup;
    plan->total_cost = path->total;
    plan->rows = path->rows;
    plan->width = path->width;
    return plan;
  }
  /// Costly conditions last.
  static void order_quals(std::vector<Expr*>& quals);
  static std::vector<Expr*> expressions_of(const std::vector<Clause*>& clauses);
  bool is_atom(const Expr* e) const;
  static void add_unique(std::vector<Expr*>& list, Expr* e);
  void atoms(Expr* e, std::vector<Expr*>& list) const;
  void columns(Expr* e, RelSet of, std::vector<Expr*>& list) const;
  const Expr* origin_of(const Expr* e);
  SlotColumnExpr* slot_column(const Expr* e, SlotSource source, int index);
  Expr* whole_row(const ColumnExpr* column);
  Expr* parameter_for(ColumnExpr* column);
  Plan* finish_scan(ScanPlan* plan, Path* path, std::vector<Expr*> quals, const std::vector<Expr*>& wanted,
                    bool loose, Layout& out, const std::vector<int>* map);
  void fill_index(IndexScanPlan* plan, Path* path, const BaseRelation& rel, std::vector<IndexClause> clauses);
  Plan* make_index_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  Plan* make_bitmap(BitmapTree* tree, Path* path);
  Plan* make_bitmap_heap(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  Plan* make_tid_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  Plan* make_subquery_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  Plan* make_other_scan(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  void fill_join(JoinPlan* plan, Path* path, const std::vector<Expr*>& wanted, const Layout& outer,
                 const Layout& inner, Layout& out);
  Plan* make_join(Path* path, const std::vector<Expr*>& wanted, Layout& out);
  std::span<SortKey> sort_keys(const std::vector<Expr*>& exprs, const std::vector<Path::Order>& orders,
                               const Layout& layout);
  Plan* make_passing(Path* path, const std::vector<Expr*>& wanted, bool loose, Layout& out);
  void fill_lock_rows(LockRowsPlan* plan, const Layout& layout);
  Plan* make_aggregate(Path* path, const std::vector<Expr*>& wanted, Layout& out);
  Plan* make_window(Path* path, const std::vector<Expr*>& wanted, Layout& out);
  Plan* make_projection(Path* path, const std::vector<Expr*>& wanted, Layout& out);
};

}  // namespace pinwheel::sql
