#include <algorithm>

#include "sql/functions/regexp.h"
#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/io_errors.h"
#include "sql/types/type_oids.h"
#include "sql/types/utf8.h"

/// The regular-expression operators and functions.
namespace pinwheel::sql::functions {

namespace {

std::string_view slice(std::string_view text, MatchRange range) {
  return text.substr(static_cast<std::size_t>(range.begin),
                     static_cast<std::size_t>(range.end - range.begin));
}

std::size_t next_character(std::string_view text, std::size_t at) {
  if (at >= text.size()) return at + 1;
  return at + static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at])));
}

template <bool IgnoreCase, bool Wanted, bool Name>
Datum match_operator(FunctionCall& call) {
  RegexpFlags flags;
  flags.ignore_case = IgnoreCase;
  const std::string_view text = Name ? name_view(call.args[0]) : call.text(0);
  return Datum::from_bool(Regexp::find(call.text(1), flags).matches(text) == Wanted);
}

RegexpFlags flags_at(const FunctionCall& call, int i) {
  return call.nargs > i ? RegexpFlags::parse(call.text(i)) : RegexpFlags{};
}

/// Flags of functions in which "g" makes no sense.
RegexpFlags flags_without_global(const FunctionCall& call, int i, std::string_view function) {
  const RegexpFlags flags = flags_at(call, i);
  if (flags.global) {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   std::string{function} + " does not support the \"global\" option"};
  }
  return flags;
}

/// All matches from byte `from`, each with its groups. `skip_empty`: splitting ignores empty matches at the
/// ends and right after another.
std::vector<std::vector<MatchRange>> all_matches(const Regexp& regexp, std::string_view text,
                                                 std::size_t from, bool skip_empty) {
  std::vector<std::vector<MatchRange>> found;
  std::vector<MatchRange> groups;
  std::int64_t previous_end = 0;
  while (from <= text.size() && regexp.search(text, from, &groups)) {
    const MatchRange whole = groups[0];
    if (!skip_empty || (whole.begin < static_cast<std::int64_t>(text.size()) && whole.end > previous_end)) {
      found.push_back(groups);
    }
    previous_end = whole.end;
    from = static_cast<std::size_t>(whole.end);
    if (whole.begin == whole.end) from = next_character(text, from);
  }
  return found;
}

/// substring(text from pattern): the first group, else the match.
Datum substring(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const Regexp& regexp = Regexp::find(call.text(1), {});
  std::vector<MatchRange> groups;
  if (!regexp.search(text, 0, &groups)) return call.make_null();
  const MatchRange range = groups.size() > 1 ? groups[1] : groups[0];
  return range.begin < 0 ? call.make_null() : call.make_var(slice(text, range));
}

void append_replacement(std::string& out, std::string_view replacement, std::string_view text,
                        const std::vector<MatchRange>& groups) {
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\' || i + 1 >= replacement.size()) {
      out += replacement[i];
      continue;
    }
    const char c = replacement[++i];
    if (c == '&') {
      out += slice(text, groups[0]);
    } else if (c >= '1' && c <= '9') {
      const auto group = static_cast<std::size_t>(c - '0');
      if (group < groups.size() && groups[group].begin >= 0) out += slice(text, groups[group]);
    } else if (c == '\\') {
      out += '\\';
    } else {
      out += '\\';
      out += c;
    }
  }
}

/// Replaces the `nth` match (0 = all) at or after byte `from`.
Datum replace(FunctionCall& call, const RegexpFlags& flags, std::size_t from, std::int64_t nth) {
  const std::string_view text = call.text(0);
  const std::string_view replacement = call.text(2);
  const Regexp& regexp = Regexp::find(call.text(1), flags);
  std::string out;
  std::size_t copied = 0;
  std::vector<MatchRange> groups;
  for (std::int64_t count = 1; from <= text.size() && regexp.search(text, from, &groups); ++count) {
    const MatchRange whole = groups[0];
    if (nth == 0 || count == nth) {
      out += text.substr(copied, static_cast<std::size_t>(whole.begin) - copied);
      append_replacement(out, replacement, text, groups);
      copied = static_cast<std::size_t>(whole.end);
      if (nth != 0) break;
    }
    from = static_cast<std::size_t>(whole.end);
    if (whole.begin == whole.end) from = next_character(text, from);
  }
  out += text.substr(std::min(copied, text.size()));
  return call.make_var(out);
}

[[noreturn]] void throw_bad_parameter(std::string_view name, std::int32_t value) {
  throw SqlError{sqlstate::kInvalidParameterValue,
                 "invalid value for parameter \"" + std::string{name} + "\": " + std::to_string(value)};
}

/// Argument `i`, a 1-based character position, as a byte offset; past the end gives npos.
std::size_t start_at(const FunctionCall& call, int i, std::string_view text) {
  if (call.nargs <= i) return 0;
  const std::int32_t start = call.args[i].as_int32();
  if (start <= 0) throw_bad_parameter("start", start);
  const std::size_t at = bytes_of_characters(text, static_cast<std::size_t>(start - 1));
  return static_cast<std::size_t>(start - 1) > count_characters(text) ? std::string_view::npos : at;
}
std::int32_t positive_at(const FunctionCall& call, int i, std::string_view name, std::int32_t least) {
  if (call.nargs <= i) return 1;
  const std::int32_t value = call.args[i].as_int32();
  if (value < least) throw_bad_parameter(name, value);
  return value;
}

