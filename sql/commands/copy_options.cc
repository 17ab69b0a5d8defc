#include "sql/commands/copy_options.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void refuse(SqlState state, std::string message) { throw SqlError{state, std::move(message)}; }

int position_of(const Option& option) { return option.location >= 0 ? option.location + 1 : 0; }

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return out;
}

/// Which options were written, and what they say before defaults are known.
struct Given {
  const Option* delimiter = nullptr;
  const Option* null_text = nullptr;
  const Option* quote = nullptr;
  const Option* escape = nullptr;
};

CopyFormat read_format(const Option& option) {
  if (option.text == "text") return CopyFormat::kText;
  if (option.text == "csv") return CopyFormat::kCsv;
  if (option.text == "binary") return CopyFormat::kBinary;
  throw SqlError{sqlstate::kInvalidParameterValue,
                 "COPY format " + in_quotes(option.text) + " not recognized"}
      .position(position_of(option));
}

CopyHeader read_header(const Option& option, bool from) {
  const std::string text = lower(option.text);
  if (option.kind != Option::Kind::kNone && text == "match") {
    if (!from) {
      refuse(sqlstate::kFeatureNotSupported,
             "cannot use " + in_quotes(option.text) + " with HEADER in COPY TO");
    }
    return CopyHeader::kMatch;
  }
  for (const std::string_view known : {"true", "false", "on", "off", "0", "1", ""}) {
    if (text == known) return option_bool(option) ? CopyHeader::kPresent : CopyHeader::kNone;
  }
  refuse(sqlstate::kSyntaxError, std::string{option.name} + " requires a Boolean value or \"match\"");
}

std::vector<std::string_view> read_columns(const Option& option) {
  if (option.kind != Option::Kind::kList) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "argument to option " + in_quotes(option.name) + " must be a list of column names"}
        .position(position_of(option));
  }
  return {option.list.begin(), option.list.end()};
}

void check_encoding(const Option& option) {
  std::string name;
  for (const char c : lower(option.text)) {
    if (c != '-' && c != '_') name += c;
  }
  if (name == "utf8" || name == "unicode" || name == "sqlascii") return;
  // ASCII files are the same in all of these; bytes beyond it are refused as invalid UTF-8.
  refuse(sqlstate::kFeatureNotSupported,
         "COPY with encoding " + in_quotes(option.text) + " is not supported");
}

void read_option(const Option& option, bool from, CopyOptions& options, Given& given) {
  if (option.name == "format") {
    options.format = read_format(option);
  } else if (option.name == "freeze") {
    options.freeze = option_bool(option);
  } else if (option.name == "delimiter") {
    given.delimiter = &option;
  } else if (option.name == "null") {
    given.null_text = &option;
  } else if (option.name == "header") {
    options.header = read_header(option, from);
  } else if (option.name == "quote") {
    given.quote = &option;
  } else if (option.name == "escape") {
    given.escape = &option;
  } else if (option.name == "force_quote") {
    options.force_quote_all = option.kind == Option::Kind::kName && option.text == "*";
    if (!options.force_quote_all) options.force_quote = read_columns(option);
  } else if (option.name == "force_not_null") {
    options.force_not_null = read_columns(option);
  } else if (option.name == "force_null") {
    options.force_null = read_columns(option);
  } else if (option.name == "encoding") {
    check_encoding(option);
  } else {
    throw SqlError{sqlstate::kSyntaxError, "option " + in_quotes(option.name) + " not recognized"}.position(
        position_of(option));
  }
}

char one_byte(const Option& option, const char* what) {
  if (option.text.size() == 1) return option.text.front();
  refuse(sqlstate::kFeatureNotSupported,
         std::string{"COPY "} + what + " must be a single one-byte character");
}

