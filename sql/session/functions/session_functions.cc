#include "sql/session/functions/session_functions.h"

#include <unordered_map>

#include "base/sqlstate.h"
#include "sql/catalog/builtin.h"
#include "sql/session/functions/function_tables.h"
#include "sql/types/array.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace session_functions {

void Rows::add(std::span<const Value> row) {
  DB_ASSERT(row.size() == static_cast<std::size_t>(columns_));
  for (const Value& value : row) {
    values_.push_back(value.value_or(Datum{}));
    nulls_.push_back(value.has_value() ? 0 : 1);
  }
}

void Rows::add(std::initializer_list<Value> row) { add(std::span<const Value>{row.begin(), row.size()}); }

RowSet Rows::finish() const {
  auto* values = arena_.make_array<Datum>(values_.size());
  auto* nulls = arena_.make_array<bool>(values_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    values[i] = values_[i];
    nulls[i] = nulls_[i] != 0;
  }
  return {columns_, static_cast<int>(values_.size()) / columns_, values, nulls};
}

Value text_array(Arena& arena, std::span<const std::string> items) {
  std::vector<Datum> values;
  for (const std::string& item : items) values.push_back(make_text(arena, item));
  return build_array(arena, kTextType, values.data(), nullptr, static_cast<int>(values.size()));
}

Datum make_record(Call& call, std::initializer_list<Value> values) {
  const BuiltinProc* proc = find_proc(call.procedure);
  std::vector<Oid> types;
  for (std::size_t i = 0; i < proc->all_args.size(); ++i) {
    if (proc->arg_modes[i] == 'o') types.push_back(proc->all_args[i]);
  }
  std::vector<Datum> plain;
  const auto nulls = std::make_unique<bool[]>(values.size());
  for (const Value& value : values) {
    nulls[plain.size()] = !value.has_value();
    plain.push_back(value.value_or(Datum{}));
  }
  DB_ASSERT(types.size() == plain.size());
  return make_row(call.arena, kRecordType, types, plain.data(), nulls.get());
}

void require_superuser(const SessionState& session, std::string_view function) {
  if (session.superuser) return;
  throw SqlError{sqlstate::kInsufficientPrivilege, "permission denied for function " + std::string{function}};
}

bool may_see_statements_of(SessionState& session, Oid user) {
  constexpr Oid kReadAllStats{3375};
  return session.superuser || user == session.eval.user ||
         session.catalog.has_privileges_of(session.eval.user, kReadAllStats) ||
         session.catalog.has_privileges_of(session.eval.user, user);
}

void flush_own_statistics(SessionState& session) {
  if (ActivityLog* log = session.services.catalog.activity) log->flush(session.eval.statement_timestamp);
}

std::int64_t counted(const SessionState& session, shm::StatisticsGroup group, shm::Counter counter) {
  return static_cast<std::int64_t>(session.services.counters.total(group, counter));
}

Value counted_since(const SessionState& session, shm::StatisticsGroup group) {
  const std::int64_t reset_us = session.services.counters.reset_at_us(group);
  return Datum::from_int64(reset_us != 0 ? reset_us : session.services.server.facts().started_at_us);
}

namespace {

/// All rows of some tables, by prosrc.
template <class Row>
std::unordered_map<std::string_view, const Row*> index_rows(
    std::initializer_list<std::span<const Row>> tables) {
  std::unordered_map<std::string_view, const Row*> index;
  for (const std::span<const Row> table : tables) {
    for (const Row& row : table) index.emplace(row.prosrc, &row);
  }
  return index;
}

}  // namespace
}  // namespace session_functions

SessionFunctions::SessionFunctions(SessionState& session, AnalyzerCatalog& analyzer)
    : CatalogFunctions{session.catalog, analyzer}, session_{session} {}

Datum SessionFunctions::call_session(Call& call) {
  using namespace session_functions;
  static const auto kIndex =
      index_rows<Function>({setting_functions(), activity_functions(), signal_functions(), lock_functions(),
                            transaction_functions(), log_functions(), statistics_functions(),
                            object_functions(), table_statistics_functions(), database_statistics_functions(),
                            reset_functions(), statement_functions(), buffer_cache_functions()});
  const auto found = kIndex.find(call.prosrc);
  if (found == kIndex.end()) return CatalogFunctions::call_session(call);
  return found->second->function(session_, call);
}

RowSet SessionFunctions::call_set(std::string_view prosrc, Oid procedure, const Datum* args,
                                  const bool* nulls, int nargs, Arena& arena) {
  using namespace session_functions;
  static const auto kIndex =
      index_rows<SetOf>({setting_sets(), activity_sets(), lock_sets(), statistics_sets(), object_sets(),
                         statement_sets(), engine_sets(), buffer_cache_sets(), progress_sets()});
  const auto found = kIndex.find(prosrc);
  if (found == kIndex.end()) return CatalogHooks::call_set(prosrc, procedure, args, nulls, nargs, arena);
  Call call{catalog_, analyzer_, sequences(), prosrc, procedure, args, nulls, nargs, arena};
  Rows rows{arena, found->second->columns};
  found->second->function(session_, call, rows);
  return rows.finish();
}

}  // namespace pinwheel::sql
