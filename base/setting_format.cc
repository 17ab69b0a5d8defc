#include <cctype>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/settings.h"
#include "base/sqlstate.h"

namespace pinwheel {
namespace {

struct ShownUnit {
  const char* word;
  double size;  // bytes, or milliseconds
};
constexpr ShownUnit kShownMemory[] = {
    {"TB", 1099511627776.0}, {"GB", 1073741824.0}, {"MB", 1048576.0}, {"kB", 1024.0}, {"B", 1.0}};
constexpr ShownUnit kShownTime[] = {{"d", 86400000.0}, {"h", 3600000.0}, {"min", 60000.0},
                                    {"s", 1000.0},     {"ms", 1.0},      {"us", 0.001}};

struct BaseUnit {
  bool memory;
  double size;
};

BaseUnit base_unit(ParameterUnit unit) noexcept {
  switch (unit) {
    case ParameterUnit::kNone:
    case ParameterUnit::kBytes:
      return {true, 1};
    case ParameterUnit::kKilobytes:
      return {true, 1024};
    case ParameterUnit::kMegabytes:
      return {true, 1048576};
    case ParameterUnit::kPages:
      return {true, 8192};
    case ParameterUnit::kMilliseconds:
      return {false, 1};
    case ParameterUnit::kSeconds:
      return {false, 1000};
    case ParameterUnit::kMinutes:
      return {false, 60000};
  }
  return {true, 1};
}

std::string print_real(double value) {
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string print_octal(std::int64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "%04llo", static_cast<unsigned long long>(value));
  return text;
}

/// The value in the largest unit in which it is a whole number.
std::string print_with_unit(double value, ParameterUnit unit) {
  const BaseUnit base = base_unit(unit);
  const std::span<const ShownUnit> units =
      base.memory ? std::span<const ShownUnit>{kShownMemory} : kShownTime;
  for (const ShownUnit& shown : units) {
    const double count = value * base.size / shown.size;
    const bool whole = std::fabs(std::rint(count) / count - 1.0) <= 1e-8;
    if (whole || &shown == &units.back()) {
      return (whole && std::fabs(count) < 1e15 ? std::to_string(std::llrint(count)) : print_real(count)) +
             shown.word;
    }
  }
  return print_real(value);
}

[[noreturn]] void throw_invalid(const Parameter& row, std::string_view text, std::string hint = {}) {
  SqlError error{sqlstate::kInvalidParameterValue, "invalid value for parameter \"" + std::string{row.name} +
                                                       "\": \"" + std::string{text} + "\""};
  if (!hint.empty()) throw std::move(error).hint(std::move(hint));
  throw error;
}

[[noreturn]] void throw_out_of_range(const Parameter& row, const std::string& value, const std::string& least,
                                     const std::string& greatest) {
  std::string shown = value;
  if (row.unit != ParameterUnit::kNone) shown += " " + std::string{parameter_unit_name(row.unit)};
  throw SqlError{sqlstate::kInvalidParameterValue, shown + " is outside the valid range for parameter \"" +
                                                       std::string{row.name} + "\" (" + least + " .. " +
                                                       greatest + ")"};
}

std::int64_t parse_int(const Parameter& row, std::string_view text) {
  std::string hint;
  const std::optional<double> number = parse_number_with_unit(text, row.unit, hint);
  if (!number) throw_invalid(row, text, hint);
  const double whole = std::rint(*number);
  if (whole > 2147483647.0 || whole < -2147483648.0) throw_invalid(row, text, "Value exceeds integer range.");
  const std::int64_t value = static_cast<std::int64_t>(whole);
  if (value < row.min_int || value > row.max_int) {
    throw_out_of_range(row, std::to_string(value), std::to_string(row.min_int), std::to_string(row.max_int));
  }
  return value;
}

double parse_real(const Parameter& row, std::string_view text) {
  std::string hint;
  const std::optional<double> number = parse_number_with_unit(text, row.unit, hint);
  if (!number) throw_invalid(row, text, hint);
  if (!(*number >= row.min_real && *number <= row.max_real)) {
    throw_out_of_range(row, print_real(*number), print_real(row.min_real), print_real(row.max_real));
  }
  return *number;
}

bool same_word(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(a[i])) != std::tolower(static_cast<unsigned char>(b[i])))
      return false;
  }
  return true;
}

std::int64_t parse_enum(const Parameter& row, std::string_view text) {
  std::string words;
  for (const EnumOption& option : *row.options) {
    if (same_word(option.word, text)) return option.value;
    if (option.hidden) continue;
    if (!words.empty()) words += ", ";
    words += option.word;
  }
  throw_invalid(row, text, "Available values: " + words + ".");
}

}  // namespace

SettingValue parse_setting(const Parameter& row, std::string_view text, std::string& text_value) {
  SettingValue value{};
  switch (row.kind) {
    case ParameterKind::kBool: {
      const std::optional<bool> word = parse_bool_word(text);
      if (!word) {
        throw SqlError{sqlstate::kInvalidParameterValue,
                       "parameter \"" + std::string{row.name} + "\" requires a Boolean value"};
      }
      value.integer = *word;
      return value;
    }
    case ParameterKind::kInt:
      value.integer = parse_int(row, text);
      return value;
    case ParameterKind::kReal:
      value.real = parse_real(row, text);
      return value;
    case ParameterKind::kEnum:
      value.integer = parse_enum(row, text);
      return value;
    case ParameterKind::kString:
      text_value = text;
      value.text = &text_value;
      return value;
  }
  return value;
}

std::string format_setting(const Parameter& row, SettingValue value, bool with_units) {
  const bool unit_shown = with_units && row.unit != ParameterUnit::kNone;
  switch (row.kind) {
    case ParameterKind::kBool:
      return value.integer != 0 ? "on" : "off";
    case ParameterKind::kInt:
      if (row.has(parameter_flag::kOctal)) return print_octal(value.integer);
      // 0 and -1 are words of their own ("no limit"), without a unit.
      if (unit_shown && value.integer > 0)
        return print_with_unit(static_cast<double>(value.integer), row.unit);
      return std::to_string(value.integer);
    case ParameterKind::kReal:
      if (unit_shown && value.real > 0) return print_with_unit(value.real, row.unit);
      return print_real(value.real);
    case ParameterKind::kEnum:
      for (const EnumOption& option : *row.options) {
        if (option.value == value.integer) return std::string{option.word};
      }
      DB_PANIC("setting has a value that its parameter does not list");
    case ParameterKind::kString:
      return *value.text;
  }
  return {};
}

void check_custom_name(std::string_view name) {
  if (name.find('.') == std::string_view::npos) {
    throw SqlError{sqlstate::kUndefinedObject,
                   "unrecognized configuration parameter \"" + std::string{name} + "\""};
  }
  bool at_start = true;
  bool good = true;
  for (const char c : name) {
    const unsigned char u = static_cast<unsigned char>(c);
    const bool starts = std::isalpha(u) != 0 || c == '_' || u >= 0x80;
    if (c == '.') {
      good = good && !at_start;
      at_start = true;
      continue;
    }
    good = good && (starts || (!at_start && (std::isdigit(u) != 0 || c == '$')));
    at_start = false;
  }
  if (good && !at_start) return;
  throw SqlError{sqlstate::kInvalidName, "invalid configuration parameter name \"" + std::string{name} + "\""}
      .detail("Custom parameter names must be two or more simple identifiers separated by dots.");
}

}  // namespace pinwheel
