#include "bench/tpcc/customer_lookup.h"
#include "bench/tpcc/transactions.h"

namespace pinwheel::tpcc {
namespace {

constexpr std::size_t kMaxDataBytes = 500;

/// What TPC-C 2.5.2.2 keeps of a customer with bad credit: this payment before all earlier ones.
std::string noted_payment(const PaymentInput& input, int customer, std::string_view data) {
  std::string noted;
  for (const int number :
       {customer, input.customer.district, input.customer.warehouse, input.district, input.warehouse}) {
    noted += std::to_string(number);
    noted += ' ';
  }
  append_cents(noted, input.amount);
  noted += ' ';
  noted += data;
  if (noted.size() > kMaxDataBytes) noted.resize(kMaxDataBytes);
  return noted;
}

}  // namespace

Task<Outcome> execute(AsyncSession& session, const PaymentInput& input) {
  using enum StatementId;
  const int of_warehouse = input.customer.warehouse, of_district = input.customer.district;
  co_await session.begin();
  const Result warehouse = co_await session.execute(kPaymentWarehouse, input.warehouse, input.amount);
  require_row(warehouse, kPaymentWarehouse);
  const Result district =
      co_await session.execute(kPaymentDistrict, input.warehouse, input.district, input.amount);
  require_row(district, kPaymentDistrict);

  const int customer = co_await find_customer(session, input.customer);
  const Result paid =
      co_await session.execute(kPaymentCustomer, of_warehouse, of_district, customer, input.amount);
  require_row(paid, kPaymentCustomer);
  if (paid.text(0, 0) == "BC") {
    const Result data = co_await session.execute(kCustomerData, of_warehouse, of_district, customer);
    require_row(data, kCustomerData);
    const std::string noted = noted_payment(input, customer, data.text(0, 0));
    require_one_changed(
        co_await session.execute(kUpdateCustomerData, of_warehouse, of_district, customer, noted),
        kUpdateCustomerData);
  }
  const std::string both_names =
      std::string{warehouse.text(0, 0)} + "    " + std::string{district.text(0, 0)};
  co_await session.execute(kInsertHistory, customer, of_district, of_warehouse, input.district,
                           input.warehouse, input.amount, both_names);
  co_await session.execute(kCommit);
  co_return Outcome::kCommitted;
}

}  // namespace pinwheel::tpcc
