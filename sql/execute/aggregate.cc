#include <algorithm>

#include "sql/execute/aggregate_state.h"
#include "sql/execute/node_base.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "sql/plan/expression_tools.h"
#include "sql/types/type_oids.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

/// Grouping and aggregation: one group, groups of sorted input, or a hash table. A hash table that outgrows
/// its memory takes no new groups: rows of other groups go to partition files and are worked off afterwards.
class AggregateNode final : public ExpressionNode {
 public:
  AggregateNode(const AggregatePlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        input_{make_node(p.left, r)},
        comparer_{p.group_keys, &scratch_},
        group_arena_{&r.budget, 1024} {
    for (const AggregateCall& call : p.calls)
      runners_.push_back(std::make_unique<AggregateRunner>(*call.expr, r));
    find_kept_columns();
    kept_slot_ = make_slot(r.state_arena, input_width_);
    kept_slot_->valid = input_width_;
    std::fill_n(kept_slot_->nulls, input_width_, true);
    results_ = make_slot(r.state_arena, static_cast<int>(p.calls.size()));
    results_->valid = results_->count;
    quals_ = compiler().condition(p.quals);
    compile_output();
    states_.resize(p.calls.size());
    kept_values_ = r.state_arena.make_array<Datum>(kept_.size() + 1);
    kept_nulls_ = r.state_arena.make_array<bool>(kept_.size() + 1);
  }

  Slot* next() override {
    switch (plan_.strategy) {
      case AggregateStrategy::kPlain:
        return next_plain();
      case AggregateStrategy::kSorted:
        return next_sorted();
      default:
        return next_hashed();
    }
  }
  void rewind() override {
    begin_frame();
    comparer_.set_detoaster(run.eval->detoaster);
    const bool reusable = plan_.strategy == AggregateStrategy::kHashed && filled_ &&
                          !plan.depends_on_parameters && partitions_.empty() && !spilled_once_;
    if (reusable) {
      at_ = 0;
      return;
    }
    clear();
    rewind_node(*input_);
  }
  void close() noexcept override { clear(); }

 private:
  struct Group {
    Group* next;
    std::uint64_t hash;
    PackedRow* row;  ///< kept columns of the first row
    TransitionValue* states;
  };
  struct Partition {
    std::unique_ptr<RowFile> file;
    int level;
  };
  static constexpr int kFanOut = 16;

  /// Input columns that outlive their row: group keys and what targets and HAVING read. Everything the node
  /// reads decides how far input rows are deformed.
  void find_kept_columns() {
    std::vector<ExprType> types;
    const auto look = [&](const Expr* e, bool keep) {
      if (e == nullptr) return;
      any_node(e, [&](const Expr* n) {
        const auto* c = expr_if<SlotColumnExpr>(n);
        if (c == nullptr || c->source != SlotSource::kOuter || c->index < 0) return false;
        needed_ = std::max(needed_, c->index + 1);
        if (keep) keep_column(c->index, c->type, types);
        return false;
      });
    };
    for (const Expr* e : plan_.targets) look(e, true);
    for (const Expr* e : plan_.quals) look(e, true);
    for (const AggregateCall& call : plan_.calls) look(call.expr, false);
    for (const SortKey& key : plan_.group_keys) {
      needed_ = std::max(needed_, key.column + 1);
      keep_column(key.column, {key.type, -1, key.collation}, types);
    }
    input_width_ = needed_;
    format_ = RowFormat{std::span<const ExprType>(types)};
    // keys' places among the kept columns
    std::vector<SortKey> keys(plan_.group_keys.begin(), plan_.group_keys.end());
    for (SortKey& key : keys) {
      key.column = static_cast<int>(std::find(kept_.begin(), kept_.end(), key.column) - kept_.begin());
    }
    kept_comparer_ = std::make_unique<RowComparer>(keys, &scratch_);
  }
  void keep_column(int index, ExprType type, std::vector<ExprType>& types) {
    if (std::find(kept_.begin(), kept_.end(), index) != kept_.end()) return;
    kept_.push_back(index);
    types.push_back(type);
  }

  Slot* fetch() {
    begin_row();
    scratch_.reset();
    Slot* row = pull(*input_);
    if (row == nullptr) return nullptr;
    if ((++ticks_ & 255) == 0) shm::check_interrupts();
    if (row->valid < needed_) deform_slot(*row, needed_);
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
    return row;
  }
  PackedRow* keep_row(const Slot& row, Arena& arena) {
    gather(row);
    return format_.pack(kept_values_, kept_nulls_, arena);
  }
  void gather(const Slot& row) {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      kept_values_[i] = row.values[kept_[i]];
      kept_nulls_[i] = row.nulls[kept_[i]];
    }
  }
  void show_kept(const PackedRow* row) {
    if (row != nullptr) {
      for (std::size_t i = 0; i < kept_.size(); ++i) {
        kept_slot_->values[kept_[i]] = row->values()[i];
        kept_slot_->nulls[kept_[i]] = row->nulls()[i];
      }
    } else {
      std::fill_n(kept_slot_->nulls, kept_slot_->count, true);
    }
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = kept_slot_;
    frame_.slots[static_cast<int>(SlotSource::kInner)] = results_;
  }
  /// The output row of a group; null when HAVING refuses it.
  Slot* emit(const PackedRow* row, TransitionValue* states, Arena& group_arena) {
    show_kept(row);
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      results_->values[i] = runners_[i]->finish(states[i], frame_, group_arena, arena_, &results_->nulls[i]);
    }
    if (!quals_->empty() && !quals_->test(frame_)) {
      count_filtered();
      return nullptr;
    }
    return project();
  }

  Slot* next_plain() {
    if (filled_) return nullptr;
    filled_ = true;
    for (std::size_t i = 0; i < runners_.size(); ++i) runners_[i]->begin(states_[i], group_arena_);
    PackedRow* first = nullptr;
    while (Slot* row = fetch()) {
      if (first == nullptr && !kept_.empty()) first = keep_row(*row, group_arena_);
      for (std::size_t i = 0; i < runners_.size(); ++i)
        runners_[i]->advance(states_[i], frame_, group_arena_);
    }
    input_->close();
    begin_row();
    return emit(first, states_.data(), group_arena_);
  }

  Slot* next_sorted() {
    for (;;) {
      if (ended_) return nullptr;
      // the first row of this group came with the end of the last one
      Slot* row = nullptr;
      if (!started_) {
        started_ = true;
        row = fetch();
        if (row == nullptr) {
          ended_ = true;
          return nullptr;
        }
        pending_ = keep_row(*row, pending_arena_);
      }
      group_arena_.reset();
      for (std::size_t i = 0; i < runners_.size(); ++i) runners_[i]->begin(states_[i], group_arena_);
      PackedRow* first = format_.pack(pending_->values(), pending_->nulls(), group_arena_);
      bool more = true;
      // the row that opened the group still stands in the frame
      for (std::size_t i = 0; i < runners_.size(); ++i)
        runners_[i]->advance(states_[i], frame_, group_arena_);
      for (;;) {
        row = fetch();
        if (row == nullptr) {
          more = false;
          break;
        }
        gather(*row);
        if (!kept_comparer_->equal(kept_values_, kept_nulls_, first->values(), first->nulls())) break;
        for (std::size_t i = 0; i < runners_.size(); ++i)
          runners_[i]->advance(states_[i], frame_, group_arena_);
      }
      Slot* opener = frame_.slots[static_cast<int>(SlotSource::kOuter)];
      if (more) {
        pending_arena_.reset();
        pending_ = keep_row(*row, pending_arena_);
      } else {
        ended_ = true;
      }
      Slot* result = emit(first, states_.data(), group_arena_);
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = opener;
      if (result != nullptr) return result;
    }
  }

  Slot* next_hashed() {
    if (!filled_) fill();
    for (;;) {
      while (at_ < order_.size()) {
        Group* group = order_[at_++];
        begin_row();
        scratch_.reset();
        if (Slot* row = emit(group->row, group->states, group_arena_)) return row;
      }
      if (partitions_.empty()) return nullptr;
      next_partition();
    }
  }

  std::size_t memory_limit() const { return static_cast<std::size_t>(run.work_mem_bytes) * 2; }

  /// Takes one input row (in the frame) into its group; false when there is no room for a new one.
  bool take_row(const Slot& row, std::uint64_t hash) {
    gather(row);
    Group** head = &buckets_[hash & (buckets_.size() - 1)];
    Group* group = *head;
    while (group != nullptr &&
           (group->hash != hash ||
            !kept_comparer_->equal(kept_values_, kept_nulls_, group->row->values(), group->row->nulls()))) {
      group = group->next;
    }
    if (group == nullptr) {
      if (full_) return false;
      group = static_cast<Group*>(group_arena_.allocate(sizeof(Group)));
      group->hash = hash;
      group->row = format_.pack(kept_values_, kept_nulls_, group_arena_);
      group->states = group_arena_.make_array<TransitionValue>(runners_.size() + 1);
      for (std::size_t i = 0; i < runners_.size(); ++i) runners_[i]->begin(group->states[i], group_arena_);
      group->next = *head;
      *head = group;
      order_.push_back(group);
      if (order_.size() > buckets_.size()) grow();
      if ((order_.size() & 63) == 0 && group_arena_.held_bytes() + buckets_.size() * 8 > memory_limit())
        full_ = true;
    }
    for (std::size_t i = 0; i < runners_.size(); ++i)
      runners_[i]->advance(group->states[i], frame_, group_arena_);
    return true;
  }
  void grow() {
    std::vector<Group*> larger(buckets_.size() * 2, nullptr);
    for (Group* group : order_) {
      Group*& head = larger[group->hash & (larger.size() - 1)];
      group->next = head;
      head = group;
    }
    buckets_.swap(larger);
  }
  void begin_table() {
    group_arena_.reset();
    order_.clear();
    if (buckets_.empty())
      buckets_.assign(256, nullptr);
    else
      std::fill(buckets_.begin(), buckets_.end(), nullptr);
    full_ = false;
    at_ = 0;
  }
  void fill() {
    filled_ = true;
    begin_table();
    std::vector<std::unique_ptr<RowFile>> spill;
    while (Slot* row = fetch()) {
      const std::uint64_t hash = comparer_.hash(row->values, row->nulls);
      if (!take_row(*row, hash)) spill_row(spill, *row, hash, 0);
    }
    input_->close();
    finish_spill(spill, 0);
    note_memory();
  }
  void note_memory() {
    if (run.counters == nullptr) return;
    NodeCounters& counters = run.counters[plan.node_id];
    counters.memory_bytes =
        std::max(counters.memory_bytes, static_cast<std::int64_t>(group_arena_.held_bytes()));
    counters.batches += 1;
  }
  /// Input rows as they came, all columns that are read.
  void spill_row(std::vector<std::unique_ptr<RowFile>>& files, const Slot& row, std::uint64_t hash,
                 int level) {
    spilled_once_ = true;
    if (files.empty()) files.resize(kFanOut);
    if (whole_format_ == nullptr) make_whole_format();
    const auto part = static_cast<std::size_t>((hash >> (60 - 4 * (level % 12))) & (kFanOut - 1));
    if (files[part] == nullptr) {
      files[part] = std::make_unique<RowFile>(run.context->storage.files.data_directory(), *whole_format_);
    }
    for (int i = 0; i < input_width_; ++i)
      spill_nulls_[i] = !spill_used_[static_cast<std::size_t>(i)] || row.nulls[i];
    scratch_.reset();
    PackedRow* packed = whole_format_->pack(row.values, spill_nulls_, scratch_);
    packed->hash = hash;
    files[part]->append(*packed);
    if (run.counters != nullptr) run.counters[plan.node_id].disk_bytes += packed->size_bytes;
  }
  void make_whole_format() {
    std::vector<ExprType> types(static_cast<std::size_t>(input_width_), ExprType{kInt8Type, -1, {}});
    spill_used_.assign(static_cast<std::size_t>(input_width_), false);
    spill_nulls_ = run.state_arena.make_array<bool>(static_cast<std::size_t>(input_width_) + 1);
    const auto look = [&](const Expr* e) {
      any_node(e, [&](const Expr* n) {
        const auto* c = expr_if<SlotColumnExpr>(n);
        if (c != nullptr && c->source == SlotSource::kOuter && c->index >= 0) {
          types[static_cast<std::size_t>(c->index)] = c->type;
          spill_used_[static_cast<std::size_t>(c->index)] = true;
        }
        return false;
      });
    };
    for (const Expr* e : plan_.targets) look(e);
    for (const Expr* e : plan_.quals) look(e);
    for (const AggregateCall& call : plan_.calls) look(call.expr);
    for (const SortKey& key : plan_.group_keys) {
      types[static_cast<std::size_t>(key.column)] = {key.type, -1, key.collation};
      spill_used_[static_cast<std::size_t>(key.column)] = true;
    }
    whole_format_ = std::make_unique<RowFormat>(std::span<const ExprType>(types));
  }
  void finish_spill(std::vector<std::unique_ptr<RowFile>>& files, int level) {
    for (auto& file : files) {
      if (file != nullptr) partitions_.push_back({std::move(file), level + 1});
    }
  }
  void next_partition() {
    Partition partition = std::move(partitions_.back());
    partitions_.pop_back();
    begin_table();
    std::vector<std::unique_ptr<RowFile>> spill;
    RowFile::Cursor cursor;
    Slot* row = make_partition_slot();
    while (PackedRow* packed = partition.file->next(cursor)) {
      begin_row();
      if ((++ticks_ & 255) == 0) shm::check_interrupts();
      for (int i = 0; i < input_width_; ++i) {
        row->values[i] = packed->values()[i];
        row->nulls[i] = packed->nulls()[i];
      }
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
      const std::uint64_t hash = packed->hash;
      if (!take_row(*row, hash)) spill_row(spill, *row, hash, partition.level);
    }
    finish_spill(spill, partition.level);
    note_memory();
  }
  Slot* make_partition_slot() {
    if (partition_slot_ == nullptr) {
      partition_slot_ = make_slot(run.state_arena, input_width_);
      partition_slot_->valid = input_width_;
    }
    return partition_slot_;
  }
  void clear() {
    group_arena_.reset();
    pending_arena_.reset();
    order_.clear();
    partitions_.clear();
    filled_ = started_ = ended_ = full_ = spilled_once_ = false;
    at_ = 0;
  }

  const AggregatePlan& plan_;
  Node* input_;
  Arena scratch_;
  RowComparer comparer_;
  Arena group_arena_;
  Arena pending_arena_;
  std::vector<std::unique_ptr<AggregateRunner>> runners_;
  std::vector<TransitionValue> states_;
  std::vector<int> kept_;
  int needed_ = 0;
  int input_width_ = 0;
  RowFormat format_;
  std::unique_ptr<RowFormat> whole_format_;
  std::unique_ptr<RowComparer> kept_comparer_;
  std::vector<bool> spill_used_;
  bool* spill_nulls_ = nullptr;
  Datum* kept_values_;
  bool* kept_nulls_;
  Slot* kept_slot_;
  Slot* results_;
  Slot* partition_slot_ = nullptr;
  const Program* quals_;
  PackedRow* pending_ = nullptr;
  std::vector<Group*> buckets_;
  std::vector<Group*> order_;
  std::vector<Partition> partitions_;
  std::size_t at_ = 0;
  bool filled_ = false;
  bool started_ = false;
  bool ended_ = false;
  bool full_ = false;
  bool spilled_once_ = false;
  unsigned ticks_ = 0;
};

}  // namespace

std::unique_ptr<Node> make_aggregate(const Plan* plan, RunState& run) {
  return std::make_unique<AggregateNode>(*plan_cast<AggregatePlan>(plan), run);
}

}  // namespace pinwheel::sql
