#include "storage/file/double_write.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/file.h"
#include "storage/file/double_write_file.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

namespace {

constexpr std::uint64_t kSystem = 42;  // Engine's

BufferPoolOptions double_writing() {
  BufferPoolOptions options;
  options.double_write_areas = 8;
  options.freelist_refill = false;
  return options;
}

/// Gives the page a logged change and a mark.
void change(Storage& storage, std::uint32_t number, std::uint64_t mark) {
  wal::Log& log = storage.log;
  storage.pool.write_page(page_of(number))
      .apply_logged(
          [&](Page page) noexcept { store(page.data() + 4000, mark); },
          [&]() noexcept {
            return log.insert(wal::RecordBuilder{wal::RmgrId::kXlog, wal::XlogKind::kNoop}, kInvalidXid);
          });
}

void fill_logged(Storage& storage, std::uint32_t pages) {
  storage.files.create(kTable, Fork::kMain);
  for (std::uint32_t i = 0; i < pages; ++i) {
    {
      WriteGuard guard = storage.pool.extend(kTable, Fork::kMain);
      guard.page().init(PageKind::kHeap);
    }
    change(storage, i, i);
  }
  storage.pool.flush_all(true, nullptr);
  storage.files.sync_pending();
}

std::string table_path(const TestDirectory& directory) { return directory.path() + "/base/5/16384"; }

std::uint64_t mark_on_disk(const TestDirectory& directory, std::uint32_t number) {
  std::byte mark[8];
  File::open(table_path(directory), OpenMode::kRead).read_exactly_at(number * kPageSize + 4000, mark);
  return load<std::uint64_t>(mark);
}

/// Puts old bytes over the second half of a page, as a write that was cut short leaves it.
void tear(const TestDirectory& directory, std::uint32_t number, const std::string& old) {
  const auto bytes = std::as_bytes(std::span{old}).subspan(number * kPageSize, kPageSize / 2);
  File::open(table_path(directory), OpenMode::kReadWrite).write_at(number * kPageSize, bytes);
}

std::size_t restore(Engine& engine, Lsn redo) {
  engine.storage->files.close_all();
  return restore_torn_pages(engine.storage->files, kSystem, redo);
}

}  // namespace

TEST_CASE("a double-write slot has the layout that the format says", "[storage][double_write][format]") {
  alignas(8) std::byte page[kPageSize] = {};
  Page{page}.init(PageKind::kHeap);
  Page{page}.set_lsn(Lsn{0x1122334455667788});
  const PageTag tag{{Oid{5}, Oid{16384}}, Fork::kVisibility, PageNumber{7}};
  const DoubleWriteHeader header = make_double_write_header(tag, page, 0x0102030405060708, Lsn{0x0A0B0C0D});
  std::string hex;
  for (const std::byte byte : std::as_bytes(std::span{&header, 1})) {
    static constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  CHECK(hex.substr(0, 96) ==
        "5057445752495431"
        "0807060504030201"
        "0d0c0b0a00000000"
        "8877665544332211"
        "05000000"
        "00400000"
        "07000000"
        "02000000");
  CHECK(hex.substr(104) == "00000000");
  alignas(8) std::array<std::byte, kDoubleWriteSlotBytes> slot{};
  store(slot.data(), header);
  std::memcpy(slot.data() + kDoubleWriteHeaderBytes, page, kPageSize);
  CHECK(check_double_write_slot(slot, 0x0102030405060708).has_value());
  CHECK_FALSE(check_double_write_slot(slot, 1).has_value());
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, std::size_t{44}, std::size_t{49},
                               kDoubleWriteHeaderBytes, kDoubleWriteSlotBytes - 1}) {
    slot[at] ^= std::byte{1};
    CHECK_FALSE(check_double_write_slot(slot, 0x0102030405060708).has_value());
    slot[at] ^= std::byte{1};
  }
}

TEST_CASE("a page torn after its copy was saved is restored, once", "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, double_writing()};
  Storage& storage = *engine.storage;
  fill_logged(storage, 8);
  const std::string old = read_file(table_path(directory));
  for (const std::uint32_t number : {1u, 2u, 6u}) change(storage, number, 100 + number);
  storage.pool.flush_all(true, nullptr);
  const std::string whole = read_file(table_path(directory));
  CHECK(mark_on_disk(directory, 2) == 102);
  tear(directory, 1, old);
  tear(directory, 6, old);
  REQUIRE(read_file(table_path(directory)) != whole);
  CHECK(restore(engine, engine.redo) == 2);
  CHECK(read_file(table_path(directory)) == whole);
  CHECK(restore(engine, engine.redo) == 0);
}

