#include "sql/types/type_info.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "sql/types/io_functions.h"

namespace pinwheel::sql {

namespace {

constexpr TypeInfo kTypes[] = {
#include "sql/types/type_table.inc"
};
constexpr std::size_t kTypeCount = std::size(kTypes);
constexpr std::uint32_t kIndexSize = 8192;  // all built-in type oids are below

constexpr auto make_index() {
  std::array<std::uint8_t, kIndexSize> index{};
  for (std::size_t i = 0; i < kTypeCount; ++i) index[kTypes[i].oid.value] = static_cast<std::uint8_t>(i + 1);
  return index;
}
static_assert(kTypeCount < 255 && kTypes[kTypeCount - 1].oid.value < kIndexSize);
constexpr auto kIndex = make_index();

}  // namespace

const TypeInfo* find_type(Oid oid) {
  if (oid.value >= kIndexSize) return nullptr;
  const std::uint8_t at = kIndex[oid.value];
  return at == 0 ? nullptr : &kTypes[at - 1];
}

const TypeInfo* find_type(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeInfo& t) { return t.name == name; });
  return it == std::end(kTypes) ? nullptr : it;
}

const TypeInfo& type_info(Oid oid) {
  const TypeInfo* type = find_type(oid);
  DB_ASSERT(type != nullptr);
  return *type;
}

std::span<const TypeInfo> builtin_types() { return kTypes; }

Datum input_value(const TypeInfo& type, std::string_view text, Arena& arena, EvalContext& eval, int typmod) {
  return type.input(text, IoContext{arena, eval, type.oid, typmod});
}

std::string output_value(const TypeInfo& type, Datum value, Arena& arena, EvalContext& eval) {
  std::string out;
  type.output(value, IoContext{arena, eval, type.oid, -1}, out);
  return out;
}

std::size_t datum_size(Datum value, int length) {
  if (length > 0) return static_cast<std::size_t>(length);
  return length == -1 ? var_total(value) : std::strlen(value.as_chars()) + 1;
}

Datum copy_datum(Datum value, int length, bool by_value, Arena& arena) {
  if (by_value) return value;
  const std::size_t size = datum_size(value, length);
  void* to = arena.allocate(size, 8);
  std::memcpy(to, value.as_pointer(), size);
  return Datum::from_pointer(to);
}

}  // namespace pinwheel::sql
