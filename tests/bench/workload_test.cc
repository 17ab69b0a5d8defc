#include "bench/tpcc/workload.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "bench/tpcc/table_rows.h"

namespace pinwheel::tpcc {

TEST_CASE("last names are those of TPC-C", "[bench][random]") {
  CHECK(last_name(0) == "BARBARBAR");
  CHECK(last_name(371) == "PRICALLYOUGHT");
  CHECK(last_name(999) == "EINGEINGEING");
}

TEST_CASE("streams repeat by seed and differ by purpose", "[bench][random]") {
  CHECK(Random::stream(1, 2, 3).next() == Random::stream(1, 2, 3).next());
  CHECK(Random::stream(1, 2, 3).next() != Random::stream(1, 3, 2).next());
  CHECK(Random::stream(1, 2, 3).next() != Random::stream(2, 2, 3).next());
}

TEST_CASE("money is printed and read exactly", "[bench][cents]") {
  const auto [cents, text] = GENERATE(std::pair{0, "0.00"}, std::pair{-7, "-0.07"},
                                      std::pair{123'456, "1234.56"}, std::pair{-100, "-1.00"});
  std::string printed;
  append_cents(printed, Cents{cents});
  CHECK(printed == text);
  CHECK(parse_cents(text) == Cents{cents});
}

TEST_CASE("numbers with other decimals than two are read as cents", "[bench][cents]") {
  CHECK(parse_cents("5") == Cents{500});
  CHECK(parse_cents("5.1") == Cents{510});
  CHECK(parse_cents("-5.129") == Cents{-512});
}

TEST_CASE("a run's constant for last names keeps its distance from the load's", "[bench][workload]") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const int distance = std::abs(Workload{Scale{}, seed}.last_name_constant - kLoadLastNameConstant);
    CHECK((distance >= 65 && distance <= 119 && distance != 96 && distance != 112));
  }
}

TEST_CASE("the mix is drawn in its shares", "[bench][workload]") {
  constexpr int kDraws = 100'000;
  Random random{1};
  std::array<int, kTransactionTypes> drawn{};
  for (int i = 0; i < kDraws; ++i) ++drawn[index_of(draw_type(random))];
  for (const TransactionFacts& facts : kTransactions)
    CHECK(std::abs(drawn[index_of(facts.type)] - facts.percent * kDraws / 100) < kDraws / 100);
}

TEST_CASE("new orders stay within the scale, in the order of stock keys", "[bench][workload]") {
  const Scale scale{GENERATE(1, 3), 200, 40};
  const Workload workload{scale, 1};
  Random random{2};
  int unused = 0, remote = 0, lines = 0;
  for (int i = 0; i < 5'000; ++i) {
    const auto input = std::get<NewOrderInput>(
        draw_input(TransactionType::kNewOrder, workload, Home{scale.warehouses, 1}, random));
    CHECK((input.customer >= 1 && input.customer <= scale.customers));
    CHECK((input.lines.size() >= 5 && input.lines.size() <= 15));
    for (std::size_t at = 0; at < input.lines.size(); ++at) {
      const NewOrderInput::Line& line = input.lines[at];
      CHECK((line.supply_warehouse >= 1 && line.supply_warehouse <= scale.warehouses));
      if (at > 0 && line.item <= scale.items)
        CHECK(std::pair{input.lines[at - 1].supply_warehouse, input.lines[at - 1].item} <=
              std::pair{line.supply_warehouse, line.item});
      unused += line.item > scale.items ? 1 : 0;
      remote += line.supply_warehouse != input.warehouse ? 1 : 0;
    }
    lines += static_cast<int>(input.lines.size());
  }
  CHECK((unused > 10 && unused < 150));  // one order in a hundred
  if (scale.warehouses == 1) CHECK(remote == 0);
  if (scale.warehouses > 1) CHECK((remote > lines / 200 && remote < lines / 50));  // one line in a hundred
}

TEST_CASE("customers are named by last name six times in ten, and live elsewhere in 15 of 100 payments",
          "[bench][workload]") {
  const Workload workload{Scale{4, 200, 3'000}, 1};
  Random random{3};
  int by_name = 0, remote = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto input =
        std::get<PaymentInput>(draw_input(TransactionType::kPayment, workload, Home{2, 1}, random));
    by_name += input.customer.id == 0 ? 1 : 0;
    remote += input.customer.warehouse != 2 ? 1 : 0;
    CHECK((input.customer.id == 0) == !input.customer.last_name.empty());
  }
  CHECK((by_name > 5'700 && by_name < 6'300));
  CHECK((remote > 1'300 && remote < 1'700));
}

}  // namespace pinwheel::tpcc
