#pragma once

namespace pinwheel::sql {

// GCC and Clang have it; ISO C++ does not.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace pinwheel::sql
