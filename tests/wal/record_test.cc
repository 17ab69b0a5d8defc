#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "wal/assembler.h"
#include "wal/describe.h"
#include "wal/record.h"

using namespace pinwheel;
using namespace pinwheel::wal;

namespace {

constexpr Lsn kStart{0x1000028};
const PageTag kTag{FileId{Oid{5}, Oid{16384}}, Fork::kMain, PageNumber{7}};

std::vector<std::byte> finish(const Assembled& assembled, const std::vector<std::byte>& scratch, Lsn start) {
  std::vector<std::byte> bytes{scratch.begin(), scratch.begin() + static_cast<long>(assembled.size_bytes)};
  store(bytes.data(), seal_record_hash(assembled.content_hash, start));
  return bytes;
}

std::vector<std::byte> assemble(const RecordBuilder& record, Xid xid, ImagePolicy policy = {}) {
  std::vector<std::byte> scratch;
  return finish(RecordAssembler::assemble(record, xid, policy, scratch), scratch, kStart);
}

std::vector<std::byte> sample() {
  RecordBuilder record{RmgrId::kHeap, std::uint8_t{0x10}};
  record.data("abc", 3);
  record.block(0, kTag, nullptr, kBlockNoImage);
  record.block_data(0, "xy", 2);
  return assemble(record, Xid{0x1122334455667788});
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  char two[3];
  for (const std::byte b : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(b));
    text += two;
  }
  return text;
}

std::vector<std::byte> filled_page(Lsn lsn, std::uint16_t hole_offset, std::uint16_t hole_length) {
  std::vector<std::byte> page(kPageSize);
  for (std::size_t i = 0; i < page.size(); ++i) page[i] = static_cast<std::byte>(i * 31 / 64);
  std::memset(page.data() + hole_offset, 0, hole_length);
  store(page.data(), lsn.value);
  return page;
}

}  // namespace

TEST_CASE("a record's bytes are those of the format document", "[wal][record][format]") {
  CHECK(hex(sample()) ==
        "5abcca31"          // checksum
        "2d000000"          // total length 45
        "8877665544332211"  // xid
        "0a10"              // Heap, kind 0x10
        "0100"              // one block, no flags
        "03000000"          // three bytes of main data
        "05000000"          // database
        "00400000"          // relation
        "07000000"          // page
        "0000"              // block index 0, main fork
        "0200"              // two bytes of block data
        "7879"              // "xy"
        "616263"            // "abc"
        "000000");          // to the next multiple of 8
}

TEST_CASE("a record is read back as it was built", "[wal][record]") {
  const std::vector<std::byte> bytes = sample();
  RecordView view;
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  CHECK(view.start() == kStart);
  CHECK(view.end() == kStart + bytes.size());
  CHECK(view.xid() == Xid{0x1122334455667788});
  CHECK(view.rmgr() == RmgrId::kHeap);
  CHECK(view.kind() == 0x10);
  CHECK(as_text(view.data()) == "abc");
  REQUIRE(view.blocks().size() == 1);
  REQUIRE(view.block(0) != nullptr);
  CHECK(view.block(1) == nullptr);
  CHECK(view.block(0)->tag == kTag);
  CHECK_FALSE(view.block(0)->has_image);
  CHECK(as_text(view.block(0)->data) == "xy");
}

TEST_CASE("a record with any bit flipped is refused", "[wal][record][format]") {
  const std::vector<std::byte> good = sample();
  RecordView view;
  for (std::size_t at = 0; at < good.size() * 8; ++at) {
    std::vector<std::byte> bad = good;
    bad[at / 8] ^= static_cast<std::byte>(1u << (at % 8));
    CHECK(decode_record(bad, kStart, view) != DecodeError::kNone);
  }
}

TEST_CASE("a record cut short or found at another position is refused", "[wal][record][format]") {
  const std::vector<std::byte> good = sample();
  RecordView view;
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(decode_record({good.data(), size}, kStart, view) == DecodeError::kTruncated);
  }
  CHECK(decode_record(good, kStart + 8, view) == DecodeError::kBadChecksum);
  CHECK(decode_record(good, Lsn{kStart.value + (1ULL << 32)}, view) == DecodeError::kBadChecksum);
}

