#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/program_data.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {
namespace {

struct ElementShape {
  int length;
  bool by_value;
};
ElementShape shape_of(Oid element) {
  const TypeInfo* info = find_type(element);
  return info != nullptr ? ElementShape{info->length, info->by_value} : ElementShape{-1, false};
}

Datum plain(Datum v, Arena& arena, EvalContext& eval) {
  return needs_detoast(v) ? detoast(v, arena, eval.detoaster) : v;
}

/// Index in storage order, or -1 when outside.
int element_offset(const ArrayView& view, const int* subscripts, int count) {
  if (count != view.ndim || count == 0) return -1;
  int offset = 0;
  for (int i = 0; i < count; ++i) {
    const int at = subscripts[i] - view.lower[i];
    if (at < 0 || at >= view.lengths[i]) return -1;
    offset = offset * view.lengths[i] + at;
  }
  return offset;
}

struct Elements {
  Datum* values;
  bool* nulls;
  int count;
};
Elements take_apart(Arena& arena, const ArrayView& view) {
  Elements e{};
  e.count = deconstruct_array(arena, view, &e.values, &e.nulls);
  return e;
}

Datum fetch_element(const SubscriptData& data, const ArrayView& view, const int* subscripts, bool* is_null) {
  const int offset = element_offset(view, subscripts, data.count);
  *is_null = true;
  if (offset < 0) return Datum{};
  const ElementShape shape = shape_of(view.element);
  if (shape.length > 0 && view.null_bitmap == nullptr) {
    const std::uint8_t* at = view.data + static_cast<std::ptrdiff_t>(offset) * shape.length;
    *is_null = false;
    return shape.by_value ? fetch_by_value(at, shape.length) : Datum::from_pointer(at);
  }
  ArrayReader reader{view, shape.length, shape.by_value};
  Datum value{};
  for (int i = 0; i <= offset; ++i) reader.next(&value, is_null);
  return value;
}

Datum fetch_slice(const SubscriptData& data, const ArrayView& view, const int* upper, const int* lower,
                  Arena& arena) {
  int first[kMaxDimensions];
  int lengths[kMaxDimensions];
  int ones[kMaxDimensions];
  if (data.count > view.ndim || view.ndim == 0) return build_array(arena, data.element, nullptr, nullptr, 0);
  int total = 1;
  for (int i = 0; i < view.ndim; ++i) {
    const int low = view.lower[i];
    const int high = low + view.lengths[i] - 1;
    const bool given = i < data.count;
    const int from = given && data.lower_given[i] ? std::max(lower[i], low) : low;
    const int to = given && data.upper_given[i] ? std::min(upper[i], high) : high;
    if (from > to) return build_array(arena, data.element, nullptr, nullptr, 0);
    first[i] = from - low;
    lengths[i] = to - from + 1;
    ones[i] = 1;
    total *= lengths[i];
  }
  const Elements all = take_apart(arena, view);
  Datum* values = arena.make_array<Datum>(static_cast<std::size_t>(total));
  bool* nulls = arena.make_array<bool>(static_cast<std::size_t>(total));
  int at[kMaxDimensions]{};
  for (int out = 0; out < total; ++out) {
    int offset = 0;
    for (int i = 0; i < view.ndim; ++i) offset = offset * view.lengths[i] + first[i] + at[i];
    values[out] = all.values[offset];
    nulls[out] = all.nulls[offset];
    for (int i = view.ndim - 1; i >= 0 && ++at[i] == lengths[i]; --i) at[i] = 0;
  }
  return build_array(arena, data.element, view.ndim, lengths, ones, values, nulls);
}

/// One-dimensional assignment may enlarge the array; gaps become NULL.
Datum assign_element(const SubscriptData& data, const ArrayView& view, const int* subscripts, Arena& arena) {
  Elements all = take_apart(arena, view);
  if (view.ndim == 0) {
    int lengths[kMaxDimensions];
    std::fill_n(lengths, kMaxDimensions, 1);
    return build_array(arena, data.element, data.count, lengths, subscripts, &data.assigned,
                       &data.assigned_null);
  }
  if (data.count != view.ndim) {
    throw SqlError{sqlstate::kArraySubscriptError, "wrong number of array subscripts"};
  }
  const int offset = element_offset(view, subscripts, data.count);
  if (offset >= 0) {
    all.values[offset] = data.assigned;
    all.nulls[offset] = data.assigned_null;
    return build_array(arena, data.element, view.ndim, view.lengths, view.lower, all.values, all.nulls);
  }
  if (view.ndim != 1) throw SqlError{sqlstate::kArraySubscriptError, "array subscript out of range"};
  const std::int64_t low = std::min<std::int64_t>(view.lower[0], subscripts[0]);
  const std::int64_t high = std::max<std::int64_t>(view.lower[0] + view.lengths[0] - 1, subscripts[0]);
  if (high - low + 1 > kMaxArrayElements) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "array size exceeds the maximum allowed (134217727)"};
  }
  const int count = static_cast<int>(high - low + 1);
  const int lower = static_cast<int>(low);
  Datum* values = arena.make_array<Datum>(static_cast<std::size_t>(count));
  bool* nulls = arena.make_array<bool>(static_cast<std::size_t>(count));
  std::fill_n(nulls, count, true);
  for (int i = 0; i < view.lengths[0]; ++i) {
    values[view.lower[0] - lower + i] = all.values[i];
    nulls[view.lower[0] - lower + i] = all.nulls[i];
  }
  values[subscripts[0] - lower] = data.assigned;
  nulls[subscripts[0] - lower] = data.assigned_null;
  return build_array(arena, data.element, 1, &count, &lower, values, nulls);
}

}  // namespace

