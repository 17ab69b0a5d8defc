#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "sql/types/datum.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

inline constexpr int kMaxDimensions = 6;
inline constexpr int kMaxArrayElements = 0x7FFFFFF;

/// Read side of an array value. The payload of the varlena is
///
///   i32 dimension count (0 = empty) | u32 flags (1 = has nulls) | u32 element type | i32 length and i32
///   lower bound per dimension | null bitmap when flagged (bit set = present) | elements, packed without
///   padding
///
/// int2vector and oidvector are such arrays with one dimension and lower bound 0.
struct ArrayView {
  int ndim = 0;
  Oid element{};
  bool has_nulls = false;
  int lengths[kMaxDimensions]{};
  int lower[kMaxDimensions]{};
  int count = 0;  // of all elements
  const std::uint8_t* null_bitmap = nullptr;
  const std::uint8_t* data = nullptr;
  const std::uint8_t* end = nullptr;

  bool is_null(int index) const { return null_bitmap && !(null_bitmap[index >> 3] & (1 << (index & 7))); }
};

/// `v` must be plain (detoasted). Errors: XX000 when the bytes contradict themselves.
ArrayView view_array(Datum v);

/// Walks the elements of an array in storage order.
class ArrayReader {
 public:
  /// `element_length` and `by_value` as TypeInfo says of view.element.
  ArrayReader(const ArrayView& view, int element_length, bool by_value)
      : view_{view}, at_{view.data}, length_{element_length}, by_value_{by_value} {}
  explicit ArrayReader(const ArrayView& view);
  /// False at the end.
  bool next(Datum* value, bool* is_null);

 private:
  const ArrayView& view_;
  const std::uint8_t* at_;
  int index_ = 0;
  int length_;
  bool by_value_;
};

/// Builds an array in `arena`. `nulls` may be null. ndim 0 gives the empty array. Elements are copied.
Datum build_array(Arena& arena, Oid element, int ndim, const int* lengths, const int* lower,
                  const Datum* values, const bool* nulls);
/// One dimension, lower bound 1; an empty array when count is 0.
Datum build_array(Arena& arena, Oid element, const Datum* values, const bool* nulls, int count);

Datum make_int2vector(Arena& arena, std::span<const std::int16_t> values);
Datum make_oidvector(Arena& arena, std::span<const Oid> values);

/// All elements as arrays in `arena`; returns the count.
int deconstruct_array(Arena& arena, const ArrayView& view, Datum** values, bool** nulls);

}  // namespace pinwheel::sql
