#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "storage/page/page.h"

namespace pinwheel::storage {

namespace {

struct PageBuffer {
  alignas(64) std::array<std::byte, kPageSize> bytes{};
  Page page() { return Page{bytes.data()}; }
  ConstPageBytes span() const { return ConstPageBytes{bytes.data(), kPageSize}; }
};

std::span<const std::byte> item(const std::string& text) { return as_byte_span(text); }
std::string text_at(Page page, std::uint16_t slot) {
  return {reinterpret_cast<const char*>(page.item(slot)), page.line(slot).length()};
}

}  // namespace

TEST_CASE("an initialised page has the documented bytes", "[storage][page][format]") {
  PageBuffer buffer;
  buffer.page().init(PageKind::kBtree, 16);
  buffer.page().set_lsn(Lsn{0x1122334455667788});
  const std::string abc = "abc";
  REQUIRE(buffer.page().add_item(item(abc)) == 1);

  const unsigned char expected[36] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,  // lsn
                                      0,    0,    0,    0,                             // checksum, flags
                                      36,   0,    0xE8, 0x1F, 0xF0, 0x1F,           // lower, upper, special
                                      1,    2,    0,    0,    0,    0,              // version, kind, reserved
                                      0,    0,    0,    0,    0,    0,    0,    0,  // prune_xid
                                      0xE8, 0x9F, 0x06, 0};                         // offset, state, length
  CHECK(std::memcmp(buffer.bytes.data(), expected, sizeof expected) == 0);
  CHECK(std::memcmp(buffer.bytes.data() + 0x1FE8, "abc", 3) == 0);
  CHECK(check_page(buffer.span(), PageNumber{7}, true) == PageError::kNone);
}

TEST_CASE("a header whose bounds cross is refused", "[storage][page][format]") {
  PageBuffer buffer;
  buffer.page().init(PageKind::kHeap);
  const auto lower = GENERATE(std::uint16_t{0}, std::uint16_t{31}, std::uint16_t{34}, std::uint16_t{8193});
  buffer.page().header().lower = lower;
  CHECK(check_header(buffer.span()) == PageError::kBadBounds);
}

TEST_CASE("a line pointer outside the items is refused", "[storage][page][format]") {
  PageBuffer buffer;
  buffer.page().init(PageKind::kHeap);
  const std::string text(40, 'x');
  REQUIRE(buffer.page().add_item(item(text)) == 1);
  const LinePointer bad =
      GENERATE(LinePointer::make(LineState::kNormal, 8, 40), LinePointer::make(LineState::kNormal, 8160, 48),
               LinePointer::make(LineState::kNormal, 8153, 30), LinePointer::make(LineState::kNormal, 0, 0),
               LinePointer::make(LineState::kRedirect, 2, 0));
  buffer.page().set_line(1, bad);
  CHECK(check_header(buffer.span()) == PageError::kBadLine);
}

TEST_CASE("any flipped byte of a written page is noticed", "[storage][page][format]") {
  PageBuffer buffer;
  buffer.page().init(PageKind::kHeap);
  const std::string text(500, 'x');
  buffer.page().add_item(item(text));
  set_checksum(PageBytes{buffer.bytes.data(), kPageSize}, PageNumber{3});
  REQUIRE(check_page(buffer.span(), PageNumber{3}, true) == PageError::kNone);
  CHECK(check_page(buffer.span(), PageNumber{4}, true) == PageError::kBadChecksum);
  for (std::size_t at = 0; at < kPageSize; at += 97) {
    buffer.bytes[at] ^= std::byte{0x10};
    CHECK(check_page(buffer.span(), PageNumber{3}, true) != PageError::kNone);
    buffer.bytes[at] ^= std::byte{0x10};
  }
}

TEST_CASE("a page of zeroes is new and fine", "[storage][page]") {
  PageBuffer buffer;
  CHECK(buffer.page().is_new());
  CHECK(check_page(buffer.span(), PageNumber{0}, true) == PageError::kNone);
  buffer.bytes[8191] = std::byte{1};
  CHECK(check_page(buffer.span(), PageNumber{0}, true) != PageError::kNone);
}

TEST_CASE("compaction returns the bytes of items that went and keeps the others", "[storage][page]") {
  PageBuffer buffer;
  const Page page = buffer.page();
  page.init(PageKind::kHeap);
  std::vector<std::string> texts;
  for (int i = 0; i < 20; ++i) {
    texts.push_back(std::string(static_cast<std::size_t>(100 + i), static_cast<char>('a' + i)));
    REQUIRE(page.add_item(item(texts.back())) == i + 1);
  }
  const std::size_t gap = page.gap();
  page.set_line(3, LinePointer::make(LineState::kUnused, 0, 0));
  page.set_line(20, LinePointer::make(LineState::kDead, 0, 0));
  page.set_flag(kPageHasUnusedLines);
  page.compact();
  CHECK(page.gap() == gap + align_item(102) + align_item(119));
  for (std::uint16_t slot = 1; slot <= 19; ++slot) {
    if (slot != 3) CHECK(text_at(page, slot) == texts[slot - 1u]);
  }
  CHECK(check_header(buffer.span()) == PageError::kNone);
  // The free slot is used before a new one.
  CHECK(page.find_slot(10) == 3);
}

TEST_CASE("items are inserted, replaced and removed in order", "[storage][page]") {
  PageBuffer buffer;
  const Page page = buffer.page();
  page.init(PageKind::kBtree, 16);
  const std::string b = "bbbbbbbbbb", a = "aa", c = "cccccccccccccccccccc", longer(300, 'L'), shorter = "s";
  REQUIRE(page.insert_item_at(1, item(b)));
  REQUIRE(page.insert_item_at(1, item(a)));
  REQUIRE(page.insert_item_at(3, item(c)));
  CHECK(text_at(page, 1) == a);
  CHECK(text_at(page, 2) == b);
  CHECK(text_at(page, 3) == c);
  REQUIRE(page.overwrite_item(2, item(longer)));
  CHECK(text_at(page, 1) == a);
  CHECK(text_at(page, 2) == longer);
  CHECK(text_at(page, 3) == c);
  REQUIRE(page.overwrite_item(2, item(shorter)));
  CHECK(text_at(page, 2) == shorter);
  page.remove_item_at(1);
  CHECK(page.slot_count() == 2);
  CHECK(text_at(page, 1) == shorter);
  CHECK(text_at(page, 2) == c);
  CHECK(page.gap() == kPageSize - kPageHeaderSize - 16 - 2 * 4 - 8 - 24);
  CHECK(check_header(buffer.span()) == PageError::kNone);
  const std::uint16_t both[] = {1, 2};
  page.remove_items_at(both);
  CHECK(page.slot_count() == 0);
  CHECK(page.gap() == kPageSize - kPageHeaderSize - 16);
}

TEST_CASE("an item that does not fit is refused and changes nothing", "[storage][page]") {
  PageBuffer buffer;
  const Page page = buffer.page();
  page.init(PageKind::kHeap);
  const std::string most(kMaxItemSize, 'm'), one = "1";
  REQUIRE(page.add_item(item(most)) == 1);
  const PageBuffer before = buffer;
  CHECK(page.add_item(item(one)) == 0);
  CHECK_FALSE(page.insert_item_at(1, item(one)));
  CHECK(before.bytes == buffer.bytes);
}

}  // namespace pinwheel::storage
