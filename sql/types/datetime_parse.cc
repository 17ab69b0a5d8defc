#include "sql/types/datetime_parse.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"
#include "sql/types/time_zone.h"

namespace pinwheel::sql {

void throw_field_overflow(std::string_view text, bool hint_date_style) {
  SqlError error{sqlstate::kDatetimeFieldOverflow,
                 "date/time field value out of range: \"" + std::string{text} + "\""};
  if (hint_date_style) {
    throw std::move(error).hint("Perhaps you need a different \"datestyle\" setting.");
  }
  throw error;
}

void throw_bad_datetime(std::string_view type, std::string_view text) {
  throw SqlError{sqlstate::kInvalidDatetimeFormat,
                 "invalid input syntax for type " + std::string{type} + ": \"" + std::string{text} + "\""};
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

/// 1..12 for a month name or an abbreviation of it, 0 for others.
int month_of(std::string_view word) {
  for (int m = 0; m < 12; ++m) {
    if (same(word, kMonthNames[m]) || same(word, kMonthNames[m].substr(0, 3))) return m + 1;
  }
  return same(word, "sept") ? 9 : 0;
}

bool is_day_name(std::string_view word) {
  for (std::string_view name : kDayNames) {
    if (same(word, name) || same(word, name.substr(0, 3))) return true;
  }
  return same(word, "tues") || same(word, "wednes") || same(word, "weds") || same(word, "thur") ||
         same(word, "thurs");
}

class Parser {
 public:
  Parser(std::string_view text, std::string_view type, bool time_only, const EvalContext& eval)
      : text_{text}, type_{type}, time_only_{time_only}, eval_{eval} {}

  ParsedDateTime run() {
    while (at_ < text_.size()) token();
    finish();
    return result_;
  }

 private:
  [[noreturn]] void bad() const { throw_bad_datetime(type_, text_); }
  [[noreturn]] void overflow(bool hint = false) const { throw_field_overflow(text_, hint); }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view take_while(auto predicate) {
    const std::size_t start = at_;
    while (at_ < text_.size() && predicate(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }

  int number(std::string_view digits) const {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc::result_out_of_range) overflow();
    if (error != std::errc{} || end != digits.data() + digits.size()) bad();
    return value;
  }

  void token() {
    const char c = peek();
    if (is_space(c) || c == ',') {
      ++at_;
    } else if (is_digit(c)) {
      digits();
    } else if (is_alpha(c)) {
      word();
    } else if ((c == '+' || c == '-')) {
      sign();
    } else if (c == '.' && is_digit(peek(1)) && result_.has_time) {
      ++at_;
      fraction(take_while(is_digit));
    } else if (std::ispunct(static_cast<unsigned char>(c))) {
      ++at_;
    } else {
      bad();
    }
  }

  // -- numbers ----------------------------------------------------------------------------------------------

  void digits() {
    const std::size_t start = at_;
    const std::string_view first = take_while(is_digit);
    const char after = peek();
    if (after == ':') return time(first);
    if (after == '-' || after == '/' || after == '.') {
      const char next = peek(1);
      if (is_alpha(next) && after != '.') return date_parts(start);
      if (is_digit(next)) {
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_digit(text_[end])) ++end;
        const bool third = end < text_.size() && text_[end] == after;
        if (time_only_ && after == '-' && !third) return concatenated(first);
        if (after != '.' || third) return date_parts(start);
        ++at_;
        return decimal(first, take_while(is_digit));
      }
      if (after == '.' && !is_digit(next)) ++at_;
    }
    whole(first);
  }

  void date_parts(std::size_t start) {
    at_ = start;
    if (result_.has_date) bad();
    const char separator = text_[start + take_size(start)];
    std::string_view parts[3];
    int count = 0;
    while (count < 3) {
      parts[count] = is_digit(peek()) ? take_while(is_digit) : take_while(is_alpha);
      if (parts[count].empty()) bad();
      ++count;
      if (count == 3 || peek() != separator) break;
      ++at_;
    }
    // A month's name first: it decides what the numbers mean.
    for (int i = 0; i < count; ++i) {
      if (is_digit(parts[i][0])) continue;
      const int month = month_of(parts[i]);
      if (month == 0 || have_month_) bad();
      set_month(month, true);
    }
    for (int i = 0; i < count; ++i) {
      if (is_digit(parts[i][0])) date_number(parts[i]);
    }
  }
  std::size_t take_size(std::size_t from) const {
    std::size_t end = from;
    while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
    return end - from;
  }

  void decimal(std::string_view whole_part, std::string_view fraction_part) {
    if (expect_julian_) {
      julian(whole_part);
      std::string text = "0." + std::string{fraction_part};
      set_time_us(static_cast<std::int64_t>(std::llround(std::strtod(text.c_str(), nullptr) * kUsPerDay)));
      return;
    }
    if (whole_part.size() >= 6 || time_only_) {
      concatenated(whole_part);
      fraction(fraction_part);
      return;
    }
    if (whole_part.size() == 4 && fraction_part.size() == 3 && !result_.has_date) {
      set_year(number(whole_part), whole_part.size());
      day_of_year_ = number(fraction_part);
      have_month_ = have_day_ = true;
      return;
    }
    bad();
  }

  void whole(std::string_view digits_text) {
    if (expect_julian_) return julian(digits_text);
    const bool date_done = have_year_ && have_month_ && have_day_;
    if (time_only_ && !have_month_ && !have_year_) return concatenated(digits_text);
    if (expect_time_ || digits_text.size() > 4 || (date_done && digits_text.size() >= 4))
      return concatenated(digits_text);
    date_number(digits_text);
  }

  /// YYYYMMDD, YYMMDD, YYDDD, or HHMMSS, HHMM once the date is known.
  void concatenated(std::string_view d) {
    const auto part = [&](std::size_t from, std::size_t count) { return number(d.substr(from, count)); };
    const bool date_known = have_year_ || have_month_ || have_day_ || time_only_ || expect_time_;
    if (!date_known) {
      if (d.size() >= 8) {
        set_year(number(d.substr(0, d.size() - 4)), d.size() - 4);
        set_month(part(d.size() - 4, 2), false);
        set_day(part(d.size() - 2, 2));
        return;
      }
      if (d.size() == 6) {
        set_year(part(0, 2), 2);
        set_month(part(2, 2), false);
        set_day(part(4, 2));
        return;
      }
      if (d.size() == 5) {
        set_year(part(0, 2), 2);
        day_of_year_ = part(2, 3);
        have_month_ = have_day_ = true;
        return;
      }
      bad();
    }
    if (result_.has_time) bad();
    if (d.size() == 6) {
      set_time(part(0, 2), part(2, 2), part(4, 2));
    } else if (d.size() == 4) {
      set_time(part(0, 2), part(2, 2), 0);
    } else if (d.size() <= 2 && (expect_time_ || time_only_)) {
      set_time(number(d), 0, 0);
    } else {
      bad();
    }
  }

  void date_number(std::string_view d) {
    const int value = number(d);
    const std::size_t length = d.size();
    if (!have_year_ && !have_month_ && !have_day_) {
      if (length >= 3 || eval_.date_order == DateOrder::kYmd) return set_year(value, length);
      if (eval_.date_order == DateOrder::kDmy) return set_day(value);
      return set_month(value, false);
    }
    if (have_year_ && !have_month_ && !have_day_) {
      if (length == 3) {
        day_of_year_ = value;
        have_month_ = have_day_ = true;
        return;
      }
      return set_month(value, false);
    }
    if (!have_year_ && have_month_ && !have_day_) {
      if (text_month_ && (length >= 3 || eval_.date_order == DateOrder::kYmd)) return set_year(value, length);
      return set_day(value);
    }
    if (have_year_ && have_month_ && !have_day_) {
      if (text_month_ && length >= 3 && two_digit_year_) {
        // "Feb 12 1999" under YMD: what was taken for the year was the day.
        set_day(civil().year);
        have_year_ = false;
        return set_year(value, length);
      }
      return set_day(value);
    }
    if (!have_year_ && !have_month_ && have_day_) return set_month(value, false);
    if (!have_year_ && have_month_ && have_day_) return set_year(value, length);
    if (have_year_ && have_day_ && !have_month_) return set_month(value, false);
    bad();
  }

  void julian(std::string_view d) {
    expect_julian_ = false;
    const std::int64_t days = number(d) - std::int64_t{kEpochJulianDay};
    civil_from_days(static_cast<std::int32_t>(days), &civil().year, &civil().month, &civil().day);
    have_year_ = have_month_ = have_day_ = result_.has_date = true;
    year_digits_ = 0;
  }

  CivilTime& civil() { return result_.civil; }

  void set_year(int value, std::size_t length) {
    if (have_year_) bad();
    civil().year = value;
    year_digits_ = length;
    two_digit_year_ = length <= 2;
    have_year_ = result_.has_date = true;
  }
  void set_month(int value, bool as_text) {
    civil().month = value;
    have_month_ = result_.has_date = true;
    text_month_ |= as_text;
  }
  void set_day(int value) {
    civil().day = value;
    have_day_ = result_.has_date = true;
  }

  // -- times ------------------------------------------------------------------------------------------------

  void time(std::string_view hour) {
    if (result_.has_time) bad();
    ++at_;
    const std::string_view minute = take_while(is_digit);
    if (minute.empty() && peek() != '\0' && !is_space(peek())) bad();
    int second = 0;
    std::string_view rest;
    if (peek() == ':') {
      ++at_;
      const std::string_view digits_text = take_while(is_digit);
      if (digits_text.empty()) bad();
      second = number(digits_text);
      if (peek() == '.') {
        ++at_;
        rest = take_while(is_digit);
      }
      if (peek() == ':') bad();
    } else if (peek() == '.') {
      // MM:SS.fff
      ++at_;
      rest = take_while(is_digit);
      set_time(0, number(hour), number(minute));
      fraction(rest);
      return;
    }
    set_time(number(hour), minute.empty() ? 0 : number(minute), second);
    if (!rest.empty()) fraction(rest);
  }

  void set_time(int hour, int minute, int second) {
    if (result_.has_time) bad();
    civil().hour = hour;
    civil().minute = minute;
    civil().second = second;
    result_.has_time = true;
    expect_time_ = false;
  }
  void set_time_us(std::int64_t us) {
    set_time(static_cast<int>(us / kUsPerHour), static_cast<int>(us / kUsPerMinute % 60),
             static_cast<int>(us / kUsPerSecond % 60));
    civil().microsecond = static_cast<int>(us % kUsPerSecond);
  }

  void fraction(std::string_view d) {
    const std::string number_text = "0." + std::string{d};
    civil().microsecond = static_cast<int>(std::llround(std::strtod(number_text.c_str(), nullptr) * 1e6));
  }

  // -- words ------------------------------------------------------------------------------------------------

  void word() {
    const std::size_t start = at_;
    std::string_view w = take_while(is_alpha);
    if (const int month = month_of(w)) {
      if ((peek() == '-' || peek() == '/' || peek() == '.') && is_digit(peek(1))) return date_parts(start);
      if (have_month_ && !text_month_ && !have_day_) {
        // "08 Jan": the number was the day.
        const int day = civil().month;
        have_month_ = false;
        set_day(day);
      } else if (have_month_) {
        bad();
      }
      return set_month(month, true);
    }
    if (peek() == '.') ++at_;
    if (zone_name(start, w)) return;
    if (keyword(w)) return;
    bad();
  }

  bool keyword(std::string_view w) {
    using Special = ParsedDateTime::Special;
    if (same(w, "am") || same(w, "pm")) {
      meridian_ = same(w, "pm") ? 2 : 1;
    } else if (same(w, "ad") || same(w, "bc")) {
      before_christ_ = same(w, "bc");
    } else if (same(w, "t")) {
      expect_time_ = true;
    } else if (same(w, "j") || same(w, "jd") || same(w, "julian")) {
      expect_julian_ = true;
    } else if (is_day_name(w) || same(w, "at") || same(w, "on")) {
    } else if (same(w, "dst")) {
      if (!result_.has_zone) bad();
      result_.zone_s += 3600;
    } else if (same(w, "now")) {
      special(Special::kNow);
    } else if (same(w, "epoch")) {
      special(Special::kEpoch);
    } else if (same(w, "infinity")) {
      special(Special::kInfinity);
    } else if (same(w, "today") || same(w, "tomorrow") || same(w, "yesterday")) {
      relative_day(same(w, "today") ? 0 : same(w, "tomorrow") ? 1 : -1);
    } else if (same(w, "allballs")) {
      set_time(0, 0, 0);
      result_.has_zone = true;
      result_.zone_s = 0;
    } else {
      return false;
    }
    return true;
  }

  void special(ParsedDateTime::Special kind) {
    if (result_.special != ParsedDateTime::Special::kNone || result_.has_date) bad();
    result_.special = kind;
  }

  void relative_day(int shift) {
    const std::int64_t local = utc_to_local(eval_.transaction_timestamp, zone_of(eval_));
    std::int32_t days;
    std::int64_t us;
    split_timestamp(local, &days, &us);
    civil_from_days(days + shift, &civil().year, &civil().month, &civil().day);
    have_year_ = have_month_ = have_day_ = result_.has_date = true;
    year_digits_ = 0;
  }

  /// Abbreviations, "Z", and IANA names, which may go on with '/', '_', '-', '+' and digits.
  bool zone_name(std::size_t start, std::string_view w) {
    const bool known_word = same(w, "t") || same(w, "am") || same(w, "pm") || same(w, "at") ||
                            same(w, "bc") || same(w, "ad") || same(w, "j") || same(w, "jd") ||
                            same(w, "on") || is_day_name(w);
    if (known_word) return false;
    std::size_t end = start + w.size();
    const auto continues = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '_' || c == '-' || c == '+';
    };
    while (end < text_.size() && continues(text_[end])) ++end;
    const std::string_view longest = text_.substr(start, end - start);
    std::int32_t offset;
    bool daylight;
    if (longest.size() == w.size() && find_zone_abbreviation(w, &offset, &daylight)) {
      set_zone(offset, nullptr);
      return true;
    }
    if (longest.size() > 2 && longest.find_first_of("/_0123456789") != std::string_view::npos) {
      if (const TimeZone* zone = TimeZone::find(longest)) {
        at_ = end;
        set_zone(0, zone);
        return true;
      }
      if (longest.find('/') != std::string_view::npos) {
        throw SqlError{sqlstate::kInvalidParameterValue,
                       "time zone \"" + lower(longest) + "\" not recognized"};
      }
    }
    if (find_zone_abbreviation(w, &offset, &daylight)) {
      set_zone(offset, nullptr);
      return true;
    }
    if (w.size() > 2) {
      if (const TimeZone* zone = TimeZone::find(w)) {
        set_zone(0, zone);
        return true;
      }
    }
    return false;
  }

  static std::string lower(std::string_view text) {
    std::string result{text};
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  }

  void set_zone(std::int32_t offset, const TimeZone* zone) {
    if (result_.has_zone) bad();
    result_.has_zone = true;
    result_.zone_s = offset;
    result_.zone = zone;
  }

  // -- signs: "-infinity", zone offsets
  // -----------------------------------------------------------------------

  void sign() {
    const bool negative = peek() == '-';
    ++at_;
    while (is_space(peek())) ++at_;
    if (is_alpha(peek())) {
      const std::string_view w = take_while(is_alpha);
      if (!same(w, "infinity")) bad();
      special(negative ? ParsedDateTime::Special::kMinusInfinity : ParsedDateTime::Special::kInfinity);
      return;
    }
    const std::string_view hours = take_while(is_digit);
    if (hours.empty()) bad();
    if (!result_.has_time && !expect_time_ && !time_only_ && !result_.has_date) bad();
    zone_offset(negative, hours);
  }

  void zone_offset(bool negative, std::string_view d) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (peek() == ':') {
      hour = number(d);
      ++at_;
      minute = number(take_while(is_digit));
      if (peek() == ':') {
        ++at_;
        second = number(take_while(is_digit));
      }
    } else if (d.size() > 2) {
      hour = number(d.substr(0, d.size() > 4 ? d.size() - 4 : d.size() - 2));
      minute = number(d.substr(d.size() > 4 ? d.size() - 4 : d.size() - 2, 2));
      if (d.size() > 4) second = number(d.substr(d.size() - 2));
    } else {
      hour = number(d);
    }
    if (hour > 15 || minute > 59 || second > 59) {
      throw SqlError{sqlstate::kInvalidTimeZoneDisplacementValue,
                     "time zone displacement out of range: \"" + std::string{text_} + "\""};
    }
    const std::int32_t offset = hour * 3600 + minute * 60 + second;
    if (result_.has_zone && !result_.zone) {
      // "GMT+3" and the like: the offset refines the name.
      result_.zone_s += negative ? -offset : offset;
      return;
    }
    set_zone(negative ? -offset : offset, nullptr);
  }

