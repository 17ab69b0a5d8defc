#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <queue>
#include <vector>

namespace pinwheel::tpcc {

/// What a loop calls when its descriptor has something to read.
class ReadableListener {
 public:
  virtual ~ReadableListener() = default;
  virtual void on_readable() = 0;
};

/// One thread's waits: descriptors (epoll) and sleeping coroutines. Used by its own thread only, save for
/// `stop`, which every loop of a run shares.
class EventLoop {
 public:
  /// Once `stop` is true, sleepers wake at once, within kStopCheckMs.
  explicit EventLoop(const std::atomic<bool>& stop);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;
  ~EventLoop();

  /// The listener must outlive the descriptor's registration.
  void add(int fd, ReadableListener& listener);
  void remove(int fd) noexcept;

  /// `co_await loop.sleep_until(monotonic_ns() + ...)`.
  auto sleep_until(std::int64_t at_ns) {
    struct Sleep {
      EventLoop& loop;
      std::int64_t at_ns;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> sleeper) { loop.sleepers_.push({at_ns, sleeper}); }
      void await_resume() const noexcept {}
    };
    return Sleep{*this, at_ns};
  }

  bool is_stopping() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// Waits once, for at most kStopCheckMs, and resumes whom it concerns.
  void turn();

 private:
  static constexpr int kStopCheckMs = 50;

  struct Sleeper {
    std::int64_t at_ns;
    std::coroutine_handle<> handle;
    bool operator<(const Sleeper& other) const noexcept { return at_ns > other.at_ns; }  // soonest on top
  };

  int timeout_ms() const;
  void wake_sleepers();

  const std::atomic<bool>& stop_;
  int epoll_;
  std::priority_queue<Sleeper> sleepers_;
};

}  // namespace pinwheel::tpcc
