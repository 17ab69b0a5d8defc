#include <algorithm>

#include "base/config_file.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/name_match.h"
#include "base/settings.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

/// Process-wide, filled at start.
std::array<ParameterHooks, param::kCount>& hooks() {
  static std::array<ParameterHooks, param::kCount> table{};
  return table;
}

std::string place_of(const ConfigItem& item) {
  return " in file \"" + item.file + "\" line " + std::to_string(item.line);
}

}  // namespace

std::string_view setting_source_name(SettingSource source) noexcept {
  constexpr std::string_view kNames[] = {"default",
                                         "environment variable",
                                         "configuration file",
                                         "command line",
                                         "global",
                                         "database",
                                         "user",
                                         "database user",
                                         "client",
                                         "override",
                                         "session"};
  return kNames[static_cast<std::size_t>(source)];
}

void set_parameter_hooks(param::Id id, ParameterHooks new_hooks) noexcept { hooks()[id] = new_hooks; }
const ParameterHooks& parameter_hooks(param::Id id) noexcept { return hooks()[id]; }

namespace {

/// check_custom_name for names given at start or in a file, where a slip of the pen is likelier than a custom
/// parameter: the error's hint says what may have been meant.
void check_unknown_name(std::string_view name) {
  try {
    check_custom_name(name);
  } catch (SqlError& error) {
    std::vector<std::string_view> known;
    for (const Parameter& row : all_parameters()) known.push_back(row.name);
    if (const std::string_view nearest = nearest_name(name, known); !nearest.empty()) {
      error.fields().hint = "Perhaps you meant " + quoted(nearest) + ".";
    }
    throw;
  }
}

}  // namespace

/// Where a value comes from, and the strings it has had: readers may still hold an old one.
struct ServerSettings::Origin {
  SettingSource source = SettingSource::kDefault;
  std::string file;
  int line = 0;
  bool pending_restart = false;
  std::vector<std::unique_ptr<const std::string>> texts;
};

ServerSettings::ServerSettings() : origins_{std::make_unique<Origin[]>(param::kCount)} {
  values_ = table_.data();
  for (const Parameter& row : all_parameters()) set_to_default(row.id);
}

ServerSettings::~ServerSettings() = default;

void ServerSettings::set_to_default(param::Id id) {
  const Parameter& row = parameter(id);
  Origin& origin = origins_[id];
  origin.source = SettingSource::kDefault;
  origin.file.clear();
  origin.line = 0;
  switch (row.kind) {
    case ParameterKind::kReal:
      table_[id].real = row.default_real;
      return;
    case ParameterKind::kString:
      origin.texts.push_back(std::make_unique<const std::string>(row.default_text));
      table_[id].text = origin.texts.back().get();
      return;
    default:
      table_[id].integer = row.default_int;
  }
}

bool ServerSettings::differs(param::Id id, std::string_view text, SettingSource source) const {
  const Parameter& row = parameter(id);
  std::string text_value;
  const SettingValue value = parse_setting(row, text, text_value);
  ProposedValue proposed{value, row.kind == ParameterKind::kString ? &text_value : nullptr};
  if (parameter_hooks(id).check != nullptr) parameter_hooks(id).check(nullptr, proposed, source);
  return format_setting(row, proposed.value, false) != format_setting(row, table_[id], false);
}

/// True when the value in force has changed.
bool ServerSettings::assign(param::Id id, std::string_view text, SettingSource source) {
  const Parameter& row = parameter(id);
  Origin& origin = origins_[id];
  if (source < origin.source) return false;
  std::string text_value;
  const SettingValue value = parse_setting(row, text, text_value);
  ProposedValue proposed{value, row.kind == ParameterKind::kString ? &text_value : nullptr};
  if (parameter_hooks(id).check != nullptr) parameter_hooks(id).check(nullptr, proposed, source);
  const bool changed = format_setting(row, proposed.value, false) != format_setting(row, table_[id], false);
  if (changed) {
    if (row.kind == ParameterKind::kString) {
      origin.texts.push_back(std::make_unique<const std::string>(std::move(text_value)));
      table_[id].text = origin.texts.back().get();
    } else {
      table_[id] = proposed.value;
    }
  }
  origin.source = source;
  if (changed && parameter_hooks(id).assign != nullptr) parameter_hooks(id).assign(nullptr, id);
  return changed;
}

void ServerSettings::set(std::string_view name, std::string_view value, SettingSource source,
                         std::string file, int line) {
  const std::optional<param::Id> id = find_parameter(name);
  if (!id) {
    check_unknown_name(name);
    custom_[std::string{name}] = value;
    return;
  }
  if (parameter(*id).context == ParameterContext::kInternal) {
    throw SqlError{sqlstate::kCantChangeRuntimeParam,
                   "parameter " + quoted(parameter(*id).name) + " cannot be changed"};
  }
  const bool stays = source < origins_[*id].source;
  assign(*id, value, source);
  if (stays) return;
  origins_[*id].file = std::move(file);
  origins_[*id].line = line;
}

void ServerSettings::set_internal(param::Id id, std::string_view value) {
  assign(id, value, SettingSource::kOverride);
  origins_[id].file.clear();
  origins_[id].line = 0;
}