  // -- checks at the end
  // ----------------------------------------------------------------------------------------

  void finish() {
    if (result_.special != ParsedDateTime::Special::kNone) {
      if (result_.has_date || result_.has_time) bad();
      return;
    }
    if (!result_.has_date && !result_.has_time) bad();
    if (expect_julian_) bad();
    if (result_.has_date) finish_date();
    if (result_.has_time) finish_time();
    if (meridian_ != 0 && !result_.has_time) bad();
  }

  void finish_date() {
    CivilTime& c = civil();
    if (!have_year_ || !have_month_ || !have_day_) bad();
    if (before_christ_) {
      if (c.year <= 0) overflow();
      c.year = 1 - c.year;
    } else if (two_digit_year_ && year_digits_ <= 2) {
      if (c.year < 70) {
        c.year += 2000;
      } else if (c.year < 100) {
        c.year += 1900;
      }
    } else if (c.year == 0 && year_digits_ > 0) {
      overflow();
    }
    if (day_of_year_ > 0) {
      const std::int32_t days = days_from_civil(c.year, 1, 1) + day_of_year_ - 1;
      int year;
      civil_from_days(days, &year, &c.month, &c.day);
      if (year != c.year) overflow();
      return;
    }
    if (c.month < 1 || c.month > 12) overflow(true);
    if (c.day < 1 || c.day > 31) overflow(true);
    if (c.day > days_in_month(c.year, c.month)) overflow();
  }

