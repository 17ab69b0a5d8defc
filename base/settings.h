#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parameters.h"

namespace pinwheel {

/// A parameter's name as messages show it.
inline std::string quoted(std::string_view name) { return "\"" + std::string{name} + "\""; }

/// One value: `integer` for bool, int and enum parameters.
union SettingValue {
  std::int64_t integer;
  double real;
  const std::string* text;
};

/// Reads settings, each with one load from an array. What the rest of the server takes by reference.
class Settings {
 public:
  bool get_bool(param::Id id) const noexcept { return values_[id].integer != 0; }
  /// In the parameter's own unit (shared_buffers in pages, work_mem in kB...).
  std::int64_t get_int(param::Id id) const noexcept { return values_[id].integer; }
  double get_real(param::Id id) const noexcept { return values_[id].real; }
  /// Valid until the parameter is changed.
  const std::string& get_string(param::Id id) const noexcept { return *values_[id].text; }
  /// `E` is the parameter's enum in base/parameter_enums.h.
  template <class E>
  E get_enum(param::Id id) const noexcept {
    return static_cast<E>(values_[id].integer);
  }

 protected:
  Settings() = default;
  ~Settings() = default;
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;
  const SettingValue* values_ = nullptr;
};

/// Where a value came from, weakest first; a weaker source never replaces a stronger one. Names as in
/// pg_settings.source.
enum class SettingSource : std::uint8_t {
  kDefault,
  kEnvironment,
  kConfigurationFile,
  kCommandLine,
  kGlobal,        // ALTER ROLE ALL SET
  kDatabase,      // ALTER DATABASE SET
  kUser,          // ALTER ROLE SET
  kDatabaseUser,  // ALTER ROLE IN DATABASE SET
  kClient,        // start-up packet
  kOverride,
  kSession,  // SET
};
std::string_view setting_source_name(SettingSource source) noexcept;

/// A value on its way into a parameter, as a check hook sees it. For strings `text` may be put into canonical
/// form.
struct ProposedValue {
  SettingValue value;
  std::string* text;  // null unless the parameter is a string
};

/// What other rooms add to a parameter. `session` is SessionSettings::owner(), null in the server's own
/// settings.
struct ParameterHooks {
  /// Throws SqlError to refuse.
  void (*check)(void* session, ProposedValue& proposed, SettingSource source) = nullptr;
  /// After the value in force has changed, for whatever reason. Must not throw.
  void (*assign)(void* session, param::Id id) noexcept = nullptr;
  /// What SHOW prints instead of the value.
  std::string (*show)(const void* session) = nullptr;
};
/// Process-wide, set once at start.
void set_parameter_hooks(param::Id id, ParameterHooks hooks) noexcept;
const ParameterHooks& parameter_hooks(param::Id id) noexcept;

/// Parses `text` for a parameter and checks its range, not its context. `text_value` receives a string
/// parameter's value. Errors: 22023 in PostgreSQL's words.
SettingValue parse_setting(const Parameter& parameter, std::string_view text, std::string& text_value);
/// Errors: 42602 when `name` is no custom name, two or more identifiers separated by dots; 42704 when it has
/// no dot.
void check_custom_name(std::string_view name);
/// As SHOW prints it ("128MB", "on", "5min"), or as pg_settings.setting with `with_units` false ("16384").
std::string format_setting(const Parameter& parameter, SettingValue value, bool with_units);

/// One row of SHOW ALL and pg_settings; what is absent there is empty here.
struct SettingRow {
  std::string name, setting, unit, category, short_description, context, kind, source;
  std::optional<std::string> min_value, max_value, boot_value, reset_value, source_file;
  std::optional<std::vector<std::string>> enum_values;
  std::optional<int> source_line;
  bool pending_restart = false;
};

/// A line of a configuration file.
struct ConfigItem {
  std::string name, value, file;
  int line = 0;
};

/// The settings of the server as a whole: defaults, configuration files, command line. One object per
/// process, made by the launcher and inherited by its children, which read the files again when told to.
class ServerSettings final : public Settings {
 public:
  ServerSettings();
  ~ServerSettings();

  /// Sets a parameter at start; custom names "prefix.name" are kept for sessions. A weaker source than the
  /// present one's changes nothing. Errors: 22023, 42704, 55P02 (internal parameters).
  void set(std::string_view name, std::string_view value, SettingSource source, std::string file = {},
           int line = 0);

  /// Reads config_file (with its includes) and then postgresql.auto.conf in `data_directory`. At start any
  /// error is thrown, with file and line in its context. On reload (`reload` true) bad lines are logged and
  /// nothing is changed if there is one; parameters that need a restart are logged and marked. Returns the
  /// ids that changed.
  std::vector<param::Id> load_files(const std::string& config_file, const std::string& data_directory,
                                    bool reload);

  /// For what the server finds out itself (data_checksums, server_encoding, shared_memory_size...).
  void set_internal(param::Id id, std::string_view value);