Datum replace_with_flags(FunctionCall& call) {
  const std::string_view text = call.text(3);
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    throw SqlError{sqlstate::kInvalidParameterValue,
                   "invalid regular expression option: \"" + std::string{text.substr(0, 1)} + "\""}
        .hint(
            "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to "
            "integer explicitly.");
  }
  const RegexpFlags flags = RegexpFlags::parse(text);
  return replace(call, flags, 0, flags.global ? 0 : 1);
}

/// regexp_replace(text, pattern, replacement, start [, N [, flags]])
Datum replace_extended(FunctionCall& call) {
  const std::size_t from = start_at(call, 3, call.text(0));
  std::int64_t nth = positive_at(call, 4, "n", 0);
  const RegexpFlags flags = flags_at(call, 5);
  if (call.nargs <= 4) nth = flags.global ? 0 : 1;
  return replace(call, flags, from, nth);
}

/// text[] of the groups, or of the whole match when there are none.
Datum groups_as_array(Arena& arena, std::string_view text, const std::vector<MatchRange>& groups) {
  const std::size_t first = groups.size() > 1 ? 1 : 0;
  const std::size_t count = groups.size() - first;
  auto* values = arena.make_array<Datum>(count);
  auto* nulls = arena.make_array<bool>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const MatchRange range = groups[first + i];
    nulls[i] = range.begin < 0;
    if (!nulls[i]) values[i] = make_text(arena, slice(text, range));
  }
  return build_array(arena, kTextType, values, nulls, static_cast<int>(count));
}

Datum regexp_match(FunctionCall& call) {
  RegexpFlags flags = flags_at(call, 2);
  if (flags.global) {
    throw SqlError{sqlstate::kInvalidParameterValue, "regexp_match() does not support the \"global\" option"}
        .hint("Use the regexp_matches function instead.");
  }
  std::vector<MatchRange> groups;
  if (!Regexp::find(call.text(1), flags).search(call.text(0), 0, &groups)) return call.make_null();
  return groups_as_array(*call.arena, call.text(0), groups);
}

std::vector<std::string_view> split(FunctionCall& call, std::string_view function) {
  const RegexpFlags flags = flags_without_global(call, 2, function);
  const std::string_view text = call.text(0);
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  for (const auto& groups : all_matches(Regexp::find(call.text(1), flags), text, 0, true)) {
    parts.push_back(text.substr(at, static_cast<std::size_t>(groups[0].begin) - at));
    at = static_cast<std::size_t>(groups[0].end);
  }
  parts.push_back(text.substr(at));
  return parts;
}

Datum split_to_array(FunctionCall& call) {
  const auto parts = split(call, "regexp_split_to_array()");
  auto* values = call.arena->make_array<Datum>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) values[i] = call.make_var(parts[i]);
  return build_array(*call.arena, kTextType, values, nullptr, static_cast<int>(parts.size()));
}

/// regexp_count(text, pattern [, start [, flags]])
Datum regexp_count(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::size_t from = start_at(call, 2, text);
  const RegexpFlags flags = flags_without_global(call, 3, "regexp_count()");
  if (from > text.size()) return Datum::from_int32(0);
  return Datum::from_int32(
      static_cast<std::int32_t>(all_matches(Regexp::find(call.text(1), flags), text, from, false).size()));
}

/// regexp_instr(text, pattern [, start [, N [, endoption [, flags [, subexpr]]]]])
Datum regexp_instr(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::size_t from = start_at(call, 2, text);
  const std::int32_t nth = positive_at(call, 3, "n", 1);
  std::int32_t end_option = 0;
  if (call.nargs > 4) {
    end_option = call.args[4].as_int32();
    if (end_option != 0 && end_option != 1) throw_bad_parameter("endoption", end_option);
  }
  const RegexpFlags flags = flags_without_global(call, 5, "regexp_instr()");
  std::int32_t group = 0;
  if (call.nargs > 6) {
    group = call.args[6].as_int32();
    if (group < 0) throw_bad_parameter("subexpr", group);
  }
  if (from > text.size()) return Datum::from_int32(0);
  const auto matches = all_matches(Regexp::find(call.text(1), flags), text, from, false);
  if (matches.size() < static_cast<std::size_t>(nth)) return Datum::from_int32(0);
  const auto& groups = matches[static_cast<std::size_t>(nth - 1)];
  if (static_cast<std::size_t>(group) >= groups.size() || groups[static_cast<std::size_t>(group)].begin < 0) {
    return Datum::from_int32(0);
  }
  const MatchRange range = groups[static_cast<std::size_t>(group)];
  const auto offset = static_cast<std::size_t>(end_option == 1 ? range.end : range.begin);
  return Datum::from_int32(static_cast<std::int32_t>(count_characters(text.substr(0, offset))) + 1);
}

