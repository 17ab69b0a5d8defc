#include "protocol/reader.h"

#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/sqlstate.h"
#include "protocol/message.h"

namespace pinwheel::protocol {
namespace {

std::uint32_t load_u32(const char* at) noexcept {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap32(value);
}

/// Largest length field a message of this type may claim; 0 for an unknown type.
std::uint32_t length_limit(char type) noexcept {
  switch (static_cast<Frontend>(type)) {
    case Frontend::kQuery:
    case Frontend::kParse:
    case Frontend::kBind:
    case Frontend::kFunctionCall:
    case Frontend::kCopyData:
      return kMaxLargeMessageBytes;
    case Frontend::kPassword:
      return 65'536;
    case Frontend::kClose:
    case Frontend::kDescribe:
    case Frontend::kExecute:
    case Frontend::kFlush:
    case Frontend::kSync:
    case Frontend::kTerminate:
    case Frontend::kCopyDone:
    case Frontend::kCopyFail:
      return kMaxSmallMessageBytes;
  }
  return 0;
}

}  // namespace

const char* MessageReader::take(std::size_t count) {
  if (rest_.size() < count) {
    throw SqlError{sqlstate::kProtocolViolation, "insufficient data left in message"};
  }
  const char* at = rest_.data();
  rest_.remove_prefix(count);
  return at;
}

std::uint8_t MessageReader::byte() { return static_cast<std::uint8_t>(*take(1)); }

std::int16_t MessageReader::int16() {
  std::uint16_t value;
  std::memcpy(&value, take(2), sizeof value);
  return static_cast<std::int16_t>(__builtin_bswap16(value));
}

std::int32_t MessageReader::int32() { return static_cast<std::int32_t>(load_u32(take(4))); }

std::string_view MessageReader::string() {
  const std::size_t length = rest_.find('\0');
  if (length == std::string_view::npos) {
    throw SqlError{sqlstate::kProtocolViolation, "invalid string in message"};
  }
  const std::string_view text = rest_.substr(0, length);
  rest_.remove_prefix(length + 1);
  return text;
}

std::string_view MessageReader::bytes(std::size_t count) { return {take(count), count}; }

void MessageReader::expect_end() const {
  if (!rest_.empty()) throw SqlError{sqlstate::kProtocolViolation, "invalid message format"};
}

Frame next_frame(std::string_view input) noexcept {
  Frame frame;
  if (input.empty()) return frame;
  frame.type = input.front();
  const std::uint32_t limit = length_limit(frame.type);
  if (limit == 0) {
    frame.state = FrameState::kBadType;
    return frame;
  }
  if (input.size() < 5) return frame;
  const std::uint32_t length = load_u32(input.data() + 1);
  if (length < 4 || length > limit) {
    frame.state = FrameState::kBadLength;
    return frame;
  }
  frame.total_bytes = std::size_t{1} + length;
  if (input.size() < frame.total_bytes) return frame;
  frame.payload = input.substr(5, length - 4);
  frame.state = FrameState::kComplete;
  return frame;
}

Frame next_startup_frame(std::string_view input) noexcept {
  Frame frame;
  if (input.size() < 4) return frame;
  const std::uint32_t length = load_u32(input.data());
  if (length < 8 || length > kMaxStartupBytes) {
    frame.state = FrameState::kBadLength;
    return frame;
  }
  frame.total_bytes = length;
  if (input.size() < length) return frame;
  frame.payload = input.substr(4, length - 4);
  frame.state = FrameState::kComplete;
  return frame;
}

}  // namespace pinwheel::protocol
