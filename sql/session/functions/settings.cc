#include "base/parameters.h"
#include "base/sqlstate.h"
#include "sql/session/functions/function_tables.h"

/// Parameters as functions read and set them.
namespace pinwheel::sql::session_functions {
namespace {

Datum set_config(SessionState& session, Call& call) {
  if (call.nulls[0]) {
    throw SqlError{sqlstate::kNullValueNotAllowed, "SET requires parameter name"};
  }
  const std::string name{call.text(0)};
  const SetScope scope = !call.nulls[2] && call.args[2].as_bool() ? SetScope::kLocal : SetScope::kSession;
  if (call.nulls[1]) {
    session.settings.reset(name, scope, session.authority());
  } else {
    session.settings.set(name, call.text(1), scope, session.authority());
  }
  return call.make_text_result(session.settings.show(name, session.authority()));
}

Datum current_setting(SessionState& session, Call& call) {
  return call.make_text_result(session.settings.show(call.text(0), session.authority()));
}

Datum current_setting_missing_ok(SessionState& session, Call& call) {
  if (!call.args[1].as_bool()) return current_setting(session, call);
  const auto value = session.settings.find(call.text(0), session.authority());
  return value ? call.make_text_result(*value) : call.null();
}

Datum setting_flags(SessionState&, Call& call) {
  const auto id = find_parameter(call.text(0));
  if (!id) return call.null();
  static constexpr struct {
    std::uint32_t flag;
    std::string_view word;
  } kWords[] = {{parameter_flag::kExplain, "EXPLAIN"},
                {parameter_flag::kNoResetAll, "NO_RESET_ALL"},
                {parameter_flag::kNoShowAll, "NO_SHOW_ALL"},
                {parameter_flag::kNotInSample, "NOT_IN_SAMPLE"},
                {parameter_flag::kRuntimeComputed, "RUNTIME_COMPUTED"}};
  std::vector<std::string> words;
  for (const auto& [flag, word] : kWords) {
    if (parameter(*id).has(flag)) words.emplace_back(word);
  }
  return *text_array(call.arena, words);
}

Datum reload_configuration(SessionState& session, Call& call) {
  require_superuser(session, "pg_reload_conf");
  (void)call;
  return Datum::from_bool(session.services.server.reload_configuration());
}

Value optional_text(Arena& arena, const std::optional<std::string>& text) {
  return text ? text_value(arena, *text) : Value{};
}

void show_all_settings(SessionState& session, Call& call, Rows& rows) {
  Arena& arena = call.arena;
  for (const SettingRow& row : session.settings.list(session.authority())) {
    rows.add({text_value(arena, row.name), text_value(arena, row.setting), text_or_null(arena, row.unit),
              text_value(arena, row.category), text_value(arena, row.short_description), kNull,
              text_value(arena, row.context), text_value(arena, row.kind), text_value(arena, row.source),
              optional_text(arena, row.min_value), optional_text(arena, row.max_value),
              row.enum_values ? text_array(arena, *row.enum_values) : Value{},
              optional_text(arena, row.boot_value), optional_text(arena, row.reset_value),
              optional_text(arena, row.source_file),
              row.source_line ? Value{Datum::from_int32(*row.source_line)} : Value{},
              Datum::from_bool(row.pending_restart)});
  }
}

constexpr Function kSettingsFunctions[] = {
    {"set_config_by_name", set_config},
    {"show_config_by_name", current_setting},
    {"show_config_by_name_missing_ok", current_setting_missing_ok},
    {"pg_settings_get_flags", setting_flags},
    {"pg_reload_conf", reload_configuration},
};
constexpr SetOf kSettingsSets[] = {{"show_all_settings", 17, show_all_settings}};

}  // namespace

std::span<const Function> setting_functions() { return kSettingsFunctions; }
std::span<const SetOf> setting_sets() { return kSettingsSets; }

}  // namespace pinwheel::sql::session_functions
