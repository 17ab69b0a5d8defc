#include "sql/execute/aggregate_state.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/run_state.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

AggregateRunner::AggregateRunner(const AggregateExpr& expr, RunState& run) : run_{run} {
  prepare(expr.function, expr.input_collation, expr.args, expr.direct_args, expr.filter, expr.star,
          expr.type.type, expr.variadic);
  const bool ordered_set = info_->kind != 'n';
  collects_ = expr.distinct || !expr.order_by.empty();
  if (ordered_set && !collects_) collects_ = !expr.args.empty();
  if (!collects_) return;
  distinct_ = expr.distinct;
  for (const SortClause& clause : expr.order_by) {
    const Expr* arg = expr.args[static_cast<std::size_t>(clause.target_index)];
    sort_keys_.push_back(
        {clause.target_index, arg->type.type, arg->type.collation, clause.descending, clause.nulls_first});
  }
  std::vector<SortKey> all;
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const SortKey key{static_cast<int>(i), expr.args[i]->type.type, expr.args[i]->type.collation, false,
                      false};
    all.push_back(key);
    const bool known = std::any_of(sort_keys_.begin(), sort_keys_.end(),
                                   [&](const SortKey& k) { return k.column == static_cast<int>(i); });
    if (distinct_ && !known) sort_keys_.push_back(key);
  }
  format_ = std::make_unique<RowFormat>(std::span<Expr* const>(expr.args.data(), expr.args.size()));
  comparer_ = std::make_unique<RowComparer>(sort_keys_, &collect_arena_);
  if (distinct_) distinct_comparer_ = std::make_unique<RowComparer>(all, &collect_arena_);
}

AggregateRunner::AggregateRunner(const WindowFunctionExpr& expr, RunState& run) : run_{run} {
  prepare(expr.function, expr.input_collation, expr.args, {}, expr.filter, expr.star, expr.type.type, false);
}

void AggregateRunner::prepare(Oid function, Oid collation, ExprList args, ExprList direct_args,
                              const Expr* filter, bool star, Oid result, bool variadic) {
  info_ = find_aggregate(function);
  if (info_ == nullptr) {
    const ProcInfo* proc = find_proc_info(function);
    throw SqlError{
        sqlstate::kFeatureNotSupported,
        "aggregate function " + std::string{proc != nullptr ? proc->name : "?"} + " is not supported"};
  }
  Arena& arena = run_.state_arena;
  ProgramCompiler compiler{arena, &run_};
  const std::size_t n = args.size();
  input_count_ = static_cast<int>(n);
  direct_count_ = static_cast<int>(direct_args.size());
  // transition(state, args...)
  transition_.nargs = input_count_ + 1;
  transition_.args = arena.make_array<Datum>(n + 2);
  transition_.nulls = arena.make_array<bool>(n + 2);
  Oid* types = arena.make_array<Oid>(n + 2);
  types[0] = info_->transition_type;
  for (std::size_t i = 0; i < n; ++i) types[i + 1] = args[i]->type.type;
  transition_.arg_types = types;
  transition_.collation = collation;
  transition_.procedure = info_->transition_procedure;
  transition_.result_type = result;
  transition_.variadic_array = variadic;
  transition_.site_cache = arena.make<void*>(nullptr);
  inputs_ = compiler.into(std::span<const Expr* const>(args.data(), n), transition_.args + 1,
                          transition_.nulls + 1);
  // final(state, direct args..., [nulls for the arguments])
  const std::size_t extra = info_->final_extra ? n : 0;
  const std::size_t direct = direct_args.size();
  final_.nargs = static_cast<int>(1 + direct + extra);
  final_.args = arena.make_array<Datum>(2 + direct + extra);
  final_.nulls = arena.make_array<bool>(2 + direct + extra);
  Oid* final_types = arena.make_array<Oid>(2 + direct + extra);
  final_types[0] = info_->transition_type;
  for (std::size_t i = 0; i < direct; ++i) final_types[1 + i] = direct_args[i]->type.type;
  for (std::size_t i = 0; i < extra; ++i) {
    final_types[1 + direct + i] = args[i]->type.type;
    final_.nulls[1 + direct + i] = true;
  }
  final_.arg_types = final_types;
  final_.collation = collation;
  final_.procedure = info_->final_procedure;
  final_.result_type = result;
  final_.site_cache = arena.make<void*>(nullptr);
  if (direct != 0)
    direct_ = compiler.into(std::span<const Expr* const>(direct_args.data(), direct), final_.args + 1,
                            final_.nulls + 1);
  if (filter != nullptr) {
    Expr** list = arena.make_array<Expr*>(1);
    list[0] = const_cast<Expr*>(filter);
    filter_ = compiler.condition(ExprList(list, 1));
  }
  if (info_->transition_type == kInternalType) {
    state_by_value_ = true;  // a pointer into the group's memory
  } else if (const TypeInfo* type = find_type(info_->transition_type); type != nullptr) {
    state_by_value_ = type->by_value;
    state_length_ = type->length;
    // polymorphic states take the type of the input
    if (type->kind == 'p' && n > 0) {
      const TypeInfo* actual = find_type(args[0]->type.type);
      state_by_value_ = actual != nullptr && actual->by_value;
      state_length_ = actual != nullptr ? actual->length : std::int16_t{-1};
    }
  }
  if (function.value == 2803 && star)
    fast_ = Fast::kCountStar;
  else if (function.value == 2147 && n == 1)
    fast_ = Fast::kCountAny;
  if (info_->has_initial) {
    initial_null_ = false;
    if (run_.eval != nullptr) {
      IoContext io{arena, *run_.eval, info_->transition_type};
      initial_ = type_info(info_->transition_type).input(info_->initial_text, io);
    }
  }
}

