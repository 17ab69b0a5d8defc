#include <algorithm>
#include <cctype>
#include <climits>
#include <vector>

#include "sql/functions/tables.h"
#include "sql/types/array.h"
#include "sql/types/collation.h"
#include "sql/types/io_errors.h"
#include "sql/types/text_values.h"
#include "sql/types/type_info.h"
#include "sql/types/utf8.h"

/// Character strings: length, parts, case, padding, searching.
namespace pinwheel::sql::functions {

namespace {

/// Characters [from, from + count) of `text`, 1-based; `count` < 0 is an error, missing means to the end.
std::string_view substring(std::string_view text, std::int64_t from, std::int64_t count, bool to_end) {
  std::int64_t end = INT64_MAX;
  if (!to_end) {
    if (count < 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
    end = from + count;
  }
  from = std::max<std::int64_t>(from, 1);
  if (end <= from) return {};
  const std::size_t begin = bytes_of_characters(text, static_cast<std::size_t>(from - 1));
  const std::string_view rest = text.substr(begin);
  return end == INT64_MAX ? rest
                          : rest.substr(0, bytes_of_characters(rest, static_cast<std::size_t>(end - from)));
}

Datum substring_of(FunctionCall& call) {
  return call.make_var(substring(call.text(0), call.args[1].as_int32(), call.args[2].as_int32(), false));
}
Datum substring_to_end(FunctionCall& call) {
  return call.make_var(substring(call.text(0), call.args[1].as_int32(), 0, true));
}

Datum overlay(const FunctionCall& call, std::int64_t length) {
  const std::string_view text = call.text(0);
  const std::string_view with = call.text(1);
  const std::int64_t from = call.args[2].as_int32();
  if (from <= 0) throw SqlError{sqlstate::kSubstringError, "negative substring length not allowed"};
  std::string result{substring(text, 1, from - 1, false)};
  result += with;
  result += substring(text, from + length, 0, true);
  return call.make_var(result);
}

Datum change(FunctionCall& call, CaseChange how) {
  return call.make_var(change_case(call.text(0), how, call.collation));
}

/// lpad and rpad: `filler` repeats; too long a text is cut at the right.
Datum pad(FunctionCall& call, std::string_view filler, bool left) {
  const std::string_view text = call.text(0);
  const std::int64_t wanted = std::max(call.args[1].as_int32(), 0);
  if (wanted > static_cast<std::int64_t>(kMaxValueBytes)) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "requested length too large"};
  }
  const auto have = static_cast<std::int64_t>(count_characters(text));
  if (have >= wanted || filler.empty()) {
    return call.make_var(text.substr(0, bytes_of_characters(text, static_cast<std::size_t>(wanted))));
  }
  std::string padding;
  const auto filler_length = static_cast<std::int64_t>(count_characters(filler));
  std::int64_t missing = wanted - have;
  for (; missing >= filler_length; missing -= filler_length) padding += filler;
  padding += filler.substr(0, bytes_of_characters(filler, static_cast<std::size_t>(missing)));
  return call.make_var(left ? padding + std::string{text} : std::string{text} + padding);
}

/// Cuts characters of `set` from the ends.
std::string_view trim(std::string_view text, std::string_view set, bool left, bool right) {
  const auto in_set = [&](std::string_view character) {
    for (std::size_t at = 0; at < set.size();) {
      const auto size = static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(set[at])));
      if (set.substr(at, size) == character) return true;
      at += size;
    }
    return false;
  };
  while (left && !text.empty()) {
    const auto size = static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[0])));
    if (!in_set(text.substr(0, size))) break;
    text.remove_prefix(size);
  }
  while (right && !text.empty()) {
    std::size_t start = text.size() - 1;
    while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80) --start;
    if (!in_set(text.substr(start))) break;
    text = text.substr(0, start);
  }
  return text;
}

Datum translate(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::string_view from = call.text(1);
  const std::string_view to = call.text(2);
  const auto split = [](std::string_view s) {
    std::vector<std::string_view> characters;
    for (std::size_t at = 0; at < s.size();) {
      const auto size = static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(s[at])));
      characters.push_back(s.substr(at, size));
      at += size;
    }
    return characters;
  };
  const auto sources = split(from);
  const auto targets = split(to);
  std::string result;
  for (std::string_view character : split(text)) {
    const auto it = std::find(sources.begin(), sources.end(), character);
    if (it == sources.end()) {
      result += character;
    } else if (const auto at = static_cast<std::size_t>(it - sources.begin()); at < targets.size()) {
      result += targets[at];
    }
  }
  return call.make_var(result);
}

