#include <algorithm>
#include <cctype>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/settings.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

[[noreturn]] void throw_unchangeable(const Parameter& row, std::string_view why) {
  throw SqlError{sqlstate::kCantChangeRuntimeParam, "parameter " + quoted(row.name) + std::string{why}};
}

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace

/// A value with its own string, or "whatever the server says" (source below kGlobal).
struct SessionSettings::Held {
  SettingValue value{};
  std::unique_ptr<std::string> text;
  SettingSource source = SettingSource::kDefault;
  bool from_server = true;

  Held clone() const {
    Held copy;
    copy.value = value;
    copy.source = source;
    copy.from_server = from_server;
    if (text) {
      copy.text = std::make_unique<std::string>(*text);
      copy.value.text = copy.text.get();
    }
    return copy;
  }
};

/// What to return to when a nest level ends.
struct SessionSettings::Saved {
  enum class Kind { kSet, kLocal, kSetLocal, kSave };
  int level;
  Kind kind;
  Held prior;
  Held masked;  // kSetLocal: the value SET at this level, which a later SET LOCAL hides until the end
};

struct SessionSettings::Entry {
  param::Id id = param::kCount;  // kCount: a custom parameter
  std::string name;
  Held current;
  std::optional<Held> initial;
  std::vector<Saved> saved;  // outermost level first
};

SessionSettings::SessionSettings(const ServerSettings& server, void* owner) : server_{server}, owner_{owner} {
  values_ = server.values_;
}

SessionSettings::~SessionSettings() = default;

SessionSettings::Entry* SessionSettings::find_entry(param::Id id) const noexcept {
  for (const auto& entry : entries_) {
    if (entry->id == id) return entry.get();
  }
  return nullptr;
}

SessionSettings::Entry* SessionSettings::find_custom(std::string_view name) const noexcept {
  for (const auto& entry : entries_) {
    if (entry->id == param::kCount && same_name(entry->name, name)) return entry.get();
  }
  return nullptr;
}

SessionSettings::Entry& SessionSettings::entry_for(param::Id id) {
  if (Entry* entry = find_entry(id)) return *entry;
  if (!own_) {
    own_ = std::make_unique<SettingValue[]>(param::kCount);
    std::copy_n(server_.values_, std::size_t{param::kCount}, own_.get());
    values_ = own_.get();
  }
  entries_.push_back(std::make_unique<Entry>());
  entries_.back()->id = id;
  entries_.back()->name = parameter(id).name;
  return *entries_.back();
}

SessionSettings::Entry& SessionSettings::custom_entry_for(std::string_view name) {
  if (Entry* entry = find_custom(name)) return *entry;
  check_custom_name(name);
  entries_.push_back(std::make_unique<Entry>());
  entries_.back()->name = name;
  entries_.back()->current = initial_value(*entries_.back());
  return *entries_.back();
}

void SessionSettings::check_permitted(const Parameter& row, SettingSource source,
                                      SetAuthority authority) const {
  const bool starting = source < SettingSource::kSession;
  switch (row.context) {
    case ParameterContext::kInternal:
      throw_unchangeable(row, " cannot be changed");
    case ParameterContext::kPostmaster:
      throw_unchangeable(row, " cannot be changed without restarting the server");
    case ParameterContext::kSighup:
      throw_unchangeable(row, " cannot be changed now");
    case ParameterContext::kBackend:
    case ParameterContext::kSuperuserBackend:
      if (!starting) throw_unchangeable(row, " cannot be set after connection start");
      break;
    case ParameterContext::kSuperuser:
    case ParameterContext::kUser:
      break;
  }
  const bool needs_superuser =
      row.context == ParameterContext::kSuperuser || row.context == ParameterContext::kSuperuserBackend;
  if (needs_superuser && !authority.superuser) {
    throw SqlError{sqlstate::kInsufficientPrivilege,
                   "permission denied to set parameter " + quoted(row.name)};
  }
}

