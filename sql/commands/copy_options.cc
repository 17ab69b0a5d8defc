#include "sql/commands/copy_options.h"

#include <algorithm>

#include "base/sqlstate.h"
#include "sql/commands/support.h"

namespace pinwheel::sql {
namespace {

[[noreturn]] void refuse(SqlState state, std::string message) { throw SqlError{state, std::move(message)}; }

char one_byte(const Option& option, std::string_view what) {
  if (option.text.size() != 1) {
    refuse(sqlstate::kFeatureNotSupported,
           "COPY " + std::string{what} + " must be a single one-byte character");
  }
  return option.text.front();
}

void check(const CopyOptions& options, bool from, bool quote_given, bool escape_given) {
  if (options.delimiter == '\r' || options.delimiter == '\n') {
    refuse(sqlstate::kInvalidParameterValue, "COPY delimiter cannot be newline or carriage return");
  }
  if (options.null_text.find_first_of("\r\n") != std::string::npos) {
    refuse(sqlstate::kInvalidParameterValue,
           "COPY null representation cannot use newline or carriage return");
  }
  constexpr std::string_view kNoDelimiters = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
  if (!options.csv && kNoDelimiters.find(options.delimiter) != std::string_view::npos) {
    refuse(sqlstate::kInvalidParameterValue,
           "COPY delimiter cannot be " + in_quotes(std::string{options.delimiter}));
  }
  if (!options.csv && quote_given)
    refuse(sqlstate::kFeatureNotSupported, "COPY quote available only in CSV mode");
  if (!options.csv && escape_given)
    refuse(sqlstate::kFeatureNotSupported, "COPY escape available only in CSV mode");
  if (options.csv && options.delimiter == options.quote) {
    refuse(sqlstate::kInvalidParameterValue, "COPY delimiter and quote must be different");
  }
  if (!options.csv && (options.force_quote_all || !options.force_quote.empty())) {
    refuse(sqlstate::kFeatureNotSupported, "COPY force quote available only in CSV mode");
  }
  if (from && (options.force_quote_all || !options.force_quote.empty())) {
    refuse(sqlstate::kFeatureNotSupported, "COPY force quote only available using COPY TO");
  }
  if (!options.csv && !options.force_not_null.empty()) {
    refuse(sqlstate::kFeatureNotSupported, "COPY force not null available only in CSV mode");
  }
  if (!from && !options.force_not_null.empty()) {
    refuse(sqlstate::kFeatureNotSupported, "COPY force not null only available using COPY FROM");
  }
  if (!options.csv && !options.force_null.empty()) {
    refuse(sqlstate::kFeatureNotSupported, "COPY force null available only in CSV mode");
  }
  if (options.null_text.find(options.delimiter) != std::string::npos) {
    refuse(sqlstate::kFeatureNotSupported, "COPY delimiter must not appear in the NULL specification");
  }
  if (options.csv && options.null_text.find(options.quote) != std::string::npos) {
    refuse(sqlstate::kFeatureNotSupported, "CSV quote character must not appear in the NULL specification");
  }
}

}  // namespace

CopyOptions read_copy_options(const CopyUtility& utility) {
  CopyOptions options;
  bool delimiter_given = false, null_given = false, quote_given = false, escape_given = false;
  for (std::size_t i = 0; i < utility.options.size(); ++i) {
    const Option& option = utility.options[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (utility.options[j].name == option.name) {
        throw SqlError{sqlstate::kSyntaxError, "conflicting or redundant options"}.position(
            option.location >= 0 ? option.location + 1 : 0);
      }
    }
    if (option.name == "format") {
      if (option.text == "csv") {
        options.csv = true;
      } else if (option.text == "binary") {
        refuse(sqlstate::kFeatureNotSupported, "COPY in binary format is not supported");
      } else if (option.text != "text") {
        throw SqlError{sqlstate::kInvalidParameterValue,
                       "COPY format " + in_quotes(option.text) + " not recognized"}
            .position(option.location >= 0 ? option.location + 1 : 0);
      }
    } else if (option.name == "freeze") {
      options.freeze = option_bool(option);
    } else if (option.name == "delimiter") {
      options.delimiter = one_byte(option, "delimiter");
      delimiter_given = true;
    } else if (option.name == "null") {
      options.null_text = option.text;
      null_given = true;
    } else if (option.name == "header") {
      if (option.text == "match") {
        if (!utility.from)
          refuse(sqlstate::kInvalidParameterValue, "cannot use \"match\" with HEADER in COPY TO");
        options.header = options.header_match = true;
      } else {
        options.header = option_bool(option);
      }
    } else if (option.name == "quote") {
      options.quote = one_byte(option, "quote");
      quote_given = true;
    } else if (option.name == "escape") {
      options.escape = one_byte(option, "escape");
      escape_given = true;
    } else if (option.name == "force_quote") {
      options.force_quote_all = option.list.empty() || (option.list.size() == 1 && option.list[0] == "*");
      options.force_quote.assign(option.list.begin(), option.list.end());
    } else if (option.name == "force_not_null") {
      options.force_not_null.assign(option.list.begin(), option.list.end());
    } else if (option.name == "force_null") {
      options.force_null.assign(option.list.begin(), option.list.end());
    } else if (option.name == "encoding") {
      std::string name;
      for (const char c : option.text) {
        if (c != '-' && c != '_') name += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      }
      if (name != "utf8" && name != "unicode" && name != "sqlascii") {
        refuse(sqlstate::kFeatureNotSupported,
               "COPY with encoding " + in_quotes(option.text) + " is not supported");
      }
    } else {
      throw SqlError{sqlstate::kSyntaxError, "option " + in_quotes(option.name) + " not recognized"}.position(
          option.location >= 0 ? option.location + 1 : 0);
    }
  }
  if (options.csv) {
    if (!delimiter_given) options.delimiter = ',';
    if (!null_given) options.null_text = "";
    if (!escape_given) options.escape = options.quote;
  }
  check(options, utility.from, quote_given, escape_given);
  return options;
}

}  // namespace pinwheel::sql
