#include "sql/execute/scan_nodes.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "sql/execute/node_base.h"
#include "sql/execute/recheck.h"
#include "sql/execute/table_state.h"
#include "sql/types/array.h"
#include "sql/types/type_info.h"
#include "storage/btree/scan.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"

namespace pinwheel::sql {

Slot* make_table_slot(RunState& run, int range) {
  const Relation& relation = *run.plan.ranges[static_cast<std::size_t>(range)].relation;
  Slot* slot = make_slot(run.state_arena, static_cast<int>(relation.columns.size()));
  slot->table = relation.oid;
  slot->layout = &relation.layout;
  return slot;
}

namespace {

/// A scan of a table's heap: the slot, the substitute in rechecks, the recheck's extra conditions.
template <class Derived>
class TableScanNode : public ScanNode<Derived> {
 public:
  TableScanNode(const ScanPlan& p, RunState& r, ExprList key_quals)
      : ScanNode<Derived>{p, r, make_table_slot(r, p.range)}, table_{r.table(p.range)}, range_{p.range} {
    if (r.recheck != nullptr) recheck_ = this->compiler().condition(key_quals);
  }

 protected:
  /// A row in place of the scan's own.
  bool fetch_substitute() {
    if (!give_substitute(this->run, range_, *this->scan_slot_)) return false;
    return recheck_->empty() || recheck_->test(this->frame_);
  }
  bool substituted() const { return is_substituted(this->run, range_); }

  TableState& table_;
  int range_;
  const Program* recheck_ = nullptr;
};

class SeqScanNode final : public TableScanNode<SeqScanNode> {
 public:
  SeqScanNode(const SeqScanPlan& p, RunState& r) : TableScanNode{p, r, {}} {}

  bool fetch() {
    if (substituted()) return fetch_substitute();
    if (!scan_.has_value()) {
      if (done_) return false;
      scan_.emplace(table_.heap, *run.visible, &*run.oracle);
      ++table_.activity.sequential_scans;
    }
    const storage::HeapTupleView tuple = scan_->next();
    if (!tuple.valid()) {
      scan_.reset();
      done_ = true;
      return false;
    }
    ++table_.activity.sequential_tuples;
    show_tuple(*scan_slot_, tuple);
    return true;
  }
  void rewind() override {
    begin_frame();
    scan_.reset();
    done_ = false;
  }
  void close() noexcept override { scan_.reset(); }

