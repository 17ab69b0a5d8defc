#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"
#include "sql/types/eval_context.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

/// One call of a built-in function: arguments in, null flag out.
struct FunctionCall {
  Datum* args = nullptr;
  bool* nulls = nullptr;
  int nargs = 0;
  /// Set by the function when its result is NULL; the caller clears it before each call.
  bool result_null = false;
  Arena* arena = nullptr;  // results and scratch
  EvalContext* context = nullptr;
  Oid collation{};
  /// The actual types, where a function is polymorphic (any, anyelement, anyarray, variadic "any"); may be
  /// null for others.
  const Oid* arg_types = nullptr;
  Oid result_type{};
  /// The pg_proc row called.
  Oid procedure{};
  /// Last argument is a caller's VARIADIC array.
  bool variadic_array = false;
  /// Aggregates' transition functions: lives as long as the group; internal states and by-reference
  /// transition values are allocated here. Null outside an aggregate.
  Arena* group_arena = nullptr;
  /// Per call site, starts as null and survives rows: what a function wants to keep (a compiled pattern).
  void** site_cache = nullptr;

  bool null(int i) const { return nulls[i]; }
  Datum arg(int i) const { return args[i]; }
  /// Argument `i`, detoasted, as bytes.
  std::string_view text(int i) const {
    return needs_detoast(args[i]) ? var_view(detoast(args[i], *arena, context->detoaster))
                                  : var_view(args[i]);
  }
  Datum plain(int i) const {
    return needs_detoast(args[i]) ? detoast(args[i], *arena, context->detoaster) : args[i];
  }
  /// `bytes` as a text or bytea value.
  Datum make_var(std::string_view bytes) const { return sql::make_var(*arena, bytes); }
  Datum make_null() {
    result_null = true;
    return Datum{};
  }
};

/// Strict functions (pg_proc.proisstrict) are never called with a null argument: callers return NULL at once.
using FunctionPtr = Datum (*)(FunctionCall& call);

/// Code for a pg_proc row, found by the row's prosrc (or by oid for rows whose prosrc is SQL text).
struct BuiltinFunction {
  std::string_view prosrc;
  FunctionPtr function;
  Oid oid{};
};

/// Null when no built-in function has that oid, or we do not implement it, or it returns a set, or is an
/// aggregate. Binary search; resolve at plan time, not per row.
FunctionPtr find_function(Oid procedure);

/// The facts of a built-in pg_proc row that calling code needs.
struct ProcInfo {
  Oid oid;
  std::string_view name;
  std::string_view prosrc;
  Oid result;
  std::span<const Oid> args;  // input arguments
  Oid variadic;               // element type of the VARIADIC argument, 0 none
  std::uint8_t default_count;
  bool strict;
  bool returns_set;
  char kind;        // f a w p
  char volatility;  // i s v
};
/// Null for oids that are not built in.
const ProcInfo* find_proc_info(Oid procedure);
std::span<const ProcInfo> builtin_procs();

/// True when calling the built-in procedure works: pg_proc gets only such rows.
bool is_implemented(Oid procedure);

/// A set-returning function: `start` evaluates the arguments, `next` makes one row at a time.
struct SetFunction {
  std::string_view prosrc;
  /// Returns the iteration's state, in call.arena, which outlives the iteration. Null = empty set.
  void* (*start)(FunctionCall& call);
  /// False at the end. Fills `values` and `nulls`, one per result column (one for scalar sets). By-reference
  /// results live in call.arena, which the caller may give as a row arena here.
  bool (*next)(FunctionCall& call, void* state, Datum* values, bool* nulls);
  Oid oid{};
};
const SetFunction* find_set_function(Oid procedure);

/// How one aggregate is computed; the oids say the rest (pg_aggregate).
struct AggregateInfo {
  Oid procedure;
  FunctionPtr transition;
  FunctionPtr final;  // null: the transition value is the result
  /// For partial aggregation; null: none.
  FunctionPtr combine;
  Oid transition_procedure, final_procedure, combine_procedure;
  Oid transition_type;  // kInternalType: the transition value is a pointer into group_arena
  char kind;            // n normal, o ordered-set, h hypothetical
  bool transition_strict;
  bool final_strict;
  bool final_extra;
  bool has_initial;
  std::string_view initial_text;  // input of transition_type
  Oid sort_operator;              // min/max: an index on it answers; 0 none
};
/// Null when not an aggregate that we implement.
///
/// Caller's duties, as in PostgreSQL: a strict transition without initial value takes the first non-null
/// input as its state; strict transitions skip null inputs; transition results that are by-reference must be
/// copied into the group's arena unless they are the same pointer as the state (state functions update in
/// place when call.group_arena is set).
const AggregateInfo* find_aggregate(Oid procedure);

}  // namespace pinwheel::sql