  void finish_time() {
    CivilTime& c = civil();
    if (meridian_ != 0) {
      if (c.hour > 12) overflow();
      if (meridian_ == 1 && c.hour == 12) c.hour = 0;
      if (meridian_ == 2 && c.hour != 12) c.hour += 12;
    }
    if (c.hour < 0 || c.minute < 0 || c.minute > 59 || c.second < 0 || c.second > 60 || c.hour > 24 ||
        (c.hour == 24 && (c.minute > 0 || c.second > 0 || c.microsecond > 0))) {
      overflow();
    }
  }

  std::string_view text_;
  std::string_view type_;
  bool time_only_;
  const EvalContext& eval_;
  std::size_t at_ = 0;
  ParsedDateTime result_;
  bool have_year_ = false;
  bool have_month_ = false;
  bool have_day_ = false;
  bool text_month_ = false;
  bool two_digit_year_ = false;
  std::size_t year_digits_ = 0;
  int day_of_year_ = 0;
  bool before_christ_ = false;
  int meridian_ = 0;  // 1 am, 2 pm
  bool expect_time_ = false;
  bool expect_julian_ = false;
};

}  // namespace

ParsedDateTime parse_datetime(std::string_view text, std::string_view type, bool time_only,
                              const EvalContext& eval) {
  return Parser{text, type, time_only, eval}.run();
}

}  // namespace pinwheel::sql
