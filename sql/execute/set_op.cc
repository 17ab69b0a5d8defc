#include "sql/execute/node_base.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "sql/execute/shared_rows.h"

namespace pinwheel::sql {
namespace {

/// Rows by value, each with two counts.
class CountedRows {
 public:
  CountedRows(std::span<const SortKey> keys, std::span<Expr* const> columns, ArenaBudget* budget)
      : format_{columns}, comparer_{keys, &scratch_}, memory_{budget, 4096} {}

  struct Entry {
    Entry* next;
    std::uint64_t hash;
    PackedRow* row;
    std::int64_t left, right;
  };
  int columns() const { return format_.count(); }
  void set_detoaster(Detoaster* detoaster) { comparer_.set_detoaster(detoaster); }
  /// The entry of equal rows, or null unless `add`. *is_new tells whether it was made now.
  Entry* find(const Slot& row, bool add, bool* is_new) {
    scratch_.reset();
    if (buckets_.empty()) buckets_.assign(256, nullptr);
    const std::uint64_t hash = comparer_.hash(row.values, row.nulls);
    Entry** head = &buckets_[hash & (buckets_.size() - 1)];
    for (Entry* e = *head; e != nullptr; e = e->next) {
      if (e->hash == hash && comparer_.equal(row.values, row.nulls, e->row->values(), e->row->nulls())) {
        *is_new = false;
        return e;
      }
    }
    *is_new = true;
    if (!add) return nullptr;
    auto* entry = static_cast<Entry*>(memory_.allocate(sizeof(Entry)));
    *entry = {*head, hash, format_.pack(row.values, row.nulls, memory_), 0, 0};
    *head = entry;
    entries_.push_back(entry);
    if (entries_.size() > buckets_.size()) grow();
    return entry;
  }
  const std::vector<Entry*>& entries() const { return entries_; }
  void clear() {
    std::vector<Entry*>{}.swap(buckets_);
    entries_.clear();
    memory_.reset();
  }

 private:
  void grow() {
    std::vector<Entry*> larger(buckets_.size() * 2, nullptr);
    for (Entry* e : entries_) {
      Entry*& head = larger[e->hash & (larger.size() - 1)];
      e->next = head;
      head = e;
    }
    buckets_.swap(larger);
  }
  Arena scratch_;
  RowFormat format_;
  RowComparer comparer_;
  Arena memory_;
  std::vector<Entry*> buckets_;
  std::vector<Entry*> entries_;
};

class SetOpNode final : public ExpressionNode {
 public:
  SetOpNode(const SetOpPlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        left_{make_node(p.left, r)},
        right_{make_node(p.right, r)},
        rows_{p.keys, p.targets, &r.budget},
        slot_{make_slot(r.state_arena, static_cast<int>(p.targets.size()))} {
    slot_->valid = slot_->count;
  }
  Slot* next() override {
    if (!filled_) fill();
    while (at_ < rows_.entries().size()) {
      CountedRows::Entry* entry = rows_.entries()[at_];
      if (remaining_ < 0) remaining_ = copies(*entry);
      if (remaining_ == 0) {
        ++at_;
        remaining_ = -1;
        continue;
      }
      --remaining_;
      for (int i = 0; i < slot_->count; ++i) {
        slot_->values[i] = entry->row->values()[i];
        slot_->nulls[i] = entry->row->nulls()[i];
      }
      return slot_;
    }
    return nullptr;
  }
  void rewind() override {
    rows_.set_detoaster(run.eval->detoaster);
    if (filled_ && !plan.depends_on_parameters) {
      at_ = 0;
      remaining_ = -1;
      return;
    }
    close();
  }
  void close() noexcept override {
    rows_.clear();
    filled_ = false;
    at_ = 0;
    remaining_ = -1;
  }

 private:
  std::int64_t copies(const CountedRows::Entry& e) const {
    if (plan_.operation == SetOperation::kIntersect) {
      return plan_.all ? std::min(e.left, e.right) : (e.left > 0 && e.right > 0 ? 1 : 0);
    }
    return plan_.all ? std::max<std::int64_t>(0, e.left - e.right) : (e.left > 0 && e.right == 0 ? 1 : 0);
  }
  void fill() {
    filled_ = true;
    const auto read = [&](Node& input, bool is_left) {
      rewind_node(input);
      unsigned ticks = 0;
      while (Slot* row = pull(input)) {
        if ((++ticks & 255) == 0) shm::check_interrupts();
        if (row->valid < rows_.columns()) deform_slot(*row, rows_.columns());
        bool is_new;
        CountedRows::Entry* entry = rows_.find(*row, is_left, &is_new);
        if (entry != nullptr) ++(is_left ? entry->left : entry->right);
      }
      input.close();
    };
    read(*left_, true);
    read(*right_, false);
  }
  const SetOpPlan& plan_;
  Node* left_;
  Node* right_;
  CountedRows rows_;
  Slot* slot_;
  std::size_t at_ = 0;
  std::int64_t remaining_ = -1;
  bool filled_ = false;
};

/// WITH RECURSIVE: the start's rows, then what the recursive term makes of the last round's rows, until a
/// round makes none.
class RecursiveUnionNode final : public Node {
 public:
  RecursiveUnionNode(const RecursiveUnionPlan& p, RunState& r)
      : Node{p, r},
        plan_{p},
        start_{make_node(p.left, r)},
        step_{make_node(p.right, r)},
        work_{sql::work_table(r, p.work_table, p.targets)},
        next_rows_{work_.format, r.context->storage.files.data_directory(), r.work_mem_bytes, &r.budget},
        seen_{p.keys, p.targets, &r.budget} {}

  Slot* next() override {
    for (;;) {
      Node* source = in_start_ ? start_ : step_;
      Slot* row = pull(*source);
      if (row != nullptr) {
        if (row->valid < work_.format.count()) deform_slot(*row, work_.format.count());
        if (!plan_.all) {
          bool is_new;
          seen_.find(*row, true, &is_new);
          if (!is_new) continue;
        }
        next_rows_.append(row->values, row->nulls);
        return row;
      }
      if (next_rows_.count() == 0) return nullptr;
      shm::check_interrupts();
      in_start_ = false;
      work_.rows.clear();
      TupleStore::Reader reader;
      while (const PackedRow* kept = next_rows_.next(reader))
        work_.rows.append(kept->values(), kept->nulls());
      next_rows_.clear();
      rewind_node(*step_);
    }
  }
  void rewind() override {
    in_start_ = true;
    seen_.set_detoaster(run.eval->detoaster);
    seen_.clear();
    next_rows_.clear();
    work_.rows.clear();
    rewind_node(*start_);
  }
  void close() noexcept override {
    seen_.clear();
    next_rows_.clear();
  }

 private:
  const RecursiveUnionPlan& plan_;
  Node* start_;
  Node* step_;
  SharedRows& work_;
  TupleStore next_rows_;
  CountedRows seen_;
  bool in_start_ = true;
};

}  // namespace

std::unique_ptr<Node> make_set_op(const Plan* plan, RunState& run) {
  return std::make_unique<SetOpNode>(*plan_cast<SetOpPlan>(plan), run);
}
std::unique_ptr<Node> make_recursive_union(const Plan* plan, RunState& run) {
  return std::make_unique<RecursiveUnionNode>(*plan_cast<RecursiveUnionPlan>(plan), run);
}

}  // namespace pinwheel::sql
