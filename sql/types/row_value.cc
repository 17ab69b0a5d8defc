#include "sql/types/row_value.h"

#include <cstring>

#include "sql/types/type_info.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {

constexpr std::size_t kHeadBytes = 12;
constexpr std::size_t kFieldHeadBytes = 8;

struct Shape {
  int length;
  bool by_value;
};
/// Types that are not built in are row types: varlenas.
Shape shape_of(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr ? Shape{info->length, info->by_value} : Shape{-1, false};
}

}  // namespace

RowView view_row(Datum v) {
  const std::string_view payload = var_view(v);
  RowView view;
  view.type = Oid{load<std::uint32_t>(payload.data())};
  view.count = load<std::int32_t>(payload.data() + 8);
  view.fields = reinterpret_cast<const std::uint8_t*>(payload.data()) + kHeadBytes;
  return view;
}

void read_row(const RowView& view, Oid* types, Datum* values, bool* nulls) {
  const std::uint8_t* at = view.fields;
  for (int i = 0; i < view.count; ++i) {
    types[i] = Oid{load<std::uint32_t>(at)};
    const auto size = load<std::int32_t>(at + 4);
    at += kFieldHeadBytes;
    nulls[i] = size < 0;
    values[i] = Datum{};
    if (size < 0) continue;
    values[i] = shape_of(types[i]).by_value ? Datum{load<std::uint64_t>(at)} : Datum::from_pointer(at);
    at += size;
  }
}

Datum make_row(Arena& arena, Oid row_type, std::span<const Oid> types, const Datum* values,
               const bool* nulls) {
  std::size_t total = kHeadBytes;
  for (std::size_t i = 0; i < types.size(); ++i) {
    total += kFieldHeadBytes;
    if (nulls[i]) continue;
    const Shape shape = shape_of(types[i]);
    total += shape.by_value ? 8 : datum_size(values[i], shape.length);
  }
  char* at;
  const Datum row = new_var(arena, total, &at);
  store(at, row_type.value);
  store(at + 4, std::int32_t{-1});
  store(at + 8, static_cast<std::int32_t>(types.size()));
  at += kHeadBytes;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Shape shape = shape_of(types[i]);
    const std::int32_t size = nulls[i] ? -1
                              : shape.by_value
                                  ? 8
                                  : static_cast<std::int32_t>(datum_size(values[i], shape.length));
    store(at, types[i].value);
    store(at + 4, size);
    at += kFieldHeadBytes;
    if (nulls[i]) continue;
    if (shape.by_value)
      store(at, values[i].bits);
    else
      std::memcpy(at, values[i].as_pointer(), static_cast<std::size_t>(size));
    at += size;
  }
  return row;
}

}  // namespace pinwheel::sql
