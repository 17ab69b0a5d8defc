#include <algorithm>
#include <cstring>

#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/datetime.h"
#include "sql/types/int128.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/type_info.h"

/// Transition and final functions of sums, averages, collecting and boolean aggregates. States that
/// pg_aggregate calls internal are structs in the group's arena; states of SQL types are changed in place
/// there.
namespace pinwheel::sql::functions {

namespace {

Arena& group_arena(const FunctionCall& call) {
  if (!call.group_arena) {
    throw SqlError{sqlstate::kInternalError, "aggregate function called in non-aggregate context"};
  }
  return *call.group_arena;
}

template <class State>
State* state_of(FunctionCall& call) {
  if (!call.nulls[0]) return reinterpret_cast<State*>(call.args[0].bits);
  return group_arena(call).make<State>();
}
template <class State>
Datum give_state(State* state) {
  return Datum::from_pointer(state);
}

/// A numeric that changes often, in a buffer that is reused while it fits.
class NumericCell {
 public:
  Datum get(Arena& arena) const {
    return size_ == 0 ? numeric_from_int64(arena, 0) : Datum::from_pointer(bytes_);
  }
  void set(Arena& group, Datum value) {
    const std::size_t size = var_total(value);
    if (size > capacity_) {
      capacity_ = size * 2;
      bytes_ = static_cast<std::uint8_t*>(group.allocate(capacity_, 1));
    }
    std::memcpy(bytes_, value.as_pointer(), size);
    size_ = size;
  }

 private:
  std::uint8_t* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Count, sum and, for variances, sum of squares. Small values of one scale are summed in 128 bits.
struct NumericState {
  std::int64_t count = 0;
  std::int64_t nan_count = 0;
  std::int64_t plus_infinities = 0;
  std::int64_t minus_infinities = 0;
  Int128 small_sum = 0;
  int small_scale = 0;
  std::int64_t small_count = 0;  // additions since the last flush; 2^40 of 2^56 fit
  NumericCell sum;
  NumericCell squares;
};

void flush_small(NumericState* state, Arena& group, Arena& scratch) {
  if (state->small_count == 0) return;
  const Datum part = numeric_from_int128(scratch, state->small_sum, state->small_scale);
  state->sum.set(group, numeric_add(scratch, state->sum.get(scratch), part));
  state->small_sum = 0;
  state->small_count = 0;
}

void accumulate(NumericState* state, Datum value, Arena& group, Arena& scratch, bool with_squares) {
  std::int64_t small;
  int scale;
  ++state->count;
  if (numeric_as_small(value, &small, &scale)) {
    if (state->small_count > 0 && state->small_scale != scale) flush_small(state, group, scratch);
    state->small_scale = scale;
    state->small_sum += small;
    if (++state->small_count == std::int64_t{1} << 40) flush_small(state, group, scratch);
  } else if (numeric_is_nan(value)) {
    ++state->nan_count;
    return;
  } else if (numeric_is_infinite(value)) {
    ++(numeric_sign(value) > 0 ? state->plus_infinities : state->minus_infinities);
    return;
  } else {
    state->sum.set(group, numeric_add(scratch, state->sum.get(scratch), value));
  }
  if (with_squares) {
    const Datum square = numeric_mul(scratch, value, value);
    state->squares.set(group, numeric_add(scratch, state->squares.get(scratch), square));
  }
}

Datum numeric_transition(FunctionCall& call, bool with_squares) {
  auto* state = state_of<NumericState>(call);
  if (!call.nulls[1]) accumulate(state, call.plain(1), group_arena(call), *call.arena, with_squares);
  return give_state(state);
}

/// NaN, infinities: true when they decide the result.
bool special_sum(const NumericState& state, Arena& arena, Datum* result) {
  if (state.nan_count > 0 || (state.plus_infinities > 0 && state.minus_infinities > 0)) {
    *result = parse_numeric(arena, "NaN");
  } else if (state.plus_infinities > 0) {
    *result = parse_numeric(arena, "Infinity");
  } else if (state.minus_infinities > 0) {
    *result = parse_numeric(arena, "-Infinity");
  } else {
    return false;
  }
  return true;
}

Datum finite_sum(const NumericState& state, Arena& arena) {
  const Datum sum = state.sum.get(arena);
  if (state.small_count == 0) return sum;
  return numeric_add(arena, sum, numeric_from_int128(arena, state.small_sum, state.small_scale));
}

Datum numeric_sum_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<NumericState>(call);
  if (state->count == 0) return call.make_null();
  Datum result;
  if (special_sum(*state, *call.arena, &result)) return result;
  return finite_sum(*state, *call.arena);
}

Datum numeric_avg_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<NumericState>(call);
  if (state->count == 0) return call.make_null();
  Datum result;
  if (special_sum(*state, *call.arena, &result)) return result;
  return numeric_div(*call.arena, finite_sum(*state, *call.arena),
                     numeric_from_int64(*call.arena, state->count));
}

/// (N sum(x^2) - sum(x)^2) / (N (N - 1)) or / N^2, and its square root for deviations.
Datum variance_of(FunctionCall& call, std::int64_t count, Datum sum, Datum squares, bool sample, bool root) {
  Arena& arena = *call.arena;
  const Datum n = numeric_from_int64(arena, count);
  const Datum top = numeric_sub(arena, numeric_mul(arena, n, squares), numeric_mul(arena, sum, sum));
  if (numeric_sign(top) <= 0) return numeric_from_int64(arena, 0);
  const Datum bottom = numeric_mul(arena, n, sample ? numeric_from_int64(arena, count - 1) : n);
  const int scale = numeric_division_scale(top, bottom);
  const Datum variance = numeric_div_to_scale(arena, top, bottom, scale);
  return root ? numeric_sqrt_to_scale(arena, variance, scale) : variance;
}

template <bool Sample, bool Root>
Datum numeric_variance_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<NumericState>(call);
  if (state->count < (Sample ? 2 : 1)) return call.make_null();
  if (state->nan_count > 0 || state->plus_infinities > 0 || state->minus_infinities > 0) {
    return parse_numeric(*call.arena, "NaN");
  }
  return variance_of(call, state->count, finite_sum(*state, *call.arena), state->squares.get(*call.arena),
                     Sample, Root);
}

