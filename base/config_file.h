#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace pinwheel {

/// Reads a file in postgresql.conf's syntax: `name [=] value`, # comments, values bare or in single quotes
/// (doubled or backslash escapes), include 'file', include_if_exists 'file', include_dir 'dir', relative to
/// the including file. Appends its lines in order. Errors: 42601 `syntax error in file "x" line N, near token
/// "t"`, 58P01 for a missing file, 54000 for includes nested too deep.
void parse_config_file(const std::string& path, std::vector<ConfigItem>& items);

/// The same for text that is already in memory.
void parse_config_text(std::string_view text, const std::string& file_name, std::vector<ConfigItem>& items);

/// ALTER SYSTEM: sets `name` in <data_directory>/postgresql.auto.conf, or removes it when `value` is null, or
/// empties the file when `name` is empty; replaced durably. The caller has checked the value.
void alter_auto_config(const std::string& data_directory, std::string_view name, const std::string* value);

/// `text` in single quotes as a configuration file needs it.
std::string quote_config_value(std::string_view text);

}  // namespace pinwheel
