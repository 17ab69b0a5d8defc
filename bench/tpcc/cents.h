#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pinwheel::tpcc {

/// An amount of money, a numeric with two decimals in the database. Exact, because the consistency conditions
/// are.
struct Cents {
  std::int64_t value = 0;

  friend bool operator==(Cents, Cents) = default;
  friend Cents operator+(Cents a, Cents b) noexcept { return {a.value + b.value}; }
  friend Cents operator*(Cents a, int times) noexcept { return {a.value * times}; }
};

/// Appends it as "-12.34".
inline void append_cents(std::string& to, Cents amount) {
  if (amount.value < 0) to += '-';
  const std::int64_t magnitude = std::llabs(amount.value);
  to += std::to_string(magnitude / 100);
  to += '.';
  to += static_cast<char>('0' + magnitude / 10 % 10);
  to += static_cast<char>('0' + magnitude % 10);
}

/// Reads what a server prints for a numeric; digits beyond the second decimal are dropped.
inline Cents parse_cents(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  int decimals = -1;
  for (const char c : text.substr(negative ? 1 : 0)) {
    if (c == '.') {
      decimals = 0;
    } else if (decimals < 2) {
      value = value * 10 + (c - '0');
      if (decimals >= 0) ++decimals;
    }
  }
  for (decimals = decimals < 0 ? 0 : decimals; decimals < 2; ++decimals) value *= 10;
  return {negative ? -value : value};
}

}  // namespace pinwheel::tpcc
