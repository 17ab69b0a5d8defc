#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace date {
class time_zone;
}

namespace pinwheel::sql {

/// A time zone: an IANA zone of the system's tzdata, or a fixed offset. Found once and kept for the process.
class TimeZone {
 public:
  struct Moment {
    std::int32_t offset_s;  // east of Greenwich
    bool daylight;
    std::string_view abbreviation;  // stands until the next call
  };

  /// By IANA name (any case), "UTC", "GMT", a number of hours, "<+03>-03" or "EST5" POSIX forms without
  /// rules. Null when there is none.
  static const TimeZone* find(std::string_view name);
  /// `offset_s` east of Greenwich.
  static const TimeZone* fixed(std::int32_t offset_s);
  static const TimeZone* utc();
  /// IANA names of all zones of the system, in order.
  static std::vector<std::string> names();

  /// `utc_us` counts from 2000-01-01 UTC.
  Moment at(std::int64_t utc_us) const;
  /// Offset of a local time (microseconds from local 2000-01-01): before a gap's jump, and after a fold's.
  std::int32_t offset_of_local(std::int64_t local_us) const;
  const std::string& name() const { return name_; }

  TimeZone(std::string name, const date::time_zone* zone, std::int32_t offset_s, std::string abbreviation)
      : name_{std::move(name)},
        zone_{zone},
        fixed_offset_s_{offset_s},
        abbreviation_{std::move(abbreviation)} {}

 private:
  std::string name_;
  const date::time_zone* zone_;  // null: fixed offset
  std::int32_t fixed_offset_s_ = 0;
  // The span of the last answer, since neighbouring rows mostly fall into it. A process has one thread.
  mutable std::int64_t span_begin_s_ = 1;
  mutable std::int64_t span_end_s_ = 0;
  mutable std::int32_t span_offset_s_ = 0;
  mutable bool span_daylight_ = false;
  mutable std::string abbreviation_;
};

/// A zone abbreviation of PostgreSQL's default set ("EST", "CEST", "Z"), any case: its offset, or the zone
/// whose rules decide. False when unknown.
bool find_zone_abbreviation(std::string_view word, std::int32_t* offset_s, bool* daylight);

}  // namespace pinwheel::sql
