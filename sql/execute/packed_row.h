#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/arena.h"
#include "sql/execute/slot.h"
#include "sql/query/expression.h"

namespace pinwheel::sql {

/// One row in one piece of memory: this header, the datums, the null flags, then the bytes of by-reference
/// values, to which the datums point. On disk the pointers are offsets from the row's start.
struct PackedRow {
  std::uint32_t size_bytes;
  std::uint32_t columns;
  std::uint64_t hash;  ///< free for the owner's use

  Datum* values() { return reinterpret_cast<Datum*>(this + 1); }
  const Datum* values() const { return reinterpret_cast<const Datum*>(this + 1); }
  bool* nulls() { return reinterpret_cast<bool*>(values() + columns); }
  const bool* nulls() const { return reinterpret_cast<const bool*>(values() + columns); }
};
static_assert(sizeof(PackedRow) == 16);

/// The column shapes that packing needs.
class RowFormat {
 public:
  RowFormat() = default;
  explicit RowFormat(std::span<Expr* const> columns);
  explicit RowFormat(std::span<const ExprType> columns);

  int count() const { return static_cast<int>(columns_.size()); }
  std::size_t packed_size(const Datum* values, const bool* nulls) const;
  /// Copies a row to `to` (packed_size() bytes, 8-aligned).
  PackedRow* pack(const Datum* values, const bool* nulls, std::size_t size_bytes, void* to) const;
  PackedRow* pack(const Datum* values, const bool* nulls, Arena& arena) const {
    const std::size_t size = packed_size(values, nulls);
    return pack(values, nulls, size, arena.allocate(size));
  }
  /// Pointers into the row at `base` become offsets; attach() makes them pointers into `row`.
  void detach(PackedRow& row, std::uintptr_t base) const;
  void attach(PackedRow& row) const;

 private:
  struct Shape {
    std::int16_t length;
    bool by_value;
  };
  void add(Oid type);
  std::vector<Shape> columns_;
  bool all_by_value_ = true;
};

}  // namespace pinwheel::sql
