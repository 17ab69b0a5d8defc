#include "sql/functions/quoting.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/type_info.h"
#include "sql/types/utf8.h"

namespace pinwheel::sql::functions {

namespace {

/// The grammar's keywords that are not "unreserved", sorted: names like these must be quoted.
constexpr std::string_view kQuotedKeywords[] = {"all",
                                                "analyse",
                                                "analyze",
                                                "and",
                                                "any",
                                                "array",
                                                "as",
                                                "asc",
                                                "asymmetric",
                                                "authorization",
                                                "between",
                                                "bigint",
                                                "binary",
                                                "bit",
                                                "boolean",
                                                "both",
                                                "case",
                                                "cast",
                                                "char",
                                                "character",
                                                "check",
                                                "coalesce",
                                                "collate",
                                                "collation",
                                                "column",
                                                "concurrently",
                                                "constraint",
                                                "create",
                                                "cross",
                                                "current_catalog",
                                                "current_date",
                                                "current_role",
                                                "current_schema",
                                                "current_time",
                                                "current_timestamp",
                                                "current_user",
                                                "dec",
                                                "decimal",
                                                "default",
                                                "deferrable",
                                                "desc",
                                                "distinct",
                                                "do",
                                                "else",
                                                "end",
                                                "except",
                                                "exists",
                                                "extract",
                                                "false",
                                                "fetch",
                                                "float",
                                                "for",
                                                "foreign",
                                                "freeze",
                                                "from",
                                                "full",
                                                "grant",
                                                "greatest",
                                                "group",
                                                "grouping",
                                                "having",
                                                "ilike",
                                                "in",
                                                "initially",
                                                "inner",
                                                "inout",
                                                "int",
                                                "integer",
                                                "intersect",
                                                "interval",
                                                "into",
                                                "is",
                                                "isnull",
                                                "join",
                                                "lateral",
                                                "leading",
                                                "least",
                                                "left",
                                                "like",
                                                "limit",
                                                "localtime",
                                                "localtimestamp",
                                                "national",
                                                "natural",
                                                "nchar",
                                                "none",
                                                "normalize",
                                                "not",
                                                "notnull",
                                                "null",
                                                "nullif",
                                                "numeric",
                                                "offset",
                                                "on",
                                                "only",
                                                "or",
                                                "order",
                                                "out",
                                                "outer",
                                                "overlaps",
                                                "overlay",
                                                "placing",
                                                "position",
                                                "precision",
                                                "primary",
                                                "real",
                                                "references",
                                                "returning",
                                                "right",
                                                "row",
                                                "select",
                                                "session_user",
                                                "setof",
                                                "similar",
                                                "smallint",
                                                "some",
                                                "substring",
                                                "symmetric",
                                                "table",
                                                "tablesample",
                                                "then",
                                                "time",
                                                "timestamp",
                                                "to",
                                                "trailing",
                                                "treat",
                                                "trim",
                                                "true",
                                                "union",
                                                "unique",
                                                "user",
                                                "using",
                                                "values",
                                                "varchar",
                                                "variadic",
                                                "verbose",
                                                "when",
                                                "where",
                                                "window",
                                                "with",
                                                "xmlattributes",
                                                "xmlconcat",
                                                "xmlelement",
                                                "xmlexists",
                                                "xmlforest",
                                                "xmlnamespaces",
                                                "xmlparse",
                                                "xmlpi",
                                                "xmlroot",
                                                "xmlserialize",
                                                "xmltable"};

std::string output_of(const FunctionCall& call, Oid type, Datum value) {
  std::string out;
  if (const TypeInfo* info = find_type(type)) {
    info->output(value, IoContext{*call.arena, *call.context, type, -1}, out);
  } else {
    call.context->catalog->output_user_type(type, value, out);
  }
  return out;
}

/// format(): %[position$][-][width]type, type one of s, I, L.
class Formatter {
 public:
  explicit Formatter(FunctionCall& call) : call_{call} { collect(); }

  Datum run() {
    const std::string_view pattern = call_.text(0);
    for (at_ = 0; at_ < pattern.size(); ++at_) {
      if (pattern[at_] != '%') {
        out_ += pattern[at_];
        continue;
      }
      pattern_ = pattern;
      step();
      if (pattern[at_] == '%') {
        out_ += '%';
        continue;
      }
      specifier();
    }
    return call_.make_var(out_);
  }

