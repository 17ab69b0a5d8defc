#include <algorithm>
#include <cstring>
#include <vector>

#include "sql/execute/index_keys.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/table_scan.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"

namespace pinwheel::sql {
namespace {

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
    const MeasuredCall measured{*this};
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
    const MeasuredCall measured{*this};
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

std::unique_ptr<Node> make_bitmap_or_tid_scan(const Plan* plan, RunState& run) {
  switch (plan->kind) {
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
