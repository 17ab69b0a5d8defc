#include "server/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "base/sqlstate.h"

namespace pinwheel::server {
namespace {

constexpr int kBacklog = 1024;

std::vector<std::string> split_list(const std::string& list) {
  std::vector<std::string> items;
  std::string item;
  for (const char c : list + ",") {
    if (c == ',') {
      while (!item.empty() && item.back() == ' ') item.pop_back();
      if (item.size() >= 2 && item.front() == '"' && item.back() == '"')
        item = item.substr(1, item.size() - 2);
      if (!item.empty()) items.push_back(item);
      item.clear();
    } else if (c != ' ' || !item.empty()) {
      item += c;
    }
  }
  return items;
}

void log_bind_failure(const std::string& family, const std::string& where, int error_number) {
  log(LogLevel::kLog, "could not bind {} address \"{}\": {}", family, where, std::strerror(error_number));
}

}  // namespace

Listener::Listener(const ListenSettings& settings, const LockFileContent& lock_content) {
  const std::vector<std::string> hosts = split_list(settings.listen_addresses);
  for (const std::string& host : hosts) listen_tcp(host, settings.port);
  if (!hosts.empty() && sockets_.empty()) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "could not create any TCP/IP sockets"}
        .hint("Is another postmaster already running on port " + std::to_string(settings.port) +
              "? If not, wait a few seconds and retry.")
        .fatal();
  }
  const std::vector<std::string> directories = split_list(settings.unix_socket_directories);
  for (const std::string& directory : directories) listen_unix(directory, settings, lock_content);
  if (!directories.empty() && socket_paths_.empty()) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "could not create any Unix-domain sockets"}
        .fatal();
  }
  if (sockets_.empty()) {
    throw SqlError{sqlstate::kObjectNotInPrerequisiteState, "no socket created for listening"}.fatal();
  }
}

Listener::~Listener() { close(); }

void Listener::listen_tcp(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int error =
      ::getaddrinfo(host == "*" ? nullptr : host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    log(LogLevel::kLog, "could not translate host name \"{}\", service \"{}\" to address: {}", host, port,
        ::gai_strerror(error));
    return;
  }
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (at->ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    char text[INET6_ADDRSTRLEN] = "";
    const void* address =
        at->ai_family == AF_INET
            ? static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(at->ai_addr)->sin_addr)
            : &reinterpret_cast<sockaddr_in6*>(at->ai_addr)->sin6_addr;
    ::inet_ntop(at->ai_family, address, text, sizeof text);
    const std::string family = at->ai_family == AF_INET ? "IPv4" : "IPv6";
    if (::bind(fd, at->ai_addr, at->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
      log_bind_failure(family, text, errno);
      ::close(fd);
      continue;
    }
    log(LogLevel::kLog, "listening on {} address \"{}\", port {}", family, text, port);
    sockets_.push_back(fd);
    if (first_address_.empty()) first_address_ = host;
  }
  ::freeaddrinfo(found);
}

void Listener::listen_unix(const std::string& directory, const ListenSettings& settings,
                           const LockFileContent& lock_content) {
  const std::string path = directory + "/.s.PGSQL." + std::to_string(settings.port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    log(LogLevel::kLog, "Unix-domain socket path \"{}\" is too long (maximum {} bytes)", path,
        sizeof address.sun_path - 1);
    return;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  auto lock = std::make_unique<SocketLock>(path, lock_content);
  ::unlink(path.c_str());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd, kBacklog) != 0) {
    log_bind_failure("Unix", path, errno);
    if (fd >= 0) ::close(fd);
    return;
  }
  if (!settings.unix_socket_group.empty()) {
    if (const group* entry = ::getgrnam(settings.unix_socket_group.c_str()); entry != nullptr) {
      if (::chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
        log(LogLevel::kLog, "could not set group of file \"{}\": {}", path, std::strerror(errno));
      }
    } else {
      log(LogLevel::kLog, "group \"{}\" does not exist", settings.unix_socket_group);
    }
  }
  ::chmod(path.c_str(), static_cast<mode_t>(settings.unix_socket_permissions));
  log(LogLevel::kLog, "listening on Unix socket \"{}\"", path);
  sockets_.push_back(fd);
  socket_paths_.push_back(path);
  socket_locks_.push_back(std::move(lock));
  if (first_socket_directory_.empty()) first_socket_directory_ = directory;
}

void Listener::close_in_child() {
  for (const int fd : sockets_) ::close(fd);
  sockets_.clear();
}

void Listener::close() {
  close_in_child();
  for (const std::string& path : socket_paths_) ::unlink(path.c_str());
  socket_paths_.clear();
  socket_locks_.clear();
}

}  // namespace pinwheel::server
