#pragma once

#include <string>
#include <utility>

namespace pinwheel::canned {

/// Owns a file descriptor.
class [[nodiscard]] FileDescriptor {
 public:
  FileDescriptor() noexcept = default;
  explicit FileDescriptor(int fd) noexcept : fd_{fd} {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  int get() const noexcept { return fd_; }
  bool is_open() const noexcept { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A TCP socket that listens, not blocking. Throws std::system_error.
FileDescriptor listen_tcp(const std::string& address, int port);

/// A Unix socket that listens at `path`, not blocking; replaces one that nobody serves any more. Throws
/// std::system_error, also when another server has it.
FileDescriptor listen_unix(const std::string& path);

/// The next client of a listening socket, blocking and without delay of small messages; closed when there is
/// none.
FileDescriptor accept_client(int listener) noexcept;

/// Passes a descriptor to another process over a Unix socket, and takes it there. Both block; taking returns
/// a closed one at the end of the channel.
bool send_descriptor(int channel, int fd) noexcept;
FileDescriptor receive_descriptor(int channel) noexcept;

}  // namespace pinwheel::canned
