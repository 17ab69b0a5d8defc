#include "bench/tpcc/customer_lookup.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {

Task<Outcome> execute(AsyncSession& session, const StockLevelInput& input) {
  using enum StatementId;
  co_await session.begin();
  const Result next = co_await session.execute(kStockLevelDistrict, input.warehouse, input.district);
  require_row(next, kStockLevelDistrict);
  require_row(co_await session.execute(kLowStock, input.warehouse, input.district, next.integer(0, 0),
                                       input.threshold),
              kLowStock);
  co_await session.execute(kCommit);
  co_return Outcome::kCommitted;
}

}  // namespace pinwheel::tpcc