SessionSettings::Held SessionSettings::parse(const Parameter& row, std::string_view text,
                                             SettingSource source) {
  Held held;
  held.text = std::make_unique<std::string>();
  held.value = parse_setting(row, text, *held.text);
  held.source = source;
  held.from_server = false;
  ProposedValue proposed{held.value, row.kind == ParameterKind::kString ? held.text.get() : nullptr};
  if (parameter_hooks(row.id).check != nullptr) parameter_hooks(row.id).check(owner_, proposed, source);
  held.value = proposed.value;
  if (row.kind == ParameterKind::kString) {
    held.value.text = held.text.get();
  } else {
    held.text.reset();
  }
  return held;
}

SessionSettings::Held SessionSettings::initial_value(const Entry& entry) const {
  if (entry.initial) return entry.initial->clone();
  Held held;
  if (entry.id != param::kCount) return held;  // the server's
  held.text = std::make_unique<std::string>();
  for (const auto& [name, value] : server_.custom()) {
    if (same_name(name, entry.name)) *held.text = value;
  }
  held.value.text = held.text.get();
  return held;
}

void SessionSettings::note_change(param::Id id) {
  if (parameter(id).has(parameter_flag::kReport) &&
      std::find(changed_reports_.begin(), changed_reports_.end(), id) == changed_reports_.end()) {
    changed_reports_.push_back(id);
  }
  if (parameter_hooks(id).assign != nullptr) parameter_hooks(id).assign(owner_, id);
}

void SessionSettings::take_effect(const Entry& entry) {
  if (entry.id == param::kCount) return;
  own_[entry.id] = entry.current.from_server ? server_.values_[entry.id] : entry.current.value;
  note_change(entry.id);
}

void SessionSettings::replace(Entry& entry, Held&& value) {
  // The old string dies only after the array no longer points to it.
  const Held old = std::exchange(entry.current, std::move(value));
  take_effect(entry);
}

void SessionSettings::put(Entry& entry, Held&& value, SetScope scope) {
  using Kind = Saved::Kind;
  if (nest_level_ == 0) {
    if (scope == SetScope::kSession) replace(entry, std::move(value));
    return;  // SET LOCAL outside a transaction ends with its own statement
  }
  const bool has_record = !entry.saved.empty() && entry.saved.back().level == nest_level_;
  if (!has_record) {
    const Kind kind = scope == SetScope::kSession ? Kind::kSet
                      : scope == SetScope::kLocal ? Kind::kLocal
                                                  : Kind::kSave;
    entry.saved.push_back({nest_level_, kind, entry.current.clone(), {}});
    ++saved_count_;
  } else {
    Saved& record = entry.saved.back();
    if (scope == SetScope::kSession) {
      // A later SET counts for good, even over a SET LOCAL of the same level.
      if (record.kind != Kind::kSave) record.kind = Kind::kSet;
    } else if (record.kind == Kind::kSet) {
      record.kind = Kind::kSetLocal;
      record.masked = entry.current.clone();
    }
  }
  replace(entry, std::move(value));
}

void SessionSettings::end_entry_level(Entry& entry, bool commit) {
  using Kind = Saved::Kind;
  if (entry.saved.empty() || entry.saved.back().level != nest_level_) return;
  Saved record = std::move(entry.saved.back());
  entry.saved.pop_back();
  --saved_count_;
  if (!commit || record.kind == Kind::kSave) {
    replace(entry, std::move(record.prior));
    return;
  }
  if (nest_level_ == 1) {
    if (record.kind == Kind::kLocal) replace(entry, std::move(record.prior));
    if (record.kind == Kind::kSetLocal) replace(entry, std::move(record.masked));
    return;
  }
  // A released savepoint hands its record to the level around it.
  const int outer = nest_level_ - 1;
  if (entry.saved.empty() || entry.saved.back().level != outer) {
    record.level = outer;
    entry.saved.push_back(std::move(record));
    ++saved_count_;
    return;
  }
  Saved& around = entry.saved.back();
  if (around.kind == Kind::kSave) return;
  if (record.kind == Kind::kSet) {
    around.kind = Kind::kSet;
  } else if (record.kind == Kind::kSetLocal) {
    around.kind = Kind::kSetLocal;
    around.masked = std::move(record.masked);
  } else if (around.kind == Kind::kSet) {
    around.kind = Kind::kSetLocal;
    around.masked = std::move(record.prior);
  }
}

