#include "base/checksum.h"

#include <array>
#include <catch2/catch.hpp>
#include <string_view>

#include "base/bytes.h"

namespace pinwheel {

TEST_CASE("checksums of known bytes never change", "[base][checksum][format]") {
  CHECK(crc32c(0, "123456789", 9) == 0xE3069283u);
  CHECK(xxh3_64("", 0) == 0x2D06800538D394C2ull);
  std::array<std::byte, kPageSize> page{};
  CHECK(page_checksum(page, 0, 8) == 17617);
}

TEST_CASE("any changed byte, and any other block, changes a page's checksum", "[base][checksum]") {
  std::array<std::byte, kPageSize> page{};
  const std::uint16_t before = page_checksum(page, 1, 8);
  CHECK(before != 0);
  CHECK(page_checksum(page, 2, 8) != before);
  for (const std::size_t at : {0u, 7u, 10u, 4000u, 8191u}) {
    page[at] = std::byte{1};
    CHECK(page_checksum(page, 1, 8) != before);
    page[at] = std::byte{0};
  }
  page[8] = page[9] = std::byte{0xFF};  // its own field does not count
  CHECK(page_checksum(page, 1, 8) == before);
}

TEST_CASE("a log checksum in pieces equals that of the whole", "[base][checksum]") {
  std::string text(1000, 'x');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  for (const std::size_t cut : {0u, 1u, 17u, 300u, 999u}) {
    WalChecksum pieces{42};
    pieces.update(text.data(), cut);
    pieces.update(text.data() + cut, text.size() - cut);
    CHECK(pieces.finish() == wal_checksum(42, as_byte_span(text)));
  }
  CHECK(wal_checksum(42, as_byte_span(text)) != wal_checksum(43, as_byte_span(text)));
}

TEST_CASE("crc32c in pieces equals that of the whole", "[base][checksum]") {
  const std::string_view text = "the quick brown fox";
  CHECK(crc32c(crc32c(0, text.data(), 7), text.data() + 7, text.size() - 7) ==
        crc32c(0, text.data(), text.size()));
}

}  // namespace pinwheel
