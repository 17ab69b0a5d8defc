#include <algorithm>
#include <cstdint>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/compare.h"
#include "sql/types/io_errors.h"
#include "sql/types/type_info.h"

/// Array functions and operators.
namespace pinwheel::sql::functions {

namespace {

ArrayView view(const FunctionCall& c, int i) { return view_array(c.plain(i)); }

/// Elements of an array unpacked, for functions that build new ones.
struct Elements {
  Datum* values = nullptr;
  bool* nulls = nullptr;
  int count = 0;
};
Elements unpack(const FunctionCall& c, const ArrayView& v) {
  Elements e;
  e.count = deconstruct_array(*c.arena, v, &e.values, &e.nulls);
  return e;
}

CompareContext compare_context(const FunctionCall& c) { return {c.collation, c.arena, c.context->detoaster}; }

EqualFn equality_of(Oid element) {
  const EqualFn equal = find_equal(element);
  if (!equal) {
    throw SqlError{sqlstate::kUndefinedFunction, "could not identify an equality operator for type " +
                                                     format_builtin_type(element, -1, false)};
  }
  return equal;
}

Oid element_type(Oid array) {
  const TypeInfo* info = find_type(array);
  return info ? info->element : kInvalidOid;
}

/// array_append and array_prepend: one-dimensional or empty arrays only.
Datum push(FunctionCall& c, int array_at, int value_at, bool front) {
  const Oid element = c.nulls[array_at] ? c.arg_types[value_at] : view(c, array_at).element;
  Elements old;
  int lower = 1;
  if (!c.nulls[array_at]) {
    const ArrayView v = view(c, array_at);
    if (v.ndim > 1)
      throw SqlError{sqlstate::kDataException, "argument must be empty or one-dimensional array"};
    old = unpack(c, v);
    if (v.ndim == 1) lower = v.lower[0];
  }
  auto* values = c.arena->make_array<Datum>(static_cast<std::size_t>(old.count) + 1);
  auto* nulls = c.arena->make_array<bool>(static_cast<std::size_t>(old.count) + 1);
  const int at = front ? 1 : 0;
  std::copy(old.values, old.values + old.count, values + at);
  std::copy(old.nulls, old.nulls + old.count, nulls + at);
  const int place = front ? 0 : old.count;
  values[place] = c.nulls[value_at] ? Datum{} : c.args[value_at];
  if (!c.nulls[value_at] && type_info(element).length == -1) values[place] = c.plain(value_at);
  nulls[place] = c.nulls[value_at];
  const int count = old.count + 1;
  return build_array(*c.arena, element, 1, &count, &lower, values, nulls);
}

Datum concatenate(FunctionCall& c) {
  if (c.nulls[0]) return c.nulls[1] ? c.make_null() : c.args[1];
  if (c.nulls[1]) return c.args[0];
  const ArrayView a = view(c, 0);
  const ArrayView b = view(c, 1);
  if (a.element != b.element) {
    throw SqlError{sqlstate::kDatatypeMismatch, "cannot concatenate incompatible arrays"}.detail(
        "Arrays with element types " + format_builtin_type(a.element, -1, false) + " and " +
        format_builtin_type(b.element, -1, false) + " are not compatible for concatenation.");
  }
  if (a.ndim == 0) return c.plain(1);
  if (b.ndim == 0) return c.plain(0);
  const auto mismatch = [](std::string detail) {
    throw SqlError{sqlstate::kArraySubscriptError, "cannot concatenate incompatible arrays"}.detail(
        std::move(detail));
  };
  int lengths[kMaxDimensions];
  int lower[kMaxDimensions];
  int ndim = a.ndim;
  if (a.ndim == b.ndim) {
    for (int i = 0; i < ndim; ++i) {
      lengths[i] = a.lengths[i];
      lower[i] = a.lower[i];
      if (i > 0 && (a.lengths[i] != b.lengths[i] || a.lower[i] != b.lower[i])) {
        mismatch("Arrays with differing element dimensions are not compatible for concatenation.");
      }
    }
    lengths[0] += b.lengths[0];
  } else if (a.ndim == b.ndim - 1 || b.ndim == a.ndim - 1) {
    // One is an element of the other's outer dimension.
    const ArrayView& outer = a.ndim > b.ndim ? a : b;
    const ArrayView& inner = a.ndim > b.ndim ? b : a;
    ndim = outer.ndim;
    for (int i = 0; i < ndim; ++i) {
      lengths[i] = outer.lengths[i];
      lower[i] = outer.lower[i];
      if (i > 0 && (outer.lengths[i] != inner.lengths[i - 1] || outer.lower[i] != inner.lower[i - 1])) {
        mismatch("Arrays with differing dimensions are not compatible for concatenation.");
      }
    }
    ++lengths[0];
  } else {
    mismatch("Arrays of " + std::to_string(a.ndim) + " and " + std::to_string(b.ndim) +
             " dimensions are not compatible for concatenation.");
  }
  const Elements x = unpack(c, a);
  const Elements y = unpack(c, b);
  const auto total = static_cast<std::size_t>(x.count + y.count);
  auto* values = c.arena->make_array<Datum>(total);
  auto* nulls = c.arena->make_array<bool>(total);
  std::copy(y.values, y.values + y.count, std::copy(x.values, x.values + x.count, values));
  std::copy(y.nulls, y.nulls + y.count, std::copy(x.nulls, x.nulls + x.count, nulls));
  return build_array(*c.arena, a.element, ndim, lengths, lower, values, nulls);
}

/// array_remove, array_replace: NULLs compare equal here.
Datum substitute(FunctionCall& c, bool remove) {
  if (c.nulls[0]) return c.make_null();
  const ArrayView v = view(c, 0);
  if (remove && v.ndim > 1) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "removing elements from multidimensional arrays is not supported"};
  }
  const EqualFn equal = equality_of(v.element);
  const CompareContext context = compare_context(c);
  const Elements e = unpack(c, v);
  int kept = 0;
  bool changed = false;
  for (int i = 0; i < e.count; ++i) {
    const bool same = e.nulls[i] ? c.nulls[1] : !c.nulls[1] && equal(e.values[i], c.args[1], context);
    changed |= same;
    if (same && remove) continue;
    e.values[kept] = same ? (c.nulls[2] ? Datum{} : c.args[2]) : e.values[i];
    e.nulls[kept++] = same ? c.nulls[2] : e.nulls[i];
  }
  if (!changed) return c.args[0];
  if (!remove) return build_array(*c.arena, v.element, v.ndim, v.lengths, v.lower, e.values, e.nulls);
  return build_array(*c.arena, v.element, kept == 0 ? 0 : 1, &kept, v.lower, e.values, e.nulls);
}