 private:
  std::optional<storage::HeapScan<txn::MvccPredicate>> scan_;
  bool done_ = false;
};

storage::BTreeTest tree_test(KeyTest test) {
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

class IndexScanNode final : public TableScanNode<IndexScanNode> {
 public:
  IndexScanNode(const IndexScanPlan& p, RunState& r)
      : TableScanNode{p, r, p.key_quals}, plan_{p}, index_{table_.index(*p.info)}, keys_{p, r, compiler()} {}

  bool fetch() {
    if (substituted()) return fetch_substitute();
    if (state_ == State::kFresh) begin();
    for (;;) {
      if (state_ == State::kDone) return false;
      TupleId id;
      if (state_ == State::kPoint) {
        if (point_at_ == point_count_) {
          state_ = State::kDone;
          return false;
        }
        id = point_ids_[point_at_++];
      } else if (!scan_.next(id)) {
        if (!keys_.next_combination()) {
          state_ = State::kDone;
          scan_.close();
          return false;
        }
        open();
        continue;
      }
      const storage::ChainResult found =
          storage::fetch_visible(table_.heap, id, *run.visible, pin_, &*run.oracle);
      if (!found.tuple.valid()) {
        if (found.all_dead && state_ == State::kScan) scan_.kill_current();
        continue;
      }
      ++index_.tuples;
      ++table_.activity.index_tuples;
      show_tuple(*scan_slot_, found.tuple);
      return true;
    }
  }
  void rewind() override {
    begin_frame();
    if (state_ == State::kScan) scan_.close();
    state_ = State::kFresh;
  }
  void close() noexcept override {
    if (state_ == State::kScan) scan_.close();
    state_ = State::kFresh;
    pin_.release();
  }

 private:
  enum class State : std::uint8_t { kFresh, kPoint, kScan, kDone };

  void begin() {
    if (!keys_.begin(frame_)) {
      state_ = State::kDone;
      return;
    }
    ++index_.scans;
    ++table_.activity.index_scans;
    if (keys_.is_point() && plan_.info->unique) {
      point_count_ = index_.tree.find_equal(keys_.point_values(), point_ids_);
      point_at_ = 0;
      if (point_count_ <= std::size(point_ids_)) {
        state_ = State::kPoint;
        return;
      }
    }
    open();
  }
  void open() {
    storage::BTreeScanOptions options;
    options.backward = plan_.direction == ScanDirection::kBackward;
    scan_.open(index_.tree, keys_.keys(), options);
    state_ = State::kScan;
  }

  const IndexScanPlan& plan_;
  IndexHandle& index_;
  KeyRunner keys_;
  storage::BTreeScan scan_;
  storage::Pin pin_;
  TupleId point_ids_[8];  // versions of one key: HOT keeps them few
  std::size_t point_count_ = 0;
  std::size_t point_at_ = 0;
  State state_ = State::kFresh;
};

class IndexOnlyScanNode final : public ScanNode<IndexOnlyScanNode> {
 public:
  IndexOnlyScanNode(const IndexOnlyScanPlan& p, RunState& r)
      : ScanNode{p, r, make_slot(r.state_arena, static_cast<int>(p.info->keys.size()))},
        plan_{p},
        table_{r.table(p.range)},
        index_{table_.index(*p.info)},
        keys_{p, r, compiler()} {
    scan_slot_->valid = scan_slot_->count;
    scan_slot_->table = table_.relation.oid;
  }

  bool fetch() {
    if (is_substituted(run, plan_.range)) return fetch_substitute();
    if (state_ == State::kFresh) {
      if (!keys_.begin(frame_)) {
        state_ = State::kDone;
      } else {
        ++index_.scans;
        ++table_.activity.index_scans;
        open();
      }
    }
    for (;;) {
      if (state_ == State::kDone) return false;
      TupleId id;
      if (!scan_.next(id)) {
        if (!keys_.next_combination()) {
          state_ = State::kDone;
          scan_.close();
          return false;
        }
        open();
        continue;
      }
      if (!scan_.all_visible()) {
        if (run.counters != nullptr) ++run.counters[plan.node_id].heap_fetches;
        const storage::ChainResult found =
            storage::fetch_visible(table_.heap, id, *run.visible, pin_, &*run.oracle);
        if (!found.tuple.valid()) {
          if (found.all_dead) scan_.kill_current();
          continue;
        }
      }
      ++index_.tuples;
      scan_slot_->tid = id;
      scan_.values(reinterpret_cast<std::uint64_t*>(scan_slot_->values), scan_slot_->nulls);
      return true;
    }
  }
  void rewind() override {
    begin_frame();
    if (state_ == State::kScan) scan_.close();
    state_ = State::kFresh;
  }
  void close() noexcept override {
    if (state_ == State::kScan) scan_.close();
    state_ = State::kFresh;
    pin_.release();
  }

 private:
  enum class State : std::uint8_t { kFresh, kScan, kDone };

  void open() {
    storage::BTreeScanOptions options;
    options.backward = plan_.direction == ScanDirection::kBackward;
    options.want_values = true;
    options.note_all_visible = true;
    options.heap = table_.relation.file;
    scan_.open(index_.tree, keys_.keys(), options);
    state_ = State::kScan;
  }
  /// The substitute is a heap row: its index columns are taken from it. Key conditions are among the row's
  /// other conditions or held when the row was first found by them.
  bool fetch_substitute() {
    if (recheck_slot_ == nullptr) recheck_slot_ = make_table_slot(run, plan_.range);
    if (!give_substitute(run, plan_.range, *recheck_slot_)) return false;
    for (std::size_t k = 0; k < plan_.info->keys.size(); ++k) {
      const int attribute = plan_.info->keys[k].column;
      if (attribute <= 0) continue;
      if (recheck_slot_->valid < attribute) deform_slot(*recheck_slot_, attribute);
      scan_slot_->values[k] = recheck_slot_->values[attribute - 1];
      scan_slot_->nulls[k] = recheck_slot_->nulls[attribute - 1];
    }
    scan_slot_->tid = recheck_slot_->tid;
    return true;
  }

  const IndexOnlyScanPlan& plan_;
  TableState& table_;
  IndexHandle& index_;
  KeyRunner keys_;
  storage::BTreeScan scan_;
  storage::Pin pin_;
  Slot* recheck_slot_ = nullptr;
  State state_ = State::kFresh;
};

/// Rows by index entries, in heap order. slot 0 stands for a whole page.
using Bitmap = std::vector<TupleId>;

class BitmapSource : public ExpressionNode {
 public:
  using ExpressionNode::ExpressionNode;
  Slot* next() override { return nullptr; }
  virtual void collect(Bitmap& bitmap) = 0;
};

class BitmapIndexScanNode final : public BitmapSource {
 public:
  BitmapIndexScanNode(const BitmapIndexScanPlan& p, RunState& r)
      : BitmapSource{p, r}, plan_{p}, index_{r.table(p.range).index(*p.info)}, keys_{p, r, compiler()} {}

  void collect(Bitmap& bitmap) override {
    const std::size_t before = bitmap.size();
    if (keys_.begin(frame_)) {
      const auto limit = static_cast<std::size_t>(run.work_mem_bytes) / sizeof(TupleId);
      do {
        scan_.open(index_.tree, keys_.keys());
        TupleId id;
        while (scan_.next(id)) {
          bitmap.push_back(id);
          if (bitmap.size() >= limit && bitmap.size() >= 1024) make_lossy(bitmap);
        }
        scan_.close();
      } while (keys_.next_combination());
    }
    if (run.counters != nullptr) {
      run.counters[plan.node_id].rows += static_cast<double>(bitmap.size() - std::min(before, bitmap.size()));
      run.counters[plan.node_id].loops += 1;
    }
  }
  void rewind() override { begin_frame(); }
  void close() noexcept override { scan_.close(); }

  static void make_lossy(Bitmap& bitmap) {
    for (TupleId& id : bitmap) id.slot = 0;
    std::sort(bitmap.begin(), bitmap.end());
    bitmap.erase(std::unique(bitmap.begin(), bitmap.end()), bitmap.end());
  }

 private:
  const BitmapIndexScanPlan& plan_;
  IndexHandle& index_;
  KeyRunner keys_;
  storage::BTreeScan scan_;
};

class BitmapOrNode final : public BitmapSource {
 public:
  BitmapOrNode(const BitmapCombinePlan& p, RunState& r)
      : BitmapSource{p, r}, is_and_{p.kind == PlanKind::kBitmapAnd} {
    for (const Plan* input : p.inputs) inputs_.push_back(static_cast<BitmapSource*>(make_node(input, r)));
  }
  void collect(Bitmap& bitmap) override {
    bool first = true;
    for (BitmapSource* input : inputs_) {
      if (!is_and_ || first) {
        input->collect(bitmap);
        first = false;
        continue;
      }
      Bitmap other;
      input->collect(other);
      intersect(bitmap, other);
    }
    if (run.counters != nullptr) run.counters[plan.node_id].loops += 1;
  }
  void rewind() override {
    for (BitmapSource* input : inputs_) rewind_node(*input);
  }

 private:
  /// Keeps what is in both; a whole page on either side keeps the other's entries of it.
  static void intersect(Bitmap& bitmap, Bitmap& other) {
    std::sort(bitmap.begin(), bitmap.end());
    std::sort(other.begin(), other.end());
    const auto has = [](const Bitmap& list, TupleId id) {
      return std::binary_search(list.begin(), list.end(), id) ||
             std::binary_search(list.begin(), list.end(), TupleId{id.page, 0});
    };
    Bitmap both;
    for (const TupleId id : bitmap) {
      if (has(other, id)) both.push_back(id);
    }
    for (const TupleId id : other) {
      if (id.slot != 0 && std::binary_search(bitmap.begin(), bitmap.end(), TupleId{id.page, 0}))
        both.push_back(id);
    }
    bitmap.swap(both);
  }
  bool is_and_;
  std::vector<BitmapSource*> inputs_;
};

class BitmapHeapScanNode final : public TableScanNode<BitmapHeapScanNode> {
 public:
  BitmapHeapScanNode(const BitmapHeapScanPlan& p, RunState& r)
      : TableScanNode{p, r, p.recheck}, source_{static_cast<BitmapSource*>(make_node(p.left, r))} {
    lossy_check_ = compiler().condition(p.recheck);
  }

  bool fetch() {
    if (substituted()) return fetch_substitute();
    if (!collected_) begin();
    for (;;) {
      while (at_ < count_) {
        const storage::HeapTupleView tuple = tuple_at(slots_[at_++]);
        show_tuple(*scan_slot_, tuple);
        if (!lossy_ || lossy_check_->empty() || lossy_check_->test(frame_)) return true;
      }
      if (!load_page()) return false;
    }
  }
  void rewind() override {
    begin_frame();
    rewind_node(*source_);
    collected_ = false;
    pin_.release();
  }
  void close() noexcept override {
    pin_.release();
    Bitmap{}.swap(bitmap_);
    collected_ = false;
  }

 private:
  void begin() {
    bitmap_.clear();
    source_->collect(bitmap_);
    std::sort(bitmap_.begin(), bitmap_.end());
    bitmap_.erase(std::unique(bitmap_.begin(), bitmap_.end()), bitmap_.end());
    next_ = 0;
    at_ = count_ = 0;
    collected_ = true;
  }
  storage::HeapTupleView tuple_at(std::uint16_t slot) const {
    const storage::ConstPage page = pin_.unlatched();
    const storage::LinePointer line = page.line(slot);
    return {page.item(line), line.length(), {page_, slot}};
  }
  bool load_page() {
    if (next_ == bitmap_.size()) {
      pin_.release();
      return false;
    }
    shm::check_interrupts();
    page_ = bitmap_[next_].page;
    lossy_ = bitmap_[next_].slot == 0;
    pin_ = table_.heap.storage().pool.pin({table_.relation.file, Fork::kMain, page_});
    at_ = count_ = 0;
    const storage::ReadGuard guard = pin_.read();
    const storage::ConstPage page = guard.page();
    if (run.counters != nullptr)
      ++(lossy_ ? run.counters[plan.node_id].lossy_pages : run.counters[plan.node_id].exact_pages);
    if (lossy_) {
      for (std::uint16_t slot = 1; slot <= page.slot_count(); ++slot) {
        const storage::LinePointer line = page.line(slot);
        if (!line.is_normal()) continue;
        if ((*run.visible)({page.item(line), line.length(), {page_, slot}})) slots_[count_++] = slot;
      }
      while (next_ < bitmap_.size() && bitmap_[next_].page == page_) ++next_;
      return true;
    }
    for (; next_ < bitmap_.size() && bitmap_[next_].page == page_; ++next_) {
      const storage::ChainResult found =
          storage::search_hot_chain(page, bitmap_[next_], *run.visible, nullptr);
      if (found.tuple.valid()) slots_[count_++] = found.tuple.id().slot;
    }
    return true;
  }

  BitmapSource* source_;
  const Program* lossy_check_;
  Bitmap bitmap_;
  std::size_t next_ = 0;
  storage::Pin pin_;
  PageNumber page_;
  bool collected_ = false;
  bool lossy_ = false;
  std::uint16_t at_ = 0;
  std::uint16_t count_ = 0;
  std::uint16_t slots_[storage::kMaxSlots];
};

class TidScanNode final : public TableScanNode<TidScanNode> {
 public:
  TidScanNode(const TidScanPlan& p, RunState& r) : TableScanNode{p, r, p.tid_quals}, plan_{p} {
    for (const Expr* e : p.tids) programs_.push_back(compiler().scalar(e));
  }

  bool fetch() {
    if (substituted()) return fetch_substitute();
    if (!collected_) begin();
    while (at_ < ids_.size()) {
      const TupleId id = ids_[at_++];
      if (id.page.value >= pages_ || !id.valid()) continue;
      const storage::HeapTupleView tuple = table_.heap.fetch_version(id, pin_);
      if (!tuple.valid()) continue;
      const storage::ReadGuard guard = pin_.read();
      if (!(*run.visible)(tuple)) continue;
      show_tuple(*scan_slot_, tuple);
      return true;
    }
    return false;
  }
  void rewind() override {
    begin_frame();
    collected_ = false;
  }
  void close() noexcept override {
    pin_.release();
    collected_ = false;
  }

 private:
  static TupleId read_tid(Datum value) {
    TupleId id;
    std::memcpy(&id.page.value, value.as_pointer(), 4);
    std::memcpy(&id.slot, value.as_pointer() + 4, 2);
    return id;
  }
  void begin() {
    ids_.clear();
    at_ = 0;
    collected_ = true;
    pages_ = table_.heap.page_count().value;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      bool is_null;
      const Datum value = programs_[i]->value(frame_, &is_null);
      if (is_null) continue;
      if (plan_.tids[i]->type.type == kTidType) {
        ids_.push_back(read_tid(value));
        continue;
      }
      const ArrayView view =
          view_array(needs_detoast(value) ? detoast(value, arena_, run.eval->detoaster) : value);
      ArrayReader reader{view};
      Datum element;
      while (reader.next(&element, &is_null)) {
        if (!is_null) ids_.push_back(read_tid(element));
      }
    }
    std::sort(ids_.begin(), ids_.end());
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }

  const TidScanPlan& plan_;
  std::vector<const Program*> programs_;
  std::vector<TupleId> ids_;
  std::size_t at_ = 0;
  std::uint32_t pages_ = 0;
  bool collected_ = false;
  storage::Pin pin_;
};

}  // namespace

std::unique_ptr<Node> make_table_scan(const Plan* plan, RunState& run) {
  switch (plan->kind) {
    case PlanKind::kSeqScan:
      return std::make_unique<SeqScanNode>(*plan_cast<SeqScanPlan>(plan), run);
    case PlanKind::kIndexScan:
      return std::make_unique<IndexScanNode>(*plan_cast<IndexScanPlan>(plan), run);
    case PlanKind::kIndexOnlyScan:
      return std::make_unique<IndexOnlyScanNode>(*plan_cast<IndexOnlyScanPlan>(plan), run);
    case PlanKind::kBitmapIndexScan:
      return std::make_unique<BitmapIndexScanNode>(*plan_cast<BitmapIndexScanPlan>(plan), run);
    case PlanKind::kBitmapAnd:
    case PlanKind::kBitmapOr:
      return std::make_unique<BitmapOrNode>(*plan_cast<BitmapCombinePlan>(plan), run);
    case PlanKind::kBitmapHeapScan:
      return std::make_unique<BitmapHeapScanNode>(*plan_cast<BitmapHeapScanPlan>(plan), run);
    default:
      return std::make_unique<TidScanNode>(*plan_cast<TidScanPlan>(plan), run);
  }
}

}  // namespace pinwheel::sql
