#include "sql/execute/program.h"

#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/program_data.h"
#include "sql/execute/run_state.h"
#include "sql/types/row_value.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void throw_integer_range() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "integer out of range"};
}
[[noreturn]] void throw_bigint_range() {
  throw SqlError{sqlstate::kNumericValueOutOfRange, "bigint out of range"};
}

Datum min_max(const MinMaxData& data, EvalFrame& frame, bool* is_null) {
  const CompareContext context{data.collation, frame.arena, frame.eval->detoaster};
  *is_null = true;
  Datum best{};
  for (int i = 0; i < data.count; ++i) {
    if (data.nulls[i]) continue;
    if (*is_null) {
      best = data.values[i];
      *is_null = false;
      continue;
    }
    const int order = data.compare(data.values[i], best, context);
    if (data.greatest ? order > 0 : order < 0) best = data.values[i];
  }
  return best;
}

bool call_condition(const CallStep& step, EvalFrame& frame, bool* is_null) {
  FunctionCall& call = *step.call;
  call.arena = frame.arena;
  call.context = frame.eval;
  call.result_null = false;
  const bool result = step.function(call).as_bool();
  *is_null = call.result_null;
  return result && !call.result_null;
}

/// left <op> one element: 1 true, 0 false, -1 null.
int test_element(ScalarArrayData& data, Datum element, bool element_null, EvalFrame& frame) {
  if (data.strict && (element_null || data.left_null)) return -1;
  if (data.integer_equal) return data.left.bits == element.bits ? 1 : 0;
  FunctionCall& call = *data.call;
  call.args[0] = data.left;
  call.nulls[0] = data.left_null;
  call.args[1] = element;
  call.nulls[1] = element_null;
  bool is_null = false;
  const bool result = call_condition({data.function, &call}, frame, &is_null);
  return is_null ? -1 : result ? 1 : 0;
}

