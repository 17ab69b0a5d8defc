#pragma once

namespace pinwheel::tpcc {

inline constexpr int kDistrictsPerWarehouse = 10;
inline constexpr int kFullItems = 100'000;
inline constexpr int kFullCustomers = 3'000;
/// Last names are made of the numbers below this (TPC-C 4.3.2.3).
inline constexpr int kLastNames = 1'000;

/// How many rows there are. Only `warehouses` is a scale in the sense of TPC-C; the others shrink the
/// database for tests, and figures taken with them compare with nothing else.
struct Scale {
  int warehouses = 1;
  int items = kFullItems;          // rows of item, and of stock for each warehouse
  int customers = kFullCustomers;  // for each district, which has as many orders after the load

  /// Orders up to this one were delivered before the load; the rest, 30 %, are in new_order.
  constexpr int delivered_orders() const noexcept { return customers - customers * 3 / 10; }
  /// Last names in use: customers beyond the first thousand share them.
  constexpr int last_names() const noexcept { return customers < kLastNames ? customers : kLastNames; }
};

}  // namespace pinwheel::tpcc
