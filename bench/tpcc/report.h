#pragma once

#include <string>

#include "bench/tpcc/run.h"

namespace pinwheel::tpcc {

/// For people, to stdout.
void print_report(const RunOptions& options, const RunResult& result);

/// For programs: one JSON object with options, totals, types and the series by second; times in milliseconds.
/// It does not hold the connection string.
std::string to_json(const RunOptions& options, const RunResult& result);

}  // namespace pinwheel::tpcc
