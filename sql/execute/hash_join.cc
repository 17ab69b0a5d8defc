#include <algorithm>

#include "sql/execute/node_base.h"
#include "sql/execute/row_compare.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "sql/plan/expression_tools.h"
#include "sql/types/type_oids.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

/// Hash join of all kinds. The inner side is hashed; when it does not fit into memory both sides are split by
/// hash into batches, of which one is in memory at a time (hybrid hash join; DeWitt et al., 1984).
class HashJoinNode final : public ExpressionNode {
 public:
  HashJoinNode(const HashJoinPlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        outer_{make_node(p.left, r)},
        inner_{make_node(p.right, r)},
        inner_format_{p.right->targets},
        table_memory_{&r.budget, 16384} {
    Arena& arena = r.state_arena;
    const std::size_t n = p.keys.size();
    std::vector<const Expr*> outer_keys;
    std::vector<const Expr*> inner_keys;
    for (const JoinKey& key : p.keys) {
      outer_keys.push_back(key.outer);
      inner_keys.push_back(key.inner);
      Key made{};
      made.by_bits = equal_by_bits(key.outer_type) && equal_by_bits(key.inner_type);
      made.hash_outer = find_hash(key.outer_type);
      made.hash_inner = find_hash(key.inner_type);
      made.equal = key.outer_type == key.inner_type ? find_equal(key.outer_type) : nullptr;
      made.compare = find_cross_compare(key.outer_type, key.inner_type);
      if (made.compare == nullptr) made.compare = find_compare(key.outer_type);
      made.context = {key.collation, &key_arena_, nullptr};
      keys_.push_back(made);
    }
    outer_values_ = arena.make_array<Datum>(n + 1);
    outer_nulls_ = arena.make_array<bool>(n + 1);
    inner_values_ = arena.make_array<Datum>(n + 1);
    inner_nulls_ = arena.make_array<bool>(n + 1);
    outer_program_ = compiler().into(outer_keys, outer_values_, outer_nulls_);
    inner_program_ = compiler().into(inner_keys, inner_values_, inner_nulls_);
    join_quals_ = compiler().condition(p.join_quals);
    quals_ = compiler().condition(p.quals);
    compile_output();
    inner_slot_ = make_slot(arena, inner_format_.count());
    inner_slot_->valid = inner_slot_->count;
    null_inner_ = make_slot(arena, inner_format_.count());
    null_inner_->valid = null_inner_->count;
    std::fill_n(null_inner_->nulls, null_inner_->count, true);
    const int outer_width = outer_columns();
    null_outer_ = make_slot(arena, outer_width);
    null_outer_->valid = outer_width;
    std::fill_n(null_outer_->nulls, outer_width, true);
    keep_unmatched_inner_ = p.join == JoinType::kRight || p.join == JoinType::kFull;
    keep_unmatched_outer_ =
        p.join == JoinType::kLeft || p.join == JoinType::kFull || p.join == JoinType::kAnti;
  }

  Slot* next() override {
    for (;;) {
      switch (phase_) {
        case Phase::kBuild:
          build();
          if (table_count_ == 0 && batches_.size() <= 1 && !keep_unmatched_outer_ &&
              null_inner_rows_.empty()) {
            phase_ = Phase::kDone;
            continue;
          }
          phase_ = Phase::kOuter;
          continue;
        case Phase::kOuter:
          if (!next_outer()) {
            phase_ = keep_unmatched_inner_ ? Phase::kInnerRest : Phase::kNextBatch;
            rest_bucket_ = 0;
            rest_entry_ = nullptr;
            null_inner_at_ = 0;
            continue;
          }
          phase_ = Phase::kProbe;
          continue;
        case Phase::kProbe:
          if (Slot* row = probe()) return row;
          continue;
        case Phase::kInnerRest:
          if (Slot* row = unmatched_inner()) return row;
          phase_ = Phase::kNextBatch;
          continue;
        case Phase::kNextBatch:
          phase_ = load_batch() ? Phase::kOuter : Phase::kDone;
          continue;
        case Phase::kDone:
          return nullptr;
      }
    }
  }
  void rewind() override {
    begin_frame();
    for (Key& key : keys_) key.context.detoaster = run.eval->detoaster;
    rewind_node(*outer_);
    const bool reusable =
        phase_ != Phase::kBuild && !plan_.right->depends_on_parameters && batches_.size() <= 1;
    if (reusable) {
      for (Entry* head : buckets_) {
        for (Entry* e = head; e != nullptr; e = e->next) e->matched = false;
      }
      batch_ = 0;
      phase_ = Phase::kOuter;
      return;
    }
    clear();
  }
  void close() noexcept override {
    clear();
    table_memory_.reset();
    std::vector<Entry*>{}.swap(buckets_);
  }

 private:
  enum class Phase : std::uint8_t { kBuild, kOuter, kProbe, kInnerRest, kNextBatch, kDone };
  struct Key {
    bool by_bits;
    HashFn hash_outer, hash_inner;
    EqualFn equal;
    CompareFn compare;
    CompareContext context;
  };
  /// An inner row in the table; the PackedRow and its key values follow.
  struct Entry {
    Entry* next;
    std::uint64_t hash;
    bool matched;
    PackedRow* row;
    Datum* keys;
  };
  struct Batch {
    std::unique_ptr<RowFile> inner, outer;
    RowFile::Cursor cursor;
  };

  int outer_columns() const {
    int widest = static_cast<int>(plan_.left->targets.size());
    const auto look = [&](const Expr* e) {
      any_node(e, [&](const Expr* n) {
        const auto* c = expr_if<SlotColumnExpr>(n);
        if (c != nullptr && c->source == SlotSource::kOuter) widest = std::max(widest, c->index + 1);
        return false;
      });
    };
    for (const Expr* e : plan_.targets) look(e);
    for (const Expr* e : plan_.quals) look(e);
    for (const Expr* e : plan_.join_quals) look(e);
    for (const JoinKey& key : plan_.keys) look(key.outer);
    return widest;
  }

  /// False when some key is NULL: such a row matches nothing.
  bool hash_keys(const Datum* values, const bool* nulls, bool outer, std::uint64_t* hash) {
    std::uint64_t h = 0x9E3779B97F4A7C15ull;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (nulls[i]) return false;
      const std::uint64_t one =
          (outer ? keys_[i].hash_outer : keys_[i].hash_inner)(values[i], keys_[i].context);
      h = (h ^ one) * 0x9FB21C651E98DF25ull;
      h ^= h >> 32;
    }
    *hash = h;
    return true;
  }
  bool keys_equal(const Datum* outer, const Datum* inner) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Key& key = keys_[i];
      if (key.by_bits) {
        if (outer[i].bits != inner[i].bits) return false;
      } else if (key.equal != nullptr ? !key.equal(outer[i], inner[i], key.context)
                                      : key.compare(outer[i], inner[i], key.context) != 0) {
        return false;
      }
    }
    return true;
  }
  std::size_t batch_of(std::uint64_t hash) const { return (hash >> 40) & (batches_.size() - 1); }
  std::size_t memory_limit() const { return static_cast<std::size_t>(run.work_mem_bytes) * 2; }
  std::string directory() const { return run.context->storage.files.data_directory(); }

  void clear() {
    table_memory_.reset();
    std::fill(buckets_.begin(), buckets_.end(), nullptr);
    batches_.clear();
    batches_.emplace_back();
    batch_ = 0;
    table_count_ = 0;
    table_bytes_ = 0;
    null_inner_rows_.clear();
    null_memory_.reset();
    phase_ = Phase::kBuild;
  }

  void insert(const Datum* values, const bool* nulls, std::uint64_t hash) {
    const std::size_t size = inner_format_.packed_size(values, nulls);
    auto* entry = static_cast<Entry*>(table_memory_.allocate(sizeof(Entry)));
    entry->hash = hash;
    entry->matched = false;
    entry->row = inner_format_.pack(values, nulls, size, table_memory_.allocate(size));
    entry->row->hash = hash;
    entry->keys = nullptr;
    table_bytes_ += sizeof(Entry) + size;
    ++table_count_;
    if (table_count_ > buckets_.size()) grow_buckets();
    link(entry);
  }
  void link(Entry* entry) {
    Entry*& head = buckets_[entry->hash & (buckets_.size() - 1)];
    entry->next = head;
    head = entry;
  }
  void grow_buckets() {
    std::vector<Entry*> old(std::max<std::size_t>(1024, buckets_.size() * 2), nullptr);
    old.swap(buckets_);
    for (Entry* head : old) {
      while (head != nullptr) {
        Entry* following = head->next;
        link(head);
        head = following;
      }
    }
  }
  /// Key values of a table entry, computed at its first comparison and kept.
  const Datum* entry_keys(Entry* entry) {
    if (entry->keys == nullptr) {
      Slot* saved = frame_.slots[static_cast<int>(SlotSource::kInner)];
      show_inner(*entry->row);
      Arena* arena = frame_.arena;
      frame_.arena = &table_memory_;
      inner_program_->run(frame_);
      frame_.arena = arena;
      frame_.slots[static_cast<int>(SlotSource::kInner)] = saved;
      entry->keys = table_memory_.make_array<Datum>(keys_.size());
      std::copy_n(inner_values_, keys_.size(), entry->keys);
    }
    return entry->keys;
  }
  void show_inner(const PackedRow& row) {
    for (int i = 0; i < inner_slot_->count; ++i) {
      inner_slot_->values[i] = row.values()[i];
      inner_slot_->nulls[i] = row.nulls()[i];
    }
    frame_.slots[static_cast<int>(SlotSource::kInner)] = inner_slot_;
  }

  /// Twice as many batches: rows that no longer belong to the one in memory go to files.
  void split() {
    const std::size_t count = batches_.size() * 2;
    batches_.resize(count);
    std::vector<Entry*> kept;
    for (Entry* head : buckets_) {
      for (Entry* e = head; e != nullptr;) {
        Entry* following = e->next;
        if (batch_of(e->hash) == batch_)
          kept.push_back(e);
        else
          write_inner(batch_of(e->hash), *e->row);
        e = following;
      }
    }
    // kept rows move to fresh memory, so that what left is freed
    Arena fresh{&run.budget, 16384};
    std::vector<std::pair<std::uint64_t, PackedRow*>> rows;
    for (const Entry* e : kept)
      rows.emplace_back(e->hash, inner_format_.pack(e->row->values(), e->row->nulls(), fresh));
    table_memory_.reset();
    std::fill(buckets_.begin(), buckets_.end(), nullptr);
    table_count_ = 0;
    table_bytes_ = 0;
    for (const auto& [hash, row] : rows) insert(row->values(), row->nulls(), hash);
  }
  void write_inner(std::size_t batch, PackedRow& row) {
    if (batches_[batch].inner == nullptr)
      batches_[batch].inner = std::make_unique<RowFile>(directory(), inner_format_);
    batches_[batch].inner->append(row);
  }
  void take_inner(const Datum* values, const bool* nulls, std::uint64_t hash) {
    if (batch_of(hash) != batch_) {
      spill_arena_.reset();
      PackedRow* row = inner_format_.pack(values, nulls, spill_arena_);
      row->hash = hash;
      return write_inner(batch_of(hash), *row);
    }
    insert(values, nulls, hash);
    if (table_bytes_ > memory_limit() && batches_.size() < 1024 && table_count_ > 64) split();
  }

  void build() {
    rewind_node(*inner_);
    if (buckets_.empty()) buckets_.assign(1024, nullptr);
    unsigned ticks = 0;
    for (;;) {
      begin_row();
      key_arena_.reset();
      Slot* row = pull(*inner_);
      if (row == nullptr) break;
      if ((++ticks & 255) == 0) shm::check_interrupts();
      if (row->valid < inner_format_.count()) deform_slot(*row, inner_format_.count());
      frame_.slots[static_cast<int>(SlotSource::kInner)] = row;
      inner_program_->run(frame_);
      std::uint64_t hash;
      if (!hash_keys(inner_values_, inner_nulls_, false, &hash)) {
        if (keep_unmatched_inner_)
          null_inner_rows_.push_back(inner_format_.pack(row->values, row->nulls, null_memory_));
        continue;
      }
      take_inner(row->values, row->nulls, hash);
    }
    inner_->close();
    if (run.counters != nullptr) {
      NodeCounters& counters = run.counters[plan.node_id];
      counters.memory_bytes =
          std::max(counters.memory_bytes, static_cast<std::int64_t>(table_bytes_ + buckets_.size() * 8));
      counters.buckets = static_cast<std::int64_t>(buckets_.size());
      counters.batches = static_cast<std::int64_t>(batches_.size());
    }
  }

  bool next_outer() {
    for (;;) {
      begin_row();
      key_arena_.reset();
      Slot* row;
      std::uint64_t hash = 0;
      bool has_keys;
      if (batch_ == 0) {
        row = pull(*outer_);
        if (row == nullptr) return false;
        frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
        outer_program_->run(frame_);
        has_keys = hash_keys(outer_values_, outer_nulls_, true, &hash);
        if (has_keys && batch_of(hash) != 0) {
          save_outer(*row, hash);
          continue;
        }
      } else {
        PackedRow* stored = batches_[batch_].outer != nullptr
                                ? batches_[batch_].outer->next(batches_[batch_].cursor)
                                : nullptr;
        if (stored == nullptr) return false;
        for (int i = 0; i < saved_outer_->count; ++i) {
          saved_outer_->values[i] = stored->values()[i];
          saved_outer_->nulls[i] = stored->nulls()[i];
        }
        row = saved_outer_;
        hash = stored->hash;
        frame_.slots[static_cast<int>(SlotSource::kOuter)] = row;
        outer_program_->run(frame_);
        has_keys = true;
      }
      if ((++ticks_ & 255) == 0) shm::check_interrupts();
      outer_matched_ = false;
      probe_hash_ = hash;
      probe_ = has_keys && !buckets_.empty() ? buckets_[hash & (buckets_.size() - 1)] : nullptr;
      return true;
    }
  }
  /// The outer row belongs to a later batch. Its slot may be wider than the plan's targets: all its columns
  /// are kept.
  void save_outer(Slot& row, std::uint64_t hash) {
    if (saved_outer_ == nullptr) {
      saved_outer_ = make_slot(run.state_arena, null_outer_->count);
      saved_outer_->valid = saved_outer_->count;
      std::vector<ExprType> types(static_cast<std::size_t>(null_outer_->count));
      for (std::size_t i = 0; i < types.size(); ++i) types[i] = ExprType{kInt8Type, -1, {}};
      const auto look = [&](const Expr* e) {
        any_node(e, [&](const Expr* n) {
          const auto* c = expr_if<SlotColumnExpr>(n);
          if (c != nullptr && c->source == SlotSource::kOuter && c->index >= 0) {
            types[static_cast<std::size_t>(c->index)] = c->type;
            used_outer_.resize(types.size(), false);
            used_outer_[static_cast<std::size_t>(c->index)] = true;
          }
          return false;
        });
      };
      for (const Expr* e : plan_.targets) look(e);
      for (const Expr* e : plan_.quals) look(e);
      for (const Expr* e : plan_.join_quals) look(e);
      for (const JoinKey& key : plan_.keys) look(key.outer);
      used_outer_.resize(types.size(), false);
      outer_format_ = RowFormat{std::span<const ExprType>(types)};
      save_nulls_ = run.state_arena.make_array<bool>(types.size() + 1);
    }
    const int count = saved_outer_->count;
    if (row.valid < count && row.layout != nullptr) deform_slot(row, std::min(count, row.count));
    for (int i = 0; i < count; ++i) {
      save_nulls_[i] = !used_outer_[static_cast<std::size_t>(i)] || i >= row.count || row.nulls[i];
    }
    spill_arena_.reset();
    PackedRow* packed = outer_format_.pack(row.values, save_nulls_, spill_arena_);
    packed->hash = hash;
    Batch& batch = batches_[batch_of(hash)];
    if (batch.outer == nullptr) batch.outer = std::make_unique<RowFile>(directory(), outer_format_);
    batch.outer->append(*packed);
  }

  Slot* probe() {
    while (probe_ != nullptr) {
      Entry* entry = probe_;
      probe_ = entry->next;
      if (entry->hash != probe_hash_ || !keys_equal(outer_values_, entry_keys(entry))) continue;
      begin_row();
      show_inner(*entry->row);
      if (!join_quals_->empty() && !join_quals_->test(frame_)) {
        if (run.counters != nullptr) run.counters[plan.node_id].join_filtered += 1;
        continue;
      }
      outer_matched_ = true;
      entry->matched = true;
      if (plan_.join == JoinType::kAnti) {
        probe_ = nullptr;
        break;
      }
      if (plan_.join == JoinType::kSemi || plan_.inner_unique) probe_ = nullptr;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        if (probe_ == nullptr) break;
        continue;
      }
      return project();
    }
    phase_ = Phase::kOuter;
    if (outer_matched_ || !keep_unmatched_outer_) return nullptr;
    begin_row();
    frame_.slots[static_cast<int>(SlotSource::kInner)] = null_inner_;
    if (!quals_->empty() && !quals_->test(frame_)) {
      count_filtered();
      return nullptr;
    }
    return project();
  }

  Slot* unmatched_inner() {
    for (;;) {
      PackedRow* row = nullptr;
      if (batch_ == 0 && null_inner_at_ < null_inner_rows_.size()) {
        row = null_inner_rows_[null_inner_at_++];
      } else {
        while (rest_entry_ == nullptr && rest_bucket_ < buckets_.size())
          rest_entry_ = buckets_[rest_bucket_++];
        if (rest_entry_ == nullptr) return nullptr;
        Entry* entry = rest_entry_;
        rest_entry_ = entry->next;
        if (entry->matched) continue;
        row = entry->row;
      }
      begin_row();
      show_inner(*row);
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = null_outer_;
      if (!quals_->empty() && !quals_->test(frame_)) {
        count_filtered();
        continue;
      }
      return project();
    }
  }

  bool load_batch() {
    while (++batch_ < batches_.size()) {
      Batch& batch = batches_[batch_];
      const bool worth = (batch.inner != nullptr && (batch.outer != nullptr || keep_unmatched_inner_)) ||
                         (batch.outer != nullptr && keep_unmatched_outer_);
      if (!worth) continue;
      table_memory_.reset();
      std::fill(buckets_.begin(), buckets_.end(), nullptr);
      table_count_ = 0;
      table_bytes_ = 0;
      if (batch.inner != nullptr) {
        RowFile::Cursor cursor;
        while (PackedRow* row = batch.inner->next(cursor)) {
          // written before the number of batches grew: it may belong further on
          if (batch_of(row->hash) != batch_)
            write_inner(batch_of(row->hash), *row);
          else
            insert(row->values(), row->nulls(), row->hash);
        }
        batch.inner.reset();
      }
      batch.cursor.offset = 0;
      return true;
    }
    return false;
  }

  const HashJoinPlan& plan_;
  Node* outer_;
  Node* inner_;
  RowFormat inner_format_;
  RowFormat outer_format_;
  Arena table_memory_;
  Arena key_arena_;
  Arena null_memory_;  ///< inner rows with NULL keys, kept for right and full joins
  Arena spill_arena_;
  std::vector<Key> keys_;
  const Program* outer_program_;
  const Program* inner_program_;
  const Program* join_quals_;
  const Program* quals_;
  Datum* outer_values_;
  bool* outer_nulls_;
  Datum* inner_values_;
  bool* inner_nulls_;
  Slot* inner_slot_;
  Slot* null_inner_;
  Slot* null_outer_;
  Slot* saved_outer_ = nullptr;
  bool* save_nulls_ = nullptr;
  std::vector<bool> used_outer_;
  std::vector<Entry*> buckets_;
  std::vector<Batch> batches_{1};
  std::vector<PackedRow*> null_inner_rows_;
  std::size_t null_inner_at_ = 0;
  std::size_t batch_ = 0;
  std::size_t table_count_ = 0;
  std::size_t table_bytes_ = 0;
  bool keep_unmatched_inner_;
  bool keep_unmatched_outer_;
  Phase phase_ = Phase::kBuild;
  Entry* probe_ = nullptr;
  std::uint64_t probe_hash_ = 0;
  bool outer_matched_ = false;
  std::size_t rest_bucket_ = 0;
  Entry* rest_entry_ = nullptr;
  unsigned ticks_ = 0;
};

}  // namespace

std::unique_ptr<Node> make_hash_join(const Plan* plan, RunState& run) {
  return std::make_unique<HashJoinNode>(*plan_cast<HashJoinPlan>(plan), run);
}

}  // namespace pinwheel::sql
