#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/reader.h"
#include "protocol/writer.h"
#include "server/poller.h"
#include "server/scheduler.h"

namespace pinwheel::server {

/// Where a connection came from.
struct PeerInfo {
  bool local = false;   ///< Unix socket
  std::string address;  ///< printable; empty for a Unix socket
  std::uint16_t port = 0;
};

/// A session's non-blocking socket with an input buffer. Waits park the fiber.
///
/// Input is read only when the poller has said that there is some, and a read that fills less than the buffer
/// means the socket is drained: a steady statement costs one recv and one send.
class ClientSocket final : public PollTarget {
 public:
  /// Takes over `fd`, sets it non-blocking and registers it.
  ClientSocket(int fd, Fiber& fiber);
  ~ClientSocket() override;
  ClientSocket(const ClientSocket&) = delete;
  ClientSocket& operator=(const ClientSocket&) = delete;

  enum class ReadResult : std::uint8_t { kFrame, kClosed, kInterrupted, kTimeout };

  /// Waits for a whole message. The frame's payload stays valid until the next call. A bad type or length is
  /// returned as such in `frame.state` with kFrame. kInterrupted: an interrupt is pending on the fiber's
  /// slot.
  ReadResult read_frame(protocol::Frame& frame, bool startup, Deadline deadline = Deadline::never());

  /// True when a whole message is in the buffer already: the next read_frame() will not wait.
  bool frame_buffered(bool startup) const;

  /// Sends all of it. False when the client is gone (what was to be sent is dropped then).
  bool send(std::string_view bytes);

  bool closed() const { return closed_; }
  int fd() const { return fd_; }
  const PeerInfo& peer() const { return peer_; }

  void on_events(std::uint32_t events) override;

 private:
  enum class Fill : std::uint8_t { kGot, kEmpty, kClosed };
  Fill fill(std::size_t want_bytes);
  void wait_writable();

  int fd_;
  Fiber& fiber_;
  PeerInfo peer_;
  std::vector<char> input_;
  std::size_t begin_ = 0;  ///< first unconsumed byte
  std::size_t end_ = 0;
  bool maybe_readable_ = true;
  bool writable_ = true;
  bool closed_ = false;
};

}  // namespace pinwheel::server