TEST_CASE("a page image survives every compression, with its hole left out", "[wal][record][image]") {
  const auto compression = GENERATE(ImageCompression::kNone, ImageCompression::kLz4, ImageCompression::kZstd);
  const PageHole hole{200, 5000};
  const std::vector<std::byte> page = filled_page(Lsn{1}, hole.offset, hole.length);
  RecordBuilder record{RmgrId::kBtree, std::uint8_t{0}};
  record.block(3, kTag, page.data(), kBlockForceImage, hole);
  record.block_data(3, "dropped", 7);
  const std::vector<std::byte> bytes = assemble(record, Xid{9}, {Lsn{0}, true, compression});
  RecordView view;
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  REQUIRE(view.block(3) != nullptr);
  const BlockView& block = *view.block(3);
  CHECK(block.has_image);
  CHECK(block.compression == compression);
  CHECK(block.data.empty());
  CHECK(bytes.size() < 3300);
  std::vector<std::byte> restored(kPageSize, std::byte{0xEE});
  restore_image(block, std::span<std::byte, kPageSize>{restored.data(), kPageSize});
  CHECK(restored == page);
}

TEST_CASE("an image that does not decompress is reported as damage", "[wal][record][image]") {
  const std::vector<std::byte> page = filled_page(Lsn{1}, 0, 0);
  RecordBuilder record{RmgrId::kBtree, std::uint8_t{0}};
  record.block(0, kTag, page.data(), kBlockForceImage);
  const std::vector<std::byte> bytes = assemble(record, Xid{9}, {Lsn{0}, true, ImageCompression::kLz4});
  RecordView view;
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  BlockView block = *view.block(0);
  block.image = block.image.first(block.image.size() / 2);
  std::vector<std::byte> restored(kPageSize);
  CHECK_THROWS_AS(restore_image(block, std::span<std::byte, kPageSize>{restored.data(), kPageSize}),
                  SqlError);
}

TEST_CASE("images are taken for pages not changed since the redo point", "[wal][record][image]") {
  struct Case {
    std::uint64_t page_lsn;
    BlockFlags flags;
    bool full_page_writes;
    bool image;
  };
  const Case c = GENERATE(Case{99, kBlockDefault, true, true}, Case{100, kBlockDefault, true, true},
                          Case{101, kBlockDefault, true, false}, Case{99, kBlockDefault, false, false},
                          Case{101, kBlockForceImage, false, true}, Case{99, kBlockNoImage, true, false},
                          Case{99, kBlockWillInit, true, false});
  const std::vector<std::byte> page = filled_page(Lsn{c.page_lsn}, 0, 0);
  RecordBuilder record{RmgrId::kHeap, std::uint8_t{0}};
  record.block(0, kTag, page.data(), c.flags);
  record.block_data(0, "zz", 2);
  RecordView view;
  const std::vector<std::byte> bytes = assemble(record, Xid{1}, {Lsn{100}, c.full_page_writes});
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  CHECK(view.block(0)->has_image == c.image);
  CHECK(view.block(0)->data.empty() == c.image);
  CHECK(view.block(0)->will_init == (c.flags == kBlockWillInit));
}

TEST_CASE("block data stays beside an image when asked", "[wal][record][image]") {
  const std::vector<std::byte> page = filled_page(Lsn{1}, 0, 0);
  RecordBuilder record{RmgrId::kHeap, std::uint8_t{0}};
  record.block(1, kTag, page.data(), kBlockForceImage | kBlockKeepData);
  record.block_data(1, "ke", 2);
  record.block_data(1, "pt", 2);
  record.data("main", 4);
  RecordView view;
  const std::vector<std::byte> bytes = assemble(record, Xid{1});
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  CHECK(as_text(view.block(1)->data) == "kept");
  CHECK(as_text(view.data()) == "main");
}

TEST_CASE("a record shows as a line in pg_waldump's style", "[wal][describe]") {
  const std::vector<std::byte> bytes = sample();
  RecordView view;
  REQUIRE(decode_record(bytes, kStart, view) == DecodeError::kNone);
  RmgrRegistry registry;
  registry.add(
      {RmgrId::kHeap, "Heap", nullptr, [](const RecordView&) { return std::string{"UPDATE off: 3"}; }});
  CHECK(describe_record(registry, view) ==
        "rmgr: Heap        len (rec/tot):     45/    45, tx: 1234605616436508552, lsn: 0/01000028, desc: "
        "UPDATE "
        "off: 3, blkref #0: rel 5/16384 blk 7");
}
