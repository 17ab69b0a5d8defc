#pragma once

#include "base/settings.h"
#include "sql/plan/planner.h"

namespace pinwheel::sql {

/// The planner's view of the session's settings.
PlannerSettings planner_settings(const SessionSettings& settings);

}  // namespace pinwheel::sql
