#pragma once

#include "sql/execute/run_state.h"

namespace pinwheel::sql {

/// Reads a data-modifying CTE to its end.
void complete_cte(RunState& run, int subplan);
/// Checks that wait for the statement's end: foreign keys, deferrable unique constraints.
void run_statement_checks(RunState& run);

}  // namespace pinwheel::sql
