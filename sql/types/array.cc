#include "sql/types/array.h"

#include "sql/types/io_errors.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

namespace {

constexpr std::uint32_t kHasNulls = 1;
constexpr std::size_t kFixedHeader = 12;

[[noreturn]] void throw_corrupt() { throw SqlError{sqlstate::kDataCorrupted, "array value is corrupt"}; }

/// Bytes an element takes inside an array. Varlena elements are stored plain or as they come.
std::size_t element_size(Datum value, int length) { return datum_size(value, length); }

}  // namespace

ArrayView view_array(Datum v) {
  const std::string_view payload = var_view(v);
  const auto* p = reinterpret_cast<const std::uint8_t*>(payload.data());
  ArrayView view;
  if (payload.size() < kFixedHeader) throw_corrupt();
  view.ndim = load<std::int32_t>(p);
  view.has_nulls = load<std::uint32_t>(p + 4) & kHasNulls;
  view.element = Oid{load<std::uint32_t>(p + 8)};
  view.end = p + payload.size();
  if (view.ndim < 0 || view.ndim > kMaxDimensions) throw_corrupt();
  std::size_t at = kFixedHeader + 8 * static_cast<std::size_t>(view.ndim);
  if (at > payload.size()) throw_corrupt();
  std::int64_t count = view.ndim > 0;
  for (int i = 0; i < view.ndim; ++i) {
    view.lengths[i] = load<std::int32_t>(p + kFixedHeader + 8 * i);
    view.lower[i] = load<std::int32_t>(p + kFixedHeader + 8 * i + 4);
    if (view.lengths[i] < 0) throw_corrupt();
    count *= view.lengths[i];
    if (count > kMaxArrayElements) throw_corrupt();
  }
  view.count = static_cast<int>(count);
  if (view.has_nulls) {
    view.null_bitmap = p + at;
    at += static_cast<std::size_t>(view.count + 7) / 8;
    if (at > payload.size()) throw_corrupt();
  }
  view.data = p + at;
  return view;
}

ArrayReader::ArrayReader(const ArrayView& view) : view_{view}, at_{view.data} {
  const TypeInfo* element = find_type(view.element);
  // Types made by users: enums by value, all others (composites, domains) varlena.
  length_ = element ? element->length : -1;
  by_value_ = element != nullptr && element->by_value;
}

bool ArrayReader::next(Datum* value, bool* is_null) {
  if (index_ == view_.count) return false;
  *is_null = view_.is_null(index_++);
  if (*is_null) {
    *value = Datum{};
    return true;
  }
  if (at_ >= view_.end) throw_corrupt();
  if (by_value_) {
    *value = fetch_by_value(at_, length_);
    at_ += length_;
  } else {
    *value = Datum::from_pointer(at_);
    at_ += element_size(*value, length_);
  }
  return true;
}

Datum build_array(Arena& arena, Oid element, int ndim, const int* lengths, const int* lower,
                  const Datum* values, const bool* nulls) {
  const TypeInfo* type = find_type(element);
  const int length = type ? type->length : -1;
  const bool by_value = type && type->by_value;
  std::int64_t count = ndim > 0;
  for (int i = 0; i < ndim; ++i) count *= lengths[i];
  if (count > kMaxArrayElements) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "array size exceeds the maximum allowed (134217727)"};
  }
  bool has_nulls = false;
  std::size_t size = kFixedHeader + 8 * static_cast<std::size_t>(ndim);
  for (std::int64_t i = 0; i < count; ++i) {
    if (nulls && nulls[i]) {
      has_nulls = true;
    } else {
      size += element_size(values[i], length);
    }
  }
  const std::size_t bitmap = has_nulls ? static_cast<std::size_t>(count + 7) / 8 : 0;
  size += bitmap;
  char* to;
  Datum result = new_var(arena, size, &to);
  store<std::int32_t>(to, ndim);
  store<std::uint32_t>(to + 4, has_nulls ? kHasNulls : 0);
  store<std::uint32_t>(to + 8, element.value);
  to += kFixedHeader;
  for (int i = 0; i < ndim; ++i) {
    store<std::int32_t>(to, lengths[i]);
    store<std::int32_t>(to + 4, lower ? lower[i] : 1);
    to += 8;
  }
  auto* bits = reinterpret_cast<std::uint8_t*>(to);
  std::memset(bits, 0, bitmap);
  to += bitmap;
  for (std::int64_t i = 0; i < count; ++i) {
    if (nulls && nulls[i]) continue;
    if (has_nulls) bits[i >> 3] |= static_cast<std::uint8_t>(1 << (i & 7));
    const std::size_t bytes = element_size(values[i], length);
    if (by_value) {
      store_by_value(to, values[i], length);
    } else {
      std::memcpy(to, values[i].as_pointer(), bytes);
    }
    to += bytes;
  }
  return result;
}

Datum build_array(Arena& arena, Oid element, const Datum* values, const bool* nulls, int count) {
  const int lower = 1;
  return build_array(arena, element, count == 0 ? 0 : 1, &count, &lower, values, nulls);
}

namespace {
template <class T>
Datum make_vector(Arena& arena, Oid element, std::span<const T> values, auto convert) {
  const int count = static_cast<int>(values.size());
  auto* datums = arena.make_array<Datum>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) datums[i] = convert(values[i]);
  const int lower = 0;
  return build_array(arena, element, 1, &count, &lower, datums, nullptr);
}
}  // namespace

Datum make_int2vector(Arena& arena, std::span<const std::int16_t> values) {
  return make_vector(arena, kInt2Type, values, [](std::int16_t v) { return Datum::from_int16(v); });
}
Datum make_oidvector(Arena& arena, std::span<const Oid> values) {
  return make_vector(arena, kOidType, values, [](Oid v) { return Datum::from_oid(v); });
}

int deconstruct_array(Arena& arena, const ArrayView& view, Datum** values, bool** nulls) {
  *values = arena.make_array<Datum>(static_cast<std::size_t>(view.count));
  *nulls = arena.make_array<bool>(static_cast<std::size_t>(view.count));
  ArrayReader reader{view};
  for (int i = 0; i < view.count; ++i) reader.next(*values + i, *nulls + i);
  return view.count;
}

}  // namespace pinwheel::sql
