#include "sql/session/setting_hooks.h"

#include <strings.h>

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/parameters.h"
#include "base/settings.h"
#include "base/sqlstate.h"
#include "sql/session/role_hooks.h"
#include "sql/session/session_state.h"
#include "sql/types/time_zone.h"

namespace pinwheel::sql {
namespace {

SessionState* state_of(void* session) { return static_cast<SessionState*>(session); }

bool same_word(std::string_view a, const char* b) {
  return a.size() == std::string_view{b}.size() && ::strncasecmp(a.data(), b, a.size()) == 0;
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : std::string{list} + ",") {
    if (c == ',' || c == ' ') {
      if (!word.empty()) words.push_back(word);
      word.clear();
    } else if (c != '"') {
      word += c;
    }
  }
  return words;
}

// ---- DateStyle ----

struct ParsedDateStyle {
  DateStyle style = DateStyle::kIso;
  DateOrder order = DateOrder::kMdy;
};

std::optional<ParsedDateStyle> parse_date_style(std::string_view text, ParsedDateStyle present) {
  ParsedDateStyle parsed = present;
  bool have_style = false, have_order = false;
  for (const std::string& word : words_of(text)) {
    const auto set_style = [&](DateStyle style) {
      if (have_style && parsed.style != style) return false;
      parsed.style = style;
      return have_style = true;
    };
    const auto set_order = [&](DateOrder order) {
      if (have_order && parsed.order != order) return false;
      parsed.order = order;
      return have_order = true;
    };
    bool ok = false;
    if (same_word(word, "iso")) {
      ok = set_style(DateStyle::kIso);
    } else if (same_word(word, "sql")) {
      ok = set_style(DateStyle::kSql);
    } else if (word.size() >= 8 && ::strncasecmp(word.c_str(), "postgres", 8) == 0) {
      ok = set_style(DateStyle::kPostgres);
    } else if (same_word(word, "german")) {
      ok = set_style(DateStyle::kGerman);
      if (!have_order) parsed.order = DateOrder::kDmy;
    } else if (same_word(word, "ymd")) {
      ok = set_order(DateOrder::kYmd);
    } else if (same_word(word, "dmy") || ::strncasecmp(word.c_str(), "euro", 4) == 0) {
      ok = set_order(DateOrder::kDmy);
    } else if (same_word(word, "mdy") || same_word(word, "us") ||
               ::strncasecmp(word.c_str(), "noneuro", 7) == 0) {
      ok = set_order(DateOrder::kMdy);
    } else if (same_word(word, "default")) {
      ok = true;
      if (!have_style) parsed.style = DateStyle::kIso;
      if (!have_order) parsed.order = DateOrder::kMdy;
    }
    if (!ok) return std::nullopt;
  }
  return parsed;
}

void check_date_style(void* session, ProposedValue& proposed, SettingSource) {
  ParsedDateStyle present;
  if (session != nullptr) present = {state_of(session)->eval.date_style, state_of(session)->eval.date_order};
  const auto parsed = parse_date_style(*proposed.text, present);
  if (!parsed) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "invalid value for parameter \"DateStyle\": \"" + *proposed.text + "\""};
  }
  static constexpr const char* kStyles[] = {"ISO", "Postgres", "SQL", "German"};
  static constexpr const char* kOrders[] = {"YMD", "DMY", "MDY"};
  *proposed.text =
      std::string{kStyles[static_cast<int>(parsed->style)]} + ", " + kOrders[static_cast<int>(parsed->order)];
}

void assign_date_style(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  const auto parsed = parse_date_style(state.settings.get_string(id), {});
  if (!parsed) return;
  state.eval.date_style = parsed->style;
  state.eval.date_order = parsed->order;
}

// ---- TimeZone ----

/// SET TIME ZONE INTERVAL '+3' and the like arrive as "INTERVAL ..."; only plain names and offsets are known
/// here.
void check_time_zone(void*, ProposedValue& proposed, SettingSource) {
  const TimeZone* zone = TimeZone::find(*proposed.text);
  if (zone == nullptr) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "invalid value for parameter \"TimeZone\": \"" + *proposed.text + "\""};
  }
  *proposed.text = zone->name();
}

void assign_time_zone(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  state.eval.time_zone_name = state.settings.get_string(id);
  state.eval.time_zone = TimeZone::find(state.eval.time_zone_name);
}

// ---- plain copies into EvalContext and others ----

void assign_interval_style(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  state.eval.interval_style = static_cast<IntervalStyle>(state.settings.get_int(id));
}

void assign_bytea_output(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  state.eval.bytea_output = state.settings.get_enum<pinwheel::ByteaOutput>(id) == pinwheel::ByteaOutput::kHex
                                ? sql::ByteaOutput::kHex
                                : sql::ByteaOutput::kEscape;
}

void assign_float_digits(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  state_of(session)->eval.extra_float_digits = static_cast<int>(state_of(session)->settings.get_int(id));
}

void assign_search_path(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  (void)id;
  state_of(session)->take_search_path();
}

void assign_application_name(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  state.eval.application_name = state.settings.get_string(id);
  shm::ActivityWriter activity{state.slot};
  activity.set_application_name(state.eval.application_name);
}

void check_client_encoding(void*, ProposedValue& proposed, SettingSource) {
  std::string plain;
  for (const char c : *proposed.text) {
    if (c != '-' && c != '_' && c != ' ') plain += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  if (plain == "utf8" || plain == "unicode") {
    *proposed.text = "UTF8";
  } else if (plain == "sqlascii") {
    *proposed.text = "SQL_ASCII";
  } else {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "invalid value for parameter \"client_encoding\": \"" + *proposed.text + "\""}
        .detail("Only UTF8 and SQL_ASCII are supported.");
  }
}

