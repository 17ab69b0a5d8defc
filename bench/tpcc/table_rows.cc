#include "bench/tpcc/table_rows.h"

#include <fmt/core.h>

#include <numeric>
#include <utility>
#include <vector>

#include "bench/tpcc/random.h"

namespace pinwheel::tpcc {
namespace {

/// A constant, so that a load can be repeated byte by byte.
constexpr std::string_view kLoadTime = "2025-01-01 00:00:00";
constexpr Cents kInitialPayment{10'00};
constexpr int kOriginalPercent = 10;
constexpr int kBadCreditPercent = 10;

/// Streams that more than one table draws from, beyond the numbers of the tables themselves.
constexpr std::uint64_t kOrderShape = 100;

struct Writer {
  CopyRows& rows;
  const Scale& scale;
  int warehouse;
  std::uint64_t seed;
  Random random;

  void text(int low, int high) { append_text(rows.open_field(), random, random.uniform(low, high)); }
  void digits(int size) { append_digits(rows.open_field(), random, size); }
  void ten_thousandths(int low, int high) { rows.field(fmt::format("0.{:04}", random.uniform(low, high))); }
  void address() {
    for (int i = 0; i < 3; ++i) text(10, 20);
    append_text(rows.open_field(), random, 2);
    std::string& zip = rows.open_field();
    append_digits(zip, random, 4);
    zip += "11111";
  }
  /// TPC-C's i_data and s_data: one in ten has ORIGINAL somewhere.
  void data() {
    constexpr std::string_view kOriginal = "ORIGINAL";
    std::string value;
    append_text(value, random, random.uniform(26, 50));
    if (random.chance(kOriginalPercent)) {
      const int last = static_cast<int>(value.size() - kOriginal.size());
      value.replace(static_cast<std::size_t>(random.uniform(0, last)), kOriginal.size(), kOriginal);
    }
    rows.field(value);
  }

  void write_warehouse() {
    rows.field(warehouse);
    text(6, 10);
    address();
    ten_thousandths(0, 2000);
    rows.field(kInitialPayment * scale.customers * kDistrictsPerWarehouse).end_row();
  }

  void write_districts() {
    for (int district = 1; district <= kDistrictsPerWarehouse; ++district) {
      rows.field(district).field(warehouse);
      text(6, 10);
      address();
      ten_thousandths(0, 2000);
      rows.field(kInitialPayment * scale.customers).field(scale.customers + 1).end_row();
    }
  }

  void write_customer(int district, int customer) {
    rows.field(customer).field(district).field(warehouse);
    text(8, 16);
    rows.field("OE");
    const int name = customer <= kLastNames
                         ? customer - 1
                         : random.nurand(kLastNameSpread, kLoadLastNameConstant, 0, kLastNames - 1);
    rows.field(last_name(name));
    address();
    digits(16);
    rows.field(kLoadTime).field(random.chance(kBadCreditPercent) ? "BC" : "GC").field(Cents{50'000'00});
    ten_thousandths(0, 5000);
    rows.field(Cents{-kInitialPayment.value}).field(kInitialPayment).field(1).field(0);
    text(300, 500);
    rows.end_row();
  }

  void write_history(int district, int customer) {
    rows.field(customer).field(district).field(warehouse).field(district).field(warehouse);
    rows.field(kLoadTime).field(kInitialPayment);
    text(12, 24);
    rows.end_row();
  }

  /// Of each order both orders and order_line must know it, so it has a stream of its own.
  int line_count(int district, int order) const {
    const int index = (warehouse * kDistrictsPerWarehouse + district - 1) * scale.customers + order;
    return Random::stream(seed, kOrderShape, static_cast<std::uint64_t>(index)).uniform(5, 15);
  }

  void write_orders(int district) {
    std::vector<int> customers(static_cast<std::size_t>(scale.customers));
    std::iota(customers.begin(), customers.end(), 1);
    for (int i = scale.customers - 1; i > 0; --i)
      std::swap(customers[static_cast<std::size_t>(i)],
                customers[static_cast<std::size_t>(random.uniform(0, i))]);
    for (int order = 1; order <= scale.customers; ++order) {
      std::optional<int> carrier;
      if (order <= scale.delivered_orders()) carrier = random.uniform(1, 10);
      rows.field(order).field(district).field(warehouse).field(
          customers[static_cast<std::size_t>(order - 1)]);
      rows.field(kLoadTime).field(carrier).field(line_count(district, order)).field(1).end_row();
    }
  }

  void write_order_lines(int district) {
    for (int order = 1; order <= scale.customers; ++order) {
      const bool delivered = order <= scale.delivered_orders();
      for (int line = 1, lines = line_count(district, order); line <= lines; ++line) {
        rows.field(order).field(district).field(warehouse).field(line);
        rows.field(random.uniform(1, scale.items)).field(warehouse).field(delivered ? kLoadTime : "\\N");
        rows.field(5).field(delivered ? Cents{0} : Cents{random.uniform(1, 999'999)});
        append_text(rows.open_field(), random, 24);
        rows.end_row();
      }
    }
  }

  void write_new_orders(int district) {
    for (int order = scale.delivered_orders() + 1; order <= scale.customers; ++order)
      rows.field(order).field(district).field(warehouse).end_row();
  }

  void write_items() {
    for (int item = 1; item <= scale.items; ++item) {
      rows.field(item).field(random.uniform(1, 10'000));
      text(14, 24);
      rows.field(Cents{random.uniform(1'00, 100'00)});
      data();
      rows.end_row();
    }
  }

  void write_stock() {
    for (int item = 1; item <= scale.items; ++item) {
      rows.field(item).field(warehouse).field(random.uniform(10, 100));
      for (int district = 0; district < kDistrictsPerWarehouse; ++district)
        append_text(rows.open_field(), random, 24);
      for (int i = 0; i < 3; ++i) rows.field(0);
      data();
      rows.end_row();
    }
  }

  template <class Write>
  void each_customer(Write write) {
    for (int district = 1; district <= kDistrictsPerWarehouse; ++district)
      for (int customer = 1; customer <= scale.customers; ++customer) write(district, customer);
  }
  template <class Write>
  void each_district(Write write) {
    for (int district = 1; district <= kDistrictsPerWarehouse; ++district) write(district);
  }
};

}  // namespace

void write_rows(Table table, CopyRows& rows, const Scale& scale, int warehouse, std::uint64_t seed) {
  Writer writer{
      rows, scale, warehouse, seed,
      Random::stream(seed, static_cast<std::uint64_t>(table), static_cast<std::uint64_t>(warehouse))};
  switch (table) {
    case Table::kWarehouse:
      return writer.write_warehouse();
    case Table::kDistrict:
      return writer.write_districts();
    case Table::kCustomer:
      return writer.each_customer([&](int d, int c) { writer.write_customer(d, c); });
    case Table::kHistory:
      return writer.each_customer([&](int d, int c) { writer.write_history(d, c); });
    case Table::kNewOrder:
      return writer.each_district([&](int d) { writer.write_new_orders(d); });
    case Table::kOrders:
      return writer.each_district([&](int d) { writer.write_orders(d); });
    case Table::kOrderLine:
      return writer.each_district([&](int d) { writer.write_order_lines(d); });
    case Table::kItem:
      return writer.write_items();
    case Table::kStock:
      return writer.write_stock();
  }
}

}  // namespace pinwheel::tpcc
