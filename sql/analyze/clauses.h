#pragma once

#include "sql/analyze/scope.h"

namespace pinwheel::sql {

/// The target list in the making; ORDER BY and its kin add hidden ones.
using TargetList = std::vector<Target>;

Expr* transform_where(Scope& scope, const raw::Node* node, ExprUse use, std::string_view construct);
Expr* transform_limit(Scope& scope, const raw::Node* node, ExprUse use, std::string_view construct,
                      bool with_ties = false);

/// ORDER BY. `sql99`: expressions only (window and aggregate ORDER BY), no output names or ordinals.
std::vector<SortClause> transform_sort(Scope& scope, raw::NodeList list, TargetList& targets, ExprUse use,
                                       bool sql99);
/// GROUP BY without grouping sets (0A000).
std::vector<SortClause> transform_group(Scope& scope, raw::NodeList list, TargetList& targets,
                                        std::span<const SortClause> order_by);
/// SELECT DISTINCT (or of an aggregate); may reorder nothing but must agree with ORDER BY.
std::vector<SortClause> transform_distinct(Scope& scope, TargetList& targets,
                                           std::span<const SortClause> order_by, bool is_aggregate);
std::vector<SortClause> transform_distinct_on(Scope& scope, raw::NodeList list, TargetList& targets,
                                              std::span<const SortClause> order_by);
/// The WINDOW clause and the inline definitions gathered in `scope.window_definitions`.
std::span<WindowClause> transform_windows(Scope& scope, TargetList& targets);

/// A sort (grouping) key on a target, its operators being the type's defaults.
SortClause default_sort(Scope& scope, TargetList& targets, int target_index, bool need_order, int location);

// aggregates.cc
/// 42803 for columns that are neither grouped nor aggregated; `query` is complete but for this.
void check_grouping(Scope& scope, Query& query);
/// True when an aggregate (or window function) of this very level stands in the expression.
bool contains_aggregate(const Expr* expr);
bool contains_window(const Expr* expr, int* location = nullptr);

}  // namespace pinwheel::sql
