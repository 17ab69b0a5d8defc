#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/tpcc/recorder.h"
#include "bench/tpcc/scale.h"

namespace pinwheel::tpcc {

struct RunOptions {
  std::string dsn;
  std::optional<int> warehouses;  // must be what is loaded; absent: whatever is
  int clients = 1;
  int threads = 1;
  int seconds = 60;
  int warmup_s = 0;  // before the seconds that count
  bool think = false;
  double think_scale = 1;
  std::string isolation = "READ COMMITTED";
  std::uint64_t seed = 1;
  int progress_s = 0;  // 0: silent
};

/// One second, or what the clock made of it.
struct SeriesPoint {
  struct Type {
    std::uint64_t committed = 0;
    std::int64_t p95_us = 0;
    std::int64_t max_us = 0;
  };
  double at_s = 0;  // its end, since the measurement began
  double length_s = 0;
  std::array<Type, kTransactionTypes> types;
};

struct RunResult {
  std::string server_version;
  Scale scale;
  double measured_s = 0;
  Interval totals;
  std::vector<SeriesPoint> series;
  std::vector<std::string> errors;  // the first ones' text
  int lost_connections = 0;

  double notpm() const noexcept;
  double tpm() const noexcept;
  bool is_clean() const noexcept { return totals.failed() == 0 && lost_connections == 0; }
};

/// Runs the mix. SIGINT and SIGTERM end it early, with what was measured until then. Throws StatementError
/// when a connection cannot be made, std::runtime_error when the tables are not as asked.
RunResult run(const RunOptions& options);

}  // namespace pinwheel::tpcc
