#include <algorithm>
#include <cctype>
#include <vector>

#include "sql/types/datetime.h"
#include "sql/types/io_functions.h"
#include "sql/types/numbers.h"
#include "sql/types/type_info.h"

namespace pinwheel::sql {

namespace io {
std::string bit_typmod_out(int typmod) { return typmod > 0 ? "(" + std::to_string(typmod) + ")" : ""; }
}  // namespace io

namespace {

/// SQL's own names; the first of a type is the one it prints.
constexpr struct {
  std::string_view spelling;
  Oid type;
} kSpellings[] = {
    {"boolean", kBoolType},
    {"smallint", kInt2Type},
    {"integer", kInt4Type},
    {"int", kInt4Type},
    {"bigint", kInt8Type},
    {"real", kFloat4Type},
    {"double precision", kFloat8Type},
    {"float", kFloat8Type},
    {"numeric", kNumericType},
    {"decimal", kNumericType},
    {"dec", kNumericType},
    {"character varying", kVarCharType},
    {"char varying", kVarCharType},
    {"character", kBpCharType},
    {"char", kBpCharType},
    {"time without time zone", kTimeType},
    {"time with time zone", kTimeTzType},
    {"timestamp without time zone", kTimestampType},
    {"timestamp with time zone", kTimestampTzType},
    {"bit varying", kVarBitType},
    {"bit", kBitType},
};

std::string quote_if_needed(std::string_view name) {
  // The one built-in name that is also a keyword of the grammar.
  return name == "char" ? "\"char\"" : std::string{name};
}

/// Splits "name (a, b) tail" into name and tail joined by a blank, and the parts in parentheses.
struct Spelling {
  std::string name;
  std::vector<std::string> parts;
  bool has_parts = false;
  bool quoted = false;
  int dimensions = 0;
};

bool read_spelling(std::string_view text, Spelling* s) {
  text = trim_space(text);
  while (text.size() >= 2 && text.back() == ']') {
    const std::size_t open = text.rfind('[');
    if (open == std::string_view::npos) return false;
    ++s->dimensions;
    text = trim_space(text.substr(0, open));
  }
  if (text.substr(0, 11) == "pg_catalog.") text.remove_prefix(11);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') {
      const std::size_t close = text.find(')', i);
      if (close == std::string_view::npos) return false;
      std::string_view inside = text.substr(i + 1, close - i - 1);
      s->has_parts = true;
      while (true) {
        const std::size_t comma = inside.find(',');
        s->parts.emplace_back(trim_space(inside.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        inside.remove_prefix(comma + 1);
      }
      i = close;
    } else if (c == '"') {
      const std::size_t close = text.find('"', i + 1);
      if (close == std::string_view::npos) return false;
      s->name += text.substr(i + 1, close - i - 1);
      s->quoted = true;
      i = close;
    } else if (is_space(c)) {
      if (!s->name.empty() && s->name.back() != ' ') s->name += ' ';
    } else {
      s->name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  while (!s->name.empty() && s->name.back() == ' ') s->name.pop_back();
  return !s->name.empty();
}

/// Splits the fields off "interval day to second" and gives their mask; 0 = no such fields.
int interval_fields(std::string_view* name) {
  static constexpr struct {
    std::string_view words;
    int mask;
  } kRanges[] = {
      {"year to month", kIntervalYear | kIntervalMonth},
      {"day to hour", kIntervalDay | kIntervalHour},
      {"day to minute", kIntervalDay | kIntervalHour | kIntervalMinute},
      {"day to second", kIntervalDay | kIntervalHour | kIntervalMinute | kIntervalSecond},
      {"hour to minute", kIntervalHour | kIntervalMinute},
      {"hour to second", kIntervalHour | kIntervalMinute | kIntervalSecond},
      {"minute to second", kIntervalMinute | kIntervalSecond},
      {"year", kIntervalYear},
      {"month", kIntervalMonth},
      {"day", kIntervalDay},
      {"hour", kIntervalHour},
      {"minute", kIntervalMinute},
      {"second", kIntervalSecond},
  };
  if (!name->starts_with("interval ")) return 0;
  for (const auto& range : kRanges) {
    if (name->substr(9) != range.words) continue;
    *name = "interval";
    return range.mask;
  }
  return 0;
}

}  // namespace

Oid parse_builtin_type_name(std::string_view spelling, int* typmod) {
  if (typmod) *typmod = -1;
  Spelling s;
  if (!read_spelling(spelling, &s)) return Oid{};
  const TypeInfo* type = nullptr;
  int implied_typmod = -1;
  if (!s.quoted) {
    for (const auto& entry : kSpellings) {
      if (entry.spelling != s.name) continue;
      type = find_type(entry.type);
      if ((entry.type == kBpCharType || entry.type == kBitType) && !s.has_parts) {
        implied_typmod = entry.type == kBpCharType ? 5 : 1;
      }
      break;
    }
    if (s.name == "float" && s.has_parts && parse_int4(s.parts[0]) <= 24) type = find_type(kFloat4Type);
    if (s.name == "float") s.has_parts = false;
  }
  std::string_view name = s.name;
  const int fields = s.quoted ? 0 : interval_fields(&name);
  if (!type) type = find_type(name);
  if (!type) return Oid{};
  if (fields != 0 && typmod) {
    const std::string mask = std::to_string(fields);
    std::vector<std::string_view> parts{s.parts.begin(), s.parts.end()};
    parts.insert(parts.begin(), mask);
    *typmod = io::interval_typmod_in(parts);
  } else if (s.has_parts && typmod && type->typmod_in) {
    std::vector<std::string_view> parts{s.parts.begin(), s.parts.end()};
    if (type->oid == kIntervalType) parts.insert(parts.begin(), "32767");
    *typmod = type->typmod_in(parts);
  } else if (typmod) {
    *typmod = implied_typmod;
  }
  return s.dimensions > 0 ? type->array : type->oid;
}

std::string format_builtin_type(Oid oid, int typmod, bool with_typmod) {
  const TypeInfo* type = find_type(oid);
  if (!type) return "";
  // oidvector and int2vector (stored plain) keep their names.
  if (type->category == 'A' && type->element.value != 0 && type->length == -1 && type->storage != 'p') {
    return format_builtin_type(type->element, typmod, with_typmod) + "[]";
  }
  const bool has_typmod = with_typmod && typmod >= 0;
  switch (oid.value) {
    case kBpCharType.value:
      if (has_typmod) return "character" + io::char_typmod_out(typmod);
      // Without a length the SQL name would mean char(1).
      return with_typmod ? "bpchar" : "character";
    case kBitType.value:
      if (has_typmod) return "bit" + io::bit_typmod_out(typmod);
      return with_typmod ? "\"bit\"" : "bit";
    case kTimeType.value:
      return "time" + io::time_typmod_out(has_typmod ? typmod : -1);
    case kTimeTzType.value:
      return "time" + io::timetz_typmod_out(has_typmod ? typmod : -1);
    case kTimestampType.value:
      return "timestamp" + io::time_typmod_out(has_typmod ? typmod : -1);
    case kTimestampTzType.value:
      return "timestamp" + io::timetz_typmod_out(has_typmod ? typmod : -1);
    default:
      break;
  }
  std::string name;
  for (const auto& entry : kSpellings) {
    if (entry.type != oid) continue;
    name = entry.spelling;
    break;
  }
  if (name.empty()) name = quote_if_needed(type->name);
  if (has_typmod && type->typmod_out) name += type->typmod_out(typmod);
  return name;
}

}  // namespace pinwheel::sql
