#include <strings.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "sql/types/datetime.h"
#include "sql/types/io_errors.h"
#include "sql/types/numbers.h"

namespace pinwheel::sql {

namespace {

enum class Unit : std::uint8_t {
  kNone,
  kMicrosecond,
  kMillisecond,
  kSecond,
  kMinute,
  kHour,
  kDay,
  kWeek,
  kMonth,
  kYear,
  kDecade,
  kCentury,
  kMillennium,
};

constexpr struct {
  std::string_view name;
  Unit unit;
} kUnits[] = {
    {"us", Unit::kMicrosecond},
    {"usec", Unit::kMicrosecond},
    {"usecs", Unit::kMicrosecond},
    {"useconds", Unit::kMicrosecond},
    {"usecond", Unit::kMicrosecond},
    {"microsecond", Unit::kMicrosecond},
    {"microseconds", Unit::kMicrosecond},
    {"microsecon", Unit::kMicrosecond},
    {"ms", Unit::kMillisecond},
    {"msec", Unit::kMillisecond},
    {"msecs", Unit::kMillisecond},
    {"mseconds", Unit::kMillisecond},
    {"msecond", Unit::kMillisecond},
    {"millisecond", Unit::kMillisecond},
    {"milliseconds", Unit::kMillisecond},
    {"millisecon", Unit::kMillisecond},
    {"s", Unit::kSecond},
    {"sec", Unit::kSecond},
    {"secs", Unit::kSecond},
    {"second", Unit::kSecond},
    {"seconds", Unit::kSecond},
    {"m", Unit::kMinute},
    {"min", Unit::kMinute},
    {"mins", Unit::kMinute},
    {"minute", Unit::kMinute},
    {"minutes", Unit::kMinute},
    {"h", Unit::kHour},
    {"hr", Unit::kHour},
    {"hrs", Unit::kHour},
    {"hour", Unit::kHour},
    {"hours", Unit::kHour},
    {"d", Unit::kDay},
    {"day", Unit::kDay},
    {"days", Unit::kDay},
    {"w", Unit::kWeek},
    {"week", Unit::kWeek},
    {"weeks", Unit::kWeek},
    {"mon", Unit::kMonth},
    {"mons", Unit::kMonth},
    {"month", Unit::kMonth},
    {"months", Unit::kMonth},

    {"y", Unit::kYear},
    {"yr", Unit::kYear},
    {"yrs", Unit::kYear},
    {"year", Unit::kYear},
    {"years", Unit::kYear},
    {"dec", Unit::kDecade},
    {"decs", Unit::kDecade},
    {"decade", Unit::kDecade},
    {"decades", Unit::kDecade},
    {"c", Unit::kCentury},
    {"cent", Unit::kCentury},
    {"century", Unit::kCentury},
    {"centuries", Unit::kCentury},
    {"mil", Unit::kMillennium},
    {"mils", Unit::kMillennium},
    {"millennia", Unit::kMillennium},
    {"millennium", Unit::kMillennium},
};

Unit find_unit(std::string_view word) {
  for (const auto& entry : kUnits) {
    if (entry.name.size() == word.size() && strncasecmp(entry.name.data(), word.data(), word.size()) == 0) {
      return entry.unit;
    }
  }
  return Unit::kNone;
}

/// Whole and fractional part of a decimal with its sign on both.
struct Amount {
  std::int64_t whole = 0;
  double fraction = 0;
};

class IntervalParser {
 public:
  IntervalParser(std::string_view text, IntervalStyle style, int typmod)
      : text_{text},
        style_{style},
        range_{typmod < 0 ? kIntervalFullRange : typmod >> 16 & kIntervalFullRange} {}

  Interval run() {
    skip();
    if (at_ < text_.size() && (peek() == 'P' || peek() == 'p') && at_ + 1 < text_.size() &&
        find_unit(word_ahead()) == Unit::kNone) {
      ++at_;
      iso8601();
      return result_;
    }
    sql_negative_ = style_ == IntervalStyle::kSqlStandard && peek() == '-' && only_one_sign();
    while (at_ < text_.size()) {
      field();
      skip();
    }
    if (fields_ == 0) bad();
    if (pending_) give_bare(trailing_unit());
    if (ago_) result_ = negate_interval(result_);
    return result_;
  }

