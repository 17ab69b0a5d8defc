#include "server/profile.h"

#include <algorithm>
#include <filesystem>
#include <ranges>
#include <vector>

#include "base/config_file.h"
#include "base/name_match.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExtension = ".conf";

/// Where profiles may lie, seen from the program's own folder: installed (bin/ beside share/), in a build
/// folder (build/NAME/server/), or beside the program.
constexpr std::string_view kPlaces[] = {"../share/pinwheel/profiles", "../../../profiles", "profiles"};

/// The first of the places that exists; empty when none does.
fs::path profile_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::string_view place : kPlaces) {
    const fs::path folder = (program / place).lexically_normal();
    if (fs::is_directory(folder, error)) return folder;
  }
  return {};
}

std::vector<std::string> profile_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == kExtension) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void throw_unknown(const std::string& name, const fs::path& folder) {
  SqlError error{sqlstate::kUndefinedFile, "profile \"" + name + "\" does not exist"};
  const std::vector<std::string> names = profile_names(folder);
  if (names.empty()) {
    throw UnknownProfile{std::move(error).hint("No folder of profiles was found: name a file instead.")};
  }
  std::string hint;
  const std::vector<std::string_view> views{names.begin(), names.end()};
  if (const std::string_view nearest = nearest_name(name, views); !nearest.empty()) {
    hint = "Perhaps you meant \"" + std::string{nearest} + "\". ";
  }
  hint += "Valid profiles:";
  for (const std::string& valid : names) hint += (&valid == &names.front() ? " " : ", ") + valid;
  throw UnknownProfile{std::move(error).hint(hint + ".")};
}

std::string find_profile(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const fs::path folder = profile_folder();
  std::error_code error;
  const fs::path file = folder / (name + std::string{kExtension});
  if (!folder.empty() && fs::exists(file, error)) return file.string();
  throw_unknown(name, folder);
}

}  // namespace

void apply_profile(ServerSettings& settings, const std::string& name) {
  std::vector<ConfigItem> items;
  parse_config_file(find_profile(name), items);
  // Backwards: of two lines that set the same parameter the last counts, and the first that comes is kept.
  for (const ConfigItem& item : items | std::views::reverse) {
    const auto id = find_parameter(item.name);
    if (id && settings.source(*id) == SettingSource::kCommandLine) continue;
    try {
      // As strong as the command line from here on: a reload of the files must not undo it.
      settings.set(item.name, item.value, SettingSource::kCommandLine, item.file, item.line);
    } catch (const SqlError& error) {
      SqlError placed{error.state(),
                      error.message() + " in file \"" + item.file + "\" line " + std::to_string(item.line)};
      placed.fields().detail = error.fields().detail;
      placed.fields().hint = error.fields().hint;
      throw placed;
    }
  }
}

}  // namespace pinwheel::server
