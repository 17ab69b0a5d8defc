#include <catch2/catch.hpp>

#include "sql/parse/tokenizer.h"

using namespace pinwheel::sql;

namespace {

std::string lift(std::string_view source) {
  LiftedStatement out;
  if (!lift_literals(source, out)) return "no";
  std::string text = out.text;
  for (const LiftedLiteral& literal : out.literals) {
    text += " | " + std::to_string(literal.type.value) + ":" + std::string{literal.text};
  }
  return text;
}

}  // namespace

TEST_CASE("plain literals are lifted", "[sql_parse][tokenizer]") {
  CHECK(lift("SELECT abalance FROM pgbench_accounts WHERE aid = 5;") ==
        "SELECT abalance FROM pgbench_accounts WHERE aid = $1 | 23:5");
  CHECK(lift("UPDATE t SET a = a + -450 WHERE b = 'x'") ==
        "UPDATE t SET a = a + $1 WHERE b = $2 | 23:-450 | 0:x");
  CHECK(lift("UPDATE t SET a = a - 450") == "UPDATE t SET a = a - $1 | 23:450");
  CHECK(lift("UPDATE t SET a=-1") == "UPDATE t SET a=$1 | 23:-1");
  CHECK(lift("INSERT INTO t VALUES (1, 2.5, 10000000000, 'a b')") ==
        "INSERT INTO t VALUES ($1, $2, $3, $4) | 23:1 | 1700:2.5 | 20:10000000000 | 0:a b");
  CHECK(lift("SELECT a FROM t ORDER BY a LIMIT 10") == "SELECT a FROM t ORDER BY a LIMIT $1 | 23:10");
  CHECK(lift("SELECT -2147483648") == "SELECT $1 | 23:-2147483648");
  CHECK(lift("SELECT -32768::int2") == "SELECT -$1::int2 | 23:32768");
}

TEST_CASE("doubtful statements are left alone", "[sql_parse][tokenizer]") {
  for (const char* text : {"BEGIN",
                           "SELECT 1; SELECT 2",
                           "SELECT a FROM t ORDER BY 1",
                           "SELECT a + 1 FROM t GROUP BY a + 1",
                           "SELECT 1 -- x",
                           "SELECT /* x */ 1",
                           "SELECT E'a'",
                           "SELECT $1",
                           "SELECT $$a$$",
                           "SELECT date '2020-01-01'",
                           "SELECT 'a''b'",
                           "SELECT 'a'\n'b'",
                           "SELECT a::numeric(10,2) FROM t",
                           "SELECT 1a",
                           "SELECT 'open",
                           "WITH c AS (SELECT 1) SELECT 1",
                           "SELECT interval '1 day'",
                           "SELECT a",
                           "SELECT current_timestamp(3)",
                           "SELECT DISTINCT ON (1) a FROM t"}) {
    INFO(text);
    CHECK(lift(text) == "no");
  }
}

TEST_CASE("literals of different types make different keys", "[sql_parse][tokenizer]") {
  LiftedStatement a, b, c;
  REQUIRE(lift_literals("SELECT 1 + 1", a));
  REQUIRE(lift_literals("SELECT 2 + 2", b));
  REQUIRE(lift_literals("SELECT 1 + 1.5", c));
  CHECK(a.key == b.key);
  CHECK(a.key != c.key);
}
