#include "sql/execute/scan_nodes.h"

#include <optional>

#include "sql/execute/index_keys.h"
#include "sql/execute/table_scan.h"
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

}  // namespace

std::unique_ptr<Node> make_table_scan(const Plan* plan, RunState& run) {
  switch (plan->kind) {
    case PlanKind::kSeqScan:
      return std::make_unique<SeqScanNode>(*plan_cast<SeqScanPlan>(plan), run);
    case PlanKind::kIndexScan:
      return std::make_unique<IndexScanNode>(*plan_cast<IndexScanPlan>(plan), run);
    case PlanKind::kIndexOnlyScan:
      return std::make_unique<IndexOnlyScanNode>(*plan_cast<IndexOnlyScanPlan>(plan), run);
    default:
      return make_bitmap_or_tid_scan(plan, run);
  }
}

}  // namespace pinwheel::sql
