#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/acl.h"
#include "sql/types/array.h"
#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/numeric.h"
#include "sql/types/time_zone.h"
#include "sql/types/type_info.h"

/// Set-returning functions: series, array elements, and sets that the session answers.
namespace pinwheel::sql::functions {

namespace {

[[noreturn]] void throw_zero_step() {
  throw SqlError{sqlstate::kInvalidParameterValue, "step size cannot equal zero"};
}

struct IntegerSeries {
  std::int64_t at;
  std::int64_t stop;
  std::int64_t step;
  bool done;
};

template <class T>
void* start_integers(FunctionCall& c) {
  IntegerSeries series{c.args[0].as_int64(), c.args[1].as_int64(), c.nargs > 2 ? c.args[2].as_int64() : 1,
                       false};
  if (series.step == 0) throw_zero_step();
  return c.arena->make<IntegerSeries>(series);
}
template <class T>
bool next_integer(FunctionCall&, void* state, Datum* values, bool* nulls) {
  auto* s = static_cast<IntegerSeries*>(state);
  if (s->done || (s->step > 0 ? s->at > s->stop : s->at < s->stop)) return false;
  values[0] = Datum::from_int64(s->at);
  nulls[0] = false;
  T next;
  // Past the type's range the series ends.
  s->done = __builtin_add_overflow(static_cast<T>(s->at), static_cast<T>(s->step), &next);
  s->at = next;
  return true;
}

struct NumericSeries {
  Arena* arena;  // of the series' own numbers
  Datum at;
  Datum stop;
  Datum step;
  int direction;
};

void* start_numerics(FunctionCall& c) {
  static constexpr std::string_view kNames[] = {"start", "stop", "step"};
  Datum args[3];
  for (int i = 0; i < c.nargs; ++i) {
    args[i] = copy_var(*c.arena, c.plain(i));
    const bool nan = numeric_is_nan(args[i]);
    if (nan || numeric_is_infinite(args[i])) {
      throw SqlError{sqlstate::kInvalidParameterValue, std::string{kNames[i]} +
                                                           (i == 2 ? " size" : " value") +
                                                           (nan ? " cannot be NaN" : " cannot be infinity")};
    }
  }
  if (c.nargs < 3) args[2] = numeric_from_int64(*c.arena, 1);
  const int direction = numeric_sign(args[2]);
  if (direction == 0) throw_zero_step();
  return c.arena->make<NumericSeries>(NumericSeries{c.arena, args[0], args[1], args[2], direction});
}
bool next_numeric(FunctionCall&, void* state, Datum* values, bool* nulls) {
  auto* s = static_cast<NumericSeries*>(state);
  const int c = numeric_compare(s->at, s->stop);
  if (s->direction > 0 ? c > 0 : c < 0) return false;
  values[0] = s->at;
  nulls[0] = false;
  s->at = numeric_add(*s->arena, s->at, s->step);
  return true;
}

struct TimestampSeries {
  std::int64_t at;
  std::int64_t stop;
  Interval step;
  int direction;
  const TimeZone* zone;  // null for timestamps without zone
};

void* start_timestamps(FunctionCall& c, bool with_zone) {
  TimestampSeries s{c.args[0].as_int64(), c.args[1].as_int64(), load_interval(c.args[2]), 0, nullptr};
  const Int128 length = interval_length(s.step);
  if (length == 0) throw_zero_step();
  s.direction = length > 0 ? 1 : -1;
  if (with_zone) s.zone = &zone_of(*c.context);
  return c.arena->make<TimestampSeries>(s);
}
bool next_timestamp(FunctionCall&, void* state, Datum* values, bool* nulls) {
  auto* s = static_cast<TimestampSeries*>(state);
  if (s->direction > 0 ? s->at > s->stop : s->at < s->stop) return false;
  values[0] = Datum::from_int64(s->at);
  nulls[0] = false;
  s->at =
      s->zone ? timestamptz_plus_interval(s->at, s->step, *s->zone) : timestamp_plus_interval(s->at, s->step);
  return true;
}

struct Unnest {
  ArrayView view;
  ArrayReader reader;
  explicit Unnest(Datum array) : view{view_array(array)}, reader{view} {}
};

void* start_unnest(FunctionCall& c) {
  // The array must outlive the iteration: the caller may reset its arguments between rows.
  void* at = c.arena->allocate(sizeof(Unnest), alignof(Unnest));
  return new (at) Unnest{copy_var(*c.arena, c.plain(0))};
}
bool next_unnest(FunctionCall&, void* state, Datum* values, bool* nulls) {
  return static_cast<Unnest*>(state)->reader.next(values, nulls);
}
static_assert(std::is_trivially_destructible_v<Unnest>);

void* start_subscripts(FunctionCall& c) {
  const ArrayView view = view_array(c.plain(0));
  const std::int32_t d = c.args[1].as_int32();
  if (d < 1 || d > view.ndim) return nullptr;
  const std::int64_t low = view.lower[d - 1];
  const std::int64_t high = low + view.lengths[d - 1] - 1;
  const bool reverse = c.nargs > 2 && c.args[2].as_bool();
  return c.arena->make<IntegerSeries>(reverse ? IntegerSeries{high, low, -1, false}
                                              : IntegerSeries{low, high, 1, false});
}

struct Materialised {
  RowSet rows;
  int at;
};
bool next_materialised(FunctionCall&, void* state, Datum* values, bool* nulls) {
  auto* m = static_cast<Materialised*>(state);
  if (m->at == m->rows.rows) return false;
  const std::size_t first = static_cast<std::size_t>(m->at++) * static_cast<std::size_t>(m->rows.columns);
  for (int i = 0; i < m->rows.columns; ++i) {
    values[i] = m->rows.values[first + static_cast<std::size_t>(i)];
    nulls[i] = m->rows.nulls[first + static_cast<std::size_t>(i)];
  }
  return true;
}

/// Collects rows in an arena.
class RowCollector {
 public:
  RowCollector(Arena& arena, int columns) : arena_{arena}, columns_{columns} {}
  void add(std::initializer_list<Datum> row) {
    values_.insert(values_.end(), row);
    nulls_.insert(nulls_.end(), row.size(), false);
  }
  void* finish() {
    auto* values = arena_.make_array<Datum>(values_.size());
    auto* nulls = arena_.make_array<bool>(values_.size());
    std::copy(values_.begin(), values_.end(), values);
    std::copy(nulls_.begin(), nulls_.end(), nulls);
    RowSet set{columns_, static_cast<int>(values_.size()) / columns_, values, nulls};
    return arena_.make<Materialised>(Materialised{set, 0});
  }