 private:
  struct Argument {
    Oid type;
    Datum value;
    bool is_null;
  };

  void collect() {
    if (call_.variadic_array && call_.nargs > 1) {
      if (call_.nulls[1]) return;
      const ArrayView view = view_array(call_.plain(1));
      ArrayReader reader{view};
      Datum item;
      bool is_null;
      while (reader.next(&item, &is_null)) arguments_.push_back({view.element, item, is_null});
      return;
    }
    for (int i = 1; i < call_.nargs; ++i)
      arguments_.push_back({call_.arg_types[i], call_.args[i], call_.nulls[i]});
  }

  void step() {
    if (++at_ >= pattern_.size()) {
      throw SqlError{sqlstate::kInvalidParameterValue, "unterminated format() type specifier"}.hint(
          "For a single \"%\" use \"%%\".");
    }
  }
  bool digit() const { return pattern_[at_] >= '0' && pattern_[at_] <= '9'; }
  int number() {
    std::int64_t value = 0;
    while (digit()) {
      value = value * 10 + (pattern_[at_] - '0');
      if (value > INT32_MAX) throw SqlError{sqlstate::kNumericValueOutOfRange, "number is out of range"};
      step();
    }
    return static_cast<int>(value);
  }

  const Argument& argument(int position) {
    if (position < 1 || static_cast<std::size_t>(position) > arguments_.size()) {
      throw SqlError{sqlstate::kInvalidParameterValue, "too few arguments for format()"};
    }
    return arguments_[static_cast<std::size_t>(position - 1)];
  }
  int position_of_next() { return last_ = last_ + 1; }

  void specifier() {
    int position = 0;
    int width = 0;
    bool left = false;
    const std::size_t start = at_;
    if (digit()) {
      const int value = number();
      if (pattern_[at_] == '$') {
        position = explicit_position(value);
        step();
      } else {
        width = value;
        at_ = start;
        number();
      }
    }
    if (width == 0) {
      while (pattern_[at_] == '-') {
        left = true;
        step();
      }
      if (pattern_[at_] == '*') {
        width = star(&left);
      } else if (digit()) {
        width = number();
      }
    }
    const char type = pattern_[at_];
    if (type != 's' && type != 'I' && type != 'L') {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "unrecognized format() type specifier \"" +
                         std::string{pattern_.substr(
                             at_, static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(type))))} +
                         "\""}
          .hint("For a single \"%\" use \"%%\".");
    }
    if (position == 0) {
      position = position_of_next();
    } else {
      last_ = position;
    }
    pad(convert(type, argument(position)), width, left);
  }

  static int explicit_position(int value) {
    if (value == 0) {
      throw SqlError{sqlstate::kInvalidParameterValue,
                     "format specifies argument 0, but arguments are numbered from 1"};
    }
    return value;
  }

  int star(bool* left) {
    step();
    int position = 0;
    if (digit()) {
      position = explicit_position(number());
      if (pattern_[at_] != '$') {
        throw SqlError{sqlstate::kInvalidParameterValue, "width argument position must be ended by \"$\""};
      }
      step();
    }
    if (position == 0) {
      position = position_of_next();
    } else {
      last_ = position;
    }
    const Argument& a = argument(position);
    int width = a.is_null ? 0 : parse_int4(output_of(call_, a.type, a.value));
    if (width < 0) {
      *left = true;
      width = -width;
    }
    return width;
  }

  std::string convert(char type, const Argument& a) {
    if (a.is_null) {
      if (type == 'I') {
        throw SqlError{sqlstate::kNullValueNotAllowed,
                       "null values cannot be formatted as an SQL identifier"};
      }
      return type == 'L' ? "NULL" : "";
    }
    const std::string text = output_of(call_, a.type, a.value);
    return type == 's' ? text : type == 'I' ? quote_identifier(text) : quote_literal(text);
  }

  void pad(const std::string& text, int width, bool left) {
    const auto length = static_cast<int>(count_characters(text));
    const std::size_t blanks = width > length ? static_cast<std::size_t>(width - length) : 0;
    if (!left) out_.append(blanks, ' ');
    out_ += text;
    if (left) out_.append(blanks, ' ');
  }

  FunctionCall& call_;
  std::string_view pattern_;
  std::size_t at_ = 0;
  std::vector<Argument> arguments_;
  int last_ = 0;
  std::string out_;
};