void assign_lock_wait(void* session, param::Id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  txn::LockWaitSettings& wait = state.transaction.locks().settings;
  wait.deadlock_timeout_ms = static_cast<std::int32_t>(state.settings.get_int(param::kDeadlockTimeout));
  wait.lock_timeout_ms = static_cast<std::int32_t>(state.settings.get_int(param::kLockTimeout));
  wait.log_lock_waits = state.settings.get_bool(param::kLogLockWaits);
}

// ---- transaction modes ----

void check_isolation(void* session, ProposedValue& proposed, SettingSource) {
  if (session == nullptr) return;
  const txn::Transaction& transaction = state_of(session)->transaction;
  if (!transaction.active() ||
      static_cast<std::int64_t>(transaction.options().isolation) == proposed.value.integer)
    return;
  if (transaction.has_snapshot()) {
    throw SqlError{sqlstate::kActiveSqlTransaction,
                   "SET TRANSACTION ISOLATION LEVEL must be called before any query"};
  }
  if (transaction.nest_level() > 1) {
    throw SqlError{sqlstate::kActiveSqlTransaction,
                   "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction"};
  }
  if (static_cast<IsolationSetting>(proposed.value.integer) == IsolationSetting::kSerializable) {
    throw SqlError{sqlstate::kFeatureNotSupported, "SERIALIZABLE isolation is not supported yet"}.hint(
        "Use REPEATABLE READ.");
  }
}

void assign_isolation(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  if (state.transaction.active())
    state.transaction.set_isolation(state.settings.get_enum<IsolationSetting>(id));
}

std::string show_isolation(const void* session) {
  static constexpr const char* kNames[] = {"read uncommitted", "read committed", "repeatable read",
                                           "serializable"};
  if (session == nullptr) return kNames[1];
  const auto& state = *static_cast<const SessionState*>(session);
  const auto level = state.transaction.active()
                         ? state.transaction.options().isolation
                         : state.settings.get_enum<IsolationSetting>(param::kDefaultTransactionIsolation);
  return kNames[static_cast<int>(level)];
}

void check_read_only(void* session, ProposedValue& proposed, SettingSource) {
  if (session == nullptr) return;
  const txn::Transaction& transaction = state_of(session)->transaction;
  if (!transaction.active() || proposed.value.integer != 0 || !transaction.options().read_only) return;
  if (transaction.has_snapshot()) {
    throw SqlError{sqlstate::kActiveSqlTransaction,
                   "transaction read-write mode must be set before any query"};
  }
}

void assign_read_only(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  if (state.transaction.active()) state.transaction.set_read_only(state.settings.get_bool(id));
}

std::string show_read_only(const void* session) {
  if (session == nullptr) return "off";
  const auto& state = *static_cast<const SessionState*>(session);
  const bool on = state.transaction.active() ? state.transaction.options().read_only
                                             : state.settings.get_bool(param::kDefaultTransactionReadOnly);
  return on ? "on" : "off";
}

void assign_deferrable(void* session, param::Id id) noexcept {
  if (session == nullptr) return;
  SessionState& state = *state_of(session);
  if (state.transaction.active()) state.transaction.set_deferrable(state.settings.get_bool(id));
}

std::string show_deferrable(const void* session) {
  if (session == nullptr) return "off";
  const auto& state = *static_cast<const SessionState*>(session);
  return state.transaction.active() && state.transaction.options().deferrable ? "on" : "off";
}

void check_default_isolation(void*, ProposedValue& proposed, SettingSource) {
  if (static_cast<IsolationSetting>(proposed.value.integer) == IsolationSetting::kSerializable) {
    throw SqlError{sqlstate::kFeatureNotSupported, "SERIALIZABLE isolation is not supported yet"}.hint(
        "Use REPEATABLE READ.");
  }
}

}  // namespace

void SessionState::take_search_path() {
  const std::string& setting = settings.get_string(param::kSearchPath);
  catalog.set_search_path(setting);
  key_prefix =
      std::to_string(eval.database.value) + "/" + std::to_string(eval.user.value) + "/" + setting + "/";
}

void install_setting_hooks() {
  install_role_hooks();
  set_parameter_hooks(param::kDateStyle, {check_date_style, assign_date_style, nullptr});
  set_parameter_hooks(param::kTimeZone, {check_time_zone, assign_time_zone, nullptr});
  set_parameter_hooks(param::kIntervalStyle, {nullptr, assign_interval_style, nullptr});
  set_parameter_hooks(param::kByteaOutput, {nullptr, assign_bytea_output, nullptr});
  set_parameter_hooks(param::kExtraFloatDigits, {nullptr, assign_float_digits, nullptr});
  set_parameter_hooks(param::kSearchPath, {nullptr, assign_search_path, nullptr});
  set_parameter_hooks(param::kApplicationName, {nullptr, assign_application_name, nullptr});
  set_parameter_hooks(param::kClientEncoding, {check_client_encoding, nullptr, nullptr});
  set_parameter_hooks(param::kDeadlockTimeout, {nullptr, assign_lock_wait, nullptr});
  set_parameter_hooks(param::kLockTimeout, {nullptr, assign_lock_wait, nullptr});
  set_parameter_hooks(param::kLogLockWaits, {nullptr, assign_lock_wait, nullptr});
  set_parameter_hooks(param::kTransactionIsolation, {check_isolation, assign_isolation, show_isolation});
  set_parameter_hooks(param::kTransactionReadOnly, {check_read_only, assign_read_only, show_read_only});
  set_parameter_hooks(param::kTransactionDeferrable, {nullptr, assign_deferrable, show_deferrable});
  set_parameter_hooks(param::kDefaultTransactionIsolation, {check_default_isolation, nullptr, nullptr});
}

}  // namespace pinwheel::sql
