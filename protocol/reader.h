#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pinwheel::protocol {

/// Takes fields off the payload of one message, in network byte order.
///
/// Errors: every accessor throws SqlError 08P01 when the payload is shorter than asked for; the views it
/// returns point into the payload.
class MessageReader {
 public:
  MessageReader() = default;
  explicit MessageReader(std::string_view payload) : rest_{payload} {}

  std::uint8_t byte();
  std::int16_t int16();
  std::int32_t int32();
  /// Up to a zero byte, which is consumed.
  std::string_view string();
  std::string_view bytes(std::size_t count);
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }
  /// Throws 08P01 unless all was consumed.
  void expect_end() const;

 private:
  const char* take(std::size_t count);
  std::string_view rest_;
};

/// What the bytes at the front of the input hold.
enum class FrameState : std::uint8_t { kIncomplete, kComplete, kBadType, kBadLength };

struct Frame {
  FrameState state = FrameState::kIncomplete;
  char type = 0;
  std::string_view payload;
  /// Bytes of the whole frame; also set when incomplete and the header is there, so that the caller can
  /// make room for it. 0 when not even the header is there.
  std::size_t total_bytes = 0;
};

/// Looks for one message (type, length, payload) at the front of `input`. Takes no memory, whatever length
/// the header claims.
Frame next_frame(std::string_view input) noexcept;

/// The same for the start-up phase, whose packets have no type byte.
Frame next_startup_frame(std::string_view input) noexcept;

}  // namespace pinwheel::protocol