bool binary_search(const ScalarArrayData& data) {
  const auto key = static_cast<std::int64_t>(data.left.bits);
  int low = 0;
  int high = data.constant_count;
  while (low < high) {
    const int middle = (low + high) / 2;
    const auto at = static_cast<std::int64_t>(data.constant_values[middle].bits);
    if (at == key) return true;
    if (at < key)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

void scalar_array(ScalarArrayData& data, EvalFrame& frame, Datum* out, bool* null) {
  *out = Datum::from_bool(false);
  *null = data.array_null;
  if (data.array_null) return;
  bool saw_null = false;
  const auto see = [&](Datum element, bool element_null) {
    const int result = test_element(data, element, element_null, frame);
    if (result < 0) saw_null = true;
    return data.any ? result == 1 : result == 0;  // decided
  };
  bool decided = false;
  int count = 0;
  if (data.array_is_constant) {
    count = data.constant_count + (data.constant_has_null ? 1 : 0);
    if (count == 0) {
      *out = Datum::from_bool(!data.any);
      return;
    }
    if (data.sorted && data.any) {
      if (data.left_null)
        saw_null = true;
      else
        decided = binary_search(data);
      saw_null = saw_null || data.constant_has_null;
    } else {
      for (int i = 0; i < data.constant_count && !decided; ++i) {
        decided = see(data.constant_values[i], data.constant_nulls[i]);
      }
    }
  } else {
    const Datum plain =
        needs_detoast(data.array) ? detoast(data.array, *frame.arena, frame.eval->detoaster) : data.array;
    const ArrayView view = view_array(plain);
    ArrayReader reader{view, data.element_length, data.by_value};
    Datum element;
    bool element_null;
    while (!decided && reader.next(&element, &element_null)) decided = see(element, element_null);
  }
  *out = Datum::from_bool(decided == data.any);
  *null = !decided && saw_null;
}

Datum convert_by_io(const IoCoerceData& data, EvalFrame& frame) {
  EvalContext& eval = *frame.eval;
  std::string text;
  if (data.from_info != nullptr) {
    IoContext io{*frame.arena, eval, data.from, -1};
    data.from_info->output(data.value, io, text);
  } else {
    eval.catalog->output_user_type(data.from, data.value, text);
  }
  if (data.to_info != nullptr) {
    IoContext io{*frame.arena, eval, data.to, data.typmod};
    return data.to_info->input(text, io);
  }
  return eval.catalog->input_user_type(data.to, text, data.typmod, *frame.arena);
}

/// Field `field` (from 1) of a row value; NULL when the row is.
Datum select_field(Datum row, int field, EvalFrame& frame, bool* is_null) {
  const Datum plain = needs_detoast(row) ? detoast(row, *frame.arena, frame.eval->detoaster) : row;
  const RowView view = view_row(plain);
  if (field > view.count) {
    *is_null = true;
    return Datum{};
  }
  const auto n = static_cast<std::size_t>(view.count);
  Oid* types = frame.arena->make_array<Oid>(n);
  Datum* values = frame.arena->make_array<Datum>(n);
  bool* nulls = frame.arena->make_array<bool>(n);
  read_row(view, types, values, nulls);
  *is_null = nulls[field - 1];
  return values[field - 1];
}

/// IS [NOT] NULL of a row: all fields are (not) null.
bool row_null_test(Datum row, bool want_null, EvalFrame& frame) {
  const Datum plain = needs_detoast(row) ? detoast(row, *frame.arena, frame.eval->detoaster) : row;
  const RowView view = view_row(plain);
  const auto n = static_cast<std::size_t>(view.count);
  Oid* types = frame.arena->make_array<Oid>(n + 1);
  Datum* values = frame.arena->make_array<Datum>(n + 1);
  bool* nulls = frame.arena->make_array<bool>(n + 1);
  read_row(view, types, values, nulls);
  for (std::size_t i = 0; i < n; ++i) {
    if (nulls[i] != want_null) return false;
  }
  return true;
}

Datum build_row(const RowData& data, EvalFrame& frame) {
  Arena& arena = *frame.arena;
  Datum* values = arena.make_array<Datum>(static_cast<std::size_t>(data.count) + 1);
  for (int i = 0; i < data.count; ++i) {
    values[i] = data.values[i];
    const TypeInfo* type = find_type(data.types[i]);
    const bool varlena = type == nullptr || type->length == -1;
    if (!data.nulls[i] && varlena && needs_detoast(values[i])) {
      values[i] = detoast(values[i], arena, frame.eval->detoaster);
    }
  }
  return make_row(arena, data.type, {data.types, static_cast<std::size_t>(data.count)}, values, data.nulls);
}

bool boolean_test(BooleanTest test, Datum value, bool is_null) {
  const bool v = value.as_bool();
  switch (test) {
    case BooleanTest::kIsTrue:
      return !is_null && v;
    case BooleanTest::kIsNotTrue:
      return is_null || !v;
    case BooleanTest::kIsFalse:
      return !is_null && !v;
    case BooleanTest::kIsNotFalse:
      return is_null || v;
    case BooleanTest::kIsUnknown:
      return is_null;
    case BooleanTest::kIsNotUnknown:
      return !is_null;
  }
  return false;
}

bool compare_verdict(RowCompareOp op, std::int64_t order) {
  switch (op) {
    case RowCompareOp::kLess:
      return order < 0;
    case RowCompareOp::kLessEqual:
      return order <= 0;
    case RowCompareOp::kGreaterEqual:
      return order >= 0;
    case RowCompareOp::kGreater:
      return order > 0;
  }
  return false;
}

void run_steps(const Step* const first, EvalFrame& frame);

Datum coerce_array(ArrayCoerceData& data, EvalFrame& frame) {
  Arena& arena = *frame.arena;
  const Datum plain =
      needs_detoast(data.array) ? detoast(data.array, arena, frame.eval->detoaster) : data.array;
  const ArrayView view = view_array(plain);
  const auto n = static_cast<std::size_t>(view.count);
  Datum* values = arena.make_array<Datum>(n + 1);
  bool* nulls = arena.make_array<bool>(n + 1);
  ArrayReader reader{view};
  for (std::size_t i = 0; reader.next(&data.value, &data.value_null); ++i) {
    run_steps(data.steps, frame);
    values[i] = data.result;
    nulls[i] = data.result_null;
  }
  return build_array(arena, data.element, view.ndim, view.lengths, view.lower, values, nulls);
}

void run_steps(const Step* const first, EvalFrame& frame) {
  const Step* at = first;
  const auto binary = [&](auto compute) {
    const bool is_null = at->binary.nulls[0] | at->binary.nulls[1];
    *at->out_null = is_null;
    if (!is_null) *at->out = compute(at->binary.left->as_int64(), at->binary.right->as_int64());
    ++at;
  };
  const auto call = [&] {
    FunctionCall& c = *at->call.call;
    c.arena = frame.arena;
    c.context = frame.eval;
    c.result_null = false;
    *at->out = at->call.function(c);
    *at->out_null = c.result_null;
    ++at;
  };
  const auto null_result = [&] {
    *at->out_null = true;
    ++at;
  };
  for (;;) {
    switch (at->op) {
      case Op::kDone:
        return;
      case Op::kDeform: {
        Slot& slot = *frame.slots[at->source];
        if (slot.valid < at->index) deform_slot(slot, at->index);
        ++at;
        break;
      }
      case Op::kColumn: {
        const Slot& slot = *frame.slots[at->source];
        *at->out = slot.values[at->index];
        *at->out_null = slot.nulls[at->index];
        ++at;
        break;
      }
      case Op::kSystemColumn:
        *at->out_null = false;
        *at->out = system_column(*frame.slots[at->source], at->index, *frame.arena, at->out_null);
        ++at;
        break;
      case Op::kConst:
        *at->out = at->constant.value;
        *at->out_null = at->constant.is_null;
        ++at;
        break;
      case Op::kCopy:
        *at->out = *at->copy.value;
        *at->out_null = *at->copy.is_null;
        ++at;
        break;
      case Op::kParam:
        if (at->index >= frame.run->parameter_count) {
          throw SqlError{sqlstate::kUndefinedObject,
                         "no value found for parameter " + std::to_string(at->index + 1)};
        }
        *at->out = frame.run->parameters[at->index];
        *at->out_null = frame.run->parameter_nulls[at->index];
        ++at;
        break;
      case Op::kExecParam: {
        ParameterSlot& slot = frame.run->parameter_slots[at->index];
        if (slot.pending) frame.run->evaluate_pending(slot);
        *at->out = slot.value;
        *at->out_null = slot.is_null;
        ++at;
        break;
      }
      case Op::kCall0:
      case Op::kCallAny:
        call();
        break;
      case Op::kCallStrict1:
        if (at->call.call->nulls[0])
          null_result();
        else
          call();
        break;
      case Op::kCallStrict2:
        if (at->call.call->nulls[0] | at->call.call->nulls[1])
          null_result();
        else
          call();
        break;
      case Op::kCallStrict: {
        bool any = false;
        for (int i = 0; i < at->call.call->nargs; ++i) any |= at->call.call->nulls[i];
        if (any)
          null_result();
        else
          call();
        break;
      }
      case Op::kIntEqual:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a == b); });
        break;
      case Op::kIntNotEqual:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a != b); });
        break;
      case Op::kIntLess:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a < b); });
        break;
      case Op::kIntLessEqual:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a <= b); });
        break;
      case Op::kIntGreater:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a > b); });
        break;
      case Op::kIntGreaterEqual:
        binary([](std::int64_t a, std::int64_t b) { return Datum::from_bool(a >= b); });
        break;
      case Op::kInt4Add:
        binary([](std::int64_t a, std::int64_t b) {
          const std::int64_t sum = a + b;
          if (sum != static_cast<std::int32_t>(sum)) throw_integer_range();
          return Datum::from_int64(sum);
        });
        break;
      case Op::kInt4Subtract:
        binary([](std::int64_t a, std::int64_t b) {
          const std::int64_t difference = a - b;
          if (difference != static_cast<std::int32_t>(difference)) throw_integer_range();
          return Datum::from_int64(difference);
        });
        break;
      case Op::kInt4Multiply:
        binary([](std::int64_t a, std::int64_t b) {
          const std::int64_t product = a * b;
          if (product != static_cast<std::int32_t>(product)) throw_integer_range();
          return Datum::from_int64(product);
        });
        break;
      case Op::kInt8Add:
        binary([](std::int64_t a, std::int64_t b) {
          std::int64_t result;
          if (__builtin_add_overflow(a, b, &result)) throw_bigint_range();
          return Datum::from_int64(result);
        });
        break;
      case Op::kInt8Subtract:
        binary([](std::int64_t a, std::int64_t b) {
          std::int64_t result;
          if (__builtin_sub_overflow(a, b, &result)) throw_bigint_range();
          return Datum::from_int64(result);
        });
        break;
      case Op::kInt8Multiply:
        binary([](std::int64_t a, std::int64_t b) {
          std::int64_t result;
          if (__builtin_mul_overflow(a, b, &result)) throw_bigint_range();
          return Datum::from_int64(result);
        });
        break;
      case Op::kAndFirst:
        *static_cast<bool*>(at->data) = false;
        [[fallthrough]];
      case Op::kAndStep: {
        bool& any_null = *static_cast<bool*>(at->data);
        if (*at->out_null) {
          any_null = true;
        } else if (!at->out->as_bool()) {
          at = first + at->index;
          break;
        }
        if (at->source != 0 && any_null) {
          *at->out = Datum::from_bool(false);
          *at->out_null = true;
        }
        ++at;
        break;
      }
      case Op::kOrFirst:
        *static_cast<bool*>(at->data) = false;
        [[fallthrough]];
      case Op::kOrStep: {
        bool& any_null = *static_cast<bool*>(at->data);
        if (*at->out_null) {
          any_null = true;
        } else if (at->out->as_bool()) {
          at = first + at->index;
          break;
        }
        if (at->source != 0 && any_null) {
          *at->out = Datum::from_bool(false);
          *at->out_null = true;
        }
        ++at;
        break;
      }
      case Op::kNot:
        *at->out = Datum::from_bool(!at->out->as_bool());
        ++at;
        break;
      case Op::kQual:
        if (*at->out_null || !at->out->as_bool()) {
          *at->out = Datum::from_bool(false);
          *at->out_null = false;
          at = first + at->index;
        } else {
          ++at;
        }
        break;
      case Op::kJump:
        at = first + at->index;
        break;
      case Op::kJumpIfNotTrue:
        at = *at->out_null || !at->out->as_bool() ? first + at->index : at + 1;
        break;
      case Op::kJumpIfNotNull:
        at = !*at->out_null ? first + at->index : at + 1;
        break;
      case Op::kJumpIfNull:
        at = *at->out_null ? first + at->index : at + 1;
        break;
      case Op::kIsNull:
        *at->out = Datum::from_bool(*at->out_null);
        *at->out_null = false;
        ++at;
        break;
      case Op::kIsNotNull:
        *at->out = Datum::from_bool(!*at->out_null);
        *at->out_null = false;
        ++at;
        break;
      case Op::kRowIsNull:
        *at->out = Datum::from_bool(*at->out_null || row_null_test(*at->out, true, frame));
        *at->out_null = false;
        ++at;
        break;
      case Op::kRowIsNotNull:
        *at->out = Datum::from_bool(!*at->out_null && row_null_test(*at->out, false, frame));
        *at->out_null = false;
        ++at;
        break;
      case Op::kBooleanTest:
        *at->out =
            Datum::from_bool(boolean_test(static_cast<BooleanTest>(at->source), *at->out, *at->out_null));
        *at->out_null = false;
        ++at;
        break;
      case Op::kDistinct: {
        const bool* nulls = at->call.call->nulls;
        if (nulls[0] || nulls[1]) {
          *at->out = Datum::from_bool(nulls[0] != nulls[1]);
        } else {
          bool is_null = false;
          *at->out = Datum::from_bool(!call_condition(at->call, frame, &is_null));
        }
        *at->out_null = false;
        ++at;
        break;
      }
      case Op::kNullIf: {
        const FunctionCall& c = *at->call.call;
        // the call may overwrite nothing of its arguments: they are ours
        const Datum value = c.args[0];
        bool is_null = c.nulls[0];
        if (!c.nulls[0] && !c.nulls[1]) {
          bool ignored = false;
          if (call_condition(at->call, frame, &ignored)) is_null = true;
        }
        *at->out = value;
        *at->out_null = is_null;
        ++at;
        break;
      }
      case Op::kMinMax:
        *at->out = min_max(*static_cast<MinMaxData*>(at->data), frame, at->out_null);
        ++at;
        break;
      case Op::kScalarArray:
        scalar_array(*static_cast<ScalarArrayData*>(at->data), frame, at->out, at->out_null);
        ++at;
        break;
      case Op::kArray:
        *at->out = evaluate_array(*static_cast<ArrayData*>(at->data), *frame.arena, *frame.eval);
        *at->out_null = false;
        ++at;
        break;
      case Op::kSubscript:
        *at->out_null = false;
        *at->out = evaluate_subscript(*static_cast<SubscriptData*>(at->data), *frame.arena, *frame.eval,
                                      at->out_null);
        ++at;
        break;
      case Op::kRow:
        *at->out = build_row(*static_cast<RowData*>(at->data), frame);
        *at->out_null = false;
        ++at;
        break;
      case Op::kRowCompareStep: {
        const auto& data = *static_cast<RowCompareData*>(at->data);
        *at->out_null = data.nulls[0] || data.nulls[1];
        if (!*at->out_null) {
          const CompareContext context{data.collation, frame.arena, frame.eval->detoaster};
          const int order = data.compare(data.values[0], data.values[1], context);
          *at->out = Datum::from_int64(order);
          if (order == 0) {
            ++at;
            break;
          }
        }
        at = first + at->index;
        break;
      }
      case Op::kRowCompareFinal:
        *at->out_null = *at->copy.is_null;
        *at->out = Datum::from_bool(
            compare_verdict(static_cast<RowCompareOp>(at->source), at->copy.value->as_int64()));
        ++at;
        break;
      case Op::kFieldSelect:
        if (!*at->out_null) *at->out = select_field(*at->out, at->index, frame, at->out_null);
        ++at;
        break;
      case Op::kIoCoerce: {
        const auto& data = *static_cast<IoCoerceData*>(at->data);
        *at->out_null = data.is_null;
        if (!data.is_null) *at->out = convert_by_io(data, frame);
        ++at;
        break;
      }
      case Op::kArrayCoerce: {
        auto& data = *static_cast<ArrayCoerceData*>(at->data);
        *at->out_null = data.array_null;
        if (!data.array_null) *at->out = coerce_array(data, frame);
        ++at;
        break;
      }
      case Op::kSubPlan:
        *at->out_null = false;
        *at->out = evaluate_subplan(*static_cast<SubPlanState*>(at->data), frame, at->out_null);
        ++at;
        break;
      case Op::kSqlValue:
        *at->out_null = false;
        *at->out =
            sql_value(static_cast<SqlValue>(at->source), at->index, *frame.eval, *frame.arena, at->out_null);
        ++at;
        break;
      case Op::kWholeRow:
        DB_PANIC("whole rows are compiled into row constructors");
    }
  }
}

}  // namespace

void Program::execute(EvalFrame& frame) const {
  if (count_ == 0) {
    result_ = Datum::from_bool(true);
    result_null_ = false;
    return;
  }
  run_steps(steps_, frame);
}

}  // namespace pinwheel::sql
