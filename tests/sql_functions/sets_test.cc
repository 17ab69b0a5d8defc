#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "sql/functions/function.h"
#include "sql/types/type_info.h"

using namespace pinwheel;
using namespace pinwheel::sql;

namespace {

/// All rows of a set-returning function of one column, as text with "," between.
std::string rows_of(Oid procedure, std::vector<Oid> types, std::vector<std::string> texts, Oid result) {
  Arena arena;
  EvalContext eval;
  const SetFunction* function = find_set_function(procedure);
  REQUIRE(function != nullptr);
  std::vector<Datum> args;
  bool nulls[4] = {};
  for (std::size_t i = 0; i < types.size(); ++i)
    args.push_back(input_value(type_info(types[i]), texts[i], arena, eval));
  FunctionCall call;
  call.args = args.data();
  call.nulls = nulls;
  call.nargs = static_cast<int>(args.size());
  call.arena = &arena;
  call.context = &eval;
  call.arg_types = types.data();
  call.procedure = procedure;
  std::string out;
  void* state = function->start(call);
  Datum value;
  bool is_null;
  while (state && function->next(call, state, &value, &is_null)) {
    if (!out.empty()) out += ",";
    out += is_null ? "NULL" : output_value(type_info(result), value, arena, eval);
  }
  return out;
}

constexpr Oid kSeriesInt4{1067}, kSeriesStepInt4{1066}, kSeriesStepInt8{1068}, kSeriesNumeric{3259},
    kSeriesTimestamp{938}, kUnnest{2331}, kSubscripts{1192}, kSplitToTable{2765}, kMatches{2764};

}  // namespace

TEST_CASE("series count up and down and end at the type's bounds", "[sql][functions][sets]") {
  CHECK(rows_of(kSeriesInt4, {kInt4Type, kInt4Type}, {"1", "4"}, kInt4Type) == "1,2,3,4");
  CHECK(rows_of(kSeriesInt4, {kInt4Type, kInt4Type}, {"4", "1"}, kInt4Type).empty());
  CHECK(rows_of(kSeriesStepInt4, {kInt4Type, kInt4Type, kInt4Type}, {"5", "1", "-2"}, kInt4Type) == "5,3,1");
  CHECK(rows_of(kSeriesInt4, {kInt4Type, kInt4Type}, {"2147483646", "2147483647"}, kInt4Type) ==
        "2147483646,2147483647");
  CHECK(rows_of(kSeriesStepInt8, {kInt8Type, kInt8Type, kInt8Type},
                {"9223372036854775806", "9223372036854775807", "5"}, kInt8Type) == "9223372036854775806");
  CHECK(rows_of(kSeriesNumeric, {kNumericType, kNumericType, kNumericType}, {"0", "1", "0.5"},
                kNumericType) == "0,0.5,1.0");
  CHECK(rows_of(kSeriesTimestamp, {kTimestampType, kTimestampType, kIntervalType},
                {"2020-01-31", "2020-04-01", "1 month"},
                kTimestampType) == "2020-01-31 00:00:00,2020-02-29 00:00:00,2020-03-29 00:00:00");
}

TEST_CASE("a step of zero is refused", "[sql][functions][sets]") {
  CHECK_THROWS_AS(rows_of(kSeriesStepInt4, {kInt4Type, kInt4Type, kInt4Type}, {"1", "2", "0"}, kInt4Type),
                  SqlError);
}

TEST_CASE("arrays and matches become rows", "[sql][functions][sets]") {
  CHECK(rows_of(kUnnest, {kInt4ArrayType}, {"{{1,NULL},{3,4}}"}, kInt4Type) == "1,NULL,3,4");
  CHECK(rows_of(kSubscripts, {kInt4ArrayType, kInt4Type}, {"[3:5]={1,2,3}", "1"}, kInt4Type) == "3,4,5");
  CHECK(rows_of(kSplitToTable, {kTextType, kTextType}, {"a1b2c", "\\d"}, kTextType) == "a,b,c");
  CHECK(rows_of(kMatches, {kTextType, kTextType, kTextType}, {"foobarbequebaz", "ba.", "g"},
                kTextArrayType) == "{bar},{baz}");
}

TEST_CASE("every operator function of the recorded operators on our core types has code",
          "[sql][functions][registry]") {
  // The arithmetic and comparisons that pgbench and psql need; a missing row here is a missing operator
  // there.
  for (std::uint32_t oid :
       {177u,  181u, 141u,  154u, 65u,   66u,  147u, 149u, 150u,  144u,  67u,   740u, 184u,
        1258u, 850u, 1254u, 62u,  1631u, 467u, 474u, 463u, 1724u, 1718u, 2049u, 1299u}) {
    INFO("procedure " << oid);
    CHECK(is_implemented(Oid{oid}));
  }
}
