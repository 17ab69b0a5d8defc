#pragma once

#include <atomic>
#include <cstdint>

namespace pinwheel::shm {

/// Tells the CPU that we spin.
inline void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// For a handful of instructions that cannot fail, park, allocate or take another lock. Lives in shared
/// memory; all zero is unlocked. After some spinning it yields the CPU, since the holder may have been
/// preempted.
class SpinLock {
 public:
  void lock() noexcept {
    if (word_.exchange(1, std::memory_order_acquire) != 0) [[unlikely]]
      lock_slow();
  }
  bool try_lock() noexcept { return word_.exchange(1, std::memory_order_acquire) == 0; }
  void unlock() noexcept { word_.store(0, std::memory_order_release); }

 private:
  void lock_slow() noexcept;
  std::atomic<std::uint32_t> word_{0};
};

/// Holds a SpinLock for a scope.
class [[nodiscard]] SpinGuard {
 public:
  explicit SpinGuard(SpinLock& lock) noexcept : lock_{lock} { lock_.lock(); }
  ~SpinGuard() { lock_.unlock(); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  SpinLock& lock_;
};

}  // namespace pinwheel::shm