 private:
  Arena& arena_;
  int columns_;
  std::vector<Datum> values_;
  std::vector<bool> nulls_;
};

/// string_to_table()
void* start_text_to_table(FunctionCall& c) {
  if (c.nulls[0]) return nullptr;
  const auto parts = split_text(c.text(0), c.nulls[1] ? std::string_view{} : c.text(1), c.nulls[1]);
  const bool has_null_text = c.nargs > 2 && !c.nulls[2];
  auto* values = c.arena->make_array<Datum>(parts.size());
  auto* nulls = c.arena->make_array<bool>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    nulls[i] = has_null_text && parts[i] == c.text(2);
    values[i] = make_text(*c.arena, parts[i]);
  }
  return c.arena->make<Materialised>(Materialised{{1, static_cast<int>(parts.size()), values, nulls}, 0});
}

/// aclexplode(): grantor, grantee, privilege, grantable
void* start_aclexplode(FunctionCall& c) {
  static constexpr std::string_view kNames[] = {"INSERT",     "SELECT",  "UPDATE",  "DELETE",      "TRUNCATE",
                                                "REFERENCES", "TRIGGER", "EXECUTE", "USAGE",       "CREATE",
                                                "TEMPORARY",  "CONNECT", "SET",     "ALTER SYSTEM"};
  const ArrayView view = view_array(c.plain(0));
  ArrayReader reader{view};
  RowCollector rows{*c.arena, 4};
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    if (is_null) continue;
    const AclItem acl = load_acl_item(item);
    for (std::size_t bit = 0; bit < std::size(kNames); ++bit) {
      if (!(acl.rights & 1u << bit)) continue;
      rows.add({Datum::from_oid(acl.grantor), Datum::from_oid(acl.grantee), make_text(*c.arena, kNames[bit]),
                Datum::from_bool(acl.rights & 1u << (bit + 16))});
    }
  }
  return rows.finish();
}

