#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "sql/execute/node_base.h"
#include "sql/execute/table_state.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"
#include "storage/btree/scan.h"

namespace pinwheel::sql {

inline storage::BTreeTest tree_test(KeyTest test) {
  switch (test) {
    case KeyTest::kLess:
      return storage::BTreeTest::kLess;
    case KeyTest::kLessEqual:
      return storage::BTreeTest::kLessEqual;
    case KeyTest::kGreaterEqual:
      return storage::BTreeTest::kGreaterEqual;
    case KeyTest::kGreater:
      return storage::BTreeTest::kGreater;
    case KeyTest::kIsNull:
      return storage::BTreeTest::kIsNull;
    case KeyTest::kNotNull:
      return storage::BTreeTest::kNotNull;
    default:
      return storage::BTreeTest::kEqual;
  }
}

/// The keys of an index scan at run time: values computed, `= ANY (array)` turned into one scan per element.
class KeyRunner {
 public:
  KeyRunner(const IndexScanPlan& p, RunState& r, ProgramCompiler compiler)
      : plan_{p}, arena_{&r.budget}, count_{p.keys.size()} {
    keys_ = r.state_arena.make_array<storage::BTreeScanKey>(count_ + 1);
    values_ = r.state_arena.make_array<Datum>(count_ + 1);
    nulls_ = r.state_arena.make_array<bool>(count_ + 1);
    comparisons_ = std::make_unique<KeyComparison[]>(count_ + 1);
    std::vector<const Expr*> exprs;
    value_index_ = r.state_arena.make_array<int>(count_ + 1);
    for (std::size_t i = 0; i < count_; ++i) {
      const ScanKey& key = p.keys[i];
      keys_[i].column = static_cast<std::uint16_t>(key.column);
      keys_[i].test = tree_test(key.test);
      value_index_[i] = -1;
      if (key.value != nullptr) {
        value_index_[i] = static_cast<int>(exprs.size());
        exprs.push_back(key.value);
      }
      if (key.test == KeyTest::kEqualAny) has_arrays_ = true;
      const auto& column = p.info->keys[static_cast<std::size_t>(key.column)];
      const bool by_bits =
          key_order_of(column.type) == storage::KeyOrder::kSigned && is_integer(key.value_type);
      if (is_valid(key.function) && !by_bits) {
        comparisons_[i].compare = find_compare_procedure(key.function);
        if (comparisons_[i].compare == nullptr)
          comparisons_[i].compare = find_cross_compare(column.type, key.value_type);
        comparisons_[i].context.collation = key.collation;
        if (comparisons_[i].compare != nullptr) {
          keys_[i].compare = compare_keys;
          keys_[i].context = &comparisons_[i];
          plain_ = false;
        }
      }
      const TypeInfo* type = find_type(key.value_type);
      if (type == nullptr || !type->by_value) by_value_ = false;
      if (key.test != KeyTest::kEqual || key.column != static_cast<int>(i)) point_ = false;
    }
    program_ = compiler.into(exprs, values_, nulls_);
    point_ = point_ && plain_ && count_ == static_cast<std::size_t>(p.info->key_count) && count_ > 0;
  }

  /// Every key column is compared by "=" with a value of its own type (or an integer).
  bool is_point() const { return point_; }

  /// Computes the values; false when no entry can match. The frame's arena takes scratch.
  bool begin(EvalFrame& frame) {
    Arena* saved = frame.arena;
    if (!by_value_) arena_.reset();
    frame.arena = &arena_;
    program_->run(frame);
    frame.arena = saved;
    bool possible = true;
    for (std::size_t i = 0; i < count_; ++i) {
      if (value_index_[i] < 0) continue;
      const auto at = static_cast<std::size_t>(value_index_[i]);
      if (nulls_[at]) possible = false;
      Datum value = values_[at];
      if (!nulls_[at] && !by_value_) value = own_copy(plan_.keys[i], value, *frame.eval);
      keys_[i].is_null = nulls_[at];
      keys_[i].value = value.bits;
      values_[at] = value;
    }
    if (possible && has_arrays_) possible = begin_arrays();
    return possible;
  }
  /// The next combination of array elements; false after the last.
  bool next_combination() {
    if (!has_arrays_) return false;
    for (std::size_t a = arrays_.size(); a-- > 0;) {
      if (++arrays_[a].at < arrays_[a].values.size()) {
        apply(arrays_[a]);
        return true;
      }
      arrays_[a].at = 0;
      apply(arrays_[a]);
    }
    return false;
  }
  std::span<const storage::BTreeScanKey> keys() const { return {keys_, count_}; }
  const std::uint64_t* point_values() const { return reinterpret_cast<const std::uint64_t*>(values_); }

 private:
  struct Elements {
    std::size_t key;
    std::vector<Datum> values;
    std::size_t at = 0;
  };

  static bool is_integer(Oid type) { return key_order_of(type) == storage::KeyOrder::kSigned; }

  /// Values stay while the scan runs: copies of by-reference ones, detoasted.
  Datum own_copy(const ScanKey& key, Datum value, EvalContext& eval) {
    if (key.test == KeyTest::kEqualAny) {
      return needs_detoast(value) ? detoast(value, arena_, eval.detoaster) : value;
    }
    const TypeInfo* type = find_type(key.value_type);
    if (type == nullptr || type->by_value || type->length != -1) return value;
    return needs_detoast(value) ? detoast(value, arena_, eval.detoaster) : value;
  }

  bool begin_arrays() {
    arrays_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
      const ScanKey& key = plan_.keys[i];
      if (key.test != KeyTest::kEqualAny) continue;
      Elements elements;
      elements.key = i;
      const Datum array = values_[static_cast<std::size_t>(value_index_[i])];
      const ArrayView view = view_array(needs_detoast(array) ? detoast(array, arena_, nullptr) : array);
      ArrayReader reader{view};
      Datum value;
      bool is_null;
      while (reader.next(&value, &is_null)) {
        if (!is_null) elements.values.push_back(value);
      }
      const auto& column = plan_.info->keys[static_cast<std::size_t>(key.column)];
      const CompareFn compare = find_compare(key.value_type);
      const CompareContext context{key.collation, &arena_, nullptr};
      const bool flip = column.descending != (plan_.direction == ScanDirection::kBackward);
      std::sort(elements.values.begin(), elements.values.end(), [&](Datum a, Datum b) {
        return flip ? compare(a, b, context) > 0 : compare(a, b, context) < 0;
      });
      elements.values.erase(std::unique(elements.values.begin(), elements.values.end(),
                                        [&](Datum a, Datum b) { return compare(a, b, context) == 0; }),
                            elements.values.end());
      if (elements.values.empty()) return false;
      arrays_.push_back(std::move(elements));
      apply(arrays_.back());
    }
    return true;
  }
  void apply(const Elements& elements) {
    keys_[elements.key].value = elements.values[elements.at].bits;
    keys_[elements.key].is_null = false;
  }

  const IndexScanPlan& plan_;
  Arena arena_;
  std::size_t count_;
  storage::BTreeScanKey* keys_;
  Datum* values_;
  bool* nulls_;
  int* value_index_;
  std::unique_ptr<KeyComparison[]> comparisons_;
  const Program* program_;
  std::vector<Elements> arrays_;
  bool has_arrays_ = false;
  bool plain_ = true;
  bool point_ = true;
  bool by_value_ = true;
};

}  // namespace pinwheel::sql
