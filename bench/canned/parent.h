#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bench/canned/sockets.h"

namespace pinwheel::canned {

struct ServerOptions {
  std::string address = "127.0.0.1";  // empty: no TCP
  std::string socket_directory;       // empty: no Unix socket
  int port = 5433;
  int processes = 2;  // 0: one per connection
  std::int64_t burn_us = 0;
};

/// The process that listens: accepts clients and forks a process for each, or deals them out in turn to a
/// fixed number of pooled processes, as Pinwheel's launcher does in its two modes.
class Parent {
 public:
  /// Opens the sockets and, in pooled mode, starts the processes. Throws std::system_error.
  explicit Parent(const ServerOptions& options);
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent();

  /// Serves until SIGINT or SIGTERM. Returns the exit status: 1 when a pooled process died.
  int run();

 private:
  /// In the child: leave by _exit only, the destructor is the parent's.
  pid_t fork_child();
  void start_pool();
  void admit(FileDescriptor client);
  /// False when a pooled process has ended.
  bool reap();

  ServerOptions options_;
  std::string socket_path_;
  FileDescriptor signals_;
  std::vector<FileDescriptor> listeners_;
  std::vector<FileDescriptor> channels_;  // to the pooled processes
  std::vector<pid_t> children_;
  std::int32_t admitted_ = 0;
};

}  // namespace pinwheel::canned
