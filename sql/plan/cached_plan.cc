#include "sql/plan/cached_plan.h"

#include "sql/execute/executor.h"

namespace pinwheel::sql {

CachedPlan::CachedPlan() = default;

CachedPlan::~CachedPlan() {
  while (idle_states != nullptr) {
    ExecutorState* state = idle_states;
    idle_states = state->next_idle_;
    delete state;
  }
}

}  // namespace pinwheel::sql
