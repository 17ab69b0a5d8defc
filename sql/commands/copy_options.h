#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinwheel::sql {

struct CopyUtility;

enum class CopyFormat : std::uint8_t { kText, kCsv, kBinary };
enum class CopyHeader : std::uint8_t { kNone, kPresent, kMatch };

/// COPY's options, with the format's defaults filled in.
struct CopyOptions {
  CopyFormat format = CopyFormat::kText;
  char delimiter = '\t';
  std::string null_text = "\\N";
  CopyHeader header = CopyHeader::kNone;
  char quote = '"';
  char escape = '"';
  bool freeze = false;
  bool force_quote_all = false;
  std::vector<std::string_view> force_quote, force_not_null, force_null;
};

/// Errors: 42601 for conflicting and unknown options, 22023 and 0A000 for values, in PostgreSQL's words.
CopyOptions read_copy_options(const CopyUtility& utility);

}  // namespace pinwheel::sql
