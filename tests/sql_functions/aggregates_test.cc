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

const ProcInfo& aggregate_row(std::string_view name, std::vector<Oid> args) {
  for (const ProcInfo& row : builtin_procs()) {
    if (row.kind == 'a' && row.name == name && std::vector<Oid>(row.args.begin(), row.args.end()) == args)
      return row;
  }
  FAIL("no aggregate " << name);
  throw 0;
}

/// Runs an aggregate over text values ("\\N" = NULL) the way the executor does.
class Group {
 public:
  Group(std::string_view name, Oid input, std::vector<Oid> more_args = {}, Oid actual = kInvalidOid)
      : input_{actual.value ? actual : input} {
    std::vector<Oid> args{input};
    args.insert(args.end(), more_args.begin(), more_args.end());
    more_ = more_args;
    row_ = &aggregate_row(name, args);
    info_ = find_aggregate(row_->oid);
    REQUIRE(info_ != nullptr);
    if (info_->has_initial) {
      state_ = input_value(type_info(info_->transition_type), info_->initial_text, group_, eval_);
      state_null_ = false;
    }
  }

  Group& add(const std::string& text, const std::string& second = "") {
    Datum args[3];
    bool nulls[3] = {state_null_, text == "\\N", false};
    args[0] = state_;
    if (!nulls[1]) args[1] = input_value(type_info(input_), text, rows_, eval_);
    if (!more_.empty()) args[2] = input_value(type_info(more_[0]), second, rows_, eval_);
    if (info_->transition_strict) {
      if (nulls[1]) return *this;
      if (state_null_) {
        const TypeInfo& type = type_info(input_);
        state_ = copy_datum(args[1], type.length, type.by_value, group_);
        state_null_ = false;
        return *this;
      }
    }
    const Oid types[3] = {info_->transition_type, input_, more_.empty() ? kInvalidOid : more_[0]};
    FunctionCall call = make_call(args, nulls, 2 + static_cast<int>(more_.size()), types);
    call.procedure = info_->transition_procedure;
    call.group_arena = &group_;
    const Datum next = info_->transition(call);
    state_null_ = call.result_null;
    const TypeInfo& type = type_info(info_->transition_type);
    state_ = next.bits == state_.bits || type.oid == kInternalType || call.result_null
                 ? next
                 : copy_datum(next, type.length, type.by_value, group_);
    return *this;
  }

  std::string result() {
    Oid type = row_->result == kAnyArrayType ? type_info(input_).array : row_->result;
    Datum value = state_;
    bool is_null = state_null_;
    if (info_->final) {
      if (info_->final_strict && is_null) return "NULL";
      Datum args[2] = {state_, {}};
      bool nulls[2] = {state_null_, true};
      const Oid types[2] = {info_->transition_type, input_};
      FunctionCall call = make_call(args, nulls, info_->final_extra ? 2 : 1, types);
      call.procedure = info_->final_procedure;
      value = info_->final(call);
      is_null = call.result_null;
    }
    return is_null ? "NULL" : output_value(type_info(type), value, rows_, eval_);
  }

 private:
  FunctionCall make_call(Datum* args, bool* nulls, int count, const Oid* types) {
    FunctionCall call;
    call.args = args;
    call.nulls = nulls;
    call.nargs = count;
    call.arena = &rows_;
    call.context = &eval_;
    call.arg_types = types;
    return call;
  }

  Arena rows_;
  Arena group_;
  EvalContext eval_;
  Oid input_;
  std::vector<Oid> more_;
  const ProcInfo* row_;
  const AggregateInfo* info_;
  Datum state_;
  bool state_null_ = true;
};

}  // namespace

// Expected values as stock PostgreSQL 15 prints them for the same inputs.

