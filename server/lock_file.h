#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace pinwheel::server {

/// What postmaster.pid says, line by line, in PostgreSQL's format, so that its tools can read it.
///
///   line 1  process id of the launcher
///   line 2  data directory
///   line 3  start time, Unix seconds
///   line 4  port
///   line 5  directory of the first Unix socket
///   line 6  first address of listen_addresses
///   line 7  (shared memory key and id: blank, anonymous memory has none)
///   line 8  status: "starting", "stopping", "ready   ", "standby "
struct LockFileContent {
  pid_t pid = 0;
  std::string data_directory;
  std::int64_t start_time = 0;
  int port = 0;
  std::string socket_directory;
  std::string listen_address;
  std::string status;
};

/// Reads DIR/postmaster.pid; nothing when there is none or its first line is no number.
std::optional<LockFileContent> read_lock_file(const std::string& data_directory);

/// True when a process with this id exists and could be a server: a stale file whose pid was given to someone
/// else is told apart by DirectoryLock, not by this.
bool process_exists(pid_t pid);

/// Exclusive use of a data directory, for as long as the launcher or any of its children lives.
///
/// Two things together: an flock on DIR/pinwheel.lock, whose open file the children inherit, so that a new
/// server cannot start while an orphan of a killed one still runs; and postmaster.pid for people and tools. A
/// stale postmaster.pid (launcher killed, machine restarted, pid reused) is recognised by the flock being
/// free.
class DirectoryLock {
 public:
  /// Waits up to `orphan_wait_ms` for orphans to die. Errors: FATAL 55006 `lock file "postmaster.pid" already
  /// exists` with PostgreSQL's hint when another server runs there; 58030 on file errors.
  DirectoryLock(const std::string& data_directory, int orphan_wait_ms);
  /// In the launcher: removes postmaster.pid. (A child must not run this: it leaves by _exit.)
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Writes postmaster.pid anew.
  void write(const LockFileContent& content);
  void set_status(const std::string& status);

 private:
  std::string data_directory_;
  int lock_fd_ = -1;
  LockFileContent content_;
};

/// The same for a Unix socket's path: SOCKET.lock. Errors: FATAL 55006.
class SocketLock {
 public:
  SocketLock(const std::string& socket_path, const LockFileContent& content);
  ~SocketLock();
  SocketLock(const SocketLock&) = delete;
  SocketLock& operator=(const SocketLock&) = delete;

 private:
  std::string path_;
};

}  // namespace pinwheel::server
