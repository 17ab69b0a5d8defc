#include <catch2/catch.hpp>

#include "base/error.h"
#include "sql/execute/program.h"
#include "sql/execute/run_state.h"
#include "sql/types/array.h"
#include "tests/sql_execute/expression_builders.h"

namespace pinwheel::sql {
namespace {

using test::Builder;

struct Result {
  Datum value;
  bool is_null;
};
Result evaluate(Builder& b, const Expr* e) {
  Result r{};
  r.value = evaluate_once(e, b.arena, b.eval, &r.is_null);
  return r;
}

enum class Truth { kTrue, kFalse, kNull };
Truth truth(Builder& b, const Expr* e) {
  const Result r = evaluate(b, e);
  return r.is_null ? Truth::kNull : r.value.as_bool() ? Truth::kTrue : Truth::kFalse;
}

}  // namespace

TEST_CASE("integer arithmetic raises 22003 when the result does not fit", "[sql_execute][program]") {
  Builder b;
  CHECK(evaluate(b, b.op("+", b.integer(40), b.integer(2))).value.as_int32() == 42);
  CHECK(evaluate(b, b.op("*", b.integer(-6), b.integer(7))).value.as_int32() == -42);
  try {
    evaluate(b, b.op("+", b.integer(2147483647), b.integer(1)));
    FAIL("no error");
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "22003");
    CHECK(error.message() == "integer out of range");
  }
}

TEST_CASE("a strict operator of NULL is NULL", "[sql_execute][program]") {
  Builder b;
  CHECK(evaluate(b, b.op("+", b.integer(1), b.null_of(kInt4Type))).is_null);
  CHECK(truth(b, b.op("=", b.null_of(kInt4Type), b.null_of(kInt4Type))) == Truth::kNull);
  CHECK(truth(b, b.op<DistinctExpr>("=", b.null_of(kInt4Type), b.null_of(kInt4Type))) == Truth::kFalse);
  CHECK(truth(b, b.op<DistinctExpr>("=", b.integer(1), b.null_of(kInt4Type))) == Truth::kTrue);
}

TEST_CASE("AND and OR follow three-valued logic and stop early", "[sql_execute][program]") {
  Builder b;
  Expr* null = b.null_of(kBoolType);
  Expr* fails = b.op("=", b.op("+", b.integer(2147483647), b.integer(1)), b.integer(0));
  CHECK(truth(b, b.logic(BoolOp::kAnd, {b.boolean(true), null})) == Truth::kNull);
  CHECK(truth(b, b.logic(BoolOp::kAnd, {null, b.boolean(false)})) == Truth::kFalse);
  CHECK(truth(b, b.logic(BoolOp::kAnd, {b.boolean(false), fails})) == Truth::kFalse);
  CHECK(truth(b, b.logic(BoolOp::kOr, {null, b.boolean(true)})) == Truth::kTrue);
  CHECK(truth(b, b.logic(BoolOp::kOr, {b.boolean(false), null})) == Truth::kNull);
  CHECK(truth(b, b.logic(BoolOp::kOr, {b.boolean(true), fails})) == Truth::kTrue);
  CHECK(truth(b, b.logic(BoolOp::kNot, {null})) == Truth::kNull);
}

TEST_CASE("CASE evaluates only the branch it takes", "[sql_execute][program]") {
  Builder b;
  auto* e = b.arena.make<CaseExpr>();
  e->type.type = kInt4Type;
  Expr* overflow = b.op("+", b.integer(2147483647), b.integer(1));
  const std::vector<CaseWhen> whens{{b.boolean(false), overflow}, {b.boolean(true), b.integer(7)}};
  e->whens = arena_span(b.arena, whens);
  e->otherwise = overflow;
  CHECK(evaluate(b, e).value.as_int32() == 7);
}

TEST_CASE("CASE x WHEN compares its argument", "[sql_execute][program]") {
  Builder b;
  auto* stand_in = b.arena.make<CaseValueExpr>();
  stand_in->type.type = kInt4Type;
  auto* e = b.arena.make<CaseExpr>();
  e->type.type = kInt4Type;
  e->argument = b.integer(2);
  const std::vector<CaseWhen> whens{{b.op("=", stand_in, b.integer(1)), b.integer(10)},
                                    {b.op("=", stand_in, b.integer(2)), b.integer(20)}};
  e->whens = arena_span(b.arena, whens);
  CHECK(evaluate(b, e).value.as_int32() == 20);
  e->argument = b.integer(3);
  CHECK(evaluate(b, e).is_null);
}

