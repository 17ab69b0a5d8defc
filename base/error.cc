#include "base/error.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace pinwheel {

void panic(const char* file, int line, std::string_view message) noexcept {
  // write(2) of a stack buffer: nothing here may allocate or take a lock of the C library.
  char text[1024];
  const int size = std::snprintf(text, sizeof text, "[%d] PANIC:  %.*s (%s:%d)\n", static_cast<int>(getpid()),
                                 static_cast<int>(message.size()), message.data(), file, line);
  const std::size_t shown = size < 0 ? 0 : std::min(static_cast<std::size_t>(size), sizeof text - 1);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, shown);
  std::abort();
}

}  // namespace pinwheel