/// Integers: exact sums in 128 bits.
struct IntegerState {
  std::int64_t count = 0;
  Int128 sum = 0;
  Int128 squares = 0;
};

template <bool Squares>
Datum integer_transition(FunctionCall& call) {
  auto* state = state_of<IntegerState>(call);
  if (!call.nulls[1]) {
    const std::int64_t value = call.args[1].as_int64();
    ++state->count;
    state->sum += value;
    if (Squares) state->squares += static_cast<Int128>(value) * value;
  }
  return give_state(state);
}
/// The squares of bigints may pass 128 bits when summed.
Datum bigint_squares_transition(FunctionCall& call) {
  auto* state = state_of<NumericState>(call);
  if (!call.nulls[1]) {
    accumulate(state, numeric_from_int64(*call.arena, call.args[1].as_int64()), group_arena(call),
               *call.arena, true);
  }
  return give_state(state);
}
Datum integer_sum_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<IntegerState>(call);
  return state->count == 0 ? call.make_null() : numeric_from_int128(*call.arena, state->sum);
}
Datum integer_avg_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<IntegerState>(call);
  if (state->count == 0) return call.make_null();
  return numeric_div(*call.arena, numeric_from_int128(*call.arena, state->sum),
                     numeric_from_int64(*call.arena, state->count));
}
template <bool Sample, bool Root>
Datum integer_variance_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<IntegerState>(call);
  if (state->count < (Sample ? 2 : 1)) return call.make_null();
  return variance_of(call, state->count, numeric_from_int128(*call.arena, state->sum),
                     numeric_from_int128(*call.arena, state->squares), Sample, Root);
}

/// sum(int2), sum(int4): a bigint that is NULL until the first value.
Datum small_sum(FunctionCall& call) {
  if (call.nulls[1]) return call.nulls[0] ? call.make_null() : call.args[0];
  if (call.nulls[0]) return call.args[1];
  std::int64_t result;
  if (__builtin_add_overflow(call.args[0].as_int64(), call.args[1].as_int64(), &result))
    throw_out_of_range("bigint");
  return Datum::from_int64(result);
}

/// The elements of an array state, writable: the state itself inside an aggregate, else a copy in the result
/// arena.
std::uint8_t* writable_elements(FunctionCall& call, int count, Datum* state) {
  *state = call.plain(0);
  if (!call.group_arena) *state = copy_var(*call.arena, *state);
  const ArrayView view = view_array(*state);
  if (view.count != count || view.has_nulls) {
    throw SqlError{sqlstate::kInternalError,
                   "expected " + std::to_string(count) + "-element array as aggregate state"};
  }
  return const_cast<std::uint8_t*>(view.data);  // the group's own bytes
}

/// avg(int2), avg(int4): int8[] of count and sum.
Datum small_avg_transition(FunctionCall& call) {
  Datum state;
  std::uint8_t* elements = writable_elements(call, 2, &state);
  store<std::int64_t>(elements, load<std::int64_t>(elements) + 1);
  store<std::int64_t>(elements + 8, load<std::int64_t>(elements + 8) + call.args[1].as_int64());
  return state;
}
Datum small_avg_final(FunctionCall& call) {
  const ArrayView view = view_array(call.plain(0));
  const auto count = load<std::int64_t>(view.data);
  if (count == 0) return call.make_null();
  return numeric_div(*call.arena, numeric_from_int64(*call.arena, load<std::int64_t>(view.data + 8)),
                     numeric_from_int64(*call.arena, count));
}

