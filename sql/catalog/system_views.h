#pragma once

#include <string_view>

#include "base/ids.h"

namespace pinwheel::sql {

/// The SELECT behind one of the system's own views, "" when this server has no such view. From
/// sql/catalog/data/system_views.sql.
std::string_view system_view_source(Oid schema, std::string_view name);

}  // namespace pinwheel::sql
