#include <algorithm>

#include "sql/functions/tables.h"
#include "sql/types/collation.h"
#include "sql/types/io_errors.h"
#include "sql/types/text_values.h"
#include "sql/types/utf8.h"

/// LIKE and ILIKE, and the pattern rewriting of their ESCAPE clauses.
namespace pinwheel::sql::functions {

namespace {

[[noreturn]] void throw_trailing_escape() {
  throw SqlError{sqlstate::kInvalidEscapeSequence, "LIKE pattern must not end with escape character"};
}

enum class Match {
  kYes,
  kNo,
  kNeverLater
};  // kNeverLater: the text ran out, so no later start can match either

std::size_t character_size(std::string_view text, bool bytes) {
  return bytes ? 1
               : std::min(static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[0]))),
                          text.size());
}

/// `bytes`: one byte is one character (bytea).
Match like(std::string_view text, std::string_view pattern, bool bytes) {
  while (!pattern.empty() && !text.empty()) {
    switch (pattern[0]) {
      case '\\':
        if (pattern.size() < 2) throw_trailing_escape();
        if (text[0] != pattern[1]) return Match::kNo;
        text.remove_prefix(1);
        pattern.remove_prefix(2);
        break;
      case '_':
        text.remove_prefix(character_size(text, bytes));
        pattern.remove_prefix(1);
        break;
      case '%': {
        // Runs of % and _ consume what the _ ask for.
        while (!pattern.empty() && (pattern[0] == '%' || pattern[0] == '_')) {
          if (pattern[0] == '_') {
            if (text.empty()) return Match::kNeverLater;
            text.remove_prefix(character_size(text, bytes));
          }
          pattern.remove_prefix(1);
        }
        if (pattern.empty()) return Match::kYes;
        if (pattern[0] == '\\' && pattern.size() < 2) throw_trailing_escape();
        const char first = pattern[0] == '\\' ? pattern[1] : pattern[0];
        // Only starts with the right first byte are worth a recursion.
        for (;;) {
          const std::size_t at = text.find(first);
          if (at == std::string_view::npos) return Match::kNeverLater;
          text.remove_prefix(at);
          const Match match = like(text, pattern, bytes);
          if (match != Match::kNo) return match;
          text.remove_prefix(1);
        }
      }
      default:
        if (text[0] != pattern[0]) return Match::kNo;
        text.remove_prefix(1);
        pattern.remove_prefix(1);
    }
  }
  if (!text.empty()) return Match::kNo;
  while (!pattern.empty() && pattern[0] == '%') pattern.remove_prefix(1);
  if (pattern.empty()) return Match::kYes;
  return Match::kNeverLater;
}

bool like_folded(const FunctionCall& call, std::string_view text, std::string_view pattern) {
  return like(change_case(text, CaseChange::kLower, call.collation),
              change_case(pattern, CaseChange::kLower, call.collation), false) == Match::kYes;
}

template <bool Wanted>
Datum text_like(FunctionCall& c) {
  return Datum::from_bool((like(c.text(0), c.text(1), false) == Match::kYes) == Wanted);
}
template <bool Wanted>
Datum name_like(FunctionCall& c) {
  return Datum::from_bool((like(name_view(c.args[0]), c.text(1), false) == Match::kYes) == Wanted);
}
template <bool Wanted>
Datum bytea_like(FunctionCall& c) {
  return Datum::from_bool((like(c.text(0), c.text(1), true) == Match::kYes) == Wanted);
}
template <bool Wanted>
Datum text_ilike(FunctionCall& c) {
  return Datum::from_bool(like_folded(c, c.text(0), c.text(1)) == Wanted);
}
template <bool Wanted>
Datum name_ilike(FunctionCall& c) {
  return Datum::from_bool(like_folded(c, name_view(c.args[0]), c.text(1)) == Wanted);
}

