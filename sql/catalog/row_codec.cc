#include "sql/catalog/row_codec.h"

#include <cstring>

#include "sql/types/array.h"
#include "sql/types/type_oids.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {
constexpr std::size_t kAclItemBytes = sizeof(AclItem);

/// Calls `take` with every element; catalogs' arrays hold no nulls.
template <class Take>
void each_element(Datum value, int length, bool by_value, Arena& arena, Detoaster* detoaster, Take take) {
  const ArrayView view = view_array(detoast(value, arena, detoaster));
  ArrayReader reader{view, length, by_value};
  Datum element;
  bool is_null;
  while (reader.next(&element, &is_null)) {
    if (!is_null) take(element);
  }
}
}  // namespace

void RowReader::read(Datum value, const SystemColumn& column, std::string& field) {
  if (column.type == kNameType) {
    field = name_view(value);
  } else {
    field = var_view(detoast(value, arena_, detoaster_));
  }
}

void RowReader::read(Datum value, const SystemColumn&, std::vector<std::int16_t>& field) {
  field.clear();
  each_element(value, 2, true, arena_, detoaster_,
               [&](Datum element) { field.push_back(element.as_int16()); });
}

void RowReader::read(Datum value, const SystemColumn&, std::vector<Oid>& field) {
  field.clear();
  each_element(value, 4, true, arena_, detoaster_, [&](Datum element) { field.push_back(element.as_oid()); });
}

void RowReader::read(Datum value, const SystemColumn&, std::vector<float>& field) {
  field.clear();
  each_element(value, 4, true, arena_, detoaster_,
               [&](Datum element) { field.push_back(element.as_float4()); });
}

void RowReader::read(Datum value, const SystemColumn&, std::vector<std::string>& field) {
  field.clear();
  each_element(value, -1, false, arena_, detoaster_,
               [&](Datum element) { field.emplace_back(var_view(detoast(element, arena_, detoaster_))); });
}

void RowReader::read(Datum value, const SystemColumn&, std::vector<AclItem>& field) {
  field.clear();
  each_element(value, kAclItemBytes, false, arena_, detoaster_,
               [&](Datum element) { field.push_back(load<AclItem>(element.as_pointer())); });
}

void RowReader::read(Datum value, const SystemColumn&, AnyValue& field) {
  field.present = true;
  field.value = copy_var(arena_, detoast(value, arena_, detoaster_));
}

Datum RowWriter::write(const SystemColumn& column, const std::string& field) {
  return column.type == kNameType ? make_name(arena_, field) : make_text(arena_, field);
}

Datum RowWriter::write(const SystemColumn& column, const std::vector<std::int16_t>& field) {
  if (column.type == kInt2VectorType) return make_int2vector(arena_, field);
  if (field.empty()) return null();
  Datum* elements = arena_.make_array<Datum>(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) elements[i] = Datum::from_int16(field[i]);
  return build_array(arena_, kInt2Type, elements, nullptr, static_cast<int>(field.size()));
}

Datum RowWriter::write(const SystemColumn& column, const std::vector<Oid>& field) {
  if (column.type == kOidVectorType) return make_oidvector(arena_, field);
  if (field.empty()) return null();
  Datum* elements = arena_.make_array<Datum>(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) elements[i] = Datum::from_oid(field[i]);
  return build_array(arena_, kOidType, elements, nullptr, static_cast<int>(field.size()));
}

Datum RowWriter::write(const SystemColumn&, const std::vector<float>& field) {
  if (field.empty()) return null();
  Datum* elements = arena_.make_array<Datum>(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) elements[i] = Datum::from_float4(field[i]);
  return build_array(arena_, kFloat4Type, elements, nullptr, static_cast<int>(field.size()));
}

Datum RowWriter::write(const SystemColumn&, const std::vector<std::string>& field) {
  if (field.empty()) return null();
  Datum* elements = arena_.make_array<Datum>(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) elements[i] = make_text(arena_, field[i]);
  return build_array(arena_, kTextType, elements, nullptr, static_cast<int>(field.size()));
}

Datum RowWriter::write(const SystemColumn&, const std::vector<AclItem>& field) {
  Datum* elements = arena_.make_array<Datum>(field.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    void* bytes = arena_.allocate(kAclItemBytes, alignof(AclItem));
    std::memcpy(bytes, &field[i], kAclItemBytes);
    elements[i] = Datum::from_pointer(bytes);
  }
  return build_array(arena_, kAclItemType, elements, nullptr, static_cast<int>(field.size()));
}

Datum RowWriter::write(const SystemColumn&, const AnyValue& field) {
  return field.present ? field.value : null();
}

}  // namespace pinwheel::sql
