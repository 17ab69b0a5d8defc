#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/execute/aggregate_state.h"
#include "sql/execute/node_base.h"
#include "sql/execute/row_file.h"
#include "sql/execute/scan_nodes.h"
#include "sql/types/type_info.h"
#include "storage/storage.h"

namespace pinwheel::sql {
namespace {

/// PostgreSQL's FRAMEOPTION bits.
enum FrameBit : std::uint32_t {
  kRange = 0x2,
  kRows = 0x4,
  kGroups = 0x8,
  kEndUnboundedPreceding = 0x40,
  kStartUnboundedPreceding = 0x20,
  kStartUnboundedFollowing = 0x80,
  kEndUnboundedFollowing = 0x100,
  kStartCurrent = 0x200,
  kEndCurrent = 0x400,
  kStartOffsetPreceding = 0x800,
  kEndOffsetPreceding = 0x1000,
  kStartOffsetFollowing = 0x2000,
  kEndOffsetFollowing = 0x4000,
  kExcludeCurrent = 0x8000,
  kExcludeGroup = 0x10000,
  kExcludeTies = 0x20000,
};

enum class WindowKind : std::uint8_t {
  kAggregate,
  kRowNumber,
  kRank,
  kDenseRank,
  kPercentRank,
  kCumeDist,
  kNtile,
  kLag,
  kLead,
  kFirstValue,
  kLastValue,
  kNthValue
};

WindowKind kind_of(const WindowFunctionExpr& call) {
  if (call.is_aggregate) return WindowKind::kAggregate;
  const ProcInfo* info = find_proc_info(call.function);
  const std::string_view name = info != nullptr ? info->name : std::string_view{};
  constexpr std::pair<std::string_view, WindowKind> kNames[] = {{"row_number", WindowKind::kRowNumber},
                                                                {"rank", WindowKind::kRank},
                                                                {"dense_rank", WindowKind::kDenseRank},
                                                                {"percent_rank", WindowKind::kPercentRank},
                                                                {"cume_dist", WindowKind::kCumeDist},
                                                                {"ntile", WindowKind::kNtile},
                                                                {"lag", WindowKind::kLag},
                                                                {"lead", WindowKind::kLead},
                                                                {"first_value", WindowKind::kFirstValue},
                                                                {"last_value", WindowKind::kLastValue},
                                                                {"nth_value", WindowKind::kNthValue}};
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  throw SqlError{sqlstate::kFeatureNotSupported,
                 "window function " + std::string{name} + " is not supported"};
}

/// Window functions over one window: a partition's rows are kept, then worked through one by one.
class WindowAggNode final : public ExpressionNode {
 public:
  WindowAggNode(const WindowAggPlan& p, RunState& r)
      : ExpressionNode{p, r},
        plan_{p},
        input_{make_node(p.left, r)},
        format_{p.left->targets},
        rows_{format_, r.context->storage.files.data_directory(), r.work_mem_bytes, &r.budget},
        partition_{p.partition_keys, &scratch_},
        order_{p.order_keys, &scratch_} {
    row_slot_ = make_slot(r.state_arena, format_.count());
    row_slot_->valid = row_slot_->count;
    other_slot_ = make_slot(r.state_arena, format_.count());
    other_slot_->valid = other_slot_->count;
    results_ = make_slot(r.state_arena, static_cast<int>(p.calls.size()));
    results_->valid = results_->count;
    for (const WindowCall& call : p.calls) {
      Call made;
      made.kind = kind_of(*call.expr);
      made.type = call.expr->type.type;
      if (made.kind == WindowKind::kAggregate) {
        made.runner = std::make_unique<AggregateRunner>(*call.expr, r);
        made.arena = std::make_unique<Arena>(&r.budget, 1024);
      } else {
        for (const Expr* arg : call.expr->args) made.args.push_back(compiler().scalar(arg));
      }
      calls_.push_back(std::move(made));
    }
    if (p.frame.start_offset != nullptr) start_program_ = compiler().scalar(p.frame.start_offset);
    if (p.frame.end_offset != nullptr) end_program_ = compiler().scalar(p.frame.end_offset);
    compile_output();
    frame_.slots[static_cast<int>(SlotSource::kInner)] = results_;
  }