/// A pattern whose escape character is backslash, from one with another (or none, when empty).
Datum like_escape(FunctionCall& call) {
  const std::string_view pattern = call.text(0);
  const std::string_view escape = call.text(1);
  if (!escape.empty() && count_characters(escape) != 1) {
    throw SqlError{sqlstate::kInvalidEscapeSequence, "invalid escape string"}.hint(
        "Escape string must be empty or one character.");
  }
  if (escape == "\\") return call.args[0];
  std::string result;
  for (std::size_t at = 0; at < pattern.size();) {
    if (!escape.empty() && pattern.substr(at).starts_with(escape)) {
      result += '\\';
      at += escape.size();
      if (at < pattern.size()) result += pattern[at++];
    } else {
      if (pattern[at] == '\\') result += '\\';
      result += pattern[at++];
    }
  }
  return make_text(*call.arena, result);
}

/// SIMILAR TO's pattern as a regular expression over the whole text.
std::string similar_to_regexp(std::string_view pattern, std::string_view escape) {
  std::string out = "^(?:";
  bool after_escape = false;
  bool in_brackets = false;
  int separators = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t size = std::min(
        static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(pattern[at]))), pattern.size() - at);
    const std::string_view character = pattern.substr(at, size);
    at += size;
    const char c = character[0];
    if (after_escape) {
      if (c == '"' && !in_brackets) {
        // Escape-double-quote separates the three parts of substring(... similar ...).
        if (separators == 0) {
          out += "){1,1}?(";
        } else if (separators == 1) {
          out += "){1,1}(?:";
        } else {
          throw SqlError{
              sqlstate::kInvalidUseOfEscapeCharacter,
              "SQL regular expression may not contain more than two escape-double-quote separators"};
        }
        ++separators;
      } else {
        out += '\\';
        out += character;
      }
      after_escape = false;
    } else if (!escape.empty() && character == escape) {
      after_escape = true;
    } else if (in_brackets) {
      if (c == '\\') out += '\\';
      out += character;
      if (c == ']') in_brackets = false;
    } else if (c == '[') {
      out += c;
      in_brackets = true;
    } else if (c == '%') {
      out += ".*";
    } else if (c == '_') {
      out += '.';
    } else if (c == '(') {
      out += "(?:";  // groups do not capture
    } else if (c == '\\' || c == '.' || c == '^' || c == '$') {
      out += '\\';
      out += c;
    } else {
      out += character;
    }
  }
  return out + ")$";
}

Datum similar_escape(FunctionCall& call, std::string_view escape) {
  if (count_characters(escape) > 1) {
    throw SqlError{sqlstate::kInvalidEscapeSequence, "invalid escape string"}.hint(
        "Escape string must be empty or one character.");
  }
  return make_text(*call.arena, similar_to_regexp(call.text(0), escape));
}

constexpr BuiltinFunction kPatternsFunctions[] = {
    {"textlike", text_like<true>},
    {"textnlike", text_like<false>},
    {"namelike", name_like<true>},
    {"namenlike", name_like<false>},
    {"bytealike", bytea_like<true>},
    {"byteanlike", bytea_like<false>},
    {"texticlike", text_ilike<true>},
    {"texticnlike", text_ilike<false>},
    {"nameiclike", name_ilike<true>},
    {"nameicnlike", name_ilike<false>},
    {"like_escape", like_escape},
    {"like_escape_bytea", like_escape},
    {"similar_to_escape_1", [](FunctionCall& c) { return similar_escape(c, "\\"); }},
    {"similar_to_escape_2", [](FunctionCall& c) { return similar_escape(c, c.text(1)); }},
    {"similar_escape",
     [](FunctionCall& c) {
       if (c.nulls[0]) return c.make_null();
       return similar_escape(c, c.nulls[1] ? std::string_view{"\\"} : c.text(1));
     }},
};

}  // namespace

std::span<const BuiltinFunction> pattern_functions() { return kPatternsFunctions; }

}  // namespace pinwheel::sql::functions
