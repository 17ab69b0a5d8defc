#include "sql/functions/date_picture.h"

#include <strings.h>

namespace pinwheel::sql::functions {

namespace {

struct Word {
  std::string_view text;
  Key key;
  int digits = 0;
};

/// Longest first among those that share a start.
constexpr Word kWords[] = {
    {"A.D.", Key::kEra},
    {"A.M.", Key::kMeridiem},
    {"AD", Key::kEra},
    {"AM", Key::kMeridiem},
    {"B.C.", Key::kEra},
    {"BC", Key::kEra},
    {"CC", Key::kCentury},
    {"DAY", Key::kDayName},
    {"DDD", Key::kDayOfYear},
    {"DD", Key::kDay},
    {"DY", Key::kDayShort},
    {"D", Key::kDayOfWeek},
    {"FF1", Key::kFraction, 1},
    {"FF2", Key::kFraction, 2},
    {"FF3", Key::kFraction, 3},
    {"FF4", Key::kFraction, 4},
    {"FF5", Key::kFraction, 5},
    {"FF6", Key::kFraction, 6},
    {"HH24", Key::kHour24},
    {"HH12", Key::kHour12},
    {"HH", Key::kHour12},
    {"IDDD", Key::kIsoDayOfYear},
    {"ID", Key::kIsoDayOfWeek},
    {"IW", Key::kIsoWeek},
    {"IYYY", Key::kIsoYear, 4},
    {"IYY", Key::kIsoYear, 3},
    {"IY", Key::kIsoYear, 2},
    {"I", Key::kIsoYear, 1},
    {"J", Key::kJulian},
    {"MI", Key::kMinute},
    {"MM", Key::kMonth},
    {"MONTH", Key::kMonthName},
    {"MON", Key::kMonthShort},
    {"MS", Key::kMillisecond},
    {"OF", Key::kZoneOffset},
    {"P.M.", Key::kMeridiem},
    {"PM", Key::kMeridiem},
    {"Q", Key::kQuarter},
    {"RM", Key::kRomanMonth},
    {"SSSSS", Key::kSecondOfDay},
    {"SSSS", Key::kSecondOfDay},
    {"SS", Key::kSecond},
    {"TZH", Key::kZoneHour},
    {"TZM", Key::kZoneMinute},
    {"TZ", Key::kZone},
    {"US", Key::kMicrosecond},
    {"WW", Key::kWeek},
    {"W", Key::kWeekOfMonth},
    {"Y,YYY", Key::kYearGrouped},
    {"YYYY", Key::kYear, 4},
    {"YYY", Key::kYear, 3},
    {"YY", Key::kYear, 2},
    {"Y", Key::kYear, 1},
};

}  // namespace

std::vector<Token> read_format(std::string_view format, bool* exact) {
  std::vector<Token> tokens;
  bool fill = true;
  *exact = false;
  for (std::size_t at = 0; at < format.size();) {
    const std::string_view rest = format.substr(at);
    if (rest.starts_with("FM") || rest.starts_with("fm")) {
      fill = false;
      at += 2;
      continue;
    }
    if (rest.starts_with("FX") || rest.starts_with("fx")) {
      *exact = true;
      at += 2;
      continue;
    }
    if (rest.starts_with("TM") || rest.starts_with("tm")) {
      fill = false;  // translated names are never padded; ours are English
      at += 2;
      continue;
    }
    Token token;
    token.fill = fill;
    if (rest[0] == '"') {
      for (++at; at < format.size() && format[at] != '"'; ++at) {
        if (format[at] == '\\' && at + 1 < format.size()) ++at;
        token.text += format[at];
      }
      ++at;
      token.quoted = true;
      tokens.push_back(std::move(token));
      continue;
    }
    const Word* found = nullptr;
    for (const Word& word : kWords) {
      if (rest.size() >= word.text.size() &&
          strncasecmp(rest.data(), word.text.data(), word.text.size()) == 0) {
        found = &word;
        break;
      }
    }
    if (!found) {
      token.text = rest[0] == '\\' && rest.size() > 1 && rest[1] == '"' ? "\"" : std::string{rest[0]};
      at += rest[0] == '\\' && token.text == "\"" ? 2 : 1;
      tokens.push_back(std::move(token));
      continue;
    }
    token.key = found->key;
    token.digits = found->digits;
    token.text = rest.substr(0, found->text.size());
    at += found->text.size();
    const std::string_view suffix = format.substr(at, 2);
    if (suffix == "TH" || suffix == "th") {
      token.ordinal = true;
      token.ordinal_upper = suffix == "TH";
      at += 2;
    }
    tokens.push_back(std::move(token));
    fill = true;
  }
  return tokens;
}

}  // namespace pinwheel::sql::functions