/// "a.b."c d"": an identifier's parts, folded.
Datum parse_identifier(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const bool strict = call.args[1].as_bool();
  std::vector<Datum> parts;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && is_space(text[at])) ++at;
  };
  const auto bad = [&](std::string detail) {
    SqlError error{sqlstate::kInvalidParameterValue,
                   "string is not a valid identifier: \"" + std::string{text} + "\""};
    if (!detail.empty()) throw std::move(error).detail(std::move(detail));
    throw error;
  };
  const auto starts = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
  };
  skip();
  for (bool after_dot = false;; after_dot = true) {
    std::string part;
    if (at < text.size() && text[at] == '"') {
      ++at;
      for (;;) {
        const std::size_t close = text.find('"', at);
        if (close == std::string_view::npos) bad("String has unclosed double quotes.");
        part.append(text, at, close - at);
        at = close + 1;
        if (at >= text.size() || text[at] != '"') break;
        part += '"';
        ++at;
      }
      if (part.empty()) bad("Quoted identifier must not be empty.");
    } else if (at < text.size() && starts(text[at])) {
      while (at < text.size() &&
             (starts(text[at]) || (text[at] >= '0' && text[at] <= '9') || text[at] == '$')) {
        part += static_cast<char>(std::tolower(static_cast<unsigned char>(text[at++])));
      }
    } else {
      bad(at < text.size() && text[at] == '.' ? "No valid identifier before \".\"."
          : after_dot                         ? "No valid identifier after \".\"."
                                              : "");
    }
    parts.push_back(make_text(*call.arena, part));
    skip();
    if (at < text.size() && text[at] == '.') {
      ++at;
      skip();
      continue;
    }
    if (at < text.size() && strict) bad("");
    break;
  }
  return build_array(*call.arena, kTextType, parts.data(), nullptr, static_cast<int>(parts.size()));
}

constexpr BuiltinFunction kQuotingFunctions[] = {
    {"quote_ident", [](FunctionCall& c) { return c.make_var(quote_identifier(c.text(0))); }},
    {"quote_literal", [](FunctionCall& c) { return c.make_var(quote_literal(c.text(0))); }},
    {"quote_nullable",
     [](FunctionCall& c) { return c.make_var(c.nulls[0] ? "NULL" : quote_literal(c.text(0))); }},
    {"quote_literal(any)",
     [](FunctionCall& c) { return c.make_var(quote_literal(output_of(c, c.arg_types[0], c.args[0]))); },
     Oid{1285}},
    {"quote_nullable(any)",
     [](FunctionCall& c) {
       return c.make_var(c.nulls[0] ? "NULL" : quote_literal(output_of(c, c.arg_types[0], c.args[0])));
     },
     Oid{1290}},
    {"text_format", [](FunctionCall& c) { return c.nulls[0] ? c.make_null() : Formatter{c}.run(); }},
    {"text_format_nv", [](FunctionCall& c) { return c.nulls[0] ? c.make_null() : Formatter{c}.run(); }},
    {"parse_ident", parse_identifier},
};

}  // namespace

std::span<const BuiltinFunction> quoting_functions() { return kQuotingFunctions; }

}  // namespace pinwheel::sql::functions

namespace pinwheel::sql {

std::string quote_identifier(std::string_view name) {
  bool safe = !name.empty() && ((name[0] >= 'a' && name[0] <= 'z') || name[0] == '_');
  for (char c : name) safe &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  if (safe && !std::binary_search(std::begin(functions::kQuotedKeywords),
                                  std::end(functions::kQuotedKeywords), name)) {
    return std::string{name};
  }
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string quote_literal(std::string_view text) {
  std::string quoted = text.find('\\') != std::string_view::npos ? "E'" : "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + '\'';
}

}  // namespace pinwheel::sql