/// Calls `found` with each 1-dimensional subscript where argument 1 stands; stops when it returns true.
void find_positions(FunctionCall& c, int from, auto found) {
  const ArrayView v = view(c, 0);
  if (v.ndim > 1) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "searching for elements in multidimensional arrays is not supported"};
  }
  const EqualFn equal = equality_of(v.element);
  const CompareContext context = compare_context(c);
  ArrayReader reader{v};
  Datum item;
  bool is_null;
  for (int at = v.lower[0]; reader.next(&item, &is_null); ++at) {
    if (at < from) continue;
    const bool same = is_null ? c.nulls[1] : !c.nulls[1] && equal(item, c.args[1], context);
    if (same && found(at)) return;
  }
}

Datum position(FunctionCall& c) {
  if (c.nulls[0]) return c.make_null();
  int from = INT32_MIN;
  if (c.nargs > 2) {
    if (c.nulls[2]) throw SqlError{sqlstate::kNullValueNotAllowed, "initial position must not be null"};
    from = c.args[2].as_int32();
  }
  bool any = false;
  Datum result;
  find_positions(c, from, [&](int at) {
    result = Datum::from_int32(at);
    return any = true;
  });
  return any ? result : c.make_null();
}
Datum positions(FunctionCall& c) {
  if (c.nulls[0]) return c.make_null();
  std::vector<Datum> found;
  find_positions(c, INT32_MIN, [&](int at) {
    found.push_back(Datum::from_int32(at));
    return false;
  });
  return build_array(*c.arena, kInt4Type, found.data(), nullptr, static_cast<int>(found.size()));
}

/// True when every (contained) or any (overlap) element of `inner` stands in `outer`. NULLs match nothing.
bool contains(FunctionCall& c, const ArrayView& outer, const ArrayView& inner, bool all) {
  if (outer.element != inner.element) {
    throw SqlError{sqlstate::kDatatypeMismatch, "cannot compare arrays of different element types"};
  }
  const EqualFn equal = equality_of(outer.element);
  const CompareContext context = compare_context(c);
  const Elements in = unpack(c, outer);
  ArrayReader reader{inner};
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    bool found = false;
    for (int i = 0; !is_null && i < in.count && !found; ++i)
      found = !in.nulls[i] && equal(in.values[i], item, context);
    if (found != all) return !all;
  }
  return all;
}

Datum dimension(FunctionCall& c, auto pick) {
  const ArrayView v = view(c, 0);
  const std::int32_t d = c.args[1].as_int32();
  if (d < 1 || d > v.ndim) return c.make_null();
  return Datum::from_int32(pick(v, d - 1));
}

