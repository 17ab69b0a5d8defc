#include <algorithm>

#include "bench/tpcc/customer_lookup.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {

Task<Outcome> execute(AsyncSession& session, const NewOrderInput& input) {
  using enum StatementId;
  const int warehouse = input.warehouse, district = input.district;
  co_await session.begin();
  require_row(co_await session.execute(kNewOrderWarehouse, warehouse), kNewOrderWarehouse);
  require_row(co_await session.execute(kNewOrderCustomer, warehouse, district, input.customer),
              kNewOrderCustomer);
  const Result numbered = co_await session.execute(kNewOrderDistrict, warehouse, district);
  require_row(numbered, kNewOrderDistrict);
  const int order = numbered.integer(0, 0);

  const bool all_local = std::all_of(input.lines.begin(), input.lines.end(),
                                     [&](const auto& line) { return line.supply_warehouse == warehouse; });
  co_await session.execute(kInsertOrder, order, district, warehouse, input.customer,
                           static_cast<int>(input.lines.size()), all_local ? 1 : 0);
  co_await session.execute(kInsertNewOrder, order, district, warehouse);

  int number = 0;
  for (const NewOrderInput::Line& line : input.lines) {
    const Result item = co_await session.execute(kItem, line.item);
    if (item.rows() == 0) {
      co_await session.execute(kRollback);
      co_return Outcome::kRolledBack;
    }
    const Result stock =
        co_await session.execute(kUpdateStock, line.supply_warehouse, line.item, line.quantity,
                                 line.supply_warehouse == warehouse ? 0 : 1, district);
    require_row(stock, kUpdateStock);
    co_await session.execute(kInsertOrderLine, order, district, warehouse, ++number, line.item,
                             line.supply_warehouse, line.quantity, item.cents(0, 0) * line.quantity,
                             stock.text(0, 2));
  }
  co_await session.execute(kCommit);
  co_return Outcome::kCommitted;
}

}  // namespace pinwheel::tpcc
