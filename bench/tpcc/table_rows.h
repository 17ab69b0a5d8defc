#pragma once

#include <cstdint>

#include "bench/tpcc/copy_rows.h"
#include "bench/tpcc/scale.h"
#include "bench/tpcc/schema.h"

namespace pinwheel::tpcc {

/// NURand's constant for last names in the load; a run's differs by 65 to 119 (TPC-C 2.1.6.1).
inline constexpr int kLoadLastNameConstant = 123;
inline constexpr int kLastNameSpread = 255;

/// Writes the initial rows of `table` (TPC-C 4.3.3): all of item, else those of one warehouse. The same seed
/// and scale give the same bytes, whatever else is loaded before or after.
void write_rows(Table table, CopyRows& rows, const Scale& scale, int warehouse, std::uint64_t seed);

}  // namespace pinwheel::tpcc