void SessionSettings::end_nest(bool commit) {
  DB_ASSERT(nest_level_ > 0);
  if (saved_count_ != 0) {
    // Newest first, so that settings which check each other see the order undone.
    for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) end_entry_level(**entry, commit);
  }
  --nest_level_;
}

void SessionSettings::set(std::string_view name, std::string_view value, SetScope scope,
                          SetAuthority authority) {
  const std::optional<param::Id> id = find_parameter(name);
  if (!id) {
    check_custom_name(name);
    Held held;
    held.text = std::make_unique<std::string>(value);
    held.value.text = held.text.get();
    held.source = SettingSource::kSession;
    held.from_server = false;
    put(custom_entry_for(name), std::move(held), scope);
    return;
  }
  const Parameter& row = parameter(*id);
  check_permitted(row, SettingSource::kSession, authority);
  Held held = parse(row, value, SettingSource::kSession);
  put(entry_for(*id), std::move(held), scope);
}

void SessionSettings::set_initial(std::string_view name, std::string_view value, SettingSource source,
                                  SetAuthority authority) {
  const std::optional<param::Id> id = find_parameter(name);
  Held held;
  if (id) {
    check_permitted(parameter(*id), source, authority);
    held = parse(parameter(*id), value, source);
  } else {
    check_custom_name(name);
    held.text = std::make_unique<std::string>(value);
    held.value.text = held.text.get();
    held.source = source;
    held.from_server = false;
  }
  Entry& entry = id ? entry_for(*id) : custom_entry_for(name);
  if (entry.initial && entry.initial->source > source) return;
  entry.initial = held.clone();
  if (entry.current.source <= source) replace(entry, std::move(held));
}

void SessionSettings::set_internal(param::Id id, std::string_view value) {
  const Parameter& row = parameter(id);
  Held held;
  held.text = std::make_unique<std::string>();
  held.value = parse_setting(row, value, *held.text);
  if (row.kind != ParameterKind::kString) held.text.reset();
  held.source = SettingSource::kOverride;
  held.from_server = false;
  Entry& entry = entry_for(id);
  entry.initial = held.clone();
  replace(entry, std::move(held));
}

void SessionSettings::reset(std::string_view name, SetScope scope, SetAuthority authority) {
  const std::optional<param::Id> id = find_parameter(name);
  if (!id) {
    check_custom_name(name);
    Entry& entry = custom_entry_for(name);
    put(entry, initial_value(entry), scope);
    return;
  }
  const Parameter& row = parameter(*id);
  check_permitted(row, SettingSource::kSession, authority);
  Entry& entry = entry_for(*id);
  put(entry, initial_value(entry), scope);
}

void SessionSettings::reset_all() {
  for (const auto& entry : entries_) {
    if (entry->id != param::kCount) {
      const Parameter& row = parameter(entry->id);
      if (row.has(parameter_flag::kNoResetAll)) continue;
      if (row.context != ParameterContext::kUser && row.context != ParameterContext::kSuperuser) continue;
    }
    if (entry->current.source != SettingSource::kSession) continue;
    put(*entry, initial_value(*entry), SetScope::kSession);
  }
}

std::string SessionSettings::show(param::Id id) const {
  if (parameter_hooks(id).show != nullptr && owner_ != nullptr) return parameter_hooks(id).show(owner_);
  return format_setting(parameter(id), values_[id], true);
}

std::optional<std::string> SessionSettings::find(std::string_view name, SetAuthority authority) const {
  if (const std::optional<param::Id> id = find_parameter(name)) {
    if (parameter(*id).has(parameter_flag::kSuperuserOnly) && !authority.superuser) {
      throw SqlError{sqlstate::kInsufficientPrivilege,
                     "must be superuser or have privileges of pg_read_all_settings to examine " +
                         quoted(parameter(*id).name)};
    }
    return show(*id);
  }
  if (const Entry* entry = find_custom(name)) return *entry->current.value.text;
  for (const auto& [custom, value] : server_.custom()) {
    if (same_name(custom, name)) return value;
  }
  return std::nullopt;
}

std::string SessionSettings::show(std::string_view name, SetAuthority authority) const {
  std::optional<std::string> value = find(name, authority);
  if (!value) {
    throw SqlError{sqlstate::kUndefinedObject, "unrecognized configuration parameter " + quoted(name)};
  }
  return std::move(*value);
}

