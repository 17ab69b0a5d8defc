#include "base/error.h"
#include "base/sqlstate.h"
#include "sql/execute/program_data.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

/// Calls a built-in conversion by its pg_proc oid.
Datum convert(std::uint32_t procedure, Datum value, std::int32_t typmod, int nargs, EvalContext& eval,
              Arena& arena) {
  const FunctionPtr function = find_function(Oid{procedure});
  if (function == nullptr) throw SqlError{sqlstate::kFeatureNotSupported, "time conversion is not supported"};
  Datum args[2] = {value, Datum::from_int32(typmod)};
  bool nulls[2] = {false, false};
  FunctionCall call;
  call.args = args;
  call.nulls = nulls;
  call.nargs = nargs;
  call.arena = &arena;
  call.context = &eval;
  call.procedure = Oid{procedure};
  void* cache = nullptr;
  call.site_cache = &cache;
  return function(call);
}

Datum rounded(std::uint32_t procedure, Datum value, std::int32_t typmod, EvalContext& eval, Arena& arena) {
  return typmod < 0 ? value : convert(procedure, value, typmod, 2, eval, arena);
}

}  // namespace

Datum sql_value(SqlValue which, std::int32_t typmod, EvalContext& eval, Arena& arena, bool* is_null) {
  const Datum now = Datum::from_int64(eval.transaction_timestamp);
  switch (which) {
    case SqlValue::kCurrentTimestamp:
      return rounded(1967, now, typmod, eval, arena);
    case SqlValue::kLocaltimestamp:
      return rounded(1961, convert(2027, now, -1, 1, eval, arena), typmod, eval, arena);
    case SqlValue::kCurrentDate:
      return convert(1178, now, -1, 1, eval, arena);
    case SqlValue::kCurrentTime:
      return rounded(1969, convert(1388, now, -1, 1, eval, arena), typmod, eval, arena);
    case SqlValue::kLocaltime:
      return rounded(1968, convert(2019, now, -1, 1, eval, arena), typmod, eval, arena);
    case SqlValue::kCurrentRole:
    case SqlValue::kCurrentUser:
    case SqlValue::kUser:
      return make_name(arena, eval.user_name);
    case SqlValue::kSessionUser:
      return make_name(arena, eval.session_user_name);
    case SqlValue::kCurrentCatalog:
      return make_name(arena, eval.database_name);
    case SqlValue::kCurrentSchema: {
      if (const FunctionPtr function = find_function(Oid{1402}); function != nullptr) {
        FunctionCall call;
        call.arena = &arena;
        call.context = &eval;
        call.procedure = Oid{1402};
        const Datum schema = function(call);
        *is_null = call.result_null;
        return schema;
      }
      *is_null = true;
      return Datum{};
    }
  }
  return Datum{};
}

}  // namespace pinwheel::sql
