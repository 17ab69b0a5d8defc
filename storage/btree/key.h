#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "storage/file/relation_files.h"
#include "storage/heap/tuple_layout.h"

namespace pinwheel::storage {

/// Most columns of an index, INCLUDE columns counted (PostgreSQL: INDEX_MAX_KEYS).
inline constexpr std::size_t kMaxIndexColumns = 32;

/// <0, 0, >0 for two values that are not null. `context` is the column's (or scan key's) own: collation,
/// scratch memory... Must be a total order, must not park, and must not throw for values that an index holds.
using KeyCompare = int (*)(std::uint64_t a, std::uint64_t b, const void* context);

/// How values of a key column are ordered. By-value types whose 8 bits-extended datums order like integers
/// need no call per comparison.
enum class KeyOrder : std::uint8_t {
  kSigned,    // int2, int4, int8, date, timestamp, bool...: as signed 64-bit integers, across widths
  kUnsigned,  // oid...: as unsigned 64-bit integers of the sign-extended value
  kFunction,  // KeyColumn::compare decides
};

/// One column that orders an index.
struct KeyColumn {
  KeyOrder order = KeyOrder::kFunction;
  bool descending = false;
  bool nulls_first = false;      // in the index's own order
  KeyCompare compare = nullptr;  // kFunction
  const void* context = nullptr;
};

/// What a B-tree must know of an index: made once per catalog entry, outlives every BTree made of it.
struct BTreeIndex {
  FileId file;
  Persistence persistence = Persistence::kPermanent;
  /// All columns: keys, then INCLUDE columns.
  TupleLayout layout;
  /// The columns that order the index: the first of `layout`.
  std::vector<KeyColumn> keys;
  bool unique = false;
  /// UNIQUE NULLS NOT DISTINCT: nulls equal each other in unique checks.
  bool nulls_not_distinct = false;
  std::uint16_t fill_factor = 90;  // percent of a leaf that builds and rightmost splits fill
  /// For error messages.
  std::string name;
};

}  // namespace pinwheel::storage
