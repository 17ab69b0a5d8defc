#include "bench/tpcc/customer_lookup.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {

Task<Outcome> execute(AsyncSession& session, const OrderStatusInput& input) {
  using enum StatementId;
  const int warehouse = input.customer.warehouse, district = input.customer.district;
  co_await session.begin();
  const int customer = co_await find_customer(session, input.customer);
  require_row(co_await session.execute(kOrderStatusCustomer, warehouse, district, customer),
              kOrderStatusCustomer);
  const Result order = co_await session.execute(kLastOrder, warehouse, district, customer);
  require_row(order, kLastOrder);
  require_row(co_await session.execute(kOrderLines, warehouse, district, order.integer(0, 0)), kOrderLines);
  co_await session.execute(kCommit);
  co_return Outcome::kCommitted;
}

}  // namespace pinwheel::tpcc
