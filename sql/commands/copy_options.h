#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/commands/command_context.h"
#include "sql/query/utility.h"

namespace pinwheel::sql {

struct CopyOptions {
  bool csv = false;
  char delimiter = '\t';
  std::string null_text = "\\N";
  bool header = false;
  bool header_match = false;
  char quote = '"';
  char escape = '"';
  bool freeze = false;
  bool force_quote_all = false;
  std::vector<std::string_view> force_quote, force_not_null, force_null;
};

/// Errors: 42601 for conflicting and unknown options, 22023 and 0A000 for values, in PostgreSQL's words.
CopyOptions read_copy_options(const CopyUtility& utility);

}  // namespace pinwheel::sql
