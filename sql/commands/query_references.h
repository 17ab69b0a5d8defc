#pragma once

#include <vector>

#include "sql/commands/dependencies.h"
#include "sql/query/query.h"

namespace pinwheel::sql {

/// Relations and columns that an analyzed query reads, sub-selects included, without repetition: what a view
/// depends on. Views stand for themselves, not for what is behind them.
std::vector<ObjectAddress> references_of(const Query& query);

}  // namespace pinwheel::sql
