#include "protocol/reader.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"
#include "protocol/message.h"

using namespace pinwheel::protocol;
using namespace std::string_literals;

namespace {

std::string frame_of(char type, const std::string& payload) {
  const auto length = static_cast<std::uint32_t>(payload.size() + 4);
  std::string bytes{type};
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift);
  return bytes + payload;
}

}  // namespace

TEST_CASE("a whole message is found with its payload and length", "[protocol][reader]") {
  const std::string bytes = frame_of('Q', "select 1\0"s) + "X";
  const Frame frame = next_frame(bytes);
  REQUIRE(frame.state == FrameState::kComplete);
  CHECK(frame.type == 'Q');
  CHECK(frame.payload == "select 1\0"s);
  CHECK(frame.total_bytes == bytes.size() - 1);
}

TEST_CASE("every proper prefix of a message is incomplete", "[protocol][reader]") {
  const std::string bytes = frame_of('P', "name\0select $1\0\0\0"s);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK(next_frame(std::string_view{bytes}.substr(0, length)).state == FrameState::kIncomplete);
  }
  CHECK(next_frame(std::string_view{bytes}.substr(0, 5)).total_bytes == bytes.size());
}

TEST_CASE("lengths that cannot be are refused before anything is read", "[protocol][reader]") {
  CHECK(next_frame("Q\0\0\0\3"s).state == FrameState::kBadLength);
  CHECK(next_frame("Q\x7F\xFF\xFF\xFF"s).state == FrameState::kBadLength);
  CHECK(next_frame("S\0\1\0\0"s).state == FrameState::kBadLength);  // Sync is a small message
  CHECK(next_startup_frame("\0\0\0\7"s).state == FrameState::kBadLength);
  CHECK(next_startup_frame("\0\1\0\0"s).state == FrameState::kBadLength);
}

TEST_CASE("an unknown message type is told at its first byte", "[protocol][reader]") {
  for (int type = 0; type < 256; ++type) {
    const std::string one(1, static_cast<char>(type));
    const bool known = std::string{"BCDEHPQSXdcfFp"}.find(one) != std::string::npos;
    CHECK((next_frame(one).state == FrameState::kBadType) == !known);
  }
}

TEST_CASE("fields come off in network order and short payloads raise 08P01", "[protocol][reader]") {
  const std::string payload = "\1\2\3\0\0\1\0abc\0rest"s;
  MessageReader reader{payload};
  CHECK(reader.int16() == 0x0102);
  CHECK(reader.int32() == 0x03000001);
  CHECK(reader.byte() == 0);
  CHECK(reader.string() == "abc");
  CHECK(reader.bytes(2) == "re");
  CHECK_THROWS_AS(reader.int32(), pinwheel::SqlError);
  CHECK_THROWS_AS(reader.expect_end(), pinwheel::SqlError);
  CHECK_THROWS_AS(MessageReader{"no zero"}.string(), pinwheel::SqlError);
}
