#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/lock_file.h"

namespace pinwheel::server {

struct ListenSettings {
  std::string listen_addresses;         ///< comma list; "*" all, "" none
  std::string unix_socket_directories;  ///< comma list
  int unix_socket_permissions = 0777;
  std::string unix_socket_group;
  int port = 5432;
};

/// The launcher's listening sockets. Files of Unix sockets are removed when this dies.
class Listener {
 public:
  /// Opens all that can be opened. Errors: FATAL when no TCP socket, or no Unix socket, of those asked for
  /// could be made (port in use...), in PostgreSQL's words; 55006 when another server holds the socket's lock
  /// file.
  Listener(const ListenSettings& settings, const LockFileContent& lock_content);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Listening, non-blocking, close-on-exec.
  const std::vector<int>& sockets() const { return sockets_; }
  const std::string& first_socket_directory() const { return first_socket_directory_; }
  const std::string& first_address() const { return first_address_; }
  /// Stops listening, and removes the sockets' files.
  void close();
  /// In a child: closes the descriptors only.
  void close_in_child();

 private:
  void listen_tcp(const std::string& host, int port);
  void listen_unix(const std::string& directory, const ListenSettings& settings,
                   const LockFileContent& lock_content);

  std::vector<int> sockets_;
  std::vector<std::string> socket_paths_;
  std::vector<std::unique_ptr<SocketLock>> socket_locks_;
  std::string first_socket_directory_;
  std::string first_address_;
};

}  // namespace pinwheel::server