/// pg_options_to_table(): "name=value" items.
void* start_options(FunctionCall& c) {
  const ArrayView view = view_array(c.plain(0));
  ArrayReader reader{view};
  RowCollector rows{*c.arena, 2};
  Datum item;
  bool is_null;
  while (reader.next(&item, &is_null)) {
    if (is_null) continue;
    const std::string_view option = var_view(item);
    const std::size_t equals = option.find('=');
    rows.add({make_text(*c.arena, option.substr(0, equals)),
              make_text(*c.arena,
                        equals == std::string_view::npos ? std::string_view{} : option.substr(equals + 1))});
  }
  return rows.finish();
}

void* start_hooked(FunctionCall& c) {
  const ProcInfo* info = find_proc_info(c.procedure);
  if (!c.context->catalog) throw_unsupported("function " + std::string{info->name} + "() needs a session");
  const RowSet rows =
      c.context->catalog->call_set(info->prosrc, c.procedure, c.args, c.nulls, c.nargs, *c.arena);
  return c.arena->make<Materialised>(Materialised{rows, 0});
}

constexpr SetFunction kSetsFunctions[] = {
    {"generate_series_int4", start_integers<std::int32_t>, next_integer<std::int32_t>},
    {"generate_series_step_int4", start_integers<std::int32_t>, next_integer<std::int32_t>},
    {"generate_series_int8", start_integers<std::int64_t>, next_integer<std::int64_t>},
    {"generate_series_step_int8", start_integers<std::int64_t>, next_integer<std::int64_t>},
    {"generate_series_numeric", start_numerics, next_numeric},
    {"generate_series_step_numeric", start_numerics, next_numeric},
    {"generate_series_timestamp", [](FunctionCall& c) { return start_timestamps(c, false); }, next_timestamp},
    {"generate_series_timestamptz", [](FunctionCall& c) { return start_timestamps(c, true); },
     next_timestamp},
    {"array_unnest", start_unnest, next_unnest},
    {"generate_subscripts", start_subscripts, next_integer<std::int32_t>},
    {"generate_subscripts_nodir", start_subscripts, next_integer<std::int32_t>},
    {"text_to_table", start_text_to_table, next_materialised},
    {"text_to_table_null", start_text_to_table, next_materialised},
    {"aclexplode", start_aclexplode, next_materialised},
    {"pg_options_to_table", start_options, next_materialised},
    {"show_all_settings", start_hooked, next_materialised},
    {"show_all_file_settings", start_hooked, next_materialised},
    {"pg_lock_status", start_hooked, next_materialised},
    {"pg_prepared_statement", start_hooked, next_materialised},
    {"pg_cursor", start_hooked, next_materialised},
    {"pg_stat_get_activity", start_hooked, next_materialised},
    {"pg_get_keywords", start_hooked, next_materialised},
    {"pg_get_shmem_allocations", start_hooked, next_materialised},
    {"pg_timezone_names", start_hooked, next_materialised},
    {"pg_available_extensions", start_hooked, next_materialised},
    {"pg_available_extension_versions", start_hooked, next_materialised},
    {"pg_partition_ancestors", start_hooked, next_materialised},
    {"pg_partition_tree", start_hooked, next_materialised},
    {"pg_tablespace_databases", start_hooked, next_materialised},
    {"pg_prepared_xact", start_hooked, next_materialised},
    {"pg_stat_get_slru", start_hooked, next_materialised},
    {"pg_stat_get_wal_senders", start_hooked, next_materialised},
    {"pg_stat_get_progress_info", start_hooked, next_materialised},
    {"pg_get_wait_events", start_hooked, next_materialised},
    {"pg_stat_get_lwlocks", start_hooked, next_materialised},
    {"pg_stat_get_buffer_replacement", start_hooked, next_materialised},
    {"pg_stat_get_snapshots", start_hooked, next_materialised},
    {"pg_stat_get_io", start_hooked, next_materialised},
    {"pg_stat_get_statements", start_hooked, next_materialised},
    {"pg_stat_get_statements_info", start_hooked, next_materialised},
    {"pg_get_buffercache", start_hooked, next_materialised},
    {"pg_buffercache_evict_all", start_hooked, next_materialised},
    {"pg_buffercache_summary", start_hooked, next_materialised},
    {"pg_stat_get_backend_idset", start_hooked, next_materialised},
    {"pg_get_publication_tables", start_hooked, next_materialised},
    {"pg_listening_channels", start_hooked, next_materialised},
};

}  // namespace

std::span<const SetFunction> set_functions() { return kSetsFunctions; }

}  // namespace pinwheel::sql::functions
