#include "base/bytes.h"

#include <array>
#include <catch2/catch.hpp>

#include "tests/base/error_text.h"

namespace pinwheel {

TEST_CASE("integers have their golden bytes in both orders", "[base][bytes][format]") {
  std::array<std::byte, 8> bytes{};
  store<std::uint32_t>(bytes.data(), 0x01020304);
  CHECK(as_text(std::span{bytes}.first(4)) == "\x04\x03\x02\x01");
  store_network<std::uint32_t>(bytes.data(), 0x01020304);
  CHECK(as_text(std::span{bytes}.first(4)) == "\x01\x02\x03\x04");
  store_network<std::int16_t>(bytes.data(), -2);
  CHECK(load_network<std::int16_t>(bytes.data()) == -2);
  CHECK(load<std::uint16_t>(bytes.data()) == 0xFEFF);
}

TEST_CASE("what a writer wrote a reader reads", "[base][bytes]") {
  std::array<std::byte, 32> bytes{};
  ByteWriter writer{bytes};
  CHECK(writer.write<std::uint64_t>(7));
  CHECK(writer.write_network<std::uint16_t>(513));
  CHECK(writer.write_text("abc"));
  CHECK(writer.write<std::uint8_t>(0));
  ByteReader reader{std::span<const std::byte>{bytes}.first(writer.size())};
  std::uint64_t a = 0;
  std::uint16_t b = 0;
  std::string_view text;
  CHECK((reader.read(a) && reader.read_network(b) && reader.read_zero_terminated(text)));
  CHECK(a == 7);
  CHECK(b == 513);
  CHECK(text == "abc");
  CHECK(reader.remaining() == 0);
}

TEST_CASE("a reader past its end fails and stays failed", "[base][bytes]") {
  ByteReader reader{std::string_view{"abc"}};
  std::uint32_t word = 0;
  std::uint8_t byte = 0;
  CHECK_FALSE(reader.read(word));
  CHECK_FALSE(reader.read(byte));
  CHECK_FALSE(reader.ok());
  CHECK(reader.remaining() == 3);
  std::string_view text;
  CHECK_FALSE(ByteReader{std::string_view{"abc"}}.read_zero_terminated(text));
  CHECK(test::error_of([] { ByteReader{std::string_view{"a"}}.take<std::uint32_t>("header"); }) ==
        "XX001 unexpected end of data in header");
}

TEST_CASE("a writer past its end writes nothing", "[base][bytes]") {
  std::array<std::byte, 3> bytes{};
  ByteWriter writer{bytes};
  CHECK_FALSE(writer.write<std::uint32_t>(1));
  CHECK_FALSE(writer.ok());
  CHECK(writer.size() == 0);
}

}  // namespace pinwheel
