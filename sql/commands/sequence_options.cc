#include "sql/commands/sequence_options.h"

#include <limits>

#include "base/sqlstate.h"
#include "sql/commands/support.h"
#include "sql/types/type_info.h"
#include "sql/types/type_oids.h"

namespace pinwheel::sql {
namespace {

std::int64_t type_max(Oid type) {
  if (type == kInt2Type) return std::numeric_limits<std::int16_t>::max();
  if (type == kInt4Type) return std::numeric_limits<std::int32_t>::max();
  return std::numeric_limits<std::int64_t>::max();
}
std::int64_t type_min(Oid type) {
  if (type == kInt2Type) return std::numeric_limits<std::int16_t>::min();
  if (type == kInt4Type) return std::numeric_limits<std::int32_t>::min();
  return std::numeric_limits<std::int64_t>::min();
}

[[noreturn]] void refuse(std::string message) {
  throw SqlError{sqlstate::kInvalidParameterValue, std::move(message)};
}

Oid sequence_type(std::string_view text) {
  int modifier = -1;
  const Oid type = parse_builtin_type_name(text, &modifier);
  if (type == kInt2Type || type == kInt4Type || type == kInt8Type) return type;
  refuse("sequence type must be smallint, integer, or bigint");
}

void check_bounds(const SequenceInfo& info) {
  const std::string type_name = format_builtin_type(info.type, -1, false);
  if (info.max > type_max(info.type) || info.max < type_min(info.type)) {
    refuse("MAXVALUE (" + std::to_string(info.max) + ") is out of range for sequence data type " + type_name);
  }
  if (info.min > type_max(info.type) || info.min < type_min(info.type)) {
    refuse("MINVALUE (" + std::to_string(info.min) + ") is out of range for sequence data type " + type_name);
  }
  if (info.min >= info.max) {
    refuse("MINVALUE (" + std::to_string(info.min) + ") must be less than MAXVALUE (" +
           std::to_string(info.max) + ")");
  }
  if (info.start < info.min) {
    refuse("START value (" + std::to_string(info.start) + ") cannot be less than MINVALUE (" +
           std::to_string(info.min) + ")");
  }
  if (info.start > info.max) {
    refuse("START value (" + std::to_string(info.start) + ") cannot be greater than MAXVALUE (" +
           std::to_string(info.max) + ")");
  }
}

}  // namespace

SequenceSettings read_sequence_options(CommandContext&, std::span<const Option> options,
                                       const SequenceInfo* present, Oid default_type) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (options[i].name == options[j].name) {
        throw SqlError{sqlstate::kSyntaxError, "conflicting or redundant options"}.position(
            options[i].location >= 0 ? options[i].location + 1 : 0);
      }
    }
  }
  SequenceSettings settings;
  SequenceInfo& info = settings.info;
  const bool is_new = present == nullptr;
  if (present != nullptr) info = *present;
  const Oid old_type = is_new ? default_type : present->type;
  info.type = old_type;
  if (const Option* as = find_option(options, "as")) info.type = sequence_type(as->text);
  const bool type_changes = !is_new && info.type != old_type;
  if (const Option* increment = find_option(options, "increment")) {
    info.increment = option_integer(*increment);
    if (info.increment == 0) refuse("INCREMENT must not be zero");
  }
  if (const Option* cycle = find_option(options, "cycle")) info.cycle = option_bool(*cycle);

  const bool up = info.increment > 0;
  const Option* max = find_option(options, "maxvalue");
  const bool resets_max = max != nullptr || is_new || (type_changes && info.max == type_max(old_type));
  if (max != nullptr && max->kind != Option::Kind::kNone) {
    info.max = option_integer(*max);
  } else if (resets_max) {
    info.max = up ? type_max(info.type) : -1;
  }
  const Option* min = find_option(options, "minvalue");
  const bool resets_min = min != nullptr || is_new || (type_changes && info.min == type_min(old_type));
  if (min != nullptr && min->kind != Option::Kind::kNone) {
    info.min = option_integer(*min);
  } else if (resets_min) {
    info.min = up ? 1 : type_min(info.type);
  }
  if (const Option* start = find_option(options, "start")) {
    info.start = option_integer(*start);
  } else if (is_new) {
    info.start = up ? info.min : info.max;
  }
  check_bounds(info);
  if (const Option* cache = find_option(options, "cache")) {
    info.cache = option_integer(*cache);
    if (info.cache <= 0) refuse("CACHE (" + std::to_string(info.cache) + ") must be greater than zero");
  }
  if (const Option* restart = find_option(options, "restart")) {
    if (is_new) throw SqlError{sqlstate::kSyntaxError, "sequence option \"restart\" not supported here"};
    settings.restart = restart->kind == Option::Kind::kNone ? info.start : option_integer(*restart);
    if (*settings.restart < info.min) {
      refuse("RESTART value (" + std::to_string(*settings.restart) + ") cannot be less than MINVALUE (" +
             std::to_string(info.min) + ")");
    }
    if (*settings.restart > info.max) {
      refuse("RESTART value (" + std::to_string(*settings.restart) + ") cannot be greater than MAXVALUE (" +
             std::to_string(info.max) + ")");
    }
  }
  if (const Option* owned = find_option(options, "owned_by")) {
    settings.owned_by = owned->list;
    settings.has_owned_by = true;
  }
  return settings;
}

}  // namespace pinwheel::sql