TEST_CASE("sums and averages of integers are exact and scaled as numerics", "[sql][functions][aggregates]") {
  CHECK(Group("sum", kInt4Type).add("1").add("2").add("\\N").result() == "3");
  CHECK(Group("sum", kInt4Type).result() == "NULL");
  CHECK(Group("sum", kInt8Type).add("9223372036854775807").add("9223372036854775807").result() ==
        "18446744073709551614");
  CHECK(Group("avg", kInt4Type).add("1").add("2").result() == "1.5000000000000000");
  CHECK(Group("avg", kInt2Type).result() == "NULL");
  CHECK(Group("avg", kInt8Type).add("10").add("20").add("25").result() == "18.3333333333333333");
  CHECK(Group("variance", kInt4Type).add("1").add("2").add("4").result() == "2.3333333333333333");
  CHECK(Group("stddev", kInt4Type).add("1").add("2").add("4").result() == "1.5275252316519467");
  CHECK(Group("var_pop", kInt8Type).add("1").add("2").result() == "0.25000000000000000000");
  CHECK(Group("stddev_samp", kInt4Type).add("1").result() == "NULL");
}

TEST_CASE("numeric sums keep the widest scale and know NaN and infinity", "[sql][functions][aggregates]") {
  CHECK(Group("sum", kNumericType).add("1.5").add("2.25").add("1").result() == "4.75");
  CHECK(Group("avg", kNumericType).add("1.5").add("2.25").result() == "1.8750000000000000");
  CHECK(Group("sum", kNumericType).add("NaN").add("1").result() == "NaN");
  CHECK(Group("sum", kNumericType).add("Infinity").add("-Infinity").result() == "NaN");
  CHECK(Group("sum", kNumericType).add("1e30").add("1").add("1e30").result() ==
        "2000000000000000000000000000001");
  CHECK(Group("stddev_pop", kNumericType).add("1.5").add("2.5").result() == "0.50000000000000000000");
}

TEST_CASE("floating aggregates use a stable update", "[sql][functions][aggregates]") {
  CHECK(Group("avg", kFloat8Type).add("1").add("2.5").result() == "1.75");
  CHECK(Group("stddev", kFloat8Type).add("1e15").add("1000000000000001").add("1000000000000002").result() ==
        "1");
  CHECK(Group("sum", kFloat4Type).add("1.5").add("2").result() == "3.5");
  CHECK(Group("corr", kFloat8Type, {kFloat8Type}).add("1", "2").add("2", "4").add("3", "6").result() == "1");
}

TEST_CASE("min and max follow the type's order", "[sql][functions][aggregates]") {
  CHECK(Group("max", kInt4Type).add("3").add("10").add("\\N").result() == "10");
  CHECK(Group("min", kTextType).add("b").add("a").add("c").result() == "a");
  CHECK(Group("max", kNumericType).add("1").add("NaN").add("5").result() == "NaN");
  CHECK(Group("max", kDateType).add("2020-01-01").add("infinity").result() == "infinity");
}

TEST_CASE("counting, booleans, strings and arrays collect", "[sql][functions][aggregates]") {
  CHECK(Group("bool_and", kBoolType).add("t").add("f").result() == "f");
  CHECK(Group("bool_or", kBoolType).add("f").add("t").result() == "t");
  CHECK(Group("every", kBoolType).result() == "NULL");
  CHECK(Group("string_agg", kTextType, {kTextType}).add("a", ",").add("\\N", ",").add("b", "-").result() ==
        "a-b");
  CHECK(Group("array_agg", kAnyNonArrayType, {}, kInt4Type).add("1").add("\\N").add("3").result() ==
        "{1,NULL,3}");
  CHECK(Group("array_agg", kAnyNonArrayType, {}, kTextType).add("x y").add("z").result() == "{\"x y\",z}");
  CHECK(Group("bit_or", kInt4Type).add("1").add("4").result() == "5");
  CHECK(Group("avg", kIntervalType).add("1 day").add("2 days 12 hours").result() == "1 day 18:00:00");
}
