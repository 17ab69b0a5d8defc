#include "sql/types/time_zone.h"

#include <date/tz.h>
#include <strings.h>

#include <charconv>
#include <deque>
#include <unordered_map>

#include "base/clock.h"

namespace pinwheel::sql {

namespace {

constexpr std::int64_t kEpochShiftS = kPostgresEpochUs / 1'000'000;
constexpr std::int64_t kSecondsPer28Years = (28LL * 365 + 7) * 86400;
/// The system's zone files list changes until 2037; later years repeat in 28-year cycles (until 2100
/// exactly).
constexpr std::int64_t kLastListedS = 2'114'380'800;  // 2037-01-01 UTC

std::int64_t into_listed_years(std::int64_t unix_s) {
  if (unix_s <= kLastListedS) return unix_s;
  return unix_s - ((unix_s - kLastListedS) / kSecondsPer28Years + 1) * kSecondsPer28Years;
}

std::int64_t floor_seconds(std::int64_t us) {
  std::int64_t s = us / 1'000'000;
  return us % 1'000'000 < 0 ? s - 1 : s;
}

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// Zones found so far, by lower-case name. Shared by the sessions of a process; never shrinks, and a process
/// sees few names.
struct ZoneCache {
  std::deque<TimeZone> zones;
  std::unordered_map<std::string, const TimeZone*> by_name;
};
ZoneCache& cache() {
  static ZoneCache zones;
  return zones;
}

const date::time_zone* find_system_zone(const std::string& lower_name) {
  static const auto* const by_name = [] {
    auto* names = new std::unordered_map<std::string, const date::time_zone*>;
    for (const auto& zone : date::get_tzdb().zones) names->emplace(lower(zone.name()), &zone);
    return names;
  }();
  const auto it = by_name->find(lower_name);
  return it == by_name->end() ? nullptr : it->second;
}

const TimeZone* remember(const std::string& key, TimeZone zone) {
  cache().zones.push_back(std::move(zone));
  const TimeZone* result = &cache().zones.back();
  cache().by_name.emplace(key, result);
  return result;
}

/// "<+03>-03", "EST5", "5", "-3.5": POSIX counts west of Greenwich as positive.
bool parse_fixed(std::string_view text, std::int32_t* offset_s, std::string* abbreviation) {
  std::size_t at = 0;
  if (!text.empty() && text[0] == '<') {
    at = text.find('>');
    if (at == std::string_view::npos) return false;
    *abbreviation = text.substr(1, at - 1);
    ++at;
  } else {
    while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at]))) ++at;
    *abbreviation = text.substr(0, at);
    if (at > 0 && at < 3) return false;
  }
  std::string_view rest = text.substr(at);
  int sign = at > 0 ? -1 : 1;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    if (rest[0] == '-') sign = -sign;
    rest.remove_prefix(1);
  }
  if (rest.empty()) return false;
  double hours = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), hours);
  if (error != std::errc{} || hours > 24) return false;
  double seconds = hours * 3600;
  int unit = 60;
  while (end < rest.data() + rest.size() && *end == ':' && unit > 0) {
    int part = 0;
    const auto more = std::from_chars(end + 1, rest.data() + rest.size(), part);
    if (more.ec != std::errc{}) return false;
    end = more.ptr;
    seconds += part * unit;
    unit /= 60;
  }
  if (end != rest.data() + rest.size()) return false;
  *offset_s = sign * static_cast<std::int32_t>(seconds);
  return true;
}

std::string iso_offset_name(std::int32_t offset_s) {
  const std::int32_t size = std::abs(offset_s);
  char buffer[32];
  int length = std::snprintf(buffer, sizeof buffer, "%c%02d", offset_s < 0 ? '-' : '+', size / 3600);
  std::string name{buffer, static_cast<std::size_t>(length)};
  if (size % 3600 != 0) {
    length = std::snprintf(buffer, sizeof buffer, ":%02d", size / 60 % 60);
    name.append(buffer, static_cast<std::size_t>(length));
  }
  return name;
}

}  // namespace

