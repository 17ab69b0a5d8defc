#include "bench/tpcc/random.h"

#include <array>

namespace pinwheel::tpcc {

Random Random::stream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index) noexcept {
  Random mixer{seed};
  mixer.state_ = mixer.next() ^ purpose;
  mixer.state_ = mixer.next() ^ index;
  return Random{mixer.next()};
}

std::uint64_t Random::next() noexcept {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

int Random::uniform(int low, int high) noexcept {
  // The upper half of a 32 by 32 bit product: no division, and a bias below one in 2^32 / (high - low).
  const std::uint64_t range = static_cast<std::uint64_t>(high - low) + 1;
  return low + static_cast<int>(((next() >> 32) * range) >> 32);
}

double Random::unit() noexcept { return static_cast<double>((next() >> 11) + 1) * 0x1p-53; }

int Random::nurand(int a, int c, int low, int high) noexcept {
  return ((uniform(0, a) | uniform(low, high)) + c) % (high - low + 1) + low;
}

void append_text(std::string& to, Random& random, int size) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 x";
  static_assert(kLetters.size() == 64);
  constexpr int kLettersPerDraw = 10;  // of 6 bits each
  while (size > 0) {
    std::uint64_t bits = random.next();
    for (int i = 0; i < kLettersPerDraw && size > 0; ++i, --size, bits >>= 6) to += kLetters[bits & 63];
  }
}

void append_digits(std::string& to, Random& random, int size) {
  for (; size > 0; --size) to += static_cast<char>('0' + random.uniform(0, 9));
}

std::string last_name(int number) {
  constexpr std::array<std::string_view, 10> kSyllables{"BAR", "OUGHT", "ABLE",  "PRI",   "PRES",
                                                        "ESE", "ANTI",  "CALLY", "ATION", "EING"};
  std::string name;
  for (const int divisor : {100, 10, 1}) name += kSyllables[static_cast<std::size_t>(number / divisor % 10)];
  return name;
}

}  // namespace pinwheel::tpcc
