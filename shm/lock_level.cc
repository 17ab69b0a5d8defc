#include "shm/lock_level.h"

#ifdef PINWHEEL_DEBUG_CHECKS

#include <cstddef>
#include <cstdio>

#include "base/error.h"

namespace pinwheel::shm {
namespace {

struct Held {
  LockLevel level;
  bool ordered;
  const void* what;
};

/// Process-wide: nobody parks while latched, so all entries belong to the running session.
constexpr std::size_t kMostHeld = 1200;  // a bulk operation may latch every partition
Held held[kMostHeld];
std::size_t held_count = 0;

void push(LockLevel level, bool ordered, const void* what) noexcept {
  if (held_count == kMostHeld) DB_PANIC("too many latches held at once");
  held[held_count++] = {level, ordered, what};
}

[[noreturn]] void report(const char* problem, LockLevel level) noexcept {
  char text[160];
  std::snprintf(text, sizeof text, "%s: level %d wanted, level %d held", problem, static_cast<int>(level),
                held_count == 0 ? 0 : static_cast<int>(held[held_count - 1].level));
  DB_PANIC(text);
}

}  // namespace

void note_acquire(LockLevel level, const void* what) noexcept {
  for (std::size_t i = 0; i < held_count; ++i) {
    if (held[i].what == what) report("latch taken twice", level);
    // What a try got out of order does not bind later waits to its level: it was taken without waiting, but
    // waiting while it is held can deadlock as any other wait can, so it counts.
    if (held[i].level > level || (held[i].level == level && !allows_same_level(level))) {
      report("latch order broken", level);
    }
  }
  push(level, true, what);
}

void note_acquire_unordered(LockLevel level, const void* what) noexcept { push(level, false, what); }

void note_release(LockLevel level, const void* what) noexcept {
  for (std::size_t i = held_count; i-- > 0;) {
    if (held[i].what != what) continue;
    for (std::size_t j = i + 1; j < held_count; ++j) held[j - 1] = held[j];
    --held_count;
    return;
  }
  report("latch released that is not held", level);
}

void assert_nothing_latched() noexcept {
  if (held_count != 0) report("parking while latched", LockLevel{0});
}

bool is_latched_by_me(const void* what) noexcept {
  for (std::size_t i = 0; i < held_count; ++i) {
    if (held[i].what == what) return true;
  }
  return false;
}

}  // namespace pinwheel::shm

#endif
