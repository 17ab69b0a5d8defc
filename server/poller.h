#pragma once

#include <array>
#include <cstdint>

struct epoll_event;

namespace pinwheel::server {

/// Whoever wants to hear about one descriptor.
class PollTarget {
 public:
  virtual ~PollTarget() = default;
  /// `events` are EPOLL* bits. Runs on the process's main stack.
  virtual void on_events(std::uint32_t events) = 0;
};

/// A backend's readiness multiplexer: epoll, edge-triggered, each descriptor registered once.
///
/// Why not Boost.Asio here: its reactor re-arms a descriptor by epoll_ctl, or tries a read first, for every
/// wait, which is a third system call per statement (docs/decisions/0001-epoll-in-backends.md).
class Poller {
 public:
  Poller();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Registers for readability and hang-up, edge-triggered. The target outlives the registration.
  void add(int fd, PollTarget* target);
  /// Level-triggered: for eventfds and hand-over sockets that are drained by someone else.
  void add_level(int fd, PollTarget* target);
  /// Also (or no longer) reports writability; only while a send is blocked.
  void watch_writable(int fd, PollTarget* target, bool on);
  void remove(int fd) noexcept;

  /// Waits up to `timeout_ms` (-1 = for ever, 0 = not at all) and calls the targets. Returns the number of
  /// events.
  int wait(int timeout_ms);

 private:
  void control(int operation, int fd, std::uint32_t events, PollTarget* target);
  int epoll_fd_;
};

}  // namespace pinwheel::server
