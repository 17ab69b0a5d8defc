#include "base/parameters.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "base/parameter_options.h"

namespace pinwheel {
namespace {

constexpr double kGreatestReal = std::numeric_limits<double>::max();

constexpr auto make_table() {
  using namespace parameter_flag;
  using enum ParameterUnit;
  using C = ParameterContext;
  using G = ParameterGroup;
  return std::array<Parameter, param::kCount>{{
// One designated initialiser per row; the columns stand in the order of the .inc files.
#define PINWHEEL_BOOL(id_, name_, context_, group_, flags_, default_, summary_) \
  Parameter{.id = param::id_,                                                   \
            .name = name_,                                                      \
            .kind = ParameterKind::kBool,                                       \
            .context = C::context_,                                             \
            .group = G::group_,                                                 \
            .flags = flags_,                                                    \
            .default_int = default_,                                            \
            .max_int = 1,                                                       \
            .summary = summary_},
#define PINWHEEL_INT(id_, name_, context_, group_, flags_, unit_, default_, min_, max_, summary_) \
  Parameter{.id = param::id_,                                                                     \
            .name = name_,                                                                        \
            .kind = ParameterKind::kInt,                                                          \
            .context = C::context_,                                                               \
            .group = G::group_,                                                                   \
            .flags = flags_,                                                                      \
            .unit = unit_,                                                                        \
            .default_int = default_,                                                              \
            .min_int = min_,                                                                      \
            .max_int = max_,                                                                      \
            .summary = summary_},
#define PINWHEEL_REAL(id_, name_, context_, group_, flags_, unit_, default_, min_, max_, summary_) \
  Parameter{.id = param::id_,                                                                      \
            .name = name_,                                                                         \
            .kind = ParameterKind::kReal,                                                          \
            .context = C::context_,                                                                \
            .group = G::group_,                                                                    \
            .flags = flags_,                                                                       \
            .unit = unit_,                                                                         \
            .default_real = default_,                                                              \
            .min_real = min_,                                                                      \
            .max_real = max_,                                                                      \
            .summary = summary_},
#define PINWHEEL_STRING(id_, name_, context_, group_, flags_, default_, summary_) \
  Parameter{.id = param::id_,                                                     \
            .name = name_,                                                        \
            .kind = ParameterKind::kString,                                       \
            .context = C::context_,                                               \
            .group = G::group_,                                                   \
            .flags = flags_,                                                      \
            .default_text = default_,                                             \
            .summary = summary_},
#define PINWHEEL_ENUM(id_, name_, context_, group_, flags_, enum_, default_, summary_) \
  Parameter{.id = param::id_,                                                          \
            .name = name_,                                                             \
            .kind = ParameterKind::kEnum,                                              \
            .context = C::context_,                                                    \
            .group = G::group_,                                                        \
            .flags = flags_,                                                           \
            .default_int = static_cast<std::int64_t>(enum_::default_),                 \
            .options = &parameter_options::k##enum_,                                   \
            .summary = summary_},
#include "base/parameters_all.inc"
  }};
}

constexpr std::array<Parameter, param::kCount> kTable = make_table();

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

constexpr int compare_names(std::string_view a, std::string_view b) noexcept {
  const std::size_t common = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < common; ++i) {
    const char x = lower(a[i]), y = lower(b[i]);
    if (x != y) return x < y ? -1 : 1;
  }
  return a.size() == b.size() ? 0 : a.size() < b.size() ? -1 : 1;
}

constexpr auto make_name_order() {
  std::array<param::Id, param::kCount> order{};
  for (std::size_t i = 0; i < param::kCount; ++i) order[i] = static_cast<param::Id>(i);
  std::sort(order.begin(), order.end(),
            [](param::Id a, param::Id b) { return compare_names(kTable[a].name, kTable[b].name) < 0; });
  return order;
}
constexpr std::array<param::Id, param::kCount> kByName = make_name_order();

static_assert(
    [] {
      for (std::size_t i = 0; i < param::kCount; ++i) {
        if (kTable[i].id != i || kTable[i].summary.empty()) return false;
        if (i > 0 && compare_names(kTable[kByName[i - 1]].name, kTable[kByName[i]].name) == 0) return false;
      }
      return true;
    }(),
    "every row has a summary and a name of its own");

constexpr std::string_view kGroupNames[] = {
    "Connections and Authentication / Connection Settings",
    "Connections and Authentication / Authentication",
    "Connections and Authentication / SSL",
    "File Locations",
    "Resource Usage / Memory",
    "Resource Usage / Disk",
    "Resource Usage / Kernel Resources",
    "Resource Usage / Cost-Based Vacuum Delay",
    "Resource Usage / Background Writer",
    "Resource Usage / Asynchronous Behavior",
    "Resource Usage / Buffer Pool",
    "Write-Ahead Log / Settings",
    "Write-Ahead Log / Checkpoints",
    "Write-Ahead Log / Recovery",
    "Replication / Sending Servers",
    "Replication / Standby Servers",
    "Write-Ahead Log / Transaction Status",
    "Query Tuning / Planner Method Configuration",
    "Query Tuning / Planner Cost Constants",
    "Query Tuning / Other Planner Options",
    "Query Tuning / Genetic Query Optimizer",
    "Developer Options",
    "Reporting and Logging / Where to Log",
    "Reporting and Logging / When to Log",
    "Reporting and Logging / What to Log",
    "Statistics / Monitoring",
    "Reporting and Logging / Process Title",
    "Statistics / Cumulative Query and Index Statistics",
    "Autovacuum",
    "Lock Management",
    "Error Handling",
    "Client Connection Defaults / Statement Behavior",
    "Client Connection Defaults / Other Defaults",
    "Client Connection Defaults / Locale and Formatting",
    "Version and Platform Compatibility / Previous PostgreSQL Versions",
    "Version and Platform Compatibility / Other Platforms and Clients",
    "Preset Options",
};

struct UnitFactor {
  std::string_view word;
  double factor;  // to the base unit of its kind: bytes, or milliseconds
};
constexpr UnitFactor kMemoryUnits[] = {
    {"B", 1}, {"kB", 1024}, {"MB", 1048576.0}, {"GB", 1073741824.0}, {"TB", 1099511627776.0}};
constexpr UnitFactor kTimeUnits[] = {{"us", 0.001},  {"ms", 1},      {"s", 1000},
                                     {"min", 60000}, {"h", 3600000}, {"d", 86400000}};

constexpr double unit_size(ParameterUnit unit) noexcept {
  switch (unit) {
    case ParameterUnit::kNone:
      return 1;
    case ParameterUnit::kBytes:
      return 1;
    case ParameterUnit::kKilobytes:
      return 1024;
    case ParameterUnit::kMegabytes:
      return 1048576;
    case ParameterUnit::kPages:
      return 8192;
    case ParameterUnit::kMilliseconds:
      return 1;
    case ParameterUnit::kSeconds:
      return 1000;
    case ParameterUnit::kMinutes:
      return 60000;
  }
  return 1;
}

bool is_memory(ParameterUnit unit) noexcept {
  return unit == ParameterUnit::kBytes || unit == ParameterUnit::kKilobytes ||
         unit == ParameterUnit::kMegabytes || unit == ParameterUnit::kPages;
}

bool is_space(char c) noexcept { return std::isspace(static_cast<unsigned char>(c)) != 0; }

void trim_front(std::string_view& text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
}
void trim_back(std::string_view& text) noexcept {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
}

bool is_prefix_of(std::string_view text, std::string_view word) noexcept {
  return text.size() <= word.size() && compare_names(text, word.substr(0, text.size())) == 0;
}

/// The leading number of `text` in C syntax (decimal, hexadecimal, octal when it is whole), removed from it.
std::optional<double> take_number(std::string_view& text) {
  const std::string copy{text};
  const char* begin = copy.c_str();
  char* end = nullptr;
  const long long whole = std::strtoll(begin, &end, 0);
  double value = static_cast<double>(whole);
  if (*end == '.' || *end == 'e' || *end == 'E' || end == begin) {
    const bool hex = copy.find_first_of("xX") != std::string::npos;
    if (hex && end != begin) {
      text.remove_prefix(static_cast<std::size_t>(end - begin));
      return value;
    }
    value = std::strtod(begin, &end);
  }
  if (end == begin || value != value) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - begin));
  return value;
}

}  // namespace