 private:
  [[noreturn]] void bad() const {
    throw SqlError{sqlstate::kInvalidDatetimeFormat,
                   "invalid input syntax for type interval: \"" + std::string{text_} + "\""};
  }
  [[noreturn]] void overflow() const {
    throw SqlError{sqlstate::kIntervalFieldOverflow,
                   "interval field value out of range: \"" + std::string{text_} + "\""};
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  static bool digit(char c) { return c >= '0' && c <= '9'; }
  void skip() {
    while (at_ < text_.size() && (is_space(peek()) || peek() == '@' || peek() == ',')) ++at_;
  }
  std::string_view word_ahead() const {
    std::size_t end = at_;
    while (end < text_.size() && std::isalpha(static_cast<unsigned char>(text_[end]))) ++end;
    return text_.substr(at_, end - at_);
  }
  /// SQL style: one leading minus and no other sign means that all fields are negative.
  bool only_one_sign() const {
    return text_.find_first_of("+-", at_ + 1) == std::string_view::npos ||
           text_.find_first_of("+-", at_ + 1) == text_.find('-', at_ + 1);
  }

  std::int64_t integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) overflow();
    if (error != std::errc{}) bad();
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  double fraction() {
    const std::size_t start = at_;  // at '.'
    ++at_;
    while (digit(peek())) ++at_;
    return at_ - start == 1 ? 0 : std::strtod(std::string{text_.substr(start, at_ - start)}.c_str(), nullptr);
  }

  void field() {
    const char c = peek();
    if (std::isalpha(static_cast<unsigned char>(c))) return word();
    bool negative = false;
    bool is_signed = false;
    if (c == '+' || c == '-') {
      negative = c == '-';
      is_signed = true;
      ++at_;
      while (is_space(peek())) ++at_;
    }
    if (!digit(peek()) && peek() != '.') bad();
    if (!is_signed && (sql_negative_)) negative = true;
    Amount amount;
    if (digit(peek())) amount.whole = integer();
    ++fields_;
    if (peek() == ':') return clock(amount.whole, negative);
    if (peek() == '-' && digit(peek(1))) {
      ++at_;
      const std::int64_t months = integer();
      if (months >= 12) overflow();
      flush_as_day();
      add_months(negative ? -(amount.whole * 12 + months) : amount.whole * 12 + months);
      return;
    }
    if (peek() == '.') amount.fraction = fraction();
    if (negative) {
      amount.whole = -amount.whole;
      amount.fraction = -amount.fraction;
    }
    if (pending_) bad();
    pending_amount_ = amount;
    pending_ = true;
  }

  void word() {
    const std::string_view w = word_ahead();
    at_ += w.size();
    if (w.size() == 3 && strncasecmp(w.data(), "ago", 3) == 0) {
      ago_ = true;
      return;
    }
    if (w.size() == 3 && strncasecmp(w.data(), "and", 3) == 0 && pending_) bad();
    const Unit unit = find_unit(w);
    if (unit == Unit::kNone || !pending_) bad();
    pending_ = false;
    add(unit, pending_amount_);
  }

  void flush_as_day() {
    if (pending_) give_bare(Unit::kDay);
  }
  void give_bare(Unit unit) {
    pending_ = false;
    add(unit, pending_amount_);
  }
  Unit trailing_unit() const {
    if (range_ == kIntervalFullRange || range_ & kIntervalSecond) return Unit::kSecond;
    if (range_ & kIntervalMinute) return Unit::kMinute;
    if (range_ & kIntervalHour) return Unit::kHour;
    if (range_ & kIntervalDay) return Unit::kDay;
    if (range_ & kIntervalMonth) return Unit::kMonth;
    return Unit::kYear;
  }

  void clock(std::int64_t first, bool negative) {
    // A number alone before the time is days.
    flush_as_day();
    ++at_;
    if (!digit(peek())) bad();
    const std::int64_t second_field = integer();
    std::int64_t hours = first;
    std::int64_t minutes = second_field;
    std::int64_t seconds = 0;
    double part = 0;
    if (peek() == ':') {
      ++at_;
      if (!digit(peek())) bad();
      seconds = integer();
      if (peek() == '.') part = fraction();
    } else if (peek() == '.' || range_ == (kIntervalMinute | kIntervalSecond)) {
      // MM:SS.fff, and MM:SS for INTERVAL MINUTE TO SECOND
      hours = 0;
      minutes = first;
      seconds = second_field;
      if (peek() == '.') part = fraction();
    }
    if (minutes > 59 || seconds > 60) overflow();
    std::int64_t us;
    if (__builtin_mul_overflow(hours, kUsPerHour, &us)) overflow();
    us += minutes * kUsPerMinute + seconds * kUsPerSecond + std::llround(part * 1e6);
    if (negative) us = -us;
    if (__builtin_add_overflow(result_.us, us, &result_.us)) overflow();
  }

