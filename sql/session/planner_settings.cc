#include "sql/session/planner_settings.h"

#include "base/parameters.h"

namespace pinwheel::sql {

PlannerSettings planner_settings(const SessionSettings& settings) {
  PlannerSettings planner;
  planner.seq_page_cost = settings.get_real(param::kSeqPageCost);
  planner.random_page_cost = settings.get_real(param::kRandomPageCost);
  planner.cpu_tuple_cost = settings.get_real(param::kCpuTupleCost);
  planner.cpu_index_tuple_cost = settings.get_real(param::kCpuIndexTupleCost);
  planner.cpu_operator_cost = settings.get_real(param::kCpuOperatorCost);
  planner.effective_cache_pages = static_cast<double>(settings.get_int(param::kEffectiveCacheSize));
  planner.work_mem_bytes = settings.get_int(param::kWorkMem) * 1024;
  planner.hash_mem_multiplier = settings.get_real(param::kHashMemMultiplier);
  planner.cursor_tuple_fraction = settings.get_real(param::kCursorTupleFraction);
  planner.join_collapse_limit = static_cast<int>(settings.get_int(param::kJoinCollapseLimit));
  planner.enable_seqscan = settings.get_bool(param::kEnableSeqscan);
  planner.enable_indexscan = settings.get_bool(param::kEnableIndexscan);
  planner.enable_indexonlyscan = settings.get_bool(param::kEnableIndexonlyscan);
  planner.enable_bitmapscan = settings.get_bool(param::kEnableBitmapscan);
  planner.enable_tidscan = settings.get_bool(param::kEnableTidscan);
  planner.enable_nestloop = settings.get_bool(param::kEnableNestloop);
  planner.enable_hashjoin = settings.get_bool(param::kEnableHashjoin);
  planner.enable_mergejoin = settings.get_bool(param::kEnableMergejoin);
  planner.enable_material = settings.get_bool(param::kEnableMaterial);
  planner.enable_sort = settings.get_bool(param::kEnableSort);
  planner.enable_hashagg = settings.get_bool(param::kEnableHashagg);
  return planner;
}

}  // namespace pinwheel::sql
