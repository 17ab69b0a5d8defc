#include "base/sqlstate.h"

#include <catch2/catch.hpp>

namespace pinwheel {

TEST_CASE("codes and condition names find each other", "[base][sqlstate]") {
  CHECK(sqlstate::kUniqueViolation.view() == "23505");
  CHECK(sqlstate::kQueryCanceled.view() == "57014");
  CHECK(find_condition_name(sqlstate::kUniqueViolation) == "unique_violation");
  CHECK(find_sqlstate("division_by_zero") == sqlstate::kDivisionByZero);
  CHECK(find_sqlstate("no_such_condition") == std::nullopt);
  CHECK(find_condition_name(SqlState{"ZZZZZ"}).empty());
}

}  // namespace pinwheel
