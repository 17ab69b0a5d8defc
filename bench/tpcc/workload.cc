#include "bench/tpcc/workload.h"

#include <algorithm>

#include "bench/tpcc/table_rows.h"

namespace pinwheel::tpcc {
namespace {

constexpr int kCustomerSpread = 1023;
constexpr int kItemSpread = 8191;
constexpr int kByLastNamePercent = 60;
constexpr int kRemotePaymentPercent = 15;
constexpr int kRemoteLinePercent = 1;
constexpr int kRollbackPercent = 1;

int draw_last_name_constant(Random& random) {
  while (true) {
    const int distance = random.uniform(65, 119);
    if (distance != 96 && distance != 112) return kLoadLastNameConstant + distance;
  }
}

int draw_district(Random& random) { return random.uniform(1, kDistrictsPerWarehouse); }

int draw_customer(const Workload& workload, Random& random) {
  return random.nurand(kCustomerSpread, workload.customer_constant, 1, workload.scale.customers);
}

/// Any warehouse but this one, where there is another.
int draw_other_warehouse(const Workload& workload, int warehouse, Random& random) {
  if (workload.scale.warehouses == 1) return warehouse;
  const int other = random.uniform(1, workload.scale.warehouses - 1);
  return other < warehouse ? other : other + 1;
}

CustomerChoice choose_customer(const Workload& workload, int warehouse, int district, Random& random) {
  CustomerChoice choice{warehouse, district, 0, {}};
  if (random.chance(kByLastNamePercent)) {
    choice.last_name = last_name(
        random.nurand(kLastNameSpread, workload.last_name_constant, 0, workload.scale.last_names() - 1));
  } else {
    choice.id = draw_customer(workload, random);
  }
  return choice;
}

NewOrderInput draw_new_order(const Workload& workload, Home home, Random& random) {
  NewOrderInput input{home.warehouse, draw_district(random), draw_customer(workload, random), {}};
  input.lines.resize(static_cast<std::size_t>(random.uniform(5, 15)));
  for (NewOrderInput::Line& line : input.lines) {
    line.item = random.nurand(kItemSpread, workload.item_constant, 1, workload.scale.items);
    line.supply_warehouse = random.chance(kRemoteLinePercent)
                                ? draw_other_warehouse(workload, home.warehouse, random)
                                : home.warehouse;
    line.quantity = random.uniform(1, 10);
  }
  std::sort(input.lines.begin(), input.lines.end(), [](const auto& a, const auto& b) {
    return std::pair{a.supply_warehouse, a.item} < std::pair{b.supply_warehouse, b.item};
  });
  if (random.chance(kRollbackPercent)) input.lines.back().item = workload.scale.items + 1;
  return input;
}

PaymentInput draw_payment(const Workload& workload, Home home, Random& random) {
  PaymentInput input{home.warehouse, draw_district(random), {}, Cents{random.uniform(1'00, 5'000'00)}};
  const bool remote = random.chance(kRemotePaymentPercent);
  input.customer = remote ? choose_customer(workload, draw_other_warehouse(workload, home.warehouse, random),
                                            draw_district(random), random)
                          : choose_customer(workload, home.warehouse, input.district, random);
  return input;
}

}  // namespace

Workload::Workload(const Scale& of, std::uint64_t seed) : scale{of} {
  Random random{seed};
  last_name_constant = draw_last_name_constant(random);
  customer_constant = random.uniform(0, kCustomerSpread);
  item_constant = random.uniform(0, kItemSpread);
}

TransactionType draw_type(Random& random) {
  int left = random.uniform(1, 100);
  for (const TransactionFacts& facts : kTransactions) {
    left -= facts.percent;
    if (left <= 0) return facts.type;
  }
  return TransactionType::kNewOrder;
}

TransactionInput draw_input(TransactionType type, const Workload& workload, Home home, Random& random) {
  switch (type) {
    case TransactionType::kNewOrder:
      return draw_new_order(workload, home, random);
    case TransactionType::kPayment:
      return draw_payment(workload, home, random);
    case TransactionType::kOrderStatus:
      return OrderStatusInput{choose_customer(workload, home.warehouse, draw_district(random), random)};
    case TransactionType::kDelivery:
      return DeliveryInput{home.warehouse, random.uniform(1, 10)};
    case TransactionType::kStockLevel:
      return StockLevelInput{home.warehouse, home.district, random.uniform(10, 20)};
  }
  return DeliveryInput{};
}

}  // namespace pinwheel::tpcc
