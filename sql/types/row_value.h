#pragma once

#include <cstdint>
#include <span>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// Rows as values (type record and the row types of tables): a varlena whose payload is
///
///   u32 row type (2249 = record) | i32 typmod | i32 field count | then per field: u32 type, i32 size in
///   bytes or -1 for NULL, and the bytes: by-value types as 8 bytes, others as they are stored
struct RowView {
  Oid type;
  int count = 0;
  const std::uint8_t* fields = nullptr;
};

/// `v` must be plain (detoasted).
RowView view_row(Datum v);
/// Walks all fields from the first. The arrays hold view.count entries.
void read_row(const RowView& view, Oid* types, Datum* values, bool* nulls);
/// External values must have been detoasted.
Datum make_row(Arena& arena, Oid row_type, std::span<const Oid> types, const Datum* values,
               const bool* nulls);

}  // namespace pinwheel::sql