Datum dimensions(FunctionCall& c) {
  const ArrayView v = view(c, 0);
  if (v.ndim == 0) return c.make_null();
  std::string text;
  for (int i = 0; i < v.ndim; ++i) {
    text += "[" + std::to_string(v.lower[i]) + ":" + std::to_string(v.lower[i] + v.lengths[i] - 1) + "]";
  }
  return make_text(*c.arena, text);
}

/// array_fill(value, lengths [, lower bounds])
Datum fill(FunctionCall& c) {
  if (c.nulls[1] || (c.nargs > 2 && c.nulls[2])) {
    throw SqlError{sqlstate::kNullValueNotAllowed, "dimension array or low bound array cannot be null"};
  }
  int lengths[kMaxDimensions];
  int lower[kMaxDimensions] = {1, 1, 1, 1, 1, 1};
  const auto read = [&](int at, int* to) {
    const ArrayView v = view(c, at);
    if (v.ndim > 1) {
      throw SqlError{sqlstate::kArraySubscriptError, "wrong number of array subscripts"}.detail(
          "Dimension array must be one dimensional.");
    }
    if (v.count > kMaxDimensions) {
      throw SqlError{
          sqlstate::kProgramLimitExceeded,
          "number of array dimensions (" + std::to_string(v.count) + ") exceeds the maximum allowed (6)"};
    }
    const Elements e = unpack(c, v);
    for (int i = 0; i < e.count; ++i) {
      if (e.nulls[i]) throw SqlError{sqlstate::kNullValueNotAllowed, "dimension values cannot be null"};
      to[i] = e.values[i].as_int32();
    }
    return e.count;
  };
  const int ndim = read(1, lengths);
  if (c.nargs > 2 && read(2, lower) != ndim) {
    throw SqlError{sqlstate::kArraySubscriptError, "wrong number of array subscripts"}.detail(
        "Low bound array has different size than dimensions array.");
  }
  std::int64_t count = ndim > 0;
  for (int i = 0; i < ndim; ++i) {
    if (lengths[i] < 0)
      throw SqlError{sqlstate::kProgramLimitExceeded, "array size exceeds the maximum allowed (134217727)"};
    count *= lengths[i];
    if (count > kMaxArrayElements) {
      throw SqlError{sqlstate::kProgramLimitExceeded, "array size exceeds the maximum allowed (134217727)"};
    }
  }
  const Oid element = element_type(c.result_type).value ? element_type(c.result_type) : c.arg_types[0];
  auto* values = c.arena->make_array<Datum>(static_cast<std::size_t>(count));
  auto* nulls = c.arena->make_array<bool>(static_cast<std::size_t>(count));
  std::fill(values, values + count, c.nulls[0] ? Datum{} : c.args[0]);
  std::fill(nulls, nulls + count, c.nulls[0]);
  return build_array(*c.arena, element, count == 0 ? 0 : ndim, lengths, lower, values, nulls);
}

Datum trim(FunctionCall& c) {
  const ArrayView v = view(c, 0);
  const std::int32_t cut = c.args[1].as_int32();
  const int length = v.ndim > 0 ? v.lengths[0] : 0;
  if (cut < 0 || cut > length) {
    throw SqlError{sqlstate::kArrayElementError,
                   "number of elements to trim must be between 0 and " + std::to_string(length)};
  }
  Elements e = unpack(c, v);
  int lengths[kMaxDimensions];
  std::copy(v.lengths, v.lengths + v.ndim, lengths);
  if (v.ndim > 0) lengths[0] -= cut;
  const int ndim = v.ndim > 0 && lengths[0] > 0 ? v.ndim : 0;
  int lower[kMaxDimensions] = {1, 1, 1, 1, 1, 1};
  return build_array(*c.arena, v.element, ndim, lengths, lower, e.values, e.nulls);
}

// Arrays and text

Datum to_text(FunctionCall& c, std::string_view separator, const std::string_view* null_text) {
  const ArrayView v = view(c, 0);
  const TypeInfo* info = find_type(v.element);
  ArrayReader reader{v};
  Datum item;
  bool is_null;
  bool first = true;
  std::string out;
  while (reader.next(&item, &is_null)) {
    if (is_null && !null_text) continue;
    if (!first) out += separator;
    first = false;
    if (is_null) {
      out += *null_text;
    } else if (info) {
      info->output(item, IoContext{*c.arena, *c.context, v.element, -1}, out);
    } else {
      c.context->catalog->output_user_type(v.element, item, out);
    }
  }
  return make_text(*c.arena, out);
}

}  // namespace

std::vector<std::string_view> split_text(std::string_view text, std::string_view separator,
                                         bool separator_null) {
  std::vector<std::string_view> parts;
  if (text.empty()) return parts;
  if (separator_null) {
    for (std::size_t at = 0; at < text.size();) {
      const auto lead = static_cast<unsigned char>(text[at]);
      const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      parts.push_back(text.substr(at, size));
      at += size;
    }
    return parts;
  }
  if (separator.empty()) return {text};
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(separator, at)) != std::string_view::npos;
       at = found + separator.size()) {
    parts.push_back(text.substr(at, found - at));
  }
  parts.push_back(text.substr(at));
  return parts;
}

