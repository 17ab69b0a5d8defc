#pragma once

#include <cstdint>
#include <ctime>

namespace pinwheel {

/// Microseconds between 1970-01-01 and 2000-01-01, where PostgreSQL's timestamps begin.
inline constexpr std::int64_t kPostgresEpochUs = 946'684'800'000'000;

namespace clock_detail {
inline std::int64_t read_ns(clockid_t id) noexcept {
  timespec now;
  clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}
}  // namespace clock_detail

/// Nanoseconds of the clock that never jumps; equal in all processes of the machine.
inline std::int64_t monotonic_ns() noexcept { return clock_detail::read_ns(CLOCK_MONOTONIC); }

/// The same clock as of the last timer tick (a few milliseconds old), at a third of the cost.
inline std::int64_t coarse_monotonic_ns() noexcept { return clock_detail::read_ns(CLOCK_MONOTONIC_COARSE); }

/// Wall clock as PostgreSQL's timestamptz: microseconds since 2000-01-01 00:00 UTC.
inline std::int64_t wall_clock_us() noexcept {
  return clock_detail::read_ns(CLOCK_REALTIME) / 1000 - kPostgresEpochUs;
}

/// A point of the monotonic clock at which a wait gives up.
struct Deadline {
  /// Nanoseconds of monotonic_ns(); the greatest value means never.
  std::int64_t at_ns = INT64_MAX;

  static constexpr Deadline never() noexcept { return {}; }
  static Deadline at(std::int64_t monotonic) noexcept { return {monotonic}; }
  static Deadline after_ms(std::int64_t ms) noexcept { return {monotonic_ns() + ms * 1'000'000}; }
  static Deadline after_us(std::int64_t us) noexcept { return {monotonic_ns() + us * 1'000}; }
  constexpr bool is_never() const noexcept { return at_ns == INT64_MAX; }
  bool passed() const noexcept { return !is_never() && monotonic_ns() >= at_ns; }
  constexpr Deadline sooner(Deadline other) const noexcept { return at_ns < other.at_ns ? *this : other; }
};

}  // namespace pinwheel
