#include "bench/tpcc/customer_lookup.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {

Task<Outcome> execute(AsyncSession& session, const DeliveryInput& input) {
  using enum StatementId;
  const int warehouse = input.warehouse;
  co_await session.begin();
  for (int district = 1; district <= kDistrictsPerWarehouse; ++district) {
    const Result oldest = co_await session.execute(kOldestNewOrder, warehouse, district);
    if (oldest.rows() == 0) continue;  // all of this district's orders are delivered
    const int order = oldest.integer(0, 0);
    require_one_changed(co_await session.execute(kDeleteNewOrder, warehouse, district, order),
                        kDeleteNewOrder);
    const Result delivered =
        co_await session.execute(kDeliverOrder, warehouse, district, order, input.carrier);
    require_row(delivered, kDeliverOrder);
    const Result lines = co_await session.execute(kDeliverLines, warehouse, district, order);
    require_row(lines, kDeliverLines);
    Cents total;
    for (int line = 0; line < lines.rows(); ++line) total = total + lines.cents(line, 0);
    require_one_changed(
        co_await session.execute(kCreditCustomer, warehouse, district, delivered.integer(0, 0), total),
        kCreditCustomer);
  }
  co_await session.execute(kCommit);
  co_return Outcome::kCommitted;
}

}  // namespace pinwheel::tpcc
