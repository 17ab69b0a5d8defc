#pragma once

namespace pinwheel::sql {

/// Joins the parameters role and session_authorization to the sessions' user. Once per process, at start.
void install_role_hooks();

}  // namespace pinwheel::sql