void AggregateRunner::begin(TransitionValue& state, Arena& group_arena) {
  state.is_null = initial_null_;
  state.has_value = !initial_null_;
  state.value = initial_;
  if (!initial_null_ && !state_by_value_)
    state.value = copy_datum(initial_, state_length_, false, group_arena);
  if (collects_) {
    collected_.clear();
    collect_arena_.reset();
  }
}

void AggregateRunner::set_value(TransitionValue& state, Datum value, bool is_null, Arena& group_arena) {
  if (!is_null && !state_by_value_ && (state.is_null || value.bits != state.value.bits)) {
    value = copy_datum(value, state_length_, false, group_arena);
  }
  state.value = value;
  state.is_null = is_null;
  state.has_value = true;
}

void AggregateRunner::take(TransitionValue& state, EvalFrame& frame, Arena& group_arena) {
  if (info_->transition_strict) {
    for (int i = 1; i <= input_count_; ++i) {
      if (transition_.nulls[i]) return;
    }
    if (!state.has_value) {
      Datum first = transition_.args[1];
      if (!state_by_value_ && state_length_ == -1 && needs_detoast(first)) {
        first = detoast(first, group_arena, frame.eval->detoaster);
      }
      set_value(state, first, false, group_arena);
      return;
    }
    if (state.is_null) return;
  }
  transition_.args[0] = state.value;
  transition_.nulls[0] = state.is_null;
  transition_.result_null = false;
  transition_.arena = frame.arena;
  transition_.group_arena = &group_arena;
  transition_.context = frame.eval;
  const Datum value = info_->transition(transition_);
  set_value(state, value, transition_.result_null, group_arena);
}

void AggregateRunner::advance(TransitionValue& state, EvalFrame& frame, Arena& group_arena) {
  if (filter_ != nullptr && !filter_->test(frame)) return;
  if (fast_ == Fast::kCountStar) {
    state.value = Datum::from_int64(state.value.as_int64() + 1);
    return;
  }
  inputs_->run(frame);
  if (collects_) {
    collected_.push_back(format_->pack(transition_.args + 1, transition_.nulls + 1, collect_arena_));
    return;
  }
  if (fast_ == Fast::kCountAny) {
    if (!transition_.nulls[1]) state.value = Datum::from_int64(state.value.as_int64() + 1);
    return;
  }
  take(state, frame, group_arena);
}

void AggregateRunner::take_collected(TransitionValue& state, EvalFrame& frame, Arena& group_arena) {
  comparer_->set_detoaster(frame.eval->detoaster);
  std::stable_sort(collected_.begin(), collected_.end(), [&](const PackedRow* a, const PackedRow* b) {
    return comparer_->compare(a->values(), a->nulls(), b->values(), b->nulls()) < 0;
  });
  const PackedRow* last = nullptr;
  for (const PackedRow* row : collected_) {
    if (distinct_ && last != nullptr &&
        distinct_comparer_->equal(row->values(), row->nulls(), last->values(), last->nulls())) {
      continue;
    }
    last = row;
    for (int i = 0; i < input_count_; ++i) {
      transition_.args[i + 1] = row->values()[i];
      transition_.nulls[i + 1] = row->nulls()[i];
    }
    if (fast_ == Fast::kCountAny) {
      if (!transition_.nulls[1]) state.value = Datum::from_int64(state.value.as_int64() + 1);
    } else {
      take(state, frame, group_arena);
    }
  }
  collected_.clear();
}

Datum AggregateRunner::finish(TransitionValue& state, EvalFrame& frame, Arena& group_arena, Arena& arena,
                              bool* is_null) {
  if (collects_) take_collected(state, frame, group_arena);
  if (info_->final == nullptr) {
    *is_null = state.is_null;
    return state.value;
  }
  if (direct_ != nullptr) direct_->run(frame);
  final_.args[0] = state.value;
  final_.nulls[0] = state.is_null;
  if (info_->final_strict) {
    for (int i = 0; i < final_.nargs; ++i) {
      if (final_.nulls[i]) {
        *is_null = true;
        return Datum{};
      }
    }
  }
  final_.result_null = false;
  final_.arena = &arena;
  final_.group_arena = &group_arena;
  final_.context = frame.eval;
  const Datum value = info_->final(final_);
  *is_null = final_.result_null;
  return value;
}

}  // namespace pinwheel::sql
