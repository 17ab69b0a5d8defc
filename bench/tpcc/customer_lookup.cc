#include "bench/tpcc/customer_lookup.h"

namespace pinwheel::tpcc {
namespace {

constexpr const char* kNoData = "02000";

}  // namespace

void require_row(const Result& result, StatementId statement) {
  if (result.rows() == 0)
    throw StatementError{kNoData, std::string{definition(statement).name} + " found no row"};
}

void require_one_changed(const Result& result, StatementId statement) {
  if (result.affected() != 1)
    throw StatementError{kNoData, std::string{definition(statement).name} + " changed " +
                                      std::to_string(result.affected()) + " rows instead of one"};
}

Task<int> find_customer(AsyncSession& session, const CustomerChoice& choice) {
  if (choice.id != 0) co_return choice.id;
  const Result found = co_await session.execute(StatementId::kCustomersByLastName, choice.warehouse,
                                                choice.district, choice.last_name);
  require_row(found, StatementId::kCustomersByLastName);
  co_return found.integer((found.rows() - 1) / 2, 0);
}

}  // namespace pinwheel::tpcc
