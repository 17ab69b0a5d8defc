#include "bench/canned/sockets.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace pinwheel::canned {
namespace {

constexpr int kBacklog = 1024;

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

template <class Address>
FileDescriptor listen_at(const Address& address, const std::string& name) {
  const int family = reinterpret_cast<const sockaddr*>(&address)->sa_family;
  FileDescriptor socket{::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const int on = 1;
  if (family == AF_INET) setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(socket.get(), kBacklog) != 0) {
    throw_errno("cannot listen on " + name);
  }
  return socket;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

FileDescriptor listen_tcp(const std::string& address, int port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(static_cast<std::uint16_t>(port));
  if (inet_pton(AF_INET, address.c_str(), &in.sin_addr) != 1) {
    errno = EINVAL;
    throw_errno("not an IPv4 address: " + address);
  }
  return listen_at(in, address + ":" + std::to_string(port));
}

FileDescriptor listen_unix(const std::string& path) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  if (path.size() >= sizeof un.sun_path) {
    errno = ENAMETOOLONG;
    throw_errno("cannot listen on " + path);
  }
  std::memcpy(un.sun_path, path.data(), path.size());
  const FileDescriptor probe{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&un), sizeof un) != 0 && errno == ECONNREFUSED)
    unlink(path.c_str());
  return listen_at(un, path);
}

FileDescriptor accept_client(int listener) noexcept {
  FileDescriptor client{accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)};
  const int on = 1;  // fails, harmlessly, for a Unix socket
  if (client.is_open()) setsockopt(client.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return client;
}

bool send_descriptor(int channel, int fd) noexcept {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return sendmsg(channel, &message, MSG_NOSIGNAL) == 1;
}

FileDescriptor receive_descriptor(int channel) noexcept {
  char byte = 0;
  iovec data{&byte, 1};
  int fd = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fd)]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1) return {};
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return FileDescriptor{fd};
}

}  // namespace pinwheel::canned