Datum concatenate(FunctionCall& call) {
  const std::string_view a = call.text(0);
  const std::string_view b = call.text(1);
  char* to;
  const Datum result = new_var(*call.arena, a.size() + b.size(), &to);
  std::memcpy(to, a.data(), a.size());
  std::memcpy(to + a.size(), b.data(), b.size());
  return result;
}

Datum repeat(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::int64_t times = std::max(call.args[1].as_int32(), 0);
  const std::int64_t size = static_cast<std::int64_t>(text.size()) * times;
  if (size > static_cast<std::int64_t>(kMaxValueBytes) - 4) {
    throw SqlError{sqlstate::kProgramLimitExceeded, "requested length too large"};
  }
  char* to;
  const Datum result = new_var(*call.arena, static_cast<std::size_t>(size), &to);
  for (std::int64_t i = 0; i < times; ++i)
    std::memcpy(to + i * static_cast<std::int64_t>(text.size()), text.data(), text.size());
  return result;
}

Datum ascii(FunctionCall& call) {
  const std::string_view text = call.text(0);
  return Datum::from_int32(text.empty() ? 0 : static_cast<std::int32_t>(decode_utf8(text)));
}

Datum character(FunctionCall& call) {
  const std::int32_t code = call.args[0].as_int32();
  if (code < 0) throw SqlError{sqlstate::kInvalidParameterValue, "character number must be positive"};
  if (code == 0) throw SqlError{sqlstate::kProgramLimitExceeded, "null character not permitted"};
  if (code > 0x10FFFF) {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   "requested character too large for encoding: " + std::to_string(code)};
  }
  std::string text;
  append_utf8(text, static_cast<std::uint32_t>(code));
  if (find_invalid_utf8(text) != text.size()) {
    throw SqlError{sqlstate::kProgramLimitExceeded,
                   "requested character not valid for encoding: " + std::to_string(code)};
  }
  return call.make_var(text);
}

Datum reverse(FunctionCall& call) {
  const std::string_view text = call.text(0);
  char* to;
  const Datum result = new_var(*call.arena, text.size(), &to);
  std::size_t end = text.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = std::min(
        static_cast<std::size_t>(utf8_length(static_cast<unsigned char>(text[at]))), text.size() - at);
    end -= size;
    std::memcpy(to + end, text.data() + at, size);
    at += size;
  }
  return result;
}

Datum left(FunctionCall& call) {
  const std::string_view text = call.text(0);
  std::int64_t count = call.args[1].as_int32();
  if (count < 0) count = std::max<std::int64_t>(static_cast<std::int64_t>(count_characters(text)) + count, 0);
  return call.make_var(text.substr(0, bytes_of_characters(text, static_cast<std::size_t>(count))));
}
Datum right(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::int64_t count = call.args[1].as_int32();
  const std::int64_t skip =
      count < 0 ? -count
                : std::max<std::int64_t>(static_cast<std::int64_t>(count_characters(text)) - count, 0);
  return call.make_var(text.substr(bytes_of_characters(text, static_cast<std::size_t>(skip))));
}

/// 1-based character position of `part`, 0 = not found.
std::int32_t position(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  return at == std::string_view::npos ? 0
                                      : static_cast<std::int32_t>(count_characters(text.substr(0, at))) + 1;
}

Datum replace(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::string_view from = call.text(1);
  const std::string_view to = call.text(2);
  if (from.empty() || text.find(from) == std::string_view::npos) return call.make_var(text);
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string_view::npos; at = found + from.size()) {
    result.append(text, at, found - at).append(to);
  }
  result.append(text, at);
  return call.make_var(result);
}

