#include "sql/execute/packed_row.h"

#include <cstring>

#include "sql/types/type_info.h"

namespace pinwheel::sql {

void RowFormat::add(Oid type) {
  const TypeInfo* info = find_type(type);
  // pseudo-types of made rows (unknown, void...) have facts too; what is not built in is a varlena
  columns_.push_back(info != nullptr ? Shape{info->length, info->by_value} : Shape{-1, false});
  all_by_value_ = all_by_value_ && columns_.back().by_value;
}

RowFormat::RowFormat(std::span<Expr* const> columns) {
  for (const Expr* e : columns) add(e->type.type);
}
RowFormat::RowFormat(std::span<const ExprType> columns) {
  for (const ExprType& type : columns) add(type.type);
}

std::size_t RowFormat::packed_size(const Datum* values, const bool* nulls) const {
  const std::size_t n = columns_.size();
  std::size_t size = sizeof(PackedRow) + n * (sizeof(Datum) + 1);
  if (!all_by_value_) {
    for (std::size_t i = 0; i < n; ++i) {
      if (!nulls[i] && !columns_[i].by_value) size += datum_size(values[i], columns_[i].length);
    }
  }
  return (size + 7) & ~std::size_t{7};
}

PackedRow* RowFormat::pack(const Datum* values, const bool* nulls, std::size_t size_bytes, void* to) const {
  const std::size_t n = columns_.size();
  auto* row = static_cast<PackedRow*>(to);
  row->size_bytes = static_cast<std::uint32_t>(size_bytes);
  row->columns = static_cast<std::uint32_t>(n);
  row->hash = 0;
  std::memcpy(row->values(), values, n * sizeof(Datum));
  std::memcpy(row->nulls(), nulls, n);
  if (all_by_value_) return row;
  auto* at = reinterpret_cast<std::uint8_t*>(row->nulls() + n);
  for (std::size_t i = 0; i < n; ++i) {
    if (nulls[i] || columns_[i].by_value) continue;
    const std::size_t size = datum_size(values[i], columns_[i].length);
    std::memcpy(at, values[i].as_pointer(), size);
    row->values()[i] = Datum::from_pointer(at);
    at += size;
  }
  return row;
}

void RowFormat::detach(PackedRow& row, std::uintptr_t base) const {
  if (all_by_value_) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!row.nulls()[i] && !columns_[i].by_value) row.values()[i].bits -= base;
  }
}

void RowFormat::attach(PackedRow& row) const {
  if (all_by_value_) return;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!row.nulls()[i] && !columns_[i].by_value)
      row.values()[i].bits += reinterpret_cast<std::uintptr_t>(&row);
  }
}

}  // namespace pinwheel::sql
