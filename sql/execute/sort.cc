#include <algorithm>

#include "sql/execute/node_base.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

/// Sorts in memory, keeping only the first rows when bounded; beyond work_mem sorted runs go to files that
/// are merged at the end.
class SortNode final : public Node {
 public:
  SortNode(const SortPlan& p, RunState& r)
      : Node{p, r},
        plan_{p},
        input_{make_node(p.left, r)},
        format_{p.left->targets},
        comparer_{p.keys, &scratch_},
        slot_{make_slot(r.state_arena, format_.count())} {
    slot_->valid = slot_->count;
    first_type_ = p.keys.empty() ? Oid{} : p.keys[0].type;
  }

  Slot* next() override {
    if (!sorted_) sort();
    const PackedRow* row = runs_.empty() ? (at_ < rows_.size() ? rows_[at_++].row : nullptr) : merge_next();
    if (row == nullptr) return nullptr;
    for (int i = 0; i < slot_->count; ++i) {
      slot_->values[i] = row->values()[i];
      slot_->nulls[i] = row->nulls()[i];
    }
    return slot_;
  }
  void rewind() override {
    comparer_.set_detoaster(run.eval->detoaster);
    if (sorted_ && !plan.depends_on_parameters && runs_.empty() && bound_ == 0) {
      at_ = 0;
      return;
    }
    clear();
  }
  void close() noexcept override {
    clear();
    memory_.reset();
  }
  void set_bound(std::int64_t rows) override { bound_ = rows; }
  void mark() override { marked_ = at_; }
  void restore() override { at_ = marked_; }

 private:
  /// A row with its first key in comparable bits.
  struct Entry {
    std::uint64_t prefix;
    PackedRow* row;
  };
  struct Run {
    std::unique_ptr<RowFile> file;
    RowFile::Cursor cursor;
    PackedRow* row = nullptr;
  };

  bool before(const PackedRow& a, const PackedRow& b) const {
    return comparer_.compare(a.values(), a.nulls(), b.values(), b.nulls()) < 0;
  }
  bool entry_before(const Entry& a, const Entry& b) const {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    return before(*a.row, *b.row);
  }
  /// Orders like the first key as an unsigned number: nulls at their end, DESC inverted; 0 when not known.
  std::uint64_t prefix_of(const PackedRow& row) {
    if (plan_.keys.empty()) return 0;
    const SortKey& key = plan_.keys[0];
    if (row.nulls()[key.column]) return key.nulls_first ? 0 : ~std::uint64_t{0};
    std::uint64_t bits = 0;
    const CompareContext context{key.collation, &scratch_, run.eval->detoaster};
    abbreviated_key(first_type_, row.values()[key.column], context, &bits);
    // one bit is given up so that nulls never tie with values; the comparison settles the rest
    bits >>= 1;
    if (key.descending) bits = (~std::uint64_t{0} >> 1) - bits;
    return bits + 1;
  }

