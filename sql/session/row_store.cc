#include "sql/session/row_store.h"

#include "sql/types/type_info.h"

namespace pinwheel::sql {

RowStore::RowStore(std::span<const ResultColumn> columns, ArenaBudget* budget) : arena_{budget} {
  columns_ = {arena_.make_array<ResultColumn>(columns.size()), columns.size()};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns_[i] = columns[i];
    columns_[i].name = arena_.copy(columns[i].name);
    const TypeInfo* type = find_type(columns[i].type);
    widths_.push_back(type != nullptr ? Width{type->length, type->by_value} : Width{-1, false});
  }
}

void RowStore::row(const Slot& slot) {
  const std::size_t count = columns_.size();
  Row row{arena_.make_array<Datum>(count), arena_.make_array<bool>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    row.nulls[i] = slot.nulls[i];
    if (!slot.nulls[i])
      row.values[i] = copy_datum(slot.values[i], widths_[i].length, widths_[i].by_value, arena_);
  }
  rows_.push_back(row);
}

Slot RowStore::at(std::size_t index) const {
  Slot slot;
  slot.values = rows_[index].values;
  slot.nulls = rows_[index].nulls;
  slot.count = slot.valid = static_cast<int>(columns_.size());
  return slot;
}

}  // namespace pinwheel::sql
