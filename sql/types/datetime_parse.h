#pragma once

#include <cstdint>
#include <string_view>

#include "sql/types/datetime.h"

/// Free-form date and time text, read as PostgreSQL reads it. Private to sql/types and to_timestamp().
namespace pinwheel::sql {

/// What a text said.
struct ParsedDateTime {
  enum class Special : std::uint8_t { kNone, kEpoch, kInfinity, kMinusInfinity, kNow };
  Special special = Special::kNone;
  CivilTime civil;
  bool has_date = false;
  bool has_time = false;
  /// 60 seconds and 24:00:00 are allowed and carry over.
  bool has_zone = false;
  std::int32_t zone_s = 0;         // east, when has_zone and !zone
  const TimeZone* zone = nullptr;  // a named zone
};

/// `type` names the SQL type in errors. `time_only`: bare digits are times. Errors: 22007, 22008, 22009.
ParsedDateTime parse_datetime(std::string_view text, std::string_view type, bool time_only,
                              const EvalContext& eval);

[[noreturn]] void throw_field_overflow(std::string_view text, bool hint_date_style);
[[noreturn]] void throw_bad_datetime(std::string_view type, std::string_view text);

}  // namespace pinwheel::sql