  Slot* next() override {
    if (at_ == rows_.count() && !load_partition()) return nullptr;
    begin_row();
    scratch_.reset();
    current_ = at_++;
    if ((current_ & 255) == 0) shm::check_interrupts();
    load(current_, *row_slot_, row_reader_);
    frame_bounds();
    for (std::size_t i = 0; i < calls_.size(); ++i)
      compute(calls_[i], results_->values[i], results_->nulls[i]);
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = row_slot_;
    return project();
  }
  void rewind() override {
    begin_frame();
    partition_.set_detoaster(run.eval->detoaster);
    order_.set_detoaster(run.eval->detoaster);
    clear();
    ended_ = false;
    pending_ = nullptr;
    offsets_known_ = false;
    rewind_node(*input_);
  }
  void close() noexcept override { clear(); }

 private:
  struct Call {
    WindowKind kind;
    Oid type;
    std::vector<const Program*> args;
    // aggregates
    std::unique_ptr<AggregateRunner> runner;
    std::unique_ptr<Arena> arena;
    TransitionValue state;
    std::size_t taken_from = 0, taken_to = 0;  ///< rows in `state`
    bool active = false;
    Datum last{};
    bool last_null = true;
    bool has_last = false;
  };

  void clear() {
    rows_.clear();
    groups_.clear();
    at_ = 0;
  }
  void load(std::size_t index, Slot& slot, TupleStore::Reader& reader) {
    const PackedRow* row = rows_.row(index, reader);
    for (int i = 0; i < slot.count; ++i) {
      slot.values[i] = row->values()[i];
      slot.nulls[i] = row->nulls()[i];
    }
  }
  bool load_partition() {
    clear();
    for (Call& call : calls_) call.active = call.has_last = false;
    if (ended_ && pending_ == nullptr) return false;
    if (pending_ != nullptr) {
      first_arena_.reset();
      first_ = format_.pack(pending_->values(), pending_->nulls(), first_arena_);
      take(first_->values(), first_->nulls());
      pending_ = nullptr;
    }
    while (!ended_) {
      scratch_.reset();
      Slot* row = pull(*input_);
      if (row == nullptr) {
        ended_ = true;
        input_->close();
        break;
      }
      if (row->valid < format_.count()) deform_slot(*row, format_.count());
      if (rows_.count() != 0 &&
          !partition_.equal(row->values, row->nulls, first_->values(), first_->nulls())) {
        pending_arena_.reset();
        pending_ = format_.pack(row->values, row->nulls, pending_arena_);
        break;
      }
      if (rows_.count() == 0) {
        first_arena_.reset();
        first_ = format_.pack(row->values, row->nulls, first_arena_);
      }
      take(row->values, row->nulls);
    }
    return rows_.count() != 0;
  }
  /// Adds a row and notes where groups of peers begin.
  void take(const Datum* values, const bool* nulls) {
    const std::size_t index = rows_.count();
    const bool peer = index != 0 && (order_.empty() ||
                                     order_.equal(values, nulls, last_peer_->values(), last_peer_->nulls()));
    if (!peer) {
      groups_.push_back(index);
      peer_arena_.reset();
      last_peer_ = format_.pack(values, nulls, peer_arena_);
    }
    rows_.append(values, nulls);
  }
  /// Number of the peer group of a row.
  std::size_t group_of(std::size_t row) const {
    return static_cast<std::size_t>(std::upper_bound(groups_.begin(), groups_.end(), row) - groups_.begin()) -
           1;
  }
  std::size_t group_start(std::size_t group) const { return groups_[group]; }
  std::size_t group_end(std::size_t group) const {
    return group + 1 < groups_.size() ? groups_[group + 1] : rows_.count();
  }

  void read_offsets() {
    if (offsets_known_) return;
    offsets_known_ = true;
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = row_slot_;
    const auto read = [&](const Program* program, const char* which) {
      if (program == nullptr) return Datum{};
      bool is_null;
      const Datum value = program->value(frame_, &is_null);
      if (is_null) {
        throw SqlError{sqlstate::kNullValueNotAllowed,
                       std::string{"frame "} + which + " offset must not be null"};
      }
      if ((plan_.frame.options & kRange) == 0 && value.as_int64() < 0) {
        throw SqlError{sqlstate::kInvalidPrecedingOrFollowingSize,
                       std::string{"frame "} + which + " offset must not be negative"};
      }
      return value;
    };
    start_offset_ = read(start_program_, "starting");
    end_offset_ = read(end_program_, "ending");
  }