void check_delimiter_and_null(const CopyOptions& options) {
  const bool csv = options.format == CopyFormat::kCsv;
  if (options.delimiter == '\r' || options.delimiter == '\n') {
    refuse(sqlstate::kInvalidParameterValue, "COPY delimiter cannot be newline or carriage return");
  }
  if (options.null_text.find_first_of("\r\n") != std::string::npos) {
    refuse(sqlstate::kInvalidParameterValue,
           "COPY null representation cannot use newline or carriage return");
  }
  // A delimiter that escapes or the end marker could contain.
  constexpr std::string_view kNoDelimiters = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
  if (!csv && kNoDelimiters.find(options.delimiter) != std::string_view::npos) {
    refuse(sqlstate::kInvalidParameterValue,
           "COPY delimiter cannot be " + in_quotes(std::string{options.delimiter}));
  }
}

void check_force(const CopyOptions& options, bool from) {
  const bool csv = options.format == CopyFormat::kCsv;
  const bool force_quote = options.force_quote_all || !options.force_quote.empty();
  const auto check = [&](bool given, const char* what, bool wrong_way, const char* way) {
    if (!given) return;
    if (!csv)
      refuse(sqlstate::kFeatureNotSupported, std::string{"COPY "} + what + " available only in CSV mode");
    if (wrong_way) {
      refuse(sqlstate::kFeatureNotSupported,
             std::string{"COPY "} + what + " only available using COPY " + way);
    }
  };
  check(force_quote, "force quote", from, "TO");
  check(!options.force_not_null.empty(), "force not null", !from, "FROM");
  check(!options.force_null.empty(), "force null", !from, "FROM");
}

void fill_in(CopyOptions& options, const Given& given) {
  const bool csv = options.format == CopyFormat::kCsv;
  if (options.format == CopyFormat::kBinary) {
    if (given.delimiter != nullptr) refuse(sqlstate::kSyntaxError, "cannot specify DELIMITER in BINARY mode");
    if (given.null_text != nullptr) refuse(sqlstate::kSyntaxError, "cannot specify NULL in BINARY mode");
  }
  if (csv) {
    options.delimiter = ',';
    options.null_text.clear();
  }
  if (given.delimiter != nullptr) options.delimiter = one_byte(*given.delimiter, "delimiter");
  if (given.null_text != nullptr) options.null_text = given.null_text->text;
  check_delimiter_and_null(options);
  if (options.format == CopyFormat::kBinary && options.header != CopyHeader::kNone) {
    refuse(sqlstate::kFeatureNotSupported, "cannot specify HEADER in BINARY mode");
  }
  if (given.quote != nullptr) {
    if (!csv) refuse(sqlstate::kFeatureNotSupported, "COPY quote available only in CSV mode");
    options.quote = one_byte(*given.quote, "quote");
  }
  if (csv && options.delimiter == options.quote) {
    refuse(sqlstate::kInvalidParameterValue, "COPY delimiter and quote must be different");
  }
  options.escape = options.quote;
  if (given.escape != nullptr) {
    if (!csv) refuse(sqlstate::kFeatureNotSupported, "COPY escape available only in CSV mode");
    options.escape = one_byte(*given.escape, "escape");
  }
}

}  // namespace

CopyOptions read_copy_options(const CopyUtility& utility) {
  CopyOptions options;
  Given given;
  for (std::size_t i = 0; i < utility.options.size(); ++i) {
    const Option& option = utility.options[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (utility.options[j].name != option.name) continue;
      throw SqlError{sqlstate::kSyntaxError, "conflicting or redundant options"}.position(
          position_of(option));
    }
    read_option(option, utility.from, options, given);
  }
  fill_in(options, given);
  check_force(options, utility.from);
  if (options.null_text.find(options.delimiter) != std::string::npos) {
    refuse(sqlstate::kFeatureNotSupported, "COPY delimiter must not appear in the NULL specification");
  }
  if (options.format == CopyFormat::kCsv && options.null_text.find(options.quote) != std::string::npos) {
    refuse(sqlstate::kFeatureNotSupported, "CSV quote character must not appear in the NULL specification");
  }
  return options;
}

}  // namespace pinwheel::sql