std::span<const Parameter> all_parameters() noexcept { return kTable; }
const Parameter& parameter(param::Id id) noexcept { return kTable[id]; }
std::span<const param::Id> parameters_by_name() noexcept { return kByName; }

std::optional<param::Id> find_parameter(std::string_view name) noexcept {
  const auto at = std::lower_bound(
      kByName.begin(), kByName.end(), name,
      [](param::Id id, std::string_view wanted) { return compare_names(kTable[id].name, wanted) < 0; });
  if (at == kByName.end() || compare_names(kTable[*at].name, name) != 0) return std::nullopt;
  return *at;
}

std::string_view parameter_context_name(ParameterContext context) noexcept {
  constexpr std::string_view kNames[] = {"internal", "postmaster", "sighup", "superuser-backend",
                                         "backend",  "superuser",  "user"};
  return kNames[static_cast<std::size_t>(context)];
}

std::string_view parameter_group_name(ParameterGroup group) noexcept {
  return kGroupNames[static_cast<std::size_t>(group)];
}

std::string_view parameter_unit_name(ParameterUnit unit) noexcept {
  constexpr std::string_view kNames[] = {"", "B", "kB", "MB", "8kB", "ms", "s", "min"};
  return kNames[static_cast<std::size_t>(unit)];
}

std::string_view parameter_kind_name(ParameterKind kind) noexcept {
  constexpr std::string_view kNames[] = {"bool", "integer", "real", "string", "enum"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<bool> parse_bool_word(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  if (is_prefix_of(text, "true") || is_prefix_of(text, "yes") || text == "1") return true;
  if (is_prefix_of(text, "false") || is_prefix_of(text, "no") || text == "0") return false;
  // "o" alone could be either.
  if (text.size() >= 2 && is_prefix_of(text, "on")) return true;
  if (text.size() >= 2 && is_prefix_of(text, "off")) return false;
  return std::nullopt;
}

std::optional<double> parse_number_with_unit(std::string_view text, ParameterUnit unit, std::string& hint) {
  trim_front(text);
  trim_back(text);
  const std::optional<double> number = take_number(text);
  if (!number) return std::nullopt;
  trim_front(text);
  if (text.empty()) return number;
  if (unit == ParameterUnit::kNone) return std::nullopt;
  const bool memory = is_memory(unit);
  const std::span<const UnitFactor> factors = memory ? std::span<const UnitFactor>{kMemoryUnits} : kTimeUnits;
  for (const UnitFactor& factor : factors) {
    if (factor.word == text) return *number * factor.factor / unit_size(unit);
  }
  hint = memory ? "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\"."
                : "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\".";
  return std::nullopt;
}

}  // namespace pinwheel
