#pragma once

#include <cstdint>

namespace pinwheel::protocol {

/// First byte of a message from the client.
enum class Frontend : char {
  kBind = 'B',
  kClose = 'C',
  kDescribe = 'D',
  kExecute = 'E',
  kFlush = 'H',
  kParse = 'P',
  kQuery = 'Q',
  kSync = 'S',
  kTerminate = 'X',
  kCopyData = 'd',
  kCopyDone = 'c',
  kCopyFail = 'f',
  kFunctionCall = 'F',
  kPassword = 'p'
};

/// First byte of a message from the server.
enum class Backend : char {
  kAuthentication = 'R',
  kBackendKeyData = 'K',
  kBindComplete = '2',
  kCloseComplete = '3',
  kCommandComplete = 'C',
  kCopyData = 'd',
  kCopyDone = 'c',
  kCopyInResponse = 'G',
  kCopyOutResponse = 'H',
  kDataRow = 'D',
  kEmptyQueryResponse = 'I',
  kErrorResponse = 'E',
  kNegotiateProtocolVersion = 'v',
  kNoData = 'n',
  kNoticeResponse = 'N',
  kParameterDescription = 't',
  kParameterStatus = 'S',
  kParseComplete = '1',
  kPortalSuspended = 's',
  kReadyForQuery = 'Z',
  kRowDescription = 'T',
  kNotificationResponse = 'A'
};

/// Special codes in the place of the protocol version of a start-up packet.
inline constexpr std::uint32_t kProtocolVersion3 = 196'608;
inline constexpr std::uint32_t kCancelRequestCode = 80'877'102;
inline constexpr std::uint32_t kSslRequestCode = 80'877'103;
inline constexpr std::uint32_t kGssEncRequestCode = 80'877'104;

/// Longest start-up packet, and longest message of each class, in bytes (as in PostgreSQL 15). A length
/// beyond these is a protocol violation: nothing is allocated for it.
inline constexpr std::uint32_t kMaxStartupBytes = 10'000;
inline constexpr std::uint32_t kMaxSmallMessageBytes = 10'000;
inline constexpr std::uint32_t kMaxLargeMessageBytes = 0x3FFF'FFFF;

}  // namespace pinwheel::protocol
