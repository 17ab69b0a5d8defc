#include "bench/tpcc/event_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/clock.h"

namespace pinwheel::tpcc {

EventLoop::EventLoop(const std::atomic<bool>& stop) : stop_{stop}, epoll_{epoll_create1(EPOLL_CLOEXEC)} {
  if (epoll_ < 0) throw std::system_error(errno, std::generic_category(), "epoll_create1");
}

EventLoop::~EventLoop() { close(epoll_); }

void EventLoop::add(int fd, ReadableListener& listener) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &listener;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

void EventLoop::remove(int fd) noexcept { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

void EventLoop::turn() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout_ms());
  for (int i = 0; i < count; ++i)
    static_cast<ReadableListener*>(events[static_cast<std::size_t>(i)].data.ptr)->on_readable();
  wake_sleepers();
}

int EventLoop::timeout_ms() const {
  if (sleepers_.empty()) return kStopCheckMs;
  const std::int64_t left_ns = std::max<std::int64_t>(sleepers_.top().at_ns - monotonic_ns(), 0);
  return static_cast<int>(std::min<std::int64_t>((left_ns + 999'999) / 1'000'000, kStopCheckMs));
}

void EventLoop::wake_sleepers() {
  const std::int64_t now = monotonic_ns();
  while (!sleepers_.empty() && (is_stopping() || sleepers_.top().at_ns <= now)) {
    const auto handle = sleepers_.top().handle;
    sleepers_.pop();
    handle.resume();
  }
}

}  // namespace pinwheel::tpcc
