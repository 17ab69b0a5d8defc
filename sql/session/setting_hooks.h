#pragma once

namespace pinwheel::sql {

/// Joins the parameters that sessions act on (DateStyle, TimeZone, search_path, transaction_isolation...)
/// with their checks and effects. Once per process, before any session.
void install_setting_hooks();

}  // namespace pinwheel::sql