std::vector<std::string> TimeZone::names() {
  std::vector<std::string> names;
  for (const auto& zone : date::get_tzdb().zones) names.push_back(zone.name());
  return names;
}

const TimeZone* TimeZone::find(std::string_view name) {
  const std::string key = lower(name);
  const auto known = cache().by_name.find(key);
  if (known != cache().by_name.end()) return known->second;
  if (key == "utc" || key == "gmt") {
    const std::string upper = key == "utc" ? "UTC" : "GMT";
    return remember(key, TimeZone{upper, nullptr, 0, upper});
  }
  if (const date::time_zone* zone = find_system_zone(key)) {
    return remember(key, TimeZone{zone->name(), zone, 0, ""});
  }
  std::int32_t offset = 0;
  std::string abbreviation;
  if (parse_fixed(name, &offset, &abbreviation)) {
    if (abbreviation.empty()) return fixed(offset);
    return remember(key, TimeZone{std::string{name}, nullptr, offset, abbreviation});
  }
  return nullptr;
}

const TimeZone* TimeZone::fixed(std::int32_t offset_s) {
  const std::string display = iso_offset_name(offset_s);
  const std::string posix = "<" + display + ">" + iso_offset_name(-offset_s);
  const auto known = cache().by_name.find(posix);
  if (known != cache().by_name.end()) return known->second;
  return remember(posix, TimeZone{posix, nullptr, offset_s, display});
}

const TimeZone* TimeZone::utc() {
  static const TimeZone* const zone = find("UTC");
  return zone;
}

TimeZone::Moment TimeZone::at(std::int64_t utc_us) const {
  if (!zone_) return {fixed_offset_s_, false, abbreviation_};
  const std::int64_t unix_s = into_listed_years(floor_seconds(utc_us) + kEpochShiftS);
  if (unix_s < span_begin_s_ || unix_s >= span_end_s_) {
    const date::sys_info info = zone_->get_info(date::sys_seconds{std::chrono::seconds{unix_s}});
    span_begin_s_ = info.begin.time_since_epoch().count();
    span_end_s_ = info.end.time_since_epoch().count();
    span_offset_s_ = static_cast<std::int32_t>(info.offset.count());
    span_daylight_ = info.save != std::chrono::minutes{0};
    abbreviation_ = info.abbrev;
  }
  return {span_offset_s_, span_daylight_, abbreviation_};
}

std::int32_t TimeZone::offset_of_local(std::int64_t local_us) const {
  if (!zone_) return fixed_offset_s_;
  const std::int64_t local_s = into_listed_years(floor_seconds(local_us) + kEpochShiftS);
  const auto info = zone_->get_info(date::local_seconds{std::chrono::seconds{local_s}});
  // Gap: as if the clock had not jumped yet. Fold: the second time around (standard time).
  if (info.result == date::local_info::ambiguous)
    return static_cast<std::int32_t>(info.second.offset.count());
  return static_cast<std::int32_t>(info.first.offset.count());
}

