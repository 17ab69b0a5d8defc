#pragma once

#include <cstdint>

namespace pinwheel {

/// Lowest address that the running stack may use, with room left for what throws and unwinds. Set by whoever
/// switches stacks (the fiber scheduler, a process's main); 0 = not limited.
extern std::uintptr_t stack_limit;

/// Throws 54001: "stack depth limit exceeded".
[[noreturn]] void throw_stack_depth_exceeded();

/// Stands at the head of every function that recurses over user input. One compare.
inline void check_stack_depth() {
  if (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit) [[unlikely]]
    throw_stack_depth_exceeded();
}

}  // namespace pinwheel