TEST_CASE("= ANY of a constant array answers as a list of comparisons would", "[sql_execute][program]") {
  Builder b;
  const bool with_null = GENERATE(false, true);
  const int count = GENERATE(1, 3, 20);
  std::vector<Datum> values;
  std::vector<char> nulls;
  for (int i = 0; i < count; ++i) {
    values.push_back(Datum::from_int32(i * 2));
    nulls.push_back(0);
  }
  if (with_null) {
    values.push_back(Datum{});
    nulls.push_back(1);
  }
  auto* array = b.arena.make<ConstExpr>();
  array->type.type = kInt4ArrayType;
  array->value = build_array(b.arena, kInt4Type, values.data(), reinterpret_cast<const bool*>(nulls.data()),
                             static_cast<int>(values.size()));
  const BuiltinOperator* equal = find_operator("=", kInt4Type, kInt4Type);
  const auto in = [&](Expr* left) {
    auto* e = b.arena.make<ScalarArrayExpr>();
    e->type.type = kBoolType;
    e->op = equal->oid;
    e->function = equal->procedure;
    e->left = left;
    e->array = array;
    return truth(b, e);
  };
  CHECK(in(b.integer((count - 1) * 2)) == Truth::kTrue);
  CHECK(in(b.integer(1)) == (with_null ? Truth::kNull : Truth::kFalse));
  CHECK(in(b.null_of(kInt4Type)) == Truth::kNull);
}

TEST_CASE("GREATEST and COALESCE skip NULLs", "[sql_execute][program]") {
  Builder b;
  auto* greatest = b.arena.make<MinMaxExpr>();
  greatest->type.type = kInt4Type;
  greatest->args = b.list({b.integer(3), b.null_of(kInt4Type), b.integer(9), b.integer(4)});
  CHECK(evaluate(b, greatest).value.as_int32() == 9);
  auto* coalesce = b.arena.make<CoalesceExpr>();
  coalesce->type.type = kInt4Type;
  coalesce->args = b.list({b.null_of(kInt4Type), b.integer(5), b.integer(6)});
  CHECK(evaluate(b, coalesce).value.as_int32() == 5);
}

TEST_CASE("row comparison decides at the first difference", "[sql_execute][program]") {
  Builder b;
  const auto less = [&](int a, Expr* second, int c, int d) {
    auto* e = b.arena.make<RowCompareExpr>();
    e->type.type = kBoolType;
    e->op = RowCompareOp::kLess;
    e->left = b.list({b.integer(a), second});
    e->right = b.list({b.integer(c), b.integer(d)});
    return truth(b, e);
  };
  CHECK(less(1, b.integer(9), 2, 0) == Truth::kTrue);
  CHECK(less(1, b.integer(1), 1, 2) == Truth::kTrue);
  CHECK(less(1, b.integer(2), 1, 2) == Truth::kFalse);
  CHECK(less(1, b.null_of(kInt4Type), 1, 2) == Truth::kNull);
  CHECK(less(0, b.null_of(kInt4Type), 1, 2) == Truth::kTrue);
}

TEST_CASE("a condition over columns reads the slots it is given", "[sql_execute][program]") {
  Builder b;
  Arena arena;
  ProgramCompiler compiler{arena, nullptr};
  Slot* outer = make_slot(arena, 2);
  Slot* inner = make_slot(arena, 1);
  outer->valid = 2;
  inner->valid = 1;
  Expr* condition =
      b.op("=", b.slot(SlotSource::kOuter, 1, kInt4Type), b.slot(SlotSource::kInner, 0, kInt4Type));
  const Program* program = compiler.condition(b.list({condition}));
  EvalFrame frame;
  frame.arena = &arena;
  frame.eval = &b.eval;
  frame.slots[static_cast<int>(SlotSource::kOuter)] = outer;
  frame.slots[static_cast<int>(SlotSource::kInner)] = inner;
  outer->values[1] = Datum::from_int32(5);
  inner->values[0] = Datum::from_int32(5);
  CHECK(program->test(frame));
  inner->values[0] = Datum::from_int32(6);
  CHECK_FALSE(program->test(frame));
  inner->nulls[0] = true;
  CHECK_FALSE(program->test(frame));
}

TEST_CASE("an empty condition is true", "[sql_execute][program]") {
  Arena arena;
  ProgramCompiler compiler{arena, nullptr};
  EvalFrame frame;
  CHECK(compiler.condition({})->test(frame));
}

}  // namespace pinwheel::sql
