#pragma once

#include <cstdint>

#include "base/arena.h"
#include "storage/heap/tuple_layout.h"
#include "storage/toast/toast_store.h"

namespace pinwheel::storage {

/// Tuples longer than this are shortened: four fit on a page.
inline constexpr std::size_t kToastThreshold = 2000;

/// Hands out value ids; the owner takes OIDs.
class ToastIdSource {
 public:
  virtual ~ToastIdSource() = default;
  virtual std::uint32_t next_value_id() = 0;
};

/// lz4 form of a plain varlena in `arena`, or nullptr when it saves less than a quarter.
const std::byte* compress_varlena(const std::byte* value, Arena& arena);

/// Shortens a row until its tuple is at most kToastThreshold bytes, in PostgreSQL's order: compress extended
/// values, longest first; move extended and external values out of line, longest first; compress main values;
/// move main values out of line. Replaces entries of `values` by pointers into `arena`. Without a store
/// (`store` null) only compression is done.
void toast_values(const TupleLayout& layout, std::uint64_t* values, const bool* nulls, ToastStore* store,
                  ToastIdSource* ids, const WriteContext& context, Arena& arena);

/// Deletes the out-of-line values of a removed version that `kept` (the new version's values, or null) does
/// not use any more.
void remove_toasted(const TupleLayout& layout, const HeapTupleView& old_tuple,
                    const std::uint64_t* kept_values, const bool* kept_nulls, ToastStore& store,
                    const WriteContext& context);

}  // namespace pinwheel::storage