/// avg(interval), and its sum: interval[] of sum and count (in the time part).
Datum interval_transition(FunctionCall& call) {
  Datum state;
  std::uint8_t* elements = writable_elements(call, 2, &state);
  auto sum = load<Interval>(elements);
  auto count = load<Interval>(elements + sizeof(Interval));
  const Interval value = load_interval(call.args[1]);
  if (__builtin_add_overflow(sum.us, value.us, &sum.us) ||
      __builtin_add_overflow(sum.days, value.days, &sum.days) ||
      __builtin_add_overflow(sum.months, value.months, &sum.months)) {
    throw_interval_range();
  }
  ++count.us;
  store(elements, sum);
  store(elements + sizeof(Interval), count);
  return state;
}
Datum interval_avg_final(FunctionCall& call) {
  const ArrayView view = view_array(call.plain(0));
  const auto sum = load<Interval>(view.data);
  const auto count = load<Interval>(view.data + sizeof(Interval));
  if (count.us == 0) return call.make_null();
  return make_interval(*call.arena, divide_interval(sum, static_cast<double>(count.us)));
}

// bool_and, bool_or (every): strict, so the first value is the state.
Datum and_transition(FunctionCall& call) {
  return Datum::from_bool(call.args[0].as_bool() && call.args[1].as_bool());
}
Datum or_transition(FunctionCall& call) {
  return Datum::from_bool(call.args[0].as_bool() || call.args[1].as_bool());
}

/// string_agg: a growing buffer.
struct StringState {
  char* data = nullptr;
  std::size_t size = 0;
  std::size_t capacity = 0;
  bool any = false;

  void append(Arena& group, std::string_view text) {
    if (size + text.size() > capacity) {
      if (size + text.size() > kMaxValueBytes) {
        throw SqlError{sqlstate::kProgramLimitExceeded, "out of memory"}.detail(
            "Cannot enlarge string buffer containing " + std::to_string(size) + " bytes by " +
            std::to_string(text.size()) + " more bytes.");
      }
      capacity = std::max<std::size_t>(2 * (size + text.size()), 256);
      char* grown = static_cast<char*>(group.allocate(capacity, 1));
      if (size > 0) std::memcpy(grown, data, size);
      data = grown;
    }
    if (!text.empty()) std::memcpy(data + size, text.data(), text.size());
    size += text.size();
  }
};

Datum string_transition(FunctionCall& call) {
  StringState* state = call.nulls[0] ? nullptr : state_of<StringState>(call);
  if (call.nulls[1]) return state ? call.args[0] : call.make_null();
  if (!state) state = group_arena(call).make<StringState>();
  // The delimiter stands before every value but the first.
  if (state->any && call.nargs > 2 && !call.nulls[2]) state->append(group_arena(call), call.text(2));
  state->append(group_arena(call), call.text(1));
  state->any = true;
  return give_state(state);
}
Datum string_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<StringState>(call);
  return make_var(*call.arena, {state->data, state->size});
}

/// array_agg: values and null flags, copied into the group's arena.
struct ArrayState {
  Datum* values = nullptr;
  bool* nulls = nullptr;
  int count = 0;
  int capacity = 0;
  Oid element{};
  // array_agg(anyarray): the shape all inputs must have.
  int ndim = 0;
  int lengths[kMaxDimensions]{};
  int lower[kMaxDimensions]{};
  int inputs = 0;

  void push(Arena& group, Datum value, bool is_null) {
    if (count == capacity) {
      const int grown = capacity == 0 ? 16 : capacity * 2;
      auto* new_values = group.make_array<Datum>(static_cast<std::size_t>(grown));
      auto* new_nulls = group.make_array<bool>(static_cast<std::size_t>(grown));
      std::copy(values, values + count, new_values);
      std::copy(nulls, nulls + count, new_nulls);
      values = new_values;
      nulls = new_nulls;
      capacity = grown;
    }
    values[count] = value;
    nulls[count++] = is_null;
  }
};

Datum copy_for_group(FunctionCall& call, Oid type, Datum value) {
  const TypeInfo* info = find_type(type);
  const int length = info ? info->length : -1;
  const bool by_value = info && info->by_value;
  if (length == -1 && needs_detoast(value)) value = detoast(value, *call.arena, call.context->detoaster);
  return copy_datum(value, length, by_value, group_arena(call));
}

