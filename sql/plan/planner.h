#pragma once

#include <memory>
#include <span>

#include "sql/plan/cached_plan.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

class AnalyzerCatalog;
class Catalog;
struct EvalContext;

/// PostgreSQL's planner settings, in its units.
struct PlannerSettings {
  double seq_page_cost = 1.0;
  double random_page_cost = 4.0;
  double cpu_tuple_cost = 0.01;
  double cpu_index_tuple_cost = 0.005;
  double cpu_operator_cost = 0.0025;
  double effective_cache_pages = 524288;
  std::int64_t work_mem_bytes = 4 << 20;
  double hash_mem_multiplier = 2.0;
  double cursor_tuple_fraction = 0.1;
  int join_collapse_limit = 8;
  bool enable_seqscan = true;
  bool enable_indexscan = true;
  bool enable_indexonlyscan = true;
  bool enable_bitmapscan = true;
  bool enable_tidscan = true;
  bool enable_nestloop = true;
  bool enable_hashjoin = true;
  bool enable_mergejoin = true;
  bool enable_material = true;
  bool enable_sort = true;
  bool enable_hashagg = true;
};

/// What planning may ask. The query is only read; its expressions may be shared with the plan, so the arena
/// it lies in must be the plan's or outlive it.
struct PlannerInput {
  Catalog& catalog;
  AnalyzerCatalog& names;  ///< for sources of checks and index expressions
  EvalContext& eval;       ///< for folding of immutable functions
  PlannerSettings settings;
  /// Values of $n for a plan that is used once; empty = a generic plan.
  std::span<const Datum> parameter_values;
  std::span<const bool> parameter_nulls;
  bool is_cursor = false;  ///< optimise for the first cursor_tuple_fraction of the rows
};

/// Plans an optimisable statement (not kUtility) into `result`, whose arena takes the plan. Errors: 0A000 for
/// what is not supported, and those of folding constants.
void plan_query(const Query& query, std::span<const Oid> parameter_types, const PlannerInput& input,
                CachedPlan& result);

}  // namespace pinwheel::sql
