#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace pinwheel::failpoint {

/// Number of armed failpoints in this process: the one word that an unarmed failpoint reads.
inline std::atomic<std::uint32_t> armed_count{0};

/// Runs the action armed for `name`, if any. Errors: XX000 for the action "error".
void hit_slow(std::string_view name);

/// Marks a place where tests make something happen. Costs one relaxed load while nothing is armed.
inline void hit(std::string_view name) {
  if (armed_count.load(std::memory_order_relaxed) != 0) [[unlikely]]
    hit_slow(name);
}

/// Arms failpoints from a list "name=action[;name=action...]". Actions:
///   error          throw SqlError XX000
///   crash          SIGKILL this process
///   sleep(MS)      sleep that long
///   pause(PATH)    wait until the file PATH does not exist
///   off            disarm
/// An action may be prefixed "N*", to act on the first N hits only, or "N@", to act from the Nth hit on.
/// Armed points are inherited by fork. Errors: 22023 for text that does not parse.
void arm(std::string_view list);

/// Arms what the environment variable PINWHEEL_FAILPOINTS says; called once by main.
void arm_from_environment();

void disarm_all() noexcept;

/// Hits of `name` since it was armed, whatever its action did.
std::uint64_t hits(std::string_view name) noexcept;

}  // namespace pinwheel::failpoint
