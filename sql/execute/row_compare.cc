#include "sql/execute/row_compare.h"

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/index_handle.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

bool equal_by_bits(Oid type) { return key_order_of(type) != storage::KeyOrder::kFunction; }

RowComparer::RowComparer(std::span<const SortKey> keys, Arena* scratch) {
  for (const SortKey& key : keys) {
    Key made{};
    made.column = key.column;
    made.descending = key.descending;
    made.nulls_first = key.nulls_first;
    made.by_bits = equal_by_bits(key.type);
    made.compare = find_compare(key.type);
    made.equal = find_equal(key.type);
    made.hash = find_hash(key.type);
    made.context.collation = key.collation;
    made.context.arena = scratch;
    if (made.compare == nullptr && made.equal == nullptr) {
      throw SqlError{sqlstate::kUndefinedFunction, "could not identify an ordering operator for type " +
                                                       format_builtin_type(key.type, -1, false)}
          .hint("Use an explicit ordering operator or modify the query.");
    }
    keys_.push_back(made);
  }
}

std::uint64_t RowComparer::hash(const Datum* values, const bool* nulls) const {
  std::uint64_t h = 0x9E3779B97F4A7C15ull;
  for (const Key& key : keys_) {
    const std::uint64_t one = nulls[key.column] ? 0x51ED270B : key.hash(values[key.column], key.context);
    h = (h ^ one) * 0x9FB21C651E98DF25ull;
    h ^= h >> 32;
  }
  return h;
}

}  // namespace pinwheel::sql
