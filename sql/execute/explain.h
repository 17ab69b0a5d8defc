#pragma once

#include <string>
#include <vector>

#include "sql/execute/executor.h"

namespace pinwheel::sql {

struct ExplainOptions {
  bool analyze = false;
  bool verbose = false;
  bool costs = true;
  bool buffers = false;
  bool timing = true;
  bool summary = false;
  enum class Format : std::uint8_t { kText, kJson } format = Format::kText;
  double planning_ms = 0;
  shm::BufferUsage planning_buffers;
};

/// The lines that EXPLAIN prints. `state` holds the counters of a finished execution under ANALYZE, else
/// null.
std::vector<std::string> explain_plan(const CachedPlan& plan, const ExecutorState* state, double execution_ms,
                                      const ExplainOptions& options);

}  // namespace pinwheel::sql
