#include "bench/canned/client_link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace pinwheel::canned {

bool ClientLink::turn() {
  // A client that reads nothing gets no more answers.
  if (wants_to_send()) return send_pending();
  return receive() && send_pending();
}

bool ClientLink::receive() {
  std::array<char, 16'384> buffer;
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  const std::string_view received{buffer.data(), static_cast<std::size_t>(got)};
  if (input_.empty()) {
    const std::size_t used = session_.feed(received, output_);
    input_.assign(received.substr(used));
  } else {
    input_ += received;
    input_.erase(0, session_.feed(input_, output_));
  }
  return true;
}

bool ClientLink::send_pending() {
  while (sent_ < output_.size()) {
    const ssize_t n = send(socket_.get(), output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    sent_ += static_cast<std::size_t>(n);
  }
  output_.clear();
  sent_ = 0;
  return !session_.is_over();
}

}  // namespace pinwheel::canned