Datum array_transition(FunctionCall& call) {
  auto* state = state_of<ArrayState>(call);
  state->element = call.arg_types[1];
  state->push(group_arena(call), call.nulls[1] ? Datum{} : copy_for_group(call, state->element, call.args[1]),
              call.nulls[1]);
  return give_state(state);
}
Datum array_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<ArrayState>(call);
  return build_array(*call.arena, state->element, state->values, state->nulls, state->count);
}

Datum array_of_arrays_transition(FunctionCall& call) {
  auto* state = state_of<ArrayState>(call);
  const auto bad = [](std::string_view message) {
    throw SqlError{sqlstate::kArraySubscriptError, std::string{message}};
  };
  if (call.nulls[1]) throw SqlError{sqlstate::kNullValueNotAllowed, "cannot accumulate null arrays"};
  const ArrayView view = view_array(call.plain(1));
  if (view.ndim == 0) bad("cannot accumulate empty arrays");
  if (state->inputs == 0) {
    if (view.ndim + 1 > kMaxDimensions) {
      throw SqlError{sqlstate::kProgramLimitExceeded,
                     "number of array dimensions (7) exceeds the maximum allowed (6)"};
    }
    state->ndim = view.ndim;
    state->element = view.element;
    std::copy(view.lengths, view.lengths + view.ndim, state->lengths);
    std::copy(view.lower, view.lower + view.ndim, state->lower);
  } else if (view.ndim != state->ndim ||
             !std::equal(view.lengths, view.lengths + view.ndim, state->lengths)) {
    bad("cannot accumulate arrays of different dimensionality");
  }
  ++state->inputs;
  ArrayReader reader{view};
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    state->push(group_arena(call), is_null ? item : copy_for_group(call, view.element, item), is_null);
  }
  return give_state(state);
}
Datum array_of_arrays_final(FunctionCall& call) {
  if (call.nulls[0]) return call.make_null();
  const auto* state = state_of<ArrayState>(call);
  int lengths[kMaxDimensions] = {state->inputs};
  int lower[kMaxDimensions] = {1};
  for (int i = 0; i < state->ndim; ++i) {
    lengths[i + 1] = state->lengths[i];
    lower[i + 1] = state->lower[i];
  }
  return build_array(*call.arena, state->element, state->ndim + 1, lengths, lower, state->values,
                     state->nulls);
}

constexpr BuiltinFunction kAggregatesFunctions[] = {
    {"int2_sum", small_sum},
    {"int4_sum", small_sum},
    {"int8_sum",
     [](FunctionCall& c) {  // kept by stock for old callers: numeric state
       if (c.nulls[1]) return c.nulls[0] ? c.make_null() : c.args[0];
       const Datum value = numeric_from_int64(*c.arena, c.args[1].as_int64());
       return c.nulls[0] ? value : numeric_add(*c.arena, c.plain(0), value);
     }},
    {"int2_avg_accum", small_avg_transition},
    {"int4_avg_accum", small_avg_transition},
    {"int8_avg", small_avg_final},
    {"int8_avg_accum", integer_transition<false>},
    {"int2_accum", integer_transition<true>},
    {"int4_accum", integer_transition<true>},
    {"int8_accum", bigint_squares_transition},
    {"numeric_poly_sum", integer_sum_final},
    {"numeric_poly_avg", integer_avg_final},
    {"numeric_poly_var_pop", integer_variance_final<false, false>},
    {"numeric_poly_var_samp", integer_variance_final<true, false>},
    {"numeric_poly_stddev_pop", integer_variance_final<false, true>},
    {"numeric_poly_stddev_samp", integer_variance_final<true, true>},
    {"numeric_avg_accum", [](FunctionCall& c) { return numeric_transition(c, false); }},
    {"numeric_accum", [](FunctionCall& c) { return numeric_transition(c, true); }},
    {"numeric_sum", numeric_sum_final},
    {"numeric_avg", numeric_avg_final},
    {"numeric_var_pop", numeric_variance_final<false, false>},
    {"numeric_var_samp", numeric_variance_final<true, false>},
    {"numeric_stddev_pop", numeric_variance_final<false, true>},
    {"numeric_stddev_samp", numeric_variance_final<true, true>},
    {"interval_accum", interval_transition},
    {"interval_avg", interval_avg_final},
    {"booland_statefunc", and_transition},
    {"boolor_statefunc", or_transition},
    {"string_agg_transfn", string_transition},
    {"string_agg_finalfn", string_final},
    {"bytea_string_agg_transfn", string_transition},
    {"bytea_string_agg_finalfn", string_final},
    {"array_agg_transfn", array_transition},
    {"array_agg_finalfn", array_final},
    {"array_agg_array_transfn", array_of_arrays_transition},
    {"array_agg_array_finalfn", array_of_arrays_final},
};

}  // namespace

std::span<const BuiltinFunction> aggregate_functions() { return kAggregatesFunctions; }

}  // namespace pinwheel::sql::functions