bool find_zone_abbreviation(std::string_view word, std::int32_t* offset_s, bool* daylight) {
  static constexpr struct {
    std::string_view name;
    std::int32_t offset_s;
    bool daylight;
  } kAbbreviations[] = {
      {"acdt", 37800, true},   {"acsst", 37800, true},  {"acst", 34200, false},  {"act", -18000, false},
      {"acwst", 31500, false}, {"adt", -10800, true},   {"aedt", 39600, true},   {"aesst", 39600, true},
      {"aest", 36000, false},  {"aft", 16200, false},   {"akdt", -28800, true},  {"akst", -32400, false},
      {"almst", 25200, true},  {"almt", 21600, false},  {"amt", -14400, false},  {"ast", -14400, false},
      {"awsst", 32400, true},  {"awst", 28800, false},  {"azost", 0, true},      {"azot", -3600, false},
      {"bdst", 7200, true},    {"bdt", 21600, false},   {"bnt", 28800, false},   {"bort", 28800, false},
      {"bot", -14400, false},  {"bra", -10800, false},  {"brst", -7200, true},   {"brt", -10800, false},
      {"bst", 3600, true},     {"btt", 21600, false},   {"cadt", 37800, true},   {"cast", 34200, false},
      {"cct", 28800, false},   {"cdt", -18000, true},   {"cest", 7200, true},    {"cet", 3600, false},
      {"cetdst", 7200, true},  {"chadt", 49500, true},  {"chast", 45900, false}, {"chut", 36000, false},
      {"clst", -10800, true},  {"cot", -18000, false},  {"cst", -21600, false},  {"cxt", 25200, false},
      {"ddut", 36000, false},  {"eat", 10800, false},   {"edt", -14400, true},   {"eest", 10800, true},
      {"eet", 7200, false},    {"eetdst", 10800, true}, {"egst", 0, true},       {"egt", -3600, false},
      {"est", -18000, false},  {"fet", 10800, false},   {"fjst", 46800, true},   {"fjt", 43200, false},
      {"fnst", -3600, true},   {"fnt", -7200, false},   {"galt", -21600, false}, {"gamt", -32400, false},
      {"gft", -10800, false},  {"gilt", 43200, false},  {"gmt", 0, false},       {"hkt", 28800, false},
      {"hst", -36000, false},  {"ict", 25200, false},   {"idt", 10800, true},    {"irt", 12600, false},
      {"ist", 7200, false},    {"jayt", 32400, false},  {"jst", 32400, false},   {"kdt", 36000, true},
      {"kgst", 21600, true},   {"kst", 32400, false},   {"lhst", 37800, false},  {"ligt", 36000, false},
      {"mart", -34200, false}, {"mdt", -21600, true},   {"mest", 7200, true},    {"mesz", 7200, true},
      {"met", 3600, false},    {"metdst", 7200, true},  {"mez", 3600, false},    {"mht", 43200, false},
      {"mmt", 23400, false},   {"mpt", 36000, false},   {"msd", 14400, true},    {"mst", -25200, false},
      {"must", 18000, true},   {"mut", 14400, false},   {"mvt", 18000, false},   {"myt", 28800, false},
      {"ndt", -9000, true},    {"nft", -12600, false},  {"npt", 20700, false},   {"nst", -12600, false},
      {"nzdt", 46800, true},   {"nzst", 43200, false},  {"nzt", 43200, false},   {"pdt", -25200, true},
      {"pet", -18000, false},  {"pgt", 36000, false},   {"pht", 28800, false},   {"pkst", 21600, true},
      {"pkt", 18000, false},   {"pmdt", -7200, true},   {"pmst", -10800, false}, {"pont", 39600, false},
      {"pst", -28800, false},  {"pwt", 32400, false},   {"pyst", -10800, true},  {"ret", 14400, false},
      {"sadt", 37800, true},   {"sast", 7200, false},   {"sct", 14400, false},   {"taht", -36000, false},
      {"tft", 18000, false},   {"tjt", 18000, false},   {"tot", 46800, false},   {"trut", 36000, false},
      {"tvt", 43200, false},   {"uct", 0, false},       {"ulast", 32400, true},  {"ut", 0, false},
      {"utc", 0, false},       {"uyst", -7200, true},   {"uyt", -10800, false},  {"uzst", 21600, true},
      {"uzt", 18000, false},   {"vut", 39600, false},   {"wadt", 28800, true},   {"wakt", 43200, false},
      {"wast", 25200, false},  {"wat", 3600, false},    {"wdt", 32400, true},    {"wet", 0, false},
      {"wetdst", 3600, true},  {"wft", 43200, false},   {"wgst", -7200, true},   {"wgt", -10800, false},
      {"xjt", 21600, false},   {"yapt", 36000, false},  {"yekst", 21600, true},  {"z", 0, false},
      {"zulu", 0, false},
  };
  for (const auto& entry : kAbbreviations) {
    if (entry.name.size() != word.size() || strncasecmp(entry.name.data(), word.data(), word.size()) != 0)
      continue;
    *offset_s = entry.offset_s;
    *daylight = entry.daylight;
    return true;
  }
  return false;
}

}  // namespace pinwheel::sql