/// regexp_substr(text, pattern [, start [, N [, flags [, subexpr]]]])
Datum regexp_substr(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::size_t from = start_at(call, 2, text);
  const std::int32_t nth = positive_at(call, 3, "n", 1);
  const RegexpFlags flags = flags_without_global(call, 4, "regexp_substr()");
  std::int32_t group = 0;
  if (call.nargs > 5) {
    group = call.args[5].as_int32();
    if (group < 0) throw_bad_parameter("subexpr", group);
  }
  if (from > text.size()) return call.make_null();
  const auto matches = all_matches(Regexp::find(call.text(1), flags), text, from, false);
  if (matches.size() < static_cast<std::size_t>(nth)) return call.make_null();
  const auto& groups = matches[static_cast<std::size_t>(nth - 1)];
  if (static_cast<std::size_t>(group) >= groups.size() || groups[static_cast<std::size_t>(group)].begin < 0) {
    return call.make_null();
  }
  return call.make_var(slice(text, groups[static_cast<std::size_t>(group)]));
}

Datum regexp_like(FunctionCall& call) {
  const RegexpFlags flags = flags_without_global(call, 2, "regexp_like()");
  return Datum::from_bool(Regexp::find(call.text(1), flags).matches(call.text(0)));
}

constexpr BuiltinFunction kRegexpFunctions[] = {
    {"textregexeq", match_operator<false, true, false>},
    {"textregexne", match_operator<false, false, false>},
    {"texticregexeq", match_operator<true, true, false>},
    {"texticregexne", match_operator<true, false, false>},
    {"nameregexeq", match_operator<false, true, true>},
    {"nameregexne", match_operator<false, false, true>},
    {"nameicregexeq", match_operator<true, true, true>},
    {"nameicregexne", match_operator<true, false, true>},
    {"textregexsubstr", substring},
    {"textregexreplace_noopt", [](FunctionCall& c) { return replace(c, {}, 0, 1); }},
    {"textregexreplace", replace_with_flags},
    {"textregexreplace_extended", replace_extended},
    {"textregexreplace_extended_no_flags", replace_extended},
    {"textregexreplace_extended_no_n", replace_extended},
    {"regexp_match", regexp_match},
    {"regexp_match_no_flags", regexp_match},
    {"regexp_split_to_array", split_to_array},
    {"regexp_split_to_array_no_flags", split_to_array},
    {"regexp_count", regexp_count},
    {"regexp_count_no_start", regexp_count},
    {"regexp_count_no_flags", regexp_count},
    {"regexp_instr", regexp_instr},
    {"regexp_instr_no_start", regexp_instr},
    {"regexp_instr_no_n", regexp_instr},
    {"regexp_instr_no_endoption", regexp_instr},
    {"regexp_instr_no_flags", regexp_instr},
    {"regexp_instr_no_subexpr", regexp_instr},
    {"regexp_like", regexp_like},
    {"regexp_like_no_flags", regexp_like},
    {"regexp_substr", regexp_substr},
    {"regexp_substr_no_start", regexp_substr},
    {"regexp_substr_no_n", regexp_substr},
    {"regexp_substr_no_flags", regexp_substr},
    {"regexp_substr_no_subexpr", regexp_substr},
};

/// The rows of a set, computed at start.
struct Rows {
  const Datum* values;
  std::size_t count;
  std::size_t at;
};

bool next_row(FunctionCall&, void* state, Datum* values, bool* nulls) {
  auto* rows = static_cast<Rows*>(state);
  if (rows->at == rows->count) return false;
  values[0] = rows->values[rows->at++];
  nulls[0] = false;
  return true;
}

void* start_matches(FunctionCall& call) {
  const RegexpFlags flags = flags_at(call, 2);
  const std::string_view text = call.text(0);
  auto matches = all_matches(Regexp::find(call.text(1), flags), text, 0, false);
  if (!flags.global && matches.size() > 1) matches.resize(1);
  auto* values = call.arena->make_array<Datum>(matches.size());
  for (std::size_t i = 0; i < matches.size(); ++i) values[i] = groups_as_array(*call.arena, text, matches[i]);
  return call.arena->make<Rows>(Rows{values, matches.size(), 0});
}

void* start_split(FunctionCall& call) {
  const auto parts = split(call, "regexp_split_to_table()");
  auto* values = call.arena->make_array<Datum>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) values[i] = call.make_var(parts[i]);
  return call.arena->make<Rows>(Rows{values, parts.size(), 0});
}

constexpr SetFunction kSetFunctions[] = {
    {"regexp_matches", start_matches, next_row},
    {"regexp_matches_no_flags", start_matches, next_row},
    {"regexp_split_to_table", start_split, next_row},
    {"regexp_split_to_table_no_flags", start_split, next_row},
};

}  // namespace

std::span<const BuiltinFunction> regexp_functions() { return kRegexpFunctions; }
std::span<const SetFunction> regexp_set_functions() { return kSetFunctions; }

}  // namespace pinwheel::sql::functions