  void add_us(std::int64_t whole, double fraction_part, std::int64_t unit) {
    std::int64_t us;
    if (__builtin_mul_overflow(whole, unit, &us) || __builtin_add_overflow(result_.us, us, &result_.us))
      overflow();
    const double rest = std::rint(fraction_part * static_cast<double>(unit));
    if (__builtin_add_overflow(result_.us, static_cast<std::int64_t>(rest), &result_.us)) overflow();
  }
  void add_days(std::int64_t days) {
    const std::int64_t total = result_.days + days;
    if (days > INT32_MAX || days < INT32_MIN || total != static_cast<std::int32_t>(total)) overflow();
    result_.days = static_cast<std::int32_t>(total);
  }
  void add_months(std::int64_t months) {
    const std::int64_t total = result_.months + months;
    if (months > INT32_MAX || months < INT32_MIN || total != static_cast<std::int32_t>(total)) overflow();
    result_.months = static_cast<std::int32_t>(total);
  }
  void add_fraction_of_days(double days) {
    const auto whole = static_cast<std::int64_t>(days);
    add_days(whole);
    add_us(0, days - static_cast<double>(whole), kUsPerDay);
  }

  void add(Unit unit, Amount amount) {
    const auto years = [&](int scale) {
      if (amount.whole > INT32_MAX || amount.whole < INT32_MIN) overflow();
      add_months(amount.whole * 12 * scale);
      add_months(static_cast<std::int64_t>(std::rint(amount.fraction * 12 * scale)));
    };
    switch (unit) {
      case Unit::kMicrosecond:
        return add_us(amount.whole, amount.fraction, 1);
      case Unit::kMillisecond:
        return add_us(amount.whole, amount.fraction, 1000);
      case Unit::kSecond:
        return add_us(amount.whole, amount.fraction, kUsPerSecond);
      case Unit::kMinute:
        return add_us(amount.whole, amount.fraction, kUsPerMinute);
      case Unit::kHour:
        return add_us(amount.whole, amount.fraction, kUsPerHour);
      case Unit::kDay:
        add_days(amount.whole);
        return add_us(0, amount.fraction, kUsPerDay);
      case Unit::kWeek:
        add_days(amount.whole * 7);
        return add_fraction_of_days(amount.fraction * 7);
      case Unit::kMonth:
        add_months(amount.whole);
        return add_fraction_of_days(amount.fraction * kDaysPerMonth);
      case Unit::kYear:
        return years(1);
      case Unit::kDecade:
        return years(10);
      case Unit::kCentury:
        return years(100);
      case Unit::kMillennium:
        return years(1000);
      case Unit::kNone:
        bad();
    }
  }

  /// After 'P': PnYnMnWnDTnHnMnS, or P0001-02-03T04:05:06.
  void iso8601() {
    bool in_time = false;
    int count = 0;
    while (at_ < text_.size()) {
      if (peek() == 'T' || peek() == 't') {
        in_time = true;
        ++at_;
        continue;
      }
      if (is_space(peek())) bad();
      bool negative = false;
      if (peek() == '+' || peek() == '-') negative = text_[at_++] == '-';
      if (!digit(peek()) && peek() != '.') bad();
      Amount amount;
      if (digit(peek())) amount.whole = integer();
      if (peek() == '.') amount.fraction = fraction();
      ++count;
      const char unit = static_cast<char>(std::toupper(static_cast<unsigned char>(peek())));
      if (unit == '-' || unit == ':') return iso_alternative(amount.whole, negative, in_time);
      if (negative) {
        amount.whole = -amount.whole;
        amount.fraction = -amount.fraction;
      }
      ++at_;
      if (in_time) {
        add(unit == 'H'   ? Unit::kHour
            : unit == 'M' ? Unit::kMinute
            : unit == 'S' ? Unit::kSecond
                          : Unit::kNone,
            amount);
      } else {
        add(unit == 'Y'   ? Unit::kYear
            : unit == 'M' ? Unit::kMonth
            : unit == 'W' ? Unit::kWeek
            : unit == 'D' ? Unit::kDay
                          : Unit::kNone,
            amount);
      }
    }
    if (count == 0) bad();
  }

  void iso_alternative(std::int64_t first, bool negative, bool in_time) {
    if (!in_time) {
      add_months(negative ? -first * 12 : first * 12);
      ++at_;
      add_months(integer());
      if (peek() == '-') {
        ++at_;
        add_days(integer());
      }
      if (peek() == '\0') return;
      if (peek() != 'T' && peek() != 't') bad();
      ++at_;
      negative = peek() == '-';
      if (negative || peek() == '+') ++at_;
      if (!digit(peek())) bad();
      first = integer();
    }
    if (peek() != ':') bad();
    clock(first, negative);
    if (at_ != text_.size()) bad();
  }

  std::string_view text_;
  IntervalStyle style_;
  int range_;
  std::size_t at_ = 0;
  Interval result_;
  int fields_ = 0;
  bool pending_ = false;
  Amount pending_amount_;
  bool ago_ = false;
  bool sql_negative_ = false;
};

}  // namespace

Interval parse_interval(std::string_view text, IntervalStyle style, int typmod) {
  return IntervalParser{text, style, typmod}.run();
}

}  // namespace pinwheel::sql