  /// [frame_start_, frame_end_) of the current row.
  void frame_bounds() {
    const std::uint32_t o = plan_.frame.options;
    if (start_program_ != nullptr || end_program_ != nullptr) read_offsets();
    const auto count = static_cast<std::int64_t>(rows_.count());
    const auto row = static_cast<std::int64_t>(current_);
    const std::size_t group = group_of(current_);
    const auto clamp = [&](std::int64_t v) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(v, 0, count));
    };
    if ((o & kStartUnboundedPreceding) != 0) {
      frame_start_ = 0;
    } else if ((o & kStartCurrent) != 0) {
      frame_start_ = (o & kRows) != 0 ? current_ : group_start(group);
    } else if ((o & (kStartOffsetPreceding | kStartOffsetFollowing)) != 0) {
      const bool preceding = (o & kStartOffsetPreceding) != 0;
      if ((o & kRows) != 0) {
        frame_start_ =
            clamp(preceding ? row - start_offset_.as_int64() : saturating_add(row, start_offset_.as_int64()));
      } else if ((o & kGroups) != 0) {
        const std::int64_t g = static_cast<std::int64_t>(group) +
                               (preceding ? -start_offset_.as_int64() : start_offset_.as_int64());
        frame_start_ = g < 0 ? 0
                       : g >= static_cast<std::int64_t>(groups_.size())
                           ? rows_.count()
                           : group_start(static_cast<std::size_t>(g));
      } else {
        frame_start_ = range_bound(start_offset_, plan_.frame.start_offset->type.type, preceding, true);
      }
    } else {
      frame_start_ = rows_.count();
    }
    if ((o & kEndUnboundedFollowing) != 0) {
      frame_end_ = rows_.count();
    } else if ((o & kEndCurrent) != 0) {
      frame_end_ = (o & kRows) != 0 ? current_ + 1 : group_end(group);
    } else if ((o & (kEndOffsetPreceding | kEndOffsetFollowing)) != 0) {
      const bool preceding = (o & kEndOffsetPreceding) != 0;
      if ((o & kRows) != 0) {
        frame_end_ = clamp(preceding ? row - end_offset_.as_int64() + 1
                                     : saturating_add(row + 1, end_offset_.as_int64()));
      } else if ((o & kGroups) != 0) {
        const std::int64_t g =
            static_cast<std::int64_t>(group) + (preceding ? -end_offset_.as_int64() : end_offset_.as_int64());
        frame_end_ = g < 0 ? 0
                     : g >= static_cast<std::int64_t>(groups_.size())
                         ? rows_.count()
                         : group_end(static_cast<std::size_t>(g));
      } else {
        frame_end_ = range_bound(end_offset_, plan_.frame.end_offset->type.type, preceding, false);
      }
    } else {
      frame_end_ = 0;
    }
    if (o == 0) {  // no frame written and none filled in: RANGE UNBOUNDED PRECEDING TO CURRENT ROW
      frame_start_ = 0;
      frame_end_ = group_end(group);
    }
    frame_end_ = std::max(frame_end_, frame_start_);
  }
  static std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
  }
  /// RANGE offset: the first row not below (or, for the end, the first row above) the key moved by the
  /// offset.
  std::size_t range_bound(Datum offset, Oid offset_type, bool preceding, bool start) {
    const SortKey& key = plan_.order_keys[0];
    const std::size_t group = group_of(current_);
    if (row_slot_->nulls[key.column]) return start ? group_start(group) : group_end(group);
    const bool subtract = preceding != key.descending;
    const BuiltinOperator* op = find_operator(subtract ? "-" : "+", key.type, offset_type);
    const FunctionPtr function = op != nullptr ? find_function(op->procedure) : nullptr;
    const CompareFn compare =
        op != nullptr
            ? (op->result == key.type ? find_compare(key.type) : find_cross_compare(key.type, op->result))
            : nullptr;
    if (function == nullptr || compare == nullptr) {
      throw SqlError{sqlstate::kFeatureNotSupported,
                     "RANGE with offset PRECEDING/FOLLOWING is not supported for column type " +
                         format_builtin_type(key.type, -1, false) + " and offset type " +
                         format_builtin_type(offset_type, -1, false)};
    }
    Datum args[2] = {row_slot_->values[key.column], offset};
    bool nulls[2] = {false, false};
    FunctionCall call;
    call.args = args;
    call.nulls = nulls;
    call.nargs = 2;
    call.arena = &arena_;
    call.context = run.eval;
    call.procedure = op->procedure;
    const Datum bound = function(call);
    const CompareContext context{key.collation, &scratch_, run.eval->detoaster};
    std::size_t low = 0;
    std::size_t high = rows_.count();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const PackedRow* row = rows_.row(middle, other_reader_);
      bool beyond;
      if (row->nulls()[key.column]) {
        beyond = !key.nulls_first;
      } else {
        int order = compare(row->values()[key.column], bound, context);
        if (key.descending) order = -order;
        beyond = start ? order >= 0 : order > 0;
      }
      if (beyond)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }
  bool excluded(std::size_t row) const {
    const std::uint32_t o = plan_.frame.options;
    if ((o & (kExcludeCurrent | kExcludeGroup | kExcludeTies)) == 0) return false;
    if ((o & kExcludeCurrent) != 0) return row == current_;
    const std::size_t group = group_of(current_);
    const bool peer = row >= group_start(group) && row < group_end(group);
    return (o & kExcludeGroup) != 0 ? peer : peer && row != current_;
  }

  Datum keep(const Call& call, Datum value, bool is_null) {
    const TypeInfo* type = find_type(call.type);
    if (is_null || (type != nullptr && type->by_value)) return value;
    return copy_datum(value, type != nullptr ? type->length : -1, false, arena_);
  }
  /// Argument `i` of a call for row `row`.
  Datum argument(const Call& call, std::size_t i, std::size_t row, bool* is_null) {
    Slot* slot = row_slot_;
    if (row != current_) {
      load(row, *other_slot_, other_reader_);
      slot = other_slot_;
    }
    frame_.slots[static_cast<int>(SlotSource::kOuter)] = slot;
    const Datum value = call.args[i]->value(frame_, is_null);
    return keep(call, value, *is_null);
  }

  void compute(Call& call, Datum& out, bool& is_null) {
    const auto integer = [&](std::int64_t v) {
      out = Datum::from_int64(v);
      is_null = false;
    };
    const std::size_t count = rows_.count();
    const std::size_t group = group_of(current_);
    switch (call.kind) {
      case WindowKind::kAggregate:
        return aggregate(call, out, is_null);
      case WindowKind::kRowNumber:
        return integer(static_cast<std::int64_t>(current_) + 1);
      case WindowKind::kRank:
        return integer(static_cast<std::int64_t>(group_start(group)) + 1);
      case WindowKind::kDenseRank:
        return integer(static_cast<std::int64_t>(group) + 1);
      case WindowKind::kPercentRank:
        is_null = false;
        out = Datum::from_float8(
            count <= 1 ? 0.0 : static_cast<double>(group_start(group)) / static_cast<double>(count - 1));
        return;
      case WindowKind::kCumeDist:
        is_null = false;
        out = Datum::from_float8(static_cast<double>(group_end(group)) / static_cast<double>(count));
        return;
      case WindowKind::kNtile: {
        const Datum value = argument(call, 0, current_, &is_null);
        if (is_null) return;
        const std::int64_t buckets = value.as_int32();
        if (buckets <= 0) {
          throw SqlError{sqlstate::kInvalidArgumentForNtile, "argument of ntile must be greater than zero"};
        }
        const auto total = static_cast<std::int64_t>(count);
        const std::int64_t size = total / buckets;
        const std::int64_t larger = total % buckets;
        const auto row = static_cast<std::int64_t>(current_);
        const std::int64_t boundary = larger * (size + 1);
        out = Datum::from_int32(static_cast<std::int32_t>(
            row < boundary ? row / (size + 1) + 1
                           : larger + (row - boundary) / std::max<std::int64_t>(1, size) + 1));
        return;
      }
      case WindowKind::kLag:
      case WindowKind::kLead: {
        std::int64_t offset = 1;
        if (call.args.size() > 1) {
          const Datum value = argument(call, 1, current_, &is_null);
          if (is_null) return;
          offset = value.as_int32();
        }
        const std::int64_t at =
            static_cast<std::int64_t>(current_) + (call.kind == WindowKind::kLag ? -offset : offset);
        if (at >= 0 && at < static_cast<std::int64_t>(count)) {
          out = argument(call, 0, static_cast<std::size_t>(at), &is_null);
        } else if (call.args.size() > 2) {
          out = argument(call, 2, current_, &is_null);
        } else {
          is_null = true;
        }
        return;
      }
      case WindowKind::kFirstValue:
      case WindowKind::kLastValue:
      case WindowKind::kNthValue: {
        std::int64_t nth = 1;
        if (call.kind == WindowKind::kNthValue) {
          const Datum value = argument(call, 1, current_, &is_null);
          if (is_null) return;
          nth = value.as_int32();
          if (nth <= 0) {
            throw SqlError{sqlstate::kInvalidArgumentForNthValue,
                           "argument of nth_value must be greater than zero"};
          }
        }
        is_null = true;
        if (call.kind == WindowKind::kLastValue) {
          for (std::size_t row = frame_end_; row-- > frame_start_;) {
            if (excluded(row)) continue;
            out = argument(call, 0, row, &is_null);
            return;
          }
          return;
        }
        for (std::size_t row = frame_start_; row < frame_end_; ++row) {
          if (excluded(row) || --nth != 0) continue;
          out = argument(call, 0, row, &is_null);
          return;
        }
        return;
      }
    }
  }

  /// Goes on from the last row's state while the frame only grows at its end; else begins anew.
  void aggregate(Call& call, Datum& out, bool& is_null) {
    const bool excludes = (plan_.frame.options & (kExcludeCurrent | kExcludeGroup | kExcludeTies)) != 0;
    const bool extends =
        call.active && !excludes && call.taken_from == frame_start_ && call.taken_to <= frame_end_;
    if (extends && call.taken_to == frame_end_ && call.has_last) {
      out = call.last;
      is_null = call.last_null;
      return;
    }
    if (!extends) {
      call.arena->reset();
      call.runner->begin(call.state, *call.arena);
      call.taken_from = call.taken_to = frame_start_;
      call.active = true;
    }
    for (std::size_t row = call.taken_to; row < frame_end_; ++row) {
      if (excludes && excluded(row)) continue;
      load(row, *other_slot_, other_reader_);
      frame_.slots[static_cast<int>(SlotSource::kOuter)] = other_slot_;
      call.runner->advance(call.state, frame_, *call.arena);
    }
    call.taken_to = frame_end_;
    bool result_null;
    const Datum value = call.runner->finish(call.state, frame_, *call.arena, *call.arena, &result_null);
    call.last = result_null ? Datum{} : copy_for(call, value);
    call.last_null = result_null;
    call.has_last = !excludes;
    out = call.last;
    is_null = result_null;
  }
  Datum copy_for(const Call& call, Datum value) {
    const TypeInfo* type = find_type(call.type);
    if (type != nullptr && type->by_value) return value;
    return copy_datum(value, type != nullptr ? type->length : -1, false, *call.arena);
  }

  const WindowAggPlan& plan_;
  Node* input_;
  RowFormat format_;
  TupleStore rows_;
  TupleStore::Reader row_reader_;
  TupleStore::Reader other_reader_;
  Arena scratch_;
  Arena first_arena_;
  Arena pending_arena_;
  Arena peer_arena_;
  RowComparer partition_;
  RowComparer order_;
  std::vector<Call> calls_;
  std::vector<std::size_t> groups_;  ///< first row of each group of peers
  Slot* row_slot_;
  Slot* other_slot_;
  Slot* results_;
  PackedRow* first_ = nullptr;
  PackedRow* pending_ = nullptr;
  PackedRow* last_peer_ = nullptr;
  const Program* start_program_ = nullptr;
  const Program* end_program_ = nullptr;
  Datum start_offset_{};
  Datum end_offset_{};
  bool offsets_known_ = false;
  std::size_t at_ = 0;
  std::size_t current_ = 0;
  std::size_t frame_start_ = 0;
  std::size_t frame_end_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Node> make_window_agg(const Plan* plan, RunState& run) {
  return std::make_unique<WindowAggNode>(*plan_cast<WindowAggPlan>(plan), run);
}

}  // namespace pinwheel::sql
