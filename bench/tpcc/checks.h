#pragma once

#include <string>

namespace pinwheel::tpcc {

/// Runs every consistency condition (TPC-C 3.3.2, and three of our own) in one snapshot and prints a line for
/// each, with the first row that violates it. Returns how many are violated. Throws StatementError, or
/// std::runtime_error when no tables are there.
int check(const std::string& dsn);

}  // namespace pinwheel::tpcc