void ServerSettings::apply_file_item(const ConfigItem& item, bool reload, std::vector<param::Id>& changed,
                                     bool& refused) {
  const std::optional<param::Id> id = find_parameter(item.name);
  if (!id) {
    custom_[item.name] = item.value;
    return;
  }
  Origin& origin = origins_[*id];
  if (origin.source > SettingSource::kConfigurationFile) return;
  if (reload && parameter(*id).context == ParameterContext::kPostmaster) {
    origin.pending_restart = differs(*id, item.value, SettingSource::kConfigurationFile);
    if (origin.pending_restart) {
      log(LogLevel::kLog, "parameter {} cannot be changed without restarting the server",
          quoted(parameter(*id).name));
      refused = true;
    }
    return;
  }
  if (assign(*id, item.value, SettingSource::kConfigurationFile)) {
    changed.push_back(*id);
    if (reload)
      log(LogLevel::kLog, "parameter {} changed to \"{}\"", quoted(parameter(*id).name), item.value);
  }
  origin.file = item.file;
  origin.line = item.line;
}

/// What a file set before and no file sets any more goes back to its default.
void ServerSettings::drop_missing_items(std::span<const ConfigItem> items, bool reload,
                                        std::vector<param::Id>& changed) {
  std::vector<bool> present(param::kCount);
  for (const ConfigItem& item : items) {
    if (const auto id = find_parameter(item.name)) present[*id] = true;
  }
  for (const Parameter& row : all_parameters()) {
    if (present[row.id] || origins_[row.id].source != SettingSource::kConfigurationFile) continue;
    if (reload && row.context == ParameterContext::kPostmaster) {
      log(LogLevel::kLog, "parameter {} cannot be changed without restarting the server", quoted(row.name));
      origins_[row.id].pending_restart = true;
      continue;
    }
    const std::string before = format_setting(row, table_[row.id], false);
    set_to_default(row.id);
    if (format_setting(row, table_[row.id], false) == before) continue;
    changed.push_back(row.id);
    if (reload)
      log(LogLevel::kLog, "parameter {} removed from configuration file, reset to default", quoted(row.name));
    if (parameter_hooks(row.id).assign != nullptr) parameter_hooks(row.id).assign(nullptr, row.id);
  }
}

namespace {

/// Keeps the last of the lines that set the same parameter: it is the one that counts.
std::vector<ConfigItem> without_overridden(std::vector<ConfigItem> items) {
  std::vector<ConfigItem> kept;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto id = find_parameter(items[i].name);
    const bool overridden = std::any_of(
        items.begin() + static_cast<std::ptrdiff_t>(i) + 1, items.end(), [&](const ConfigItem& later) {
          return id ? find_parameter(later.name) == id : later.name == items[i].name;
        });
    if (!overridden) kept.push_back(std::move(items[i]));
  }
  return kept;
}

void check_file_item(const ConfigItem& item) {
  const std::optional<param::Id> id = find_parameter(item.name);
  if (!id) {
    check_unknown_name(item.name);
    return;
  }
  const Parameter& row = parameter(*id);
  if (row.context == ParameterContext::kInternal || row.has(parameter_flag::kNotInFile)) {
    throw SqlError{sqlstate::kCantChangeRuntimeParam, "parameter " + quoted(row.name) + " cannot be changed"};
  }
  std::string text;
  ProposedValue proposed{parse_setting(row, item.value, text), nullptr};
  if (row.kind == ParameterKind::kString) proposed.text = &text;
  if (parameter_hooks(*id).check != nullptr) {
    parameter_hooks(*id).check(nullptr, proposed, SettingSource::kConfigurationFile);
  }
}

}  // namespace

std::vector<param::Id> ServerSettings::load_files(const std::string& config_file,
                                                  const std::string& data_directory, bool reload) {
  std::vector<ConfigItem> items;
  bool bad = false;
  // One function for both moods: at start the first error ends everything, on reload all are reported and
  // none counts.
  const auto complain = [&](const SqlError& error, const std::string& place) {
    bad = true;
    if (reload) {
      log(LogLevel::kLog, "{}{}", error.message(), place);
      return;
    }
    SqlError fatal = SqlError{error.state(), error.message() + place}.fatal();
    fatal.fields() = error.fields();
    throw fatal;
  };
  try {
    parse_config_file(config_file, items);
    const std::string automatic = data_directory + "/postgresql.auto.conf";
    if (file_exists(automatic)) parse_config_file(automatic, items);
  } catch (const SqlError& error) {
    complain(error, "");
  }
  items = without_overridden(std::move(items));
  for (const ConfigItem& item : items) {
    try {
      check_file_item(item);
    } catch (const SqlError& error) {
      complain(error, place_of(item));
    }
  }
  std::vector<param::Id> changed;
  if (bad) {
    log(LogLevel::kLog, "configuration file \"{}\" contains errors; no changes were applied", config_file);
    return changed;
  }
  bool refused = false;
  drop_missing_items(items, reload, changed);
  for (const ConfigItem& item : items) apply_file_item(item, reload, changed, refused);
  if (refused)
    log(LogLevel::kLog, "configuration file \"{}\" contains errors; unaffected changes were applied",
        config_file);
  return changed;
}

SettingSource ServerSettings::source(param::Id id) const noexcept { return origins_[id].source; }
const std::string& ServerSettings::source_file(param::Id id) const noexcept { return origins_[id].file; }
int ServerSettings::source_line(param::Id id) const noexcept { return origins_[id].line; }
bool ServerSettings::pending_restart(param::Id id) const noexcept { return origins_[id].pending_restart; }

std::string ServerSettings::show(param::Id id) const {
  return format_setting(parameter(id), table_[id], true);
}

}  // namespace pinwheel
