#pragma once

#include <map>
#include <string>

#include "base/settings.h"

namespace pinwheel {

/// docs/parameters.md, from the parameter table.
inline std::string parameters_markdown() {
  const ServerSettings defaults;
  std::map<std::string, std::string> chapters;
  for (const param::Id id : parameters_by_name()) {
    const Parameter& row = parameter(id);
    std::string values;
    if (row.kind == ParameterKind::kInt) {
      values = std::to_string(row.min_int) + " to " + std::to_string(row.max_int);
      if (row.unit != ParameterUnit::kNone) values += " " + std::string{parameter_unit_name(row.unit)};
    } else if (row.kind == ParameterKind::kEnum) {
      for (const EnumOption& option : *row.options) {
        if (!option.hidden) values += (values.empty() ? "" : ", ") + std::string{option.word};
      }
    } else {
      values = parameter_kind_name(row.kind);
    }
    std::string shown = defaults.show(id);
    if (shown.empty()) shown = "''";
    chapters[std::string{parameter_group_name(row.group)}] +=
        "| `" + std::string{row.name} + "` | `" + shown + "` | " + values + " | " +
        std::string{parameter_context_name(row.context)} + " | " + std::string{row.summary} + " |\n";
  }
  std::string text =
      "# Parameters\n\nGenerated from `base/parameters_*.inc` by `scripts/generate-parameters-doc`; a test "
      "checks that it is "
      "current.\nContexts are those of `pg_settings`: postmaster needs a restart, sighup a reload, user may "
      "be SET by "
      "anyone.\n";
  for (const auto& [name, rows] : chapters) {
    text += "\n## " + name + "\n\n| name | default | values | context | meaning |\n|---|---|---|---|---|\n" +
            rows;
  }
  return text;
}

}  // namespace pinwheel
