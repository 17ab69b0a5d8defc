#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinwheel::protocol {

enum class StartupKind : std::uint8_t { kSession, kCancel, kSslRequest, kGssEncRequest };

/// A decoded start-up packet.
struct StartupPacket {
  StartupKind kind = StartupKind::kSession;
  // kSession
  int minor_version = 0;
  std::string user;
  std::string database;  ///< the user's name when the client named none
  /// Parameters to set as if by SET, in order: those named in the packet, then those from `options` (-c
  /// name=value,
  /// --name=value).
  std::vector<std::pair<std::string, std::string>> settings;
  /// Names that began with "_pq_.": protocol extensions we do not know; answered by NegotiateProtocolVersion.
  std::vector<std::string> unknown_extensions;
  bool replication = false;
  // kCancel
  std::int32_t cancel_pid = 0;
  std::int32_t cancel_secret = 0;
};

/// Decodes the payload of a start-up frame. Errors: FATAL 0A000 for a protocol other than 3, 08P01 for a
/// malformed packet, 28000 when no user is named.
StartupPacket parse_startup(std::string_view payload);

}  // namespace pinwheel::protocol
