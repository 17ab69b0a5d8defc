#pragma once

#include <cstdint>
#include <string>

#include "bench/tpcc/scale.h"

namespace pinwheel::tpcc {

struct LoadOptions {
  std::string dsn;
  Scale scale;
  std::uint64_t seed = 1;
  /// One transaction makes the tables and fills them by COPY with FREEZE, which a server may then leave out
  /// of its log.
  bool fast = false;
  bool unlogged = false;
};

/// Makes the tables, fills them, makes their indexes and collects statistics, telling stdout how long each
/// took. Throws StatementError; what a failed load leaves behind is removed by drop_tables(), unless `fast`
/// left nothing.
void load(const LoadOptions& options);

}  // namespace pinwheel::tpcc
