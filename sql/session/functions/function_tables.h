#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "shm/statistics_view.h"
#include "sql/commands/catalog_functions.h"
#include "sql/session/session_state.h"
#include "sql/types/datum.h"
#include "sql/types/eval_context.h"

/// The tables of the functions that only a session can answer, one per area. Private to this folder.
namespace pinwheel::sql::session_functions {

using Call = CatalogFunctions::Call;

/// A scalar function, by prosrc (or, where stock writes it in SQL, by name). Strictness was checked.
struct Function {
  std::string_view prosrc;
  Datum (*function)(SessionState& session, Call& call);
};

/// A value that may be NULL: what rows are written as.
using Value = std::optional<Datum>;
inline constexpr std::nullopt_t kNull = std::nullopt;

/// Collects the rows of a set in the call's arena.
class Rows {
 public:
  Rows(Arena& arena, int columns) : arena_{arena}, columns_{columns} {}
  /// As many values as there are columns.
  void add(std::initializer_list<Value> row);
  void add(std::span<const Value> row);
  RowSet finish() const;

 private:
  Arena& arena_;
  int columns_;
  std::vector<Datum> values_;
  std::vector<char> nulls_;
};

/// A set-returning function, by prosrc.
struct SetOf {
  std::string_view prosrc;
  int columns;
  void (*function)(SessionState& session, Call& call, Rows& rows);
};

std::span<const Function> setting_functions();
std::span<const SetOf> setting_sets();
std::span<const Function> activity_functions();
std::span<const SetOf> activity_sets();
std::span<const Function> signal_functions();
std::span<const Function> lock_functions();
std::span<const SetOf> lock_sets();
std::span<const Function> transaction_functions();
std::span<const Function> log_functions();
std::span<const Function> statistics_functions();
std::span<const Function> table_statistics_functions();
std::span<const SetOf> statistics_sets();
std::span<const Function> database_statistics_functions();
std::span<const Function> reset_functions();
std::span<const Function> statement_functions();
std::span<const SetOf> statement_sets();
std::span<const SetOf> engine_sets();
std::span<const Function> buffer_cache_functions();
std::span<const SetOf> buffer_cache_sets();
std::span<const SetOf> progress_sets();
std::span<const Function> object_functions();
std::span<const SetOf> object_sets();

/// Others' statements are shown to superusers, to pg_read_all_stats and to those who have the role.
bool may_see_statements_of(SessionState& session, Oid user);
/// Hands over what this process has counted, so that views show it too.
void flush_own_statistics(SessionState& session);
/// Sum over all processes since the last reset of its group.
std::int64_t counted(const SessionState& session, shm::StatisticsGroup group, shm::Counter counter);
/// When a group was reset last, else when the server started: all counters begin anew with it.
Value counted_since(const SessionState& session, shm::StatisticsGroup group);

// ---- Values ----

inline Value text_value(Arena& arena, std::string_view text) { return make_text(arena, text); }
/// NULL when empty.
inline Value text_or_null(Arena& arena, std::string_view text) {
  return text.empty() ? Value{} : Value{make_text(arena, text)};
}
inline Value int8_value(std::uint64_t n) { return Datum::from_int64(static_cast<std::int64_t>(n)); }
inline Value float8_value(double d) { return Datum::from_float8(d); }
inline Value oid_value(Oid oid) { return Datum::from_oid(oid); }
inline Value oid_or_null(Oid oid) { return is_valid(oid) ? Value{Datum::from_oid(oid)} : Value{}; }
/// The low 32 bits, which is what the type xid shows.
inline Value xid_or_null(Xid xid) {
  return is_valid(xid) ? Value{Datum::from_int32(static_cast<std::int32_t>(xid.value))} : Value{};
}
/// A timestamp; NULL when 0, which here means "never".
inline Value time_or_null(std::int64_t us) { return us != 0 ? Value{Datum::from_int64(us)} : Value{}; }
Value text_array(Arena& arena, std::span<const std::string> items);

/// The result of a function with several OUT arguments, whose types the procedure's row tells.
Datum make_record(Call& call, std::initializer_list<Value> values);

/// 42501 `permission denied for function x` unless the session is a superuser's.
void require_superuser(const SessionState& session, std::string_view function);

}  // namespace pinwheel::sql::session_functions