SettingRow SessionSettings::describe(param::Id id) const {
  const Parameter& row = parameter(id);
  SettingRow out;
  out.name = row.name;
  out.setting = parameter_hooks(id).show != nullptr && owner_ != nullptr
                    ? parameter_hooks(id).show(owner_)
                    : format_setting(row, values_[id], false);
  out.unit = parameter_unit_name(row.unit);
  out.category = parameter_group_name(row.group);
  out.short_description = row.summary;
  out.context = parameter_context_name(row.context);
  out.kind = parameter_kind_name(row.kind);
  SettingValue boot{};
  std::string boot_text{row.default_text};
  if (row.kind == ParameterKind::kInt) {
    out.min_value = std::to_string(row.min_int);
    out.max_value = std::to_string(row.max_int);
  } else if (row.kind == ParameterKind::kReal) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", row.min_real);
    out.min_value = text;
    std::snprintf(text, sizeof text, "%g", row.max_real);
    out.max_value = text;
  } else if (row.kind == ParameterKind::kEnum) {
    out.enum_values.emplace();
    for (const EnumOption& option : *row.options) {
      if (!option.hidden) out.enum_values->emplace_back(option.word);
    }
  }
  if (row.kind == ParameterKind::kReal) {
    boot.real = row.default_real;
  } else if (row.kind == ParameterKind::kString) {
    boot.text = &boot_text;
  } else {
    boot.integer = row.default_int;
  }
  out.boot_value = format_setting(row, boot, false);
  const Entry* entry = find_entry(id);
  const bool own_initial = entry != nullptr && entry->initial.has_value();
  out.reset_value = format_setting(row, own_initial ? entry->initial->value : server_.values_[id], false);
  const bool own = entry != nullptr && !entry->current.from_server;
  out.source = setting_source_name(own ? entry->current.source : server_.source(id));
  if (!own && server_.source_line(id) > 0) {
    out.source_file = server_.source_file(id);
    out.source_line = server_.source_line(id);
  }
  out.pending_restart = server_.pending_restart(id);
  return out;
}

std::vector<SettingRow> SessionSettings::list(SetAuthority authority) const {
  std::vector<SettingRow> rows;
  for (const param::Id id : parameters_by_name()) {
    const Parameter& row = parameter(id);
    if (row.has(parameter_flag::kNoShowAll)) continue;
    if (row.has(parameter_flag::kSuperuserOnly) && !authority.superuser) continue;
    rows.push_back(describe(id));
  }
  for (const auto& entry : entries_) {
    if (entry->id != param::kCount) continue;
    SettingRow row;
    row.name = entry->name;
    row.setting = *entry->current.value.text;
    row.category = "Customized Options";
    row.context = "user";
    row.kind = "string";
    row.source = setting_source_name(entry->current.source);
    row.reset_value = *initial_value(*entry).value.text;
    rows.push_back(std::move(row));
  }
  return rows;
}

void SessionSettings::follow_server(std::span<const param::Id> changed) {
  for (const param::Id id : changed) {
    const Entry* entry = find_entry(id);
    if (entry != nullptr && !entry->current.from_server) continue;
    if (own_) own_[id] = server_.values_[id];
    note_change(id);
  }
}

std::vector<std::pair<std::string, std::string>> SessionSettings::take_reports() {
  std::vector<std::pair<std::string, std::string>> reports;
  for (const param::Id id : std::exchange(changed_reports_, {})) {
    std::string value = show(id);
    // A change that was undone in the meantime is none.
    const auto last = reported_.find(id);
    if (last != reported_.end() && last->second == value) continue;
    reported_[id] = value;
    reports.emplace_back(parameter(id).name, std::move(value));
  }
  return reports;
}

std::vector<std::pair<std::string, std::string>> SessionSettings::all_reports() {
  changed_reports_.clear();
  std::vector<std::pair<std::string, std::string>> reports;
  for (const Parameter& row : all_parameters()) {
    if (!row.has(parameter_flag::kReport)) continue;
    reported_[row.id] = show(row.id);
    reports.emplace_back(row.name, reported_[row.id]);
  }
  return reports;
}

}  // namespace pinwheel
