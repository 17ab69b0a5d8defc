#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/tpcc/cents.h"
#include "bench/tpcc/random.h"
#include "bench/tpcc/scale.h"

namespace pinwheel::tpcc {

enum class TransactionType : std::uint8_t { kNewOrder, kPayment, kOrderStatus, kDelivery, kStockLevel };

struct TransactionFacts {
  TransactionType type;
  std::string_view name;
  int percent;   // of the mix
  int keying_s;  // TPC-C 5.2.5.7: constant before, and the mean of the exponential think time after
  int think_s;
};

inline constexpr std::array kTransactions{
    TransactionFacts{TransactionType::kNewOrder, "new_order", 45, 18, 12},
    TransactionFacts{TransactionType::kPayment, "payment", 43, 3, 12},
    TransactionFacts{TransactionType::kOrderStatus, "order_status", 4, 2, 10},
    TransactionFacts{TransactionType::kDelivery, "delivery", 4, 2, 5},
    TransactionFacts{TransactionType::kStockLevel, "stock_level", 4, 2, 5},
};
inline constexpr std::size_t kTransactionTypes = kTransactions.size();

constexpr std::size_t index_of(TransactionType type) noexcept { return static_cast<std::size_t>(type); }

/// What all terminals of a run share; constant.
struct Workload {
  /// Draws the run's NURand constants. The one for last names keeps TPC-C's distance from the load's.
  Workload(const Scale& scale, std::uint64_t seed);

  Scale scale;
  int last_name_constant;
  int customer_constant;
  int item_constant;
};

/// Where a terminal stands; its stock level looks at its own district only.
struct Home {
  int warehouse = 1;
  int district = 1;
};

/// A customer as the terminal names it: by id, or, with id 0, by last name.
struct CustomerChoice {
  int warehouse = 0;
  int district = 0;
  int id = 0;
  std::string last_name;
};

struct NewOrderInput {
  struct Line {
    int item = 0;
    int supply_warehouse = 0;
    int quantity = 0;
  };
  int warehouse = 0;
  int district = 0;
  int customer = 0;
  /// In the order of their stock rows' keys, so that two orders do not wait for each other; the last item of
  /// one order in a hundred does not exist, and the order is rolled back.
  std::vector<Line> lines;
};

struct PaymentInput {
  int warehouse = 0;
  int district = 0;
  CustomerChoice customer;
  Cents amount;
};

struct OrderStatusInput {
  CustomerChoice customer;
};

struct DeliveryInput {
  int warehouse = 0;
  int carrier = 0;
};

struct StockLevelInput {
  int warehouse = 0;
  int district = 0;
  int threshold = 0;
};

using TransactionInput =
    std::variant<NewOrderInput, PaymentInput, OrderStatusInput, DeliveryInput, StockLevelInput>;

/// A type by the mix.
TransactionType draw_type(Random& random);
/// Everything a transaction is to be told (TPC-C 2.4.1 to 2.8.1), so that a retry does the same again.
TransactionInput draw_input(TransactionType type, const Workload& workload, Home home, Random& random);

}  // namespace pinwheel::tpcc
