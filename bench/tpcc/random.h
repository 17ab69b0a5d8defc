#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pinwheel::tpcc {

/// A reproducible stream of numbers (splitmix64). Equal seeds give equal streams on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}

  /// A stream of its own for each (seed, purpose, index), so that what one consumer draws does not move
  /// another's.
  static Random stream(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index) noexcept;

  std::uint64_t next() noexcept;
  /// Uniform in [low, high].
  int uniform(int low, int high) noexcept;
  bool chance(int percent) noexcept { return uniform(1, 100) <= percent; }
  /// In (0, 1].
  double unit() noexcept;
  /// TPC-C 2.1.6: non-uniform in [low, high], with the constant `c` of the run.
  int nurand(int a, int c, int low, int high) noexcept;

 private:
  std::uint64_t state_;
};

/// Appends `size` letters, digits and blanks; none is special in COPY's text format.
void append_text(std::string& to, Random& random, int size);
/// Appends `size` digits.
void append_digits(std::string& to, Random& random, int size);
/// The last name that TPC-C 4.3.2.3 makes of a number below 1000: three syllables, one for each digit.
std::string last_name(int number);

}  // namespace pinwheel::tpcc
