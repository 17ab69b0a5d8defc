#pragma once

#include <cstdint>
#include <string>

#include "bench/canned/canned_session.h"
#include "bench/canned/sockets.h"

namespace pinwheel::canned {

/// A client's socket with its conversation: one recv and one send per turn while nothing is left over.
class ClientLink {
 public:
  ClientLink(FileDescriptor socket, std::int32_t id, std::int64_t burn_us)
      : socket_{std::move(socket)}, session_{id, burn_us} {}

  int fd() const noexcept { return socket_.get(); }

  /// Receives what is there, answers and sends. Returns false when the client is gone or done. A socket that
  /// does not block leaves output pending; call turn() again when wants_to_send() and the socket is writable.
  bool turn();

  bool wants_to_send() const noexcept { return sent_ < output_.size(); }

 private:
  bool receive();
  bool send_pending();

  FileDescriptor socket_;
  CannedSession session_;
  std::string input_;   // an incomplete message
  std::string output_;  // answers; sent up to sent_
  std::size_t sent_ = 0;
};

}  // namespace pinwheel::canned
