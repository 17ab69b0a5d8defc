#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/ids.h"
#include "sql/types/datum.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {

enum class DateStyle : std::uint8_t { kIso, kPostgres, kSql, kGerman };
enum class DateOrder : std::uint8_t { kYmd, kDmy, kMdy };
enum class IntervalStyle : std::uint8_t { kPostgres, kPostgresVerbose, kSqlStandard, kIso8601 };
enum class ByteaOutput : std::uint8_t { kHex, kEscape };

class TimeZone;  // sql/types/time_zone.h

/// Rows computed at once: `rows` times `columns` values, row by row.
struct RowSet {
  int columns = 0;
  int rows = 0;
  const Datum* values = nullptr;
  const bool* nulls = nullptr;
};

/// What functions may ask of the catalogs. Implemented by sql/catalog; null in an EvalContext that has none.
/// Results live until the statement ends.
class CatalogHooks {
 public:
  virtual ~CatalogHooks() = default;

  // reg* types: 0 oid = not found. Names are parsed and looked up along search_path.
  virtual Oid find_relation(std::string_view qualified_name) = 0;
  /// Type by its SQL spelling ("int4", "character varying(10)", "schema.t[]"); `typmod` may be null.
  virtual Oid find_type(std::string_view spelling, int* typmod) = 0;
  virtual Oid find_namespace(std::string_view name) = 0;
  virtual Oid find_role(std::string_view name) = 0;
  virtual Oid find_procedure(std::string_view name) = 0;            // regproc; 42725 when ambiguous
  virtual Oid find_procedure_signature(std::string_view text) = 0;  // regprocedure: name(args)
  virtual Oid find_operator(std::string_view name) = 0;
  virtual Oid find_operator_signature(std::string_view text) = 0;
  virtual Oid find_collation(std::string_view name) = 0;
  /// Name as a reg* type prints it, schema-qualified unless visible; empty = no such object. `kind` is the
  /// reg* type's oid (regclass, regtype, regproc, regprocedure, regoper, regoperator, regnamespace, regrole,
  /// regcollation).
  virtual std::string object_name(Oid kind, Oid object) = 0;

  /// Runs one of the functions that only the catalogs can answer (pg_get_indexdef, has_table_privilege,
  /// pg_table_is_visible, obj_description, pg_table_size, currval, ...), named by `prosrc`. Such functions
  /// stand in kCatalogFunctions; the caller checked strictness and argument types. Sets *is_null.
  virtual Datum call(std::string_view prosrc, Oid procedure, const Datum* args, const bool* nulls, int nargs,
                     Arena& arena, bool* is_null) = 0;

  /// Rows of a set-returning function that only the session can answer (pg_show_all_settings, pg_lock_status,
  /// ...), by prosrc. The default raises 0A000.
  virtual RowSet call_set(std::string_view prosrc, Oid procedure, const Datum* args, const bool* nulls,
                          int nargs, Arena& arena);

  /// Input and output of types that are not built in (enums, domains, composites), by type oid.
  virtual Datum input_user_type(Oid type, std::string_view text, int typmod, Arena& arena) = 0;
  virtual void output_user_type(Oid type, Datum value, std::string& out) = 0;
};

/// What evaluation may ask of the session: settings as plain fields (kept current by SET), clocks, hooks.
/// One per session, owned by SessionState; only that session's fiber touches it.
struct EvalContext {
  DateStyle date_style = DateStyle::kIso;
  DateOrder date_order = DateOrder::kMdy;
  IntervalStyle interval_style = IntervalStyle::kPostgres;
  ByteaOutput bytea_output = ByteaOutput::kHex;
  int extra_float_digits = 1;
  /// Null means UTC.
  const TimeZone* time_zone = nullptr;
  std::string time_zone_name = "UTC";  // as SET
  bool standard_conforming_strings = true;
  bool backslash_quote_safe = true;

  /// Microseconds since 2000-01-01 UTC.
  std::int64_t transaction_timestamp = 0;
  std::int64_t statement_timestamp = 0;

  int backend_pid = 0;
  Oid database{};
  std::string database_name;
  Oid user{};
  std::string user_name;          // current_user
  std::string session_user_name;  // session_user
  std::string application_name;

  Detoaster* detoaster = nullptr;
  CatalogHooks* catalog = nullptr;

  /// State of random(): xoroshiro128++; both zero = not yet seeded.
  std::uint64_t random_state[2] = {0, 0};
};

}  // namespace pinwheel::sql
