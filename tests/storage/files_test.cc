#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

TEST_CASE("forks and segments have PostgreSQL's names", "[storage][file]") {
  CHECK(relation_path({Oid{5}, Oid{16384}}, Fork::kMain) == "base/5/16384");
  CHECK(relation_path({Oid{5}, Oid{16384}}, Fork::kFreeSpace, 2) == "base/5/16384_fsm.2");
  CHECK(relation_path({Oid{5}, Oid{16384}}, Fork::kVisibility) == "base/5/16384_vm");
  CHECK(relation_path({Oid{5}, Oid{16384}}, Fork::kInit) == "base/5/16384_init");
  CHECK(relation_path({Oid{0}, Oid{1262}}, Fork::kMain) == "global/1262");
}

TEST_CASE("lengths are known to every process at once and survive a restart", "[storage][file]") {
  TestDirectory directory;
  {
    Engine engine{directory.path()};
    RelationFiles& files = engine.storage->files;
    CHECK_FALSE(files.exists(kTable, Fork::kMain));
    CHECK(files.size(kTable, Fork::kMain).value == 0);
    files.create(kTable, Fork::kMain);
    CHECK_THROWS_AS(files.create(kTable, Fork::kMain), SqlError);
    CHECK(ended_well(engine.spawn([](Storage& storage) {
      return storage.files.size(kTable, Fork::kMain).value == 0 &&
             storage.files.extend(kTable, Fork::kMain, 3).value == 0;
    })));
    CHECK(files.size(kTable, Fork::kMain).value == 3);
    CHECK(files.extend(kTable, Fork::kMain).value == 3);
    files.settle_lengths();
  }
  Engine again{directory.path(), 64, true};
  CHECK(again.storage->files.size(kTable, Fork::kMain).value == 4);
}

TEST_CASE("an entry that leaves the length cache leaves the file as long as it said", "[storage][file]") {
  TestDirectory directory;
  Engine engine{directory.path()};
  RelationFiles& files = engine.storage->files;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const FileId file{Oid{5}, Oid{20000 + i}};
    files.create(file, Fork::kMain);
    files.extend(file, Fork::kMain, i % 7);
  }
  for (std::uint32_t i = 0; i < 600; ++i) {
    REQUIRE(files.size({Oid{5}, Oid{20000 + i}}, Fork::kMain).value == i % 7);
  }
}

TEST_CASE("a file dropped by one process is closed by the others", "[storage][file]") {
  TestDirectory directory;
  Engine engine{directory.path()};
  RelationFiles& files = engine.storage->files;
  files.create(kTable, Fork::kMain);
  files.extend(kTable, Fork::kMain, 2);
  alignas(64) std::array<std::byte, kPageSize> bytes{};
  bytes[100] = std::byte{7};
  files.write({kTable, Fork::kMain, PageNumber{1}}, ConstPageBytes{bytes.data(), kPageSize});
  CHECK(ended_well(engine.spawn([](Storage& storage) {
    storage.files.unlink(kTable);
    return !storage.files.exists(kTable, Fork::kMain);
  })));
  CHECK_FALSE(files.exists(kTable, Fork::kMain));
  files.create(kTable, Fork::kMain);
  files.extend(kTable, Fork::kMain, 2);
  alignas(64) std::array<std::byte, kPageSize> read{};
  CHECK(files.read({kTable, Fork::kMain, PageNumber{1}}, PageBytes{read.data(), kPageSize}));
  CHECK(read[100] == std::byte{0});
  CHECK_FALSE(files.read({kTable, Fork::kMain, PageNumber{2}}, PageBytes{read.data(), kPageSize}));
}

TEST_CASE("truncation shortens the file and forgets what lay beyond", "[storage][file]") {
  TestDirectory directory;
  Engine engine{directory.path()};
  RelationFiles& files = engine.storage->files;
  files.create(kTable, Fork::kMain);
  files.extend(kTable, Fork::kMain, 10);
  alignas(64) std::array<std::byte, kPageSize> bytes{};
  bytes[100] = std::byte{7};
  files.write({kTable, Fork::kMain, PageNumber{9}}, ConstPageBytes{bytes.data(), kPageSize});
  files.truncate(kTable, Fork::kMain, PageNumber{4});
  CHECK(files.size(kTable, Fork::kMain).value == 4);
  CHECK(File::open(directory.path() + "/base/5/16384", OpenMode::kRead).size() == 4 * kPageSize);
  files.extend(kTable, Fork::kMain, 6);
  CHECK(files.read({kTable, Fork::kMain, PageNumber{9}}, PageBytes{bytes.data(), kPageSize}));
  CHECK(bytes[100] == std::byte{0});
}