BuiltinArrayShape element_shape(Oid array_type) {
  const TypeInfo* array = find_type(array_type);
  const TypeInfo* element = array != nullptr ? find_type(array->element) : nullptr;
  return element != nullptr ? BuiltinArrayShape{element->length, element->by_value}
                            : BuiltinArrayShape{-1, false};
}

void prepare_constant_array(ScalarArrayData& data, Arena& arena) {
  const Datum array = needs_detoast(data.array) ? detoast(data.array, arena, nullptr) : data.array;
  const ArrayView view = view_array(array);
  Elements all = take_apart(arena, view);
  data.constant_values = all.values;
  data.constant_nulls = all.nulls;
  data.constant_count = all.count;
  if (!data.integer_equal || !data.any || !data.strict || all.count < 8) return;
  int kept = 0;
  for (int i = 0; i < all.count; ++i) {
    if (all.nulls[i])
      data.constant_has_null = true;
    else
      all.values[kept++] = all.values[i];
  }
  std::sort(all.values, all.values + kept, [](Datum a, Datum b) { return a.as_int64() < b.as_int64(); });
  data.constant_count = kept;
  data.sorted = true;
}

Datum evaluate_array(const ArrayData& data, Arena& arena, EvalContext& eval) {
  const auto n = static_cast<std::size_t>(data.count);
  Datum* values = arena.make_array<Datum>(n + 1);
  const TypeInfo* element = find_type(data.element);
  const bool varlena = element == nullptr || element->length == -1;
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = !data.nulls[i] && varlena ? plain(data.values[i], arena, eval) : data.values[i];
  }
  if (!data.nested) return build_array(arena, data.element, values, data.nulls, data.count);
  // ARRAY[ARRAY[..], ..]: one dimension more than its elements
  int lengths[kMaxDimensions]{};
  int lower[kMaxDimensions];
  std::fill_n(lower, kMaxDimensions, 1);
  int inner_dimensions = -1;
  int total = 0;
  int outer = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (data.nulls[i]) continue;
    const ArrayView view = view_array(plain(data.values[i], arena, eval));
    if (view.ndim == 0) continue;
    if (inner_dimensions < 0) {
      inner_dimensions = view.ndim;
      if (view.ndim >= kMaxDimensions) {
        throw SqlError{sqlstate::kProgramLimitExceeded,
                       "number of array dimensions (7) exceeds the maximum allowed (6)"};
      }
      std::copy_n(view.lengths, view.ndim, lengths + 1);
      std::copy_n(view.lower, view.ndim, lower + 1);
    } else if (view.ndim != inner_dimensions ||
               !std::equal(view.lengths, view.lengths + view.ndim, lengths + 1)) {
      throw SqlError{sqlstate::kArraySubscriptError,
                     "multidimensional arrays must have array expressions with matching dimensions"};
    }
    total += view.count;
    ++outer;
  }
  if (inner_dimensions < 0) return build_array(arena, data.element, nullptr, nullptr, 0);
  lengths[0] = outer;
  Datum* flat = arena.make_array<Datum>(static_cast<std::size_t>(total));
  bool* nulls = arena.make_array<bool>(static_cast<std::size_t>(total));
  int at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (data.nulls[i]) continue;
    const ArrayView view = view_array(plain(data.values[i], arena, eval));
    const Elements all = take_apart(arena, view);
    std::copy_n(all.values, all.count, flat + at);
    std::copy_n(all.nulls, all.count, nulls + at);
    at += all.count;
  }
  return build_array(arena, data.element, inner_dimensions + 1, lengths, lower, flat, nulls);
}

Datum evaluate_subscript(SubscriptData& data, Arena& arena, EvalContext& eval, bool* is_null) {
  int upper[kMaxDimensions]{};
  int lower[kMaxDimensions]{};
  for (int i = 0; i < data.count; ++i) {
    if ((data.upper_given[i] && data.upper_null[i]) || (data.lower_given[i] && data.lower_null[i])) {
      if (data.assigning) {
        throw SqlError{sqlstate::kNullValueNotAllowed, "array subscript in assignment must not be null"};
      }
      *is_null = true;
      return Datum{};
    }
    upper[i] = data.upper[i].as_int32();
    lower[i] = data.lower[i].as_int32();
  }
  if (data.assigning) {
    if (data.slice)
      throw SqlError{sqlstate::kFeatureNotSupported, "assignment to array slices is not supported"};
    const Datum container = data.container_null ? build_array(arena, data.element, nullptr, nullptr, 0)
                                                : plain(data.container, arena, eval);
    *is_null = false;
    return assign_element(data, view_array(container), upper, arena);
  }
  if (data.container_null) {
    *is_null = true;
    return Datum{};
  }
  const ArrayView view = view_array(plain(data.container, arena, eval));
  if (!data.slice) return fetch_element(data, view, upper, is_null);
  *is_null = false;
  return fetch_slice(data, view, upper, lower, arena);
}

}  // namespace pinwheel::sql
