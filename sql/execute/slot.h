#pragma once

#include <cstdint>

#include "base/ids.h"
#include "sql/types/datum.h"

namespace pinwheel::sql {

/// One row as values with null flags. Nodes own their slots and pass pointers; what by-reference values point
/// to lives until the owning node makes its next row.
///
/// A row that comes straight from a heap page is read lazily: only the first `valid` columns are filled, the
/// rest on demand by deform_slot() (sql/execute/scan_slot.h), from the pinned tuple.
struct Slot {
  Datum* values = nullptr;
  bool* nulls = nullptr;
  int count = 0;  ///< columns
  int valid = 0;  ///< columns filled so far

  // rows of tables only
  const std::byte* tuple = nullptr;  ///< tuple header, on the pinned page or in an arena
  std::uint32_t tuple_size = 0;
  TupleId tid;
  Oid table;
  const void* layout = nullptr;     ///< the relation's (storage::TupleLayout), for deforming
  std::uint32_t deform_offset = 0;  ///< where deforming goes on
};

}  // namespace pinwheel::sql