  void clear() {
    rows_.clear();
    runs_.clear();
    memory_.reset();
    used_ = 0;
    at_ = 0;
    sorted_ = false;
  }
  void sort() {
    memory_.reset();
    rewind_node(*input_);
    const auto by_entry = [this](const Entry& a, const Entry& b) { return entry_before(a, b); };
    unsigned ticks = 0;
    while (Slot* row = pull(*input_)) {
      if ((++ticks & 255) == 0) shm::check_interrupts();
      if (row->valid < format_.count()) deform_slot(*row, format_.count());
      if (bound_ > 0 && runs_.empty() && static_cast<std::int64_t>(rows_.size()) >= bound_) {
        keep_if_smaller(*row);
        continue;
      }
      const std::size_t size = format_.packed_size(row->values, row->nulls);
      if (used_ + size + sizeof(Entry) > static_cast<std::size_t>(run.work_mem_bytes) && rows_.size() > 16)
        write_run();
      PackedRow* packed = format_.pack(row->values, row->nulls, size, memory_.allocate(size));
      rows_.push_back({prefix_of(*packed), packed});
      used_ += size + sizeof(Entry);
      if (bound_ > 0 && runs_.empty() && static_cast<std::int64_t>(rows_.size()) == bound_) {
        std::make_heap(rows_.begin(), rows_.end(), by_entry);
      }
      scratch_.reset();
    }
    input_->close();
    if (run.counters != nullptr) {
      NodeCounters& counters = run.counters[plan.node_id];
      counters.memory_bytes = std::max<std::int64_t>(counters.memory_bytes, static_cast<std::int64_t>(used_));
    }
    if (runs_.empty()) {
      std::sort(rows_.begin(), rows_.end(), by_entry);
    } else {
      if (!rows_.empty()) write_run();
      start_merge();
    }
    sorted_ = true;
  }
  /// Bounded: the greatest of the rows kept gives way to a smaller one.
  void keep_if_smaller(Slot& row) {
    const PackedRow& greatest = *rows_.front().row;
    if (comparer_.compare(row.values, row.nulls, greatest.values(), greatest.nulls()) >= 0) {
      scratch_.reset();
      return;
    }
    const auto by_entry = [this](const Entry& a, const Entry& b) { return entry_before(a, b); };
    std::pop_heap(rows_.begin(), rows_.end(), by_entry);
    const std::size_t size = format_.packed_size(row.values, row.nulls);
    PackedRow* old = rows_.back().row;
    // the old row's memory is used again when it is large enough
    void* place = old->size_bytes >= size ? static_cast<void*>(old) : memory_.allocate(size);
    PackedRow* packed = format_.pack(row.values, row.nulls, size, place);
    rows_.back() = {prefix_of(*packed), packed};
    std::push_heap(rows_.begin(), rows_.end(), by_entry);
    scratch_.reset();
  }
  void write_run() {
    std::sort(rows_.begin(), rows_.end(),
              [this](const Entry& a, const Entry& b) { return entry_before(a, b); });
    Run made;
    made.file = std::make_unique<RowFile>(run.context->storage.files.data_directory(), format_);
    for (const Entry& entry : rows_) made.file->append(*entry.row);
    if (run.counters != nullptr)
      run.counters[plan.node_id].disk_bytes += static_cast<std::int64_t>(made.file->size_bytes());
    runs_.push_back(std::move(made));
    rows_.clear();
    memory_.reset();
    used_ = 0;
  }
  void start_merge() {
    heap_.clear();
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      runs_[i].row = runs_[i].file->next(runs_[i].cursor);
      if (runs_[i].row != nullptr) heap_.push_back(i);
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) { return after(a, b); });
    current_ = kNoRun;
  }
  bool after(std::size_t a, std::size_t b) const { return before(*runs_[b].row, *runs_[a].row); }
  const PackedRow* merge_next() {
    const auto by_row = [this](std::size_t a, std::size_t b) { return after(a, b); };
    // the last row given stays valid until now
    if (current_ != kNoRun) {
      Run& last = runs_[current_];
      last.row = last.file->next(last.cursor);
      if (last.row != nullptr) {
        heap_.push_back(current_);
        std::push_heap(heap_.begin(), heap_.end(), by_row);
      }
      current_ = kNoRun;
    }
    scratch_.reset();
    if (heap_.empty()) return nullptr;
    std::pop_heap(heap_.begin(), heap_.end(), by_row);
    current_ = heap_.back();
    heap_.pop_back();
    return runs_[current_].row;
  }

  static constexpr std::size_t kNoRun = ~std::size_t{0};
  const SortPlan& plan_;
  Node* input_;
  Arena scratch_;
  Arena memory_;
  RowFormat format_;
  RowComparer comparer_;
  Slot* slot_;
  Oid first_type_;
  std::vector<Entry> rows_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;
  std::size_t current_ = kNoRun;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  std::size_t marked_ = 0;
  std::int64_t bound_ = 0;
  bool sorted_ = false;
};

}  // namespace

std::unique_ptr<Node> make_sort(const Plan* plan, RunState& run) {
  return std::make_unique<SortNode>(*plan_cast<SortPlan>(plan), run);
}

}  // namespace pinwheel::sql