  SettingSource source(param::Id id) const noexcept;
  /// Where a value from a file stands; empty otherwise.
  const std::string& source_file(param::Id id) const noexcept;
  int source_line(param::Id id) const noexcept;
  bool pending_restart(param::Id id) const noexcept;
  const std::map<std::string, std::string>& custom() const noexcept { return custom_; }
  /// "SHOW name" outside any session, for the command line (pinwheel start -C).
  std::string show(param::Id id) const;

 private:
  friend class SessionSettings;
  struct Origin;
  bool assign(param::Id id, std::string_view text, SettingSource source);
  void set_to_default(param::Id id);
  bool differs(param::Id id, std::string_view text, SettingSource source) const;
  void apply_file_item(const ConfigItem& item, bool reload, std::vector<param::Id>& changed, bool& refused);
  void drop_missing_items(std::span<const ConfigItem> items, bool reload, std::vector<param::Id>& changed);

  std::array<SettingValue, param::kCount> table_;
  std::unique_ptr<Origin[]> origins_;
  std::map<std::string, std::string> custom_;
};

enum class SetScope : std::uint8_t {
  kSession,  // SET: lasts, unless the transaction aborts
  kLocal,    // SET LOCAL: until the transaction ends
  kSave,     // a function's SET clause: until its nest level ends
};

/// Who sets: decides what is permitted.
struct SetAuthority {
  bool superuser = false;
};

/// The settings of one session over those of the server. Until the first SET it reads the server's array;
/// then it has its own copy. Changes made inside nest levels (transaction, savepoints, functions with SET)
/// are undone when their level aborts.
class SessionSettings final : public Settings {
 public:
  explicit SessionSettings(const ServerSettings& server, void* owner = nullptr);
  ~SessionSettings();

  void* owner() const noexcept { return owner_; }
  void set_owner(void* owner) noexcept { owner_ = owner; }

  /// SET. Errors: 42704 unknown, 22023 bad value, 55P02 cannot be changed (now), 42501 not permitted.
  void set(std::string_view name, std::string_view value, SetScope scope, SetAuthority authority);
  /// What the session starts with (start-up packet, ALTER ROLE SET...): also becomes what RESET returns to.
  void set_initial(std::string_view name, std::string_view value, SettingSource source,
                   SetAuthority authority);
  /// Without authority or context checks, for values the server computes (is_superuser,
  /// session_authorization...).
  void set_internal(param::Id id, std::string_view value);
  void reset(std::string_view name, SetScope scope, SetAuthority authority);
  void reset_all();

  /// SHOW. Errors: 42704, 42501.
  std::string show(std::string_view name, SetAuthority authority) const;
  /// Nothing when unknown (current_setting(name, missing_ok)).
  std::optional<std::string> find(std::string_view name, SetAuthority authority) const;
  std::string show(param::Id id) const;
  /// SHOW ALL / pg_settings, sorted by name; leaves out what the authority may not see.
  std::vector<SettingRow> list(SetAuthority authority) const;

  /// Levels: 1 is the transaction, deeper ones savepoints and functions.
  int nest_level() const noexcept { return nest_level_; }
  int begin_nest() noexcept { return ++nest_level_; }
  /// Ends the innermost level. Costs nothing when nothing was set in it.
  void end_nest(bool commit);

  /// After the server's settings were read again: takes over what this session has not set itself.
  /// `changed` is what ServerSettings::load_files returned.
  void follow_server(std::span<const param::Id> changed);
  /// The same without knowing what changed: runs all assign hooks of what this session has not set.
  void follow_server() { follow_server(parameters_by_name()); }

  /// Parameters with kReport whose value changed since the last call: what ParameterStatus must tell.
  std::vector<std::pair<std::string, std::string>> take_reports();
  bool has_reports() const noexcept { return !changed_reports_.empty(); }
  /// All parameters with kReport, for the start of a session.
  std::vector<std::pair<std::string, std::string>> all_reports();

 private:
  struct Held;
  struct Saved;
  struct Entry;
  Entry& entry_for(param::Id id);
  Entry& custom_entry_for(std::string_view name);
  Entry* find_entry(param::Id id) const noexcept;
  Entry* find_custom(std::string_view name) const noexcept;
  void check_permitted(const Parameter& row, SettingSource source, SetAuthority authority) const;
  void put(Entry& entry, Held&& value, SetScope scope);
  void replace(Entry& entry, Held&& value);
  Held parse(const Parameter& row, std::string_view text, SettingSource source);
  Held initial_value(const Entry& entry) const;
  void end_entry_level(Entry& entry, bool commit);
  void take_effect(const Entry& entry);
  void note_change(param::Id id);
  SettingRow describe(param::Id id) const;

  const ServerSettings& server_;
  void* owner_;
  /// Own copy of all values, once something is set; values_ then points to it.
  std::unique_ptr<SettingValue[]> own_;
  /// What this session has ever set; few, so searched in order.
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<param::Id> changed_reports_;
  std::map<param::Id, std::string> reported_;
  int nest_level_ = 0;
  /// Values saved for undoing, in all entries; lets end_nest return at once.
  int saved_count_ = 0;
};

}  // namespace pinwheel
