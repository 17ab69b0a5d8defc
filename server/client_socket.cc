#include "server/client_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pinwheel::server {
namespace {

constexpr std::size_t kInputBytes = 8192;
/// A buffer that a large message has grown is given back once it is empty.
constexpr std::size_t kKeepInputBytes = 64 * 1024;

PeerInfo peer_of(int fd) {
  PeerInfo peer;
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      address.ss_family == AF_UNIX) {
    peer.local = true;
    return peer;
  }
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    peer.port = ntohs(in.sin_port);
  } else {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    peer.port = ntohs(in.sin6_port);
  }
  peer.address = text;
  return peer;
}

}  // namespace

ClientSocket::ClientSocket(int fd, Fiber& fiber) : fd_{fd}, fiber_{fiber}, peer_{peer_of(fd)} {
  ::fcntl(fd_, F_SETFL, ::fcntl(fd_, F_GETFL) | O_NONBLOCK);
  if (!peer_.local) {
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  }
  fiber_.scheduler().poller().add(fd_, this);
}

ClientSocket::~ClientSocket() {
  fiber_.scheduler().poller().remove(fd_);
  ::close(fd_);
}

void ClientSocket::on_events(std::uint32_t events) {
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) maybe_readable_ = true;
  if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) writable_ = true;
  fiber_.resume_soon();
}

ClientSocket::Fill ClientSocket::fill(std::size_t want_bytes) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    if (input_.size() > kKeepInputBytes && want_bytes <= kInputBytes) {
      input_.resize(kInputBytes);
      input_.shrink_to_fit();
    }
  }
  want_bytes = std::max(want_bytes, kInputBytes);
  if (input_.size() < want_bytes || input_.size() - begin_ < want_bytes) {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(begin_),
              input_.begin() + static_cast<std::ptrdiff_t>(end_), input_.begin());
    end_ -= begin_;
    begin_ = 0;
    if (input_.size() < want_bytes) input_.resize(want_bytes);
  }
  const std::size_t room = input_.size() - end_;
  while (true) {
    const ssize_t got = ::recv(fd_, input_.data() + end_, room, 0);
    if (got > 0) {
      end_ += static_cast<std::size_t>(got);
      maybe_readable_ = static_cast<std::size_t>(got) == room;
      return Fill::kGot;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      maybe_readable_ = false;
      return Fill::kEmpty;
    }
    closed_ = true;
    return Fill::kClosed;
  }
}

bool ClientSocket::frame_buffered(bool startup) const {
  const std::string_view input{input_.data() + begin_, end_ - begin_};
  const protocol::Frame frame = startup ? protocol::next_startup_frame(input) : protocol::next_frame(input);
  return frame.state != protocol::FrameState::kIncomplete;
}

ClientSocket::ReadResult ClientSocket::read_frame(protocol::Frame& frame, bool startup, Deadline deadline) {
  while (true) {
    const std::string_view input{input_.data() + begin_, end_ - begin_};
    frame = startup ? protocol::next_startup_frame(input) : protocol::next_frame(input);
    if (frame.state != protocol::FrameState::kIncomplete) {
      begin_ += frame.total_bytes;
      return ReadResult::kFrame;
    }
    if (closed_) return ReadResult::kClosed;
    if (maybe_readable_) {
      // Grow with what has arrived, not with what the header claims.
      const std::size_t have = end_ - begin_;
      const std::size_t want =
          frame.total_bytes == 0 ? kInputBytes : std::min(frame.total_bytes, have * 2 + kInputBytes);
      fill(want);
      continue;
    }
    switch (fiber_.park(shm::WaitEvent::kClientRead, deadline)) {
      case shm::WakeReason::kReady:
        break;
      case shm::WakeReason::kTimeout:
        return ReadResult::kTimeout;
      case shm::WakeReason::kCancelled:
      case shm::WakeReason::kTerminated:
        return ReadResult::kInterrupted;
    }
    // Interrupts that end no wait (reload, catalog news) are the caller's to serve between messages.
    if (fiber_.slot().interrupts.load(std::memory_order_relaxed) != 0 && !maybe_readable_)
      return ReadResult::kInterrupted;
  }
}

bool ClientSocket::send(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      closed_ = true;
      break;
    }
    writable_ = false;
    fiber_.scheduler().poller().watch_writable(fd_, this, true);
    wait_writable();
    fiber_.scheduler().poller().watch_writable(fd_, this, false);
  }
  return !closed_;
}

void ClientSocket::wait_writable() {
  // A cancel does not stop a half-sent reply, and must not make the wait spin: it is put aside until the
  // reply is out, and served at the next check_interrupts().
  std::uint32_t put_aside = 0;
  while (!writable_ && !closed_) {
    put_aside |= fiber_.slot().interrupts.fetch_and(~shm::kCancellingInterrupts, std::memory_order_acq_rel) &
                 shm::kCancellingInterrupts;
    const shm::WakeReason reason = fiber_.park(shm::WaitEvent::kClientWrite, Deadline::never());
    if (reason == shm::WakeReason::kTerminated)
      closed_ = true;  // a client that does not read is not waited for
  }
  if (put_aside != 0) fiber_.slot().interrupts.fetch_or(put_aside, std::memory_order_acq_rel);
}

}  // namespace pinwheel::server
