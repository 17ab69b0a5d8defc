#include "sql/execute/set_function_call.h"

#include <string>

#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/types/row_value.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

SetFunctionCall::SetFunctionCall(const Expr* expr, int columns, RunState& run, Arena& row_arena)
    : columns_{columns}, row_arena_{row_arena}, set_arena_{&run.budget, 1024} {
  ProgramCompiler compiler{run.state_arena, &run};
  const auto* f = expr_if<FunctionExpr>(expr);
  if (f == nullptr || !f->returns_set) {
    program_ = compiler.scalar(expr);
    return;
  }
  function_ = find_set_function(f->function);
  const ProcInfo* info = find_proc_info(f->function);
  if (function_ == nullptr) {
    throw SqlError{sqlstate::kFeatureNotSupported,
                   "function " + std::string{info != nullptr ? info->name : "?"} + " is not supported"};
  }
  if (columns_ == 1) find_record_columns(f->function, run.state_arena);
  strict_ = info != nullptr && info->strict;
  const std::size_t n = f->args.size();
  call_.nargs = static_cast<int>(n);
  call_.args = run.state_arena.make_array<Datum>(n + 1);
  call_.nulls = run.state_arena.make_array<bool>(n + 1);
  Oid* types = run.state_arena.make_array<Oid>(n + 1);
  for (std::size_t i = 0; i < n; ++i) types[i] = f->args[i]->type.type;
  call_.arg_types = types;
  call_.collation = f->input_collation;
  call_.result_type = f->type.type;
  call_.procedure = f->function;
  call_.variadic_array = f->variadic;
  call_.site_cache = run.state_arena.make<void*>(nullptr);
  program_ = compiler.into(std::span<const Expr* const>(f->args.data(), n), call_.args, call_.nulls);
}

void SetFunctionCall::find_record_columns(Oid procedure, Arena& arena) {
  const BuiltinProc* proc = find_proc(procedure);
  if (proc == nullptr) return;
  Oid* types = arena.make_array<Oid>(proc->all_args.size() + 1);
  std::size_t count = 0;
  for (std::size_t i = 0; i < proc->all_args.size() && i < proc->arg_modes.size(); ++i) {
    const char mode = proc->arg_modes[i];
    if (mode == 'o' || mode == 'b' || mode == 't') types[count++] = proc->all_args[i];
  }
  if (count < 2) return;
  record_types_ = {types, count};
  record_values_ = arena.make_array<Datum>(count);
  record_nulls_ = arena.make_array<bool>(count);
}

void SetFunctionCall::start(EvalFrame& frame) {
  done_ = false;
  state_ = nullptr;
  if (function_ == nullptr) return;
  set_arena_.reset();
  Arena* saved = frame.arena;
  frame.arena = &set_arena_;
  program_->run(frame);
  frame.arena = saved;
  if (strict_) {
    for (int i = 0; i < call_.nargs; ++i) done_ = done_ || call_.nulls[i];
    if (done_) return;
  }
  call_.arena = &set_arena_;
  call_.context = frame.eval;
  state_ = function_->start(call_);
  done_ = state_ == nullptr;
}

bool SetFunctionCall::next(EvalFrame& frame, Datum* values, bool* nulls) {
  if (done_) return false;
  if (function_ != nullptr) {
    call_.arena = &row_arena_;
    call_.context = frame.eval;
    if (record_values_ != nullptr) {
      if (function_->next(call_, state_, record_values_, record_nulls_)) {
        values[0] = make_row(row_arena_, kRecordType, record_types_, record_values_, record_nulls_);
        nulls[0] = false;
        return true;
      }
      done_ = true;
      return false;
    }
    for (int i = 0; i < columns_; ++i) nulls[i] = false;
    if (function_->next(call_, state_, values, nulls)) return true;
    done_ = true;
    return false;
  }
  done_ = true;
  bool is_null;
  const Datum value = program_->value(frame, &is_null);
  if (columns_ == 1) {
    values[0] = value;
    nulls[0] = is_null;
    return true;
  }
  // a row-valued function: its fields become the columns
  for (int i = 0; i < columns_; ++i) nulls[i] = true;
  if (is_null) return true;
  const RowView view =
      view_row(needs_detoast(value) ? detoast(value, row_arena_, frame.eval->detoaster) : value);
  const auto n = static_cast<std::size_t>(view.count);
  Oid* types = row_arena_.make_array<Oid>(n + 1);
  Datum* fields = row_arena_.make_array<Datum>(n + 1);
  bool* field_nulls = row_arena_.make_array<bool>(n + 1);
  read_row(view, types, fields, field_nulls);
  for (int i = 0; i < columns_ && i < view.count; ++i) {
    values[i] = fields[i];
    nulls[i] = field_nulls[i];
  }
  return true;
}

}  // namespace pinwheel::sql
