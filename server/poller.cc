#include "server/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

constexpr int kEventsPerWait = 256;
constexpr std::uint32_t kReadEvents = EPOLLIN | EPOLLRDHUP;

}  // namespace

Poller::Poller() : epoll_fd_{::epoll_create1(EPOLL_CLOEXEC)} {
  if (epoll_fd_ < 0) {
    throw SqlError{sqlstate::kInsufficientResources,
                   std::string{"could not create epoll set: "} + std::strerror(errno)};
  }
}

Poller::~Poller() { ::close(epoll_fd_); }

void Poller::add(int fd, PollTarget* target) { control(EPOLL_CTL_ADD, fd, kReadEvents | EPOLLET, target); }

void Poller::add_level(int fd, PollTarget* target) { control(EPOLL_CTL_ADD, fd, EPOLLIN, target); }

void Poller::watch_writable(int fd, PollTarget* target, bool on) {
  control(EPOLL_CTL_MOD, fd, kReadEvents | EPOLLET | (on ? std::uint32_t{EPOLLOUT} : 0u), target);
}

void Poller::remove(int fd) noexcept {
  epoll_event unused{};
  ::epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, &unused);
}

int Poller::wait(int timeout_ms) {
  epoll_event events[kEventsPerWait];
  const int count = ::epoll_wait(epoll_fd_, events, kEventsPerWait, timeout_ms);
  for (int i = 0; i < count; ++i) static_cast<PollTarget*>(events[i].data.ptr)->on_events(events[i].events);
  return count > 0 ? count : 0;
}

void Poller::control(int operation, int fd, std::uint32_t events, PollTarget* target) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = target;
  if (::epoll_ctl(epoll_fd_, operation, fd, &event) != 0) {
    throw SqlError{sqlstate::kInsufficientResources,
                   std::string{"could not add descriptor to epoll set: "} + std::strerror(errno)};
  }
}

}  // namespace pinwheel::server
