#include "bench/canned/serve.h"

#include <fcntl.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <memory>
#include <unordered_map>

#include "bench/canned/client_link.h"

namespace pinwheel::canned {
namespace {

/// The clients of one pooled process by descriptor.
class Pool {
 public:
  Pool(FileDescriptor channel, std::int64_t burn_us)
      : channel_{std::move(channel)}, burn_us_{burn_us}, epoll_{epoll_create1(EPOLL_CLOEXEC)} {
    watch(channel_.get(), EPOLLIN, EPOLL_CTL_ADD);
  }

  void run() {
    std::array<epoll_event, 64> events;
    while (true) {
      const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
      if (count < 0 && errno != EINTR) return;
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == channel_.get()) {
          if (!take_client()) return;
        } else {
          serve(*links_.at(fd));
        }
      }
    }
  }

 private:
  bool take_client() {
    FileDescriptor client = receive_descriptor(channel_.get());
    if (!client.is_open()) return false;
    const int fd = client.get();
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    links_.emplace(fd, std::make_unique<ClientLink>(std::move(client), next_id_++, burn_us_));
    watch(fd, EPOLLIN, EPOLL_CTL_ADD);
    return true;
  }

  void serve(ClientLink& link) {
    const int fd = link.fd();
    const bool was_sending = link.wants_to_send();
    if (!link.turn()) {
      // Closing alone would leave it in the epoll set while the parent still has its copy open.
      watch(fd, 0, EPOLL_CTL_DEL);
      links_.erase(fd);
    } else if (link.wants_to_send() != was_sending) {
      watch(fd, was_sending ? EPOLLIN : EPOLLOUT, EPOLL_CTL_MOD);
    }
  }

  void watch(int fd, std::uint32_t what, int operation) {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    epoll_ctl(epoll_.get(), operation, fd, &event);
  }

  FileDescriptor channel_;
  std::int64_t burn_us_;
  FileDescriptor epoll_;
  std::unordered_map<int, std::unique_ptr<ClientLink>> links_;
  std::int32_t next_id_ = 1;
};

}  // namespace

void serve_client(FileDescriptor client, std::int32_t id, std::int64_t burn_us) {
  ClientLink link{std::move(client), id, burn_us};
  while (link.turn()) {
  }
}

void serve_pool(FileDescriptor channel, std::int64_t burn_us) { Pool{std::move(channel), burn_us}.run(); }

}  // namespace pinwheel::canned