Datum split_part(FunctionCall& call) {
  const std::string_view text = call.text(0);
  const std::string_view separator = call.text(1);
  std::int64_t field = call.args[2].as_int32();
  if (field == 0) throw SqlError{sqlstate::kInvalidParameterValue, "field position must not be zero"};
  if (text.empty()) return call.make_var("");
  if (separator.empty()) return call.make_var(field == 1 || field == -1 ? text : std::string_view{});
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(separator, at)) != std::string_view::npos;
       at = found + separator.size()) {
    parts.push_back(text.substr(at, found - at));
  }
  parts.push_back(text.substr(at));
  if (field < 0) field += static_cast<std::int64_t>(parts.size()) + 1;
  if (field < 1 || field > static_cast<std::int64_t>(parts.size())) return call.make_var("");
  return call.make_var(parts[static_cast<std::size_t>(field - 1)]);
}

// concat(), concat_ws(): any types, through their output functions.

void append_value(const FunctionCall& call, Oid type, Datum value, std::string& out) {
  if (const TypeInfo* info = find_type(type)) {
    info->output(value, IoContext{*call.arena, *call.context, type, -1}, out);
  } else {
    call.context->catalog->output_user_type(type, value, out);
  }
}

Datum concat_from(FunctionCall& call, int first, std::string_view separator) {
  std::string result;
  bool any = false;
  const auto append = [&](Oid type, Datum value) {
    if (any) result += separator;
    any = true;
    append_value(call, type, value, result);
  };
  if (call.variadic_array) {
    if (call.nulls[first]) return call.make_null();
    const ArrayView view = view_array(call.plain(first));
    ArrayReader reader{view};
    Datum item;
    bool is_null;
    while (reader.next(&item, &is_null)) {
      if (!is_null) append(view.element, item);
    }
  } else {
    for (int i = first; i < call.nargs; ++i) {
      if (!call.nulls[i]) append(call.arg_types[i], call.args[i]);
    }
  }
  return call.make_var(result);
}
Datum concat(FunctionCall& call) { return concat_from(call, 0, ""); }
Datum concat_with_separator(FunctionCall& call) {
  return call.nulls[0] ? call.make_null() : concat_from(call, 1, call.text(0));
}

/// `text || any` and `any || text`.
Datum text_with_any(FunctionCall& call, int text_at) {
  std::string result;
  for (int i = 0; i < 2; ++i) {
    if (i == text_at) {
      result += call.text(i);
    } else {
      append_value(call, call.arg_types[i], call.args[i], result);
    }
  }
  return call.make_var(result);
}

// char(n) and varchar(n) casts: (value, typmod, is explicit).

Datum to_bpchar(FunctionCall& call) {
  const int typmod = call.args[1].as_int32();
  if (typmod < kCharTypmodBase) return call.args[0];
  return coerce_bpchar(*call.arena, call.text(0), typmod, call.args[2].as_bool());
}
Datum to_varchar(FunctionCall& call) {
  const int typmod = call.args[1].as_int32();
  if (typmod < kCharTypmodBase ||
      var_raw_size(call.args[0]) <= static_cast<std::size_t>(typmod - kCharTypmodBase)) {
    return call.args[0];
  }
  return coerce_varchar(*call.arena, call.text(0), typmod, call.args[2].as_bool());
}

Datum char_to_text(FunctionCall& call) {
  const char c = call.args[0].as_char();
  return call.make_var(c == '\0' ? std::string_view{} : std::string_view{&c, 1});
}

/// "name || oid", for objects the system names.
Datum name_with_oid(FunctionCall& call) {
  const std::string suffix = "_" + std::to_string(call.args[1].as_oid().value);
  const std::string_view name = name_view(call.args[0]);
  return make_name(
      *call.arena,
      std::string{name.substr(0, clip_to_characters(name, kNameSize - 1 - suffix.size()))} + suffix);
}

