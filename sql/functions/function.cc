#include "sql/functions/function.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {

namespace {

#include "sql/functions/procs.inc"

constexpr AggregateInfo kRecordedAggregates[] = {
#include "sql/functions/aggregates.inc"
};

/// What each pg_proc row resolves to; same order as kProcs.
struct Code {
  FunctionPtr function = nullptr;
  const SetFunction* set = nullptr;
  const AggregateInfo* aggregate = nullptr;
};

/// Joins the recorded rows with the code, once per process (before fork where the launcher touches it first).
struct Registry {
  std::vector<Code> codes;
  std::vector<AggregateInfo> aggregates;

  Registry() : codes(std::size(kProcs)) {
    join_functions();
    join_sets();
    join_aggregates();
  }

  Code* find(Oid procedure) {
    const auto it = std::lower_bound(std::begin(kProcs), std::end(kProcs), procedure,
                                     [](const ProcInfo& row, Oid oid) { return row.oid < oid; });
    if (it == std::end(kProcs) || it->oid != procedure) return nullptr;
    return &codes[static_cast<std::size_t>(it - kProcs)];
  }

  void join_functions() {
    using namespace functions;
    std::unordered_map<std::string_view, FunctionPtr> by_source;
    for (const auto table : {comparison_functions(),
                             integer_functions(),
                             float_functions(),
                             numeric_functions(),
                             text_functions(),
                             binary_functions(),
                             quoting_functions(),
                             pattern_functions(),
                             regexp_functions(),
                             datetime_functions(),
                             datetime_arithmetic_functions(),
                             array_functions(),
                             number_format_functions(),
                             date_format_functions(),
                             date_read_functions(),
                             bit_functions(),
                             misc_functions(),
                             hash_functions(),
                             catalog_functions(),
                             aggregate_functions(),
                             statistics_functions(),
                             type_io_functions()}) {
      for (const BuiltinFunction& entry : table) {
        if (entry.oid.value != 0) {
          if (Code* code = find(entry.oid)) code->function = entry.function;
        } else {
          by_source.emplace(entry.prosrc, entry.function);
        }
      }
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const ProcInfo& row = kProcs[i];
      if (row.kind != 'f' || row.returns_set || row.prosrc.empty() || codes[i].function) continue;
      const auto it = by_source.find(row.prosrc);
      if (it != by_source.end()) codes[i].function = it->second;
    }
  }

  void join_sets() {
    std::unordered_map<std::string_view, const SetFunction*> by_source;
    for (const auto table : {functions::set_functions(), functions::regexp_set_functions()}) {
      for (const SetFunction& entry : table) by_source.emplace(entry.prosrc, &entry);
    }
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (!kProcs[i].returns_set) continue;
      const auto it = by_source.find(kProcs[i].prosrc);
      if (it != by_source.end()) codes[i].set = it->second;
    }
  }

  void join_aggregates() {
    aggregates.reserve(std::size(kRecordedAggregates));
    const auto code_of = [&](Oid procedure) {
      Code* code = procedure.value == 0 ? nullptr : find(procedure);
      return code ? code->function : nullptr;
    };
    for (const AggregateInfo& row : kRecordedAggregates) {
      AggregateInfo info = row;
      info.transition = code_of(row.transition_procedure);
      info.final = code_of(row.final_procedure);
      info.combine = code_of(row.combine_procedure);
      if (!info.transition || (row.final_procedure.value != 0 && !info.final)) continue;
      info.transition_strict = find_proc_info(row.transition_procedure)->strict;
      info.final_strict = row.final_procedure.value != 0 && find_proc_info(row.final_procedure)->strict;
      aggregates.push_back(info);
      find(row.procedure)->aggregate = &aggregates.back();
    }
  }
};

Registry& registry() {
  static Registry joined;
  return joined;
}

}  // namespace

const ProcInfo* find_proc_info(Oid procedure) {
  const auto it = std::lower_bound(std::begin(kProcs), std::end(kProcs), procedure,
                                   [](const ProcInfo& row, Oid oid) { return row.oid < oid; });
  return it != std::end(kProcs) && it->oid == procedure ? it : nullptr;
}
std::span<const ProcInfo> builtin_procs() { return kProcs; }

FunctionPtr find_function(Oid procedure) {
  const Code* code = registry().find(procedure);
  return code ? code->function : nullptr;
}
const SetFunction* find_set_function(Oid procedure) {
  const Code* code = registry().find(procedure);
  return code ? code->set : nullptr;
}
const AggregateInfo* find_aggregate(Oid procedure) {
  const Code* code = registry().find(procedure);
  return code ? code->aggregate : nullptr;
}
bool is_implemented(Oid procedure) {
  const Code* code = registry().find(procedure);
  if (code && (code->function || code->set || code->aggregate)) return true;
  // Window functions are the executor's own (sql/execute/window_agg.cc): it knows all of them.
  const ProcInfo* info = find_proc_info(procedure);
  return info != nullptr && info->kind == 'w';
}

}  // namespace pinwheel::sql
