#include "server/wire_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "protocol/message.h"
#include "protocol/reader.h"

namespace pinwheel::server {
namespace {

using protocol::Backend;
using protocol::MessageReader;

void append_int32(std::string& out, std::uint32_t value) {
  value = __builtin_bswap32(value);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// `body` with its length in front.
std::string with_length(std::string_view body) {
  std::string out;
  append_int32(out, static_cast<std::uint32_t>(body.size() + 4));
  return out.append(body);
}

/// An ErrorResponse as what it says.
SqlError error_of(std::string_view payload) {
  MessageReader reader{payload};
  char code[6] = "XX000";
  std::string text;
  while (!reader.at_end()) {
    const char field = static_cast<char>(reader.byte());
    if (field == '\0') break;
    const std::string_view value = reader.string();
    if (field == 'C' && value.size() == 5) std::memcpy(code, value.data(), 5);
    if (field == 'M') text = value;
  }
  return SqlError{SqlState{code}, text};
}

WireRow row_of(std::string_view payload) {
  MessageReader reader{payload};
  WireRow row;
  const std::int16_t columns = reader.int16();
  for (std::int16_t i = 0; i < columns; ++i) {
    const std::int32_t length = reader.int32();
    if (length < 0) {
      row.emplace_back();
    } else {
      row.emplace_back(reader.bytes(static_cast<std::size_t>(length)));
    }
  }
  return row;
}

}  // namespace

WireClient::WireClient(const ConnectionTarget& target) {
  connect(fmt::format("{}/.s.PGSQL.{}", target.socket_directory, target.port));
  std::string body;
  append_int32(body, protocol::kProtocolVersion3);
  for (const std::string_view part :
       {std::string_view{"user"}, std::string_view{target.user}, std::string_view{"database"},
        std::string_view{target.database}, std::string_view{"application_name"},
        std::string_view{target.application_name}}) {
    body.append(part).push_back('\0');
  }
  body.push_back('\0');
  send(with_length(body));
  while (true) {
    const Message message = read_message();
    switch (static_cast<Backend>(message.type)) {
      case Backend::kErrorResponse:
        throw error_of(message.payload);
      case Backend::kAuthentication:
        if (MessageReader{message.payload}.int32() != 0) {
          throw SqlError{sqlstate::kFeatureNotSupported, "the server asks for a password"}.hint(
              "Allow trust or peer authentication over the Unix socket in pg_hba.conf.");
        }
        break;
      case Backend::kReadyForQuery:
        return;
      default:
        break;
    }
  }
}

WireClient::~WireClient() {
  if (fd_ < 0) return;
  constexpr char kTerminate[] = {'X', 0, 0, 0, 4};
  // The server notices a closed socket as well: a failure here does no harm.
  [[maybe_unused]] const ssize_t sent = ::send(fd_, kTerminate, sizeof kTerminate, MSG_NOSIGNAL);
  ::close(fd_);
}

void WireClient::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto fail = [&](const std::string& why) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    throw SqlError{sqlstate::kConnectionFailure,
                   fmt::format("connection to server on socket \"{}\" failed: {}", path, why)};
  };
  if (path.size() >= sizeof address.sun_path) fail("the path is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(std::strerror(errno));
}

void WireClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) throw SqlError{sqlstate::kConnectionFailure, "the server closed the connection"};
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void WireClient::read(char* into, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::recv(fd_, into, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw SqlError{sqlstate::kConnectionFailure, "the server closed the connection"};
    into += got;
    count -= static_cast<std::size_t>(got);
  }
}

WireClient::Message WireClient::read_message() {
  char head[5];
  read(head, sizeof head);
  std::uint32_t length;
  std::memcpy(&length, head + 1, sizeof length);
  length = __builtin_bswap32(length);
  if (length < 4 || length > protocol::kMaxLargeMessageBytes)
    throw SqlError{sqlstate::kProtocolViolation, "invalid message length from the server"};
  Message message{head[0], std::string(length - 4, '\0')};
  read(message.payload.data(), message.payload.size());
  return message;
}

std::vector<WireRow> WireClient::query(std::string_view text) {
  std::string body{text};
  body.push_back('\0');
  send("Q" + with_length(body));
  std::vector<WireRow> rows;
  std::optional<SqlError> error;
  while (true) {
    const Message message = read_message();
    switch (static_cast<Backend>(message.type)) {
      case Backend::kDataRow:
        rows.push_back(row_of(message.payload));
        break;
      case Backend::kErrorResponse:
        error = error_of(message.payload);
        break;
      case Backend::kReadyForQuery:
        if (error) throw *error;
        return rows;
      default:
        break;
    }
  }
}

}  // namespace pinwheel::server