constexpr BuiltinFunction kTextsFunctions[] = {
    {"textlen",
     [](FunctionCall& c) {
       return Datum::from_int32(static_cast<std::int32_t>(count_characters(c.text(0))));
     }},
    {"bpcharlen",
     [](FunctionCall& c) {
       return Datum::from_int32(static_cast<std::int32_t>(count_characters(trim_blanks(c.text(0)))));
     }},
    {"textoctetlen",
     [](FunctionCall& c) { return Datum::from_int32(static_cast<std::int32_t>(var_raw_size(c.args[0]))); }},
    {"bpcharoctetlen",
     [](FunctionCall& c) { return Datum::from_int32(static_cast<std::int32_t>(var_raw_size(c.args[0]))); }},
    {"bit_length(text)",
     [](FunctionCall& c) {
       return Datum::from_int32(static_cast<std::int32_t>(8 * var_raw_size(c.args[0])));
     },
     Oid{1811}},
    {"bit_length(bytea)",
     [](FunctionCall& c) {
       return Datum::from_int32(static_cast<std::int32_t>(8 * var_raw_size(c.args[0])));
     },
     Oid{1810}},
    {"textcat", concatenate},
    {"textanycat", [](FunctionCall& c) { return text_with_any(c, 0); }, Oid{2003}},
    {"anytextcat", [](FunctionCall& c) { return text_with_any(c, 1); }, Oid{2004}},
    {"text_concat", concat},
    {"text_concat_ws", concat_with_separator},
    {"text_substr", substring_of},
    {"text_substr_no_len", substring_to_end},
    {"textoverlay", [](FunctionCall& c) { return overlay(c, c.args[3].as_int32()); }},
    {"textoverlay_no_len",
     [](FunctionCall& c) { return overlay(c, static_cast<std::int64_t>(count_characters(c.text(1)))); }},
    {"textpos", [](FunctionCall& c) { return Datum::from_int32(position(c.text(0), c.text(1))); }},
    {"lower", [](FunctionCall& c) { return change(c, CaseChange::kLower); }},
    {"upper", [](FunctionCall& c) { return change(c, CaseChange::kUpper); }},
    {"initcap", [](FunctionCall& c) { return change(c, CaseChange::kTitle); }},
    {"lpad", [](FunctionCall& c) { return pad(c, c.text(2), true); }},
    {"rpad", [](FunctionCall& c) { return pad(c, c.text(2), false); }},
    {"lpad(text,integer)", [](FunctionCall& c) { return pad(c, " ", true); }, Oid{879}},
    {"rpad(text,integer)", [](FunctionCall& c) { return pad(c, " ", false); }, Oid{880}},
    {"btrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), true, true)); }},
    {"ltrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), true, false)); }},
    {"rtrim", [](FunctionCall& c) { return c.make_var(trim(c.text(0), c.text(1), false, true)); }},
    {"btrim1", [](FunctionCall& c) { return c.make_var(trim(c.text(0), " ", true, true)); }},
    {"ltrim1", [](FunctionCall& c) { return c.make_var(trim(c.text(0), " ", true, false)); }},
    {"rtrim1", [](FunctionCall& c) { return c.make_var(trim(c.text(0), " ", false, true)); }},
    {"translate", translate},
    {"ascii", ascii},
    {"chr", character},
    {"repeat", repeat},
    {"text_reverse", reverse},
    {"text_left", left},
    {"text_right", right},
    {"replace_text", replace},
    {"split_part", split_part},
    {"text_starts_with", [](FunctionCall& c) { return Datum::from_bool(c.text(0).starts_with(c.text(1))); }},

    {"bpchar", to_bpchar},
    {"varchar", to_varchar},
    {"name_text", [](FunctionCall& c) { return c.make_var(name_view(c.args[0])); }},
    {"text_name", [](FunctionCall& c) { return make_name(*c.arena, c.text(0)); }},
    {"name_bpchar", [](FunctionCall& c) { return c.make_var(name_view(c.args[0])); }},
    {"bpchar_name", [](FunctionCall& c) { return make_name(*c.arena, trim_blanks(c.text(0))); }},
    {"nameconcatoid", name_with_oid},
    {"char_text", char_to_text},
    {"char_bpchar", char_to_text},
    {"text_char",
     [](FunctionCall& c) {
       const std::string_view text = c.text(0);
       return Datum::from_char(text.empty() ? '\0' : text[0]);
     }},
    {"i4tochar",
     [](FunctionCall& c) {
       const std::int32_t code = c.args[0].as_int32();
       if (code < SCHAR_MIN || code > SCHAR_MAX) {
         throw SqlError{sqlstate::kNumericValueOutOfRange, "\"char\" out of range"};
       }
       return Datum::from_char(static_cast<char>(code));
     }},
    {"chartoi4",
     [](FunctionCall& c) { return Datum::from_int32(static_cast<signed char>(c.args[0].as_char())); }},
    {"booltext", [](FunctionCall& c) { return c.make_var(c.args[0].as_bool() ? "true" : "false"); }},
};

}  // namespace

std::span<const BuiltinFunction> text_functions() { return kTextsFunctions; }

}  // namespace pinwheel::sql::functions