TEST_CASE("unlogged relations start again from their init fork after a crash", "[storage][file]") {
  TestDirectory directory;
  {
    Engine engine{directory.path()};
    RelationFiles& files = engine.storage->files;
    alignas(64) std::array<std::byte, kPageSize> bytes{};
    for (const Fork fork : {Fork::kMain, Fork::kFreeSpace, Fork::kInit}) {
      files.create(kTable, fork);
      files.extend(kTable, fork, 1);
      bytes[100] = static_cast<std::byte>(fork);
      files.write({kTable, fork, PageNumber{0}}, ConstPageBytes{bytes.data(), kPageSize});
    }
    files.create({Oid{5}, Oid{16385}}, Fork::kMain);
  }
  Engine engine{directory.path(), 64, true};
  RelationFiles& files = engine.storage->files;
  files.reset_unlogged(true);
  CHECK_FALSE(files.exists(kTable, Fork::kMain));
  CHECK(files.exists(kTable, Fork::kInit));
  files.reset_unlogged(false);
  CHECK(files.size(kTable, Fork::kMain).value == 1);
  CHECK_FALSE(files.exists(kTable, Fork::kFreeSpace));
  CHECK(files.exists({Oid{5}, Oid{16385}}, Fork::kMain));
  alignas(64) std::array<std::byte, kPageSize> bytes{};
  CHECK(files.read({kTable, Fork::kMain, PageNumber{0}}, PageBytes{bytes.data(), kPageSize}));
  CHECK(bytes[100] == static_cast<std::byte>(Fork::kInit));
}

TEST_CASE("a free-space map finds pages with room and none without", "[storage][file]") {
  TestDirectory directory;
  Engine engine{directory.path()};
  Storage& storage = *engine.storage;
  storage.files.create(kTable, Fork::kMain);
  storage.files.extend(kTable, Fork::kMain, 20'000);
  CHECK_FALSE(is_valid(storage.free_space.find(kTable, 100)));
  storage.free_space.record(kTable, PageNumber{3}, 500);
  storage.free_space.record(kTable, PageNumber{17'000}, 4000);
  CHECK(storage.free_space.find(kTable, 400).value == 3);
  CHECK(storage.free_space.find(kTable, 501).value == 17'000);
  CHECK(storage.free_space.find(kTable, 3000).value == 17'000);
  CHECK_FALSE(is_valid(storage.free_space.find(kTable, 5000)));
  CHECK(storage.free_space.record_and_find(kTable, PageNumber{3}, 20, 400).value == 17'000);
  CHECK(storage.free_space.recorded(kTable, PageNumber{17'000}) == 4000);
  storage.free_space.truncate(kTable, PageNumber{16'999});
  storage.files.truncate(kTable, Fork::kMain, PageNumber{16'999});
  CHECK_FALSE(is_valid(storage.free_space.find(kTable, 400)));
}

TEST_CASE("the visibility map sets, clears and truncates single bits", "[storage][file]") {
  TestDirectory directory;
  Engine engine{directory.path()};
  Storage& storage = *engine.storage;
  storage.files.create(kTable, Fork::kMain);
  Pin pin;
  CHECK_FALSE(storage.visibility.is_all_visible(kTable, PageNumber{70'000}, pin));
  for (const std::uint32_t number : {0u, 7u, 8u, 65'279u, 65'280u, 70'000u}) {
    REQUIRE(storage.visibility.pin(kTable, PageNumber{number}, pin, true));
    WriteGuard map = pin.write();
    map.mark_dirty();
    VisibilityMap::set(map, PageNumber{number});
  }
  CHECK(storage.visibility.count(kTable) == 6);
  CHECK(storage.visibility.is_all_visible(kTable, PageNumber{8}, pin));
  CHECK_FALSE(storage.visibility.is_all_visible(kTable, PageNumber{9}, pin));
  VisibilityMap::clear(pin, PageNumber{8});
  CHECK_FALSE(storage.visibility.is_all_visible(kTable, PageNumber{8}, pin));
  CHECK(storage.visibility.is_all_visible(kTable, PageNumber{7}, pin));
  storage.visibility.truncate(kTable, PageNumber{7});
  pin.release();
  CHECK(storage.visibility.count(kTable) == 1);
}

}  // namespace pinwheel::storage::test