TEST_CASE("copies that a checkpoint has made needless are not looked at", "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, double_writing()};
  Storage& storage = *engine.storage;
  fill_logged(storage, 4);
  const std::string old = read_file(table_path(directory));
  change(storage, 3, 103);
  const Lsn redo = engine.log->begin_checkpoint();
  storage.pool.flush_all(true, nullptr);  // its copy carries the new redo point
  tear(directory, 3, old);
  CHECK(restore(engine, Lsn{redo.value + 1}) == 0);
  CHECK(restore(engine, redo) == 1);
}

TEST_CASE("of many copies the newest counts, and a later page in place is left alone",
          "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, double_writing()};
  Storage& storage = *engine.storage;
  fill_logged(storage, 4);
  std::string before;
  for (std::uint64_t round = 1; round <= 5; ++round) {
    before = read_file(table_path(directory));
    change(storage, 2, 1000 + round);
    storage.pool.flush_all(true, nullptr);
  }
  const std::string newest = read_file(table_path(directory));
  tear(directory, 2, before);
  CHECK(restore(engine, engine.redo) == 1);
  CHECK(read_file(table_path(directory)) == newest);
  // As if a later write had been synced and its copy overwritten.
  std::byte lsn[8];
  store(lsn, std::uint64_t{1} << 40);
  File::open(table_path(directory), OpenMode::kReadWrite).write_at(2 * kPageSize, lsn);
  CHECK(restore(engine, engine.redo) == 0);
}

TEST_CASE("pages of zeroes, of dropped files and beyond the end are left alone", "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, double_writing()};
  Storage& storage = *engine.storage;
  fill_logged(storage, 4);
  SECTION("zeroes") {
    const std::string zeroes(kPageSize, '\0');
    File::open(table_path(directory), OpenMode::kReadWrite)
        .write_at(kPageSize, std::as_bytes(std::span{zeroes}));
  }
  SECTION("cut off") {
    storage.pool.drop_pages(kTable, Fork::kMain, PageNumber{1});
    storage.files.truncate(kTable, Fork::kMain, PageNumber{1});
  }
  SECTION("dropped") {
    storage.pool.drop_relation(kTable);
    storage.files.unlink(kTable);
  }
  CHECK(restore(engine, engine.redo) == 0);
}

TEST_CASE("an area that is full starts again after the data files are synced", "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 128, false, double_writing()};
  Storage& storage = *engine.storage;
  fill_logged(storage, 100);
  const std::string area = directory.path() + "/pg_double_write/0000";
  for (int round = 0; round < 12; ++round) {
    for (std::uint32_t i = 0; i < 100; ++i) change(storage, i, 7);
    storage.pool.flush_all(true, nullptr);
  }
  CHECK(std::filesystem::file_size(area) <= DoubleWrite::kSlotsPerArea * kDoubleWriteSlotBytes);
  // After a checkpoint the first slots are used again.
  const Lsn redo = engine.log->begin_checkpoint();
  storage.pool.double_write()->note_synced(redo);
  change(storage, 5, 8);
  storage.pool.flush_all(true, nullptr);
  std::array<std::byte, kDoubleWriteSlotBytes> slot;
  File::open(area, OpenMode::kRead).read_exactly_at(0, slot);
  const auto header = check_double_write_slot(slot, kSystem);
  REQUIRE(header.has_value());
  CHECK(header->page == 5);
  CHECK(header->redo == redo.value);
}

TEST_CASE("pages that were never logged are not saved", "[storage][double_write]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, double_writing()};
  Storage& storage = *engine.storage;
  storage.files.create(kTable, Fork::kMain);
  {
    WriteGuard guard = storage.pool.extend(kTable, Fork::kMain);
    guard.page().init(PageKind::kHeap);
  }
  CHECK(storage.pool.flush_all(true, nullptr) == 1);
  CHECK_FALSE(file_exists(directory.path() + "/pg_double_write"));
}

}  // namespace pinwheel::storage::test
