#pragma once

#include "bench/tpcc/async_session.h"
#include "bench/tpcc/task.h"
#include "bench/tpcc/workload.h"

namespace pinwheel::tpcc {

enum class Outcome {
  kCommitted,
  kRolledBack,  // as the input wants it: a new order with an unused item
};

/// The five transactions, TPC-C 2.4.2 to 2.8.2: BEGIN to COMMIT. Each throws StatementError, with 02000 when
/// a row is missing that must be there, and then leaves the transaction open. The input must outlive the
/// task.
Task<Outcome> execute(AsyncSession& session, const NewOrderInput& input);
Task<Outcome> execute(AsyncSession& session, const PaymentInput& input);
Task<Outcome> execute(AsyncSession& session, const OrderStatusInput& input);
Task<Outcome> execute(AsyncSession& session, const DeliveryInput& input);
Task<Outcome> execute(AsyncSession& session, const StockLevelInput& input);

}  // namespace pinwheel::tpcc