namespace {

/// string_to_array(text, separator [, null text]); a NULL separator splits into characters.
Datum from_text(FunctionCall& c) {
  if (c.nulls[0]) return c.make_null();
  const auto parts = split_text(c.text(0), c.nulls[1] ? std::string_view{} : c.text(1), c.nulls[1]);
  auto* values = c.arena->make_array<Datum>(parts.size());
  auto* nulls = c.arena->make_array<bool>(parts.size());
  const bool has_null_text = c.nargs > 2 && !c.nulls[2];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    nulls[i] = has_null_text && parts[i] == c.text(2);
    if (!nulls[i]) values[i] = make_text(*c.arena, parts[i]);
  }
  return build_array(*c.arena, kTextType, values, nulls, static_cast<int>(parts.size()));
}

/// width_bucket(operand, thresholds): the thresholds are sorted.
Datum width_bucket(FunctionCall& c) {
  const ArrayView v = view(c, 1);
  if (v.ndim > 1) throw SqlError{sqlstate::kArraySubscriptError, "thresholds must be one-dimensional array"};
  if (v.has_nulls) throw SqlError{sqlstate::kNullValueNotAllowed, "thresholds array must not contain NULLs"};
  const CompareFn compare = find_compare(v.element);
  const Elements e = unpack(c, v);
  const CompareContext context = compare_context(c);
  const auto* end =
      std::upper_bound(e.values, e.values + e.count, c.args[0],
                       [&](Datum operand, Datum bound) { return compare(operand, bound, context) < 0; });
  return Datum::from_int32(static_cast<std::int32_t>(end - e.values));
}

constexpr BuiltinFunction kArraysFunctions[] = {
    {"array_append", [](FunctionCall& c) { return push(c, 0, 1, false); }},
    {"array_prepend", [](FunctionCall& c) { return push(c, 1, 0, true); }},
    {"array_cat", concatenate},
    {"array_remove",
     [](FunctionCall& c) {
       // Removing reads no third argument.
       Datum args[3] = {c.args[0], c.args[1], {}};
       bool nulls[3] = {c.nulls[0], c.nulls[1], true};
       FunctionCall inner = c;
       inner.args = args;
       inner.nulls = nulls;
       const Datum result = substitute(inner, true);
       c.result_null = inner.result_null;
       return result;
     }},
    {"array_replace", [](FunctionCall& c) { return substitute(c, false); }},
    {"array_position", position},
    {"array_position_start", position},
    {"array_positions", positions},
    {"arraycontains",
     [](FunctionCall& c) { return Datum::from_bool(contains(c, view(c, 0), view(c, 1), true)); }},
    {"arraycontained",
     [](FunctionCall& c) { return Datum::from_bool(contains(c, view(c, 1), view(c, 0), true)); }},
    {"arrayoverlap",
     [](FunctionCall& c) { return Datum::from_bool(contains(c, view(c, 0), view(c, 1), false)); }},
    {"array_ndims",
     [](FunctionCall& c) {
       const ArrayView v = view(c, 0);
       return v.ndim == 0 ? c.make_null() : Datum::from_int32(v.ndim);
     }},
    {"array_dims", dimensions},
    {"array_length",
     [](FunctionCall& c) { return dimension(c, [](const ArrayView& v, int d) { return v.lengths[d]; }); }},
    {"array_lower",
     [](FunctionCall& c) { return dimension(c, [](const ArrayView& v, int d) { return v.lower[d]; }); }},
    {"array_upper",
     [](FunctionCall& c) {
       return dimension(c, [](const ArrayView& v, int d) { return v.lower[d] + v.lengths[d] - 1; });
     }},
    {"array_cardinality", [](FunctionCall& c) { return Datum::from_int32(view(c, 0).count); }},
    {"array_fill", fill},
    {"array_fill_with_lower_bounds", fill},
    {"trim_array", trim},
    {"array_to_text", [](FunctionCall& c) { return to_text(c, c.text(1), nullptr); }},
    {"array_to_text_null",
     [](FunctionCall& c) {
       if (c.nulls[0] || c.nulls[1]) return c.make_null();
       if (c.nulls[2]) return to_text(c, c.text(1), nullptr);
       const std::string_view null_text = c.text(2);
       return to_text(c, c.text(1), &null_text);
     }},
    {"text_to_array", from_text},
    {"text_to_array_null", from_text},
    {"width_bucket_array", width_bucket},
};

}  // namespace

std::span<const BuiltinFunction> array_functions() { return kArraysFunctions; }

}  // namespace pinwheel::sql::functions
