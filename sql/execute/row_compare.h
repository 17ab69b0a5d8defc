#pragma once

#include <span>
#include <vector>

#include "sql/execute/packed_row.h"
#include "sql/plan/plan.h"
#include "sql/types/compare.h"

namespace pinwheel::sql {

/// Compares rows by sort keys, and hashes and equates them by the same columns. `scratch` serves toasted
/// values and is the owner's to reset.
class RowComparer {
 public:
  RowComparer(std::span<const SortKey> keys, Arena* scratch);
  void set_detoaster(Detoaster* detoaster) {
    for (Key& key : keys_) key.context.detoaster = detoaster;
  }

  int compare(const Datum* a, const bool* a_nulls, const Datum* b, const bool* b_nulls) const {
    for (const Key& key : keys_) {
      const bool a_null = a_nulls[key.column];
      const bool b_null = b_nulls[key.column];
      if (a_null || b_null) {
        if (a_null && b_null) continue;
        return a_null == key.nulls_first ? -1 : 1;
      }
      const int order = key.compare(a[key.column], b[key.column], key.context);
      if (order != 0) return key.descending ? -order : order;
    }
    return 0;
  }
  /// NULLs equal each other.
  bool equal(const Datum* a, const bool* a_nulls, const Datum* b, const bool* b_nulls) const {
    for (const Key& key : keys_) {
      const bool a_null = a_nulls[key.column];
      const bool b_null = b_nulls[key.column];
      if (a_null != b_null) return false;
      if (a_null) continue;
      const Datum x = a[key.column];
      const Datum y = b[key.column];
      if (key.by_bits ? x.bits != y.bits : !key.equal(x, y, key.context)) return false;
    }
    return true;
  }
  std::uint64_t hash(const Datum* values, const bool* nulls) const;
  bool empty() const { return keys_.empty(); }

 private:
  struct Key {
    int column;
    bool descending, nulls_first;
    bool by_bits;
    CompareFn compare;
    EqualFn equal;
    HashFn hash;
    CompareContext context;
  };
  std::vector<Key> keys_;
};

/// Whether equal values of the type have equal bits.
bool equal_by_bits(Oid type);

}  // namespace pinwheel::sql
