#include "storage/buffer/relation_io.h"

#include <catch2/catch.hpp>

#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {
namespace {

struct IoFixture {
  static shm::RegionBuilder make_builder() {
    shm::RegionBuilder builder;
    RelationIo::declare(builder, 1024);
    return builder;
  }
  shm::Segment segment{make_builder(), {shm::MemoryType::kMmap, shm::HugePages::kOff}};
  RelationIo io{segment};
};

std::uint64_t word(std::uint32_t database, std::uint32_t relation) {
  return AtomicPageTag::file_word({{Oid{database}, Oid{relation}}, Fork::kMain, PageNumber{0}});
}
FileId file(std::uint32_t database, std::uint32_t relation) { return {Oid{database}, Oid{relation}}; }

}  // namespace

TEST_CASE("requests of pages are counted per file and per database", "[storage][relation_io]") {
  IoFixture f;
  // More files than a process keeps apart: those that make place are handed over.
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t relation = 100; relation < 600; ++relation) f.io.count_hit(word(5, relation));
  }
  f.io.count_read(word(5, 100));
  f.io.count_hit(word(6, 100));
  f.io.count_hit(word(0, 1262));
  f.io.hand_over();
  for (std::uint32_t relation = 100; relation < 600; ++relation) {
    REQUIRE(f.io.of_file(file(5, relation)).hits == 3);
  }
  CHECK(f.io.of_file(file(5, 100)).reads == 1);
  CHECK(f.io.of_database(Oid{5}).hits == 1500);
  CHECK(f.io.of_database(Oid{5}).reads == 1);
  CHECK(f.io.of_database(Oid{6}).hits == 1);
  CHECK(f.io.of_database(Oid{}).hits == 1);
  CHECK(f.io.of_database(Oid{7}).hits == 0);
}

TEST_CASE("counts of a file that is gone leave its database's sum alone", "[storage][relation_io]") {
  IoFixture f;
  f.io.count_hit(word(5, 100));
  f.io.count_hit(word(5, 101));
  f.io.hand_over();
  f.io.forget_file(file(5, 100));
  CHECK(f.io.of_file(file(5, 100)).hits == 0);
  CHECK(f.io.of_file(file(5, 101)).hits == 1);
  CHECK(f.io.of_database(Oid{5}).hits == 2);
  f.io.reset_database(Oid{5});
  CHECK(f.io.of_file(file(5, 101)).hits == 0);
  CHECK(f.io.of_database(Oid{5}).hits == 0);
  for (std::uint32_t database = 10; database < 2000; ++database) {
    f.io.count_hit(word(database, 100));
    f.io.hand_over();
    REQUIRE(f.io.of_database(Oid{database}).hits == 1);
    f.io.forget_database(Oid{database});  // or the table would fill up
    REQUIRE(f.io.of_database(Oid{database}).hits == 0);
  }
}

TEST_CASE("a pool that was emptied reads its pages again, and none is lost", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 64};
  Storage& storage = *engine.storage;
  fill(storage, 20);
  const auto frames = [&] {
    std::size_t used = 0;
    for (std::uint32_t i = 0; i < 64; ++i) used += storage.pool.inspect(BufferId{i}) ? 1 : 0;
    return used;
  };
  CHECK(frames() >= 20);
  {
    const Pin pin = storage.pool.pin(page_of(3));
    const EvictedFrames done = storage.pool.evict_all();
    CHECK(done.skipped == 1);
    CHECK(done.evicted >= 19);
    CHECK(done.flushed >= 19);
    CHECK(frames() == 1);
    const auto view = storage.pool.inspect(pin.buffer());
    REQUIRE(view);
    CHECK(view->tag.page == PageNumber{3});
    CHECK(view->pin_count == 1);
    CHECK_FALSE(storage.pool.evict(pin.buffer()));
  }
  CHECK(storage.pool.evict_all().evicted == 1);
  storage.pool.relation_io().hand_over();
  const PageRequests before = storage.pool.relation_io().of_file(kTable);
  for (std::uint32_t i = 0; i < 20; ++i) {
    REQUIRE(load<std::uint64_t>(storage.pool.read_page(page_of(i)).page().data() + 4000) == i);
    storage.pool.read_page(page_of(i)).release();
  }
  storage.pool.relation_io().hand_over();
  const PageRequests after = storage.pool.relation_io().of_file(kTable);
  CHECK(after.reads - before.reads == 20);
  CHECK(after.hits - before.hits == 20);
}

}  // namespace pinwheel::storage::test
