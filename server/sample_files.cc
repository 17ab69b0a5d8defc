#include "server/sample_files.h"

#include <map>

#include "base/config_file.h"
#include "base/parameters.h"
#include "base/settings.h"

namespace pinwheel::server {

std::string sample_postgresql_conf() {
  std::map<std::string, std::string> groups;
  const ServerSettings defaults;
  for (const Parameter& row : all_parameters()) {
    if (row.context == ParameterContext::kInternal) continue;
    if (row.has(parameter_flag::kNotInSample) || row.has(parameter_flag::kNotInFile)) continue;
    const std::string value = defaults.show(row.id);
    const bool plain =
        row.kind == ParameterKind::kBool || row.kind == ParameterKind::kReal ||
        (row.kind == ParameterKind::kInt && value.find_first_not_of("0123456789-") == std::string::npos);
    groups[std::string{parameter_group_name(row.group)}] +=
        "#" + std::string{row.name} + " = " + (plain ? value : quote_config_value(value)) + "\t# " +
        std::string{row.summary} +
        (row.context == ParameterContext::kPostmaster ? " (change requires restart)" : "") + "\n";
  }
  std::string text =
      "# Pinwheel configuration file: name = value, one a line; # begins a comment.\n"
      "# The commented-out values are the defaults. `pinwheel reload` takes changes over.\n";
  for (const auto& [name, lines] : groups) text += "\n# " + name + "\n\n" + lines;
  return text;
}

std::string sample_hba_conf(const std::string& local_method, const std::string& host_method) {
  return "# TYPE  DATABASE        USER            ADDRESS                 METHOD\n"
         "local   all             all                                     " +
         local_method +
         "\n"
         "host    all             all             127.0.0.1/32            " +
         host_method +
         "\n"
         "host    all             all             ::1/128                 " +
         host_method + "\n";
}

}  // namespace pinwheel::server
