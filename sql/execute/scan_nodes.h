#pragma once

#include <memory>

#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// Nodes that read tables: sequential, index, bitmap and tid scans.
std::unique_ptr<Node> make_table_scan(const Plan* plan, RunState& run);
/// Those of them that fetch rows by address: bitmap scans and what feeds them, tid scans.
std::unique_ptr<Node> make_bitmap_or_tid_scan(const Plan* plan, RunState& run);
/// Nodes that read sub-selects, functions, VALUES, CTEs and work tables.
std::unique_ptr<Node> make_virtual_scan(const Plan* plan, RunState& run);
/// Result, ProjectSet, Append, Limit, Materialize, Unique.
std::unique_ptr<Node> make_simple_node(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_nest_loop(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_hash_join(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_sort(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_aggregate(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_window_agg(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_set_op(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_recursive_union(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_modify_table(const Plan* plan, RunState& run);
std::unique_ptr<Node> make_lock_rows(const Plan* plan, RunState& run);

}  // namespace pinwheel::sql
