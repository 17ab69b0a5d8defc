#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "base/file.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

TEST_CASE("pages survive being evicted from a pool smaller than the relation", "[storage][buffer]") {
  const auto replacement = GENERATE(Replacement::kAtomicClock, Replacement::kLockedClock);
  const auto partitions = GENERATE(std::size_t{1}, std::size_t{3});
  TestDirectory directory;
  BufferPoolOptions options;
  options.replacement = replacement;
  options.freelist_partitions = partitions;
  Engine engine{directory.path(), 16, false, options};
  Storage& storage = *engine.storage;
  fill(storage, 100);
  CHECK(storage.files.size(kTable, Fork::kMain).value == 100);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const ReadGuard guard = storage.pool.read_page(page_of(i));
    REQUIRE(load<std::uint64_t>(guard.page().data() + 4000) == i);
  }
  storage.pool.flush_all(true, nullptr);
  CHECK(storage.files.sync_pending() == 1);
  CHECK(storage.files.sync_pending() == 0);
}

TEST_CASE("a damaged page is reported and its frame can be used again", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 16};
  Storage& storage = *engine.storage;
  fill(storage, 40);
  storage.pool.flush_all(true, nullptr);
  storage.pool.drop_relation(kTable);
  const std::string path = directory.path() + "/base/5/16384";
  {
    const File file = File::open(path, OpenMode::kReadWrite);
    const std::byte bad[] = {std::byte{0xFF}};
    file.write_at(3 * kPageSize + 5000, bad);
  }
  for (int attempt = 0; attempt < 30; ++attempt) {
    try {
      const ReadGuard guard = storage.pool.read_page(page_of(3));
      FAIL("a damaged page was accepted");
    } catch (const SqlError& error) {
      CHECK(error.state().view() == "XX001");
      CHECK(error.message() == "invalid page in block 3 of relation base/5/16384");
    }
  }
  const ReadGuard zeroed = storage.pool.read_page(page_of(3), nullptr, ReadMode::kZeroOnError);
  CHECK(zeroed.page().is_new());
  CHECK(load<std::uint64_t>(storage.pool.read_page(page_of(4)).page().data() + 4000) == 4);
  CHECK_THROWS_AS(storage.pool.read_page(page_of(1000)), SqlError);
}

TEST_CASE("when every frame is pinned the request fails and later ones succeed", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 16};
  Storage& storage = *engine.storage;
  fill(storage, 20);
  std::vector<Pin> pins;
  for (std::uint32_t i = 0; i < 16; ++i) pins.push_back(storage.pool.pin(page_of(i)));
  try {
    const Pin pin = storage.pool.pin(page_of(17));
    FAIL("there was a frame");
  } catch (const SqlError& error) {
    CHECK(error.message() == "no unpinned buffers available");
  }
  pins.pop_back();
  CHECK(load<std::uint64_t>(storage.pool.read_page(page_of(17)).page().data() + 4000) == 17);
}

TEST_CASE("an optimistic read fails validation after any change of its frame", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 16};
  Storage& storage = *engine.storage;
  fill(storage, 20);
  touch(storage, 19);
  const OptimisticRead read = storage.pool.optimistic_read(page_of(19));
  REQUIRE(read);
  CHECK(load<std::uint64_t>(read.page().data() + 4000) == 19);
  CHECK(read.validate());
  SECTION("a writer latched the page") {
    const WriteGuard guard = storage.pool.write_page(page_of(19));
    CHECK_FALSE(read.validate());
    CHECK_FALSE(storage.pool.optimistic_read(page_of(19)));
  }
  SECTION("the frame got another page") {
    for (int round = 0; round < 10; ++round) {
      for (std::uint32_t i = 0; i < 19; ++i) touch(storage, i);
    }
    CHECK_FALSE(read.validate());
  }
  SECTION("the page was dropped") {
    storage.pool.drop_relation(kTable);
    CHECK_FALSE(read.validate());
  }
}

TEST_CASE("cleanup latches are refused while others have the page pinned", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 16};
  Storage& storage = *engine.storage;
  fill(storage, 2);
  const Pin mine = storage.pool.pin(page_of(0));
  {
    const Pin other = storage.pool.pin(page_of(0));
    CHECK_FALSE(mine.try_cleanup());
    CHECK(mine.try_cleanup(2));
  }
  CHECK(mine.try_cleanup());
  const ReadGuard read = mine.read();
  CHECK_FALSE(mine.try_write());
}

TEST_CASE("a ring keeps a scan from taking more frames than its size", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 64};
  Storage& storage = *engine.storage;
  fill(storage, 300);
  for (std::uint32_t i = 0; i < 20; ++i) {
    for (int use = 0; use < 6; ++use) touch(storage, i);
  }
  BufferRing ring{BufferRing::Kind::kBulkRead, 64};
  for (std::uint32_t i = 100; i < 300; ++i) {
    REQUIRE(load<std::uint64_t>(storage.pool.read_page(page_of(i), &ring).page().data() + 4000) == i);
  }
  for (std::uint32_t i = 0; i < 20; ++i) CHECK(storage.pool.is_cached(page_of(i)));
}

TEST_CASE("the background writer refills the freelist when it fell below its low mark", "[storage][buffer]") {
  TestDirectory directory;
  BufferPoolOptions options;
  options.freelist_high_watermark = 0.25;
  options.freelist_low_watermark = 0.5;
  Engine engine{directory.path(), 64, false, options};
  Storage& storage = *engine.storage;
  int wakes = 0;
  storage.pool.set_refill_waker([](void* count) { ++*static_cast<int*>(count); }, &wakes);
  fill(storage, 200);
  CHECK(wakes == 1);
  CHECK(storage.pool.free_frames() == 0);
  const BgwriterRound round = storage.pool.run_bgwriter_once();
  CHECK(round.refilled == 16);
  CHECK(storage.pool.free_frames() == 16);
  for (std::uint32_t i = 0; i < 200; ++i) {
    REQUIRE(load<std::uint64_t>(storage.pool.read_page(page_of(i)).page().data() + 4000) == i);
  }
}

TEST_CASE("a checkpoint skips pages that were never logged unless asked", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 64};
  Storage& storage = *engine.storage;
  fill(storage, 10);
  storage.pool.write_page(page_of(4)).apply_logged([](Page) noexcept {}, [&]() noexcept { return Lsn{8}; });
  CHECK(storage.pool.flush_all(false, nullptr) == 1);
  CHECK(storage.pool.flush_all(true, nullptr) == 9);
  CHECK(storage.pool.flush_all(true, nullptr) == 0);
}

TEST_CASE("processes that change the same pages in a tiny pool lose no update", "[storage][buffer]") {
  constexpr std::uint32_t kPages = 60;
  constexpr int kProcesses = 4;
  constexpr int kSteps = 4000;
  TestDirectory directory;
  BufferPoolOptions options;
  options.replacement = GENERATE(Replacement::kAtomicClock, Replacement::kLockedClock);
  options.mapping_partitions = GENERATE(std::size_t{1}, std::size_t{16});
  Engine engine{directory.path(), 24, false, options};
  fill(*engine.storage, kPages);
  std::vector<pid_t> children;
  for (int child = 0; child < kProcesses; ++child) {
    children.push_back(engine.spawn([child](Storage& storage) {
      std::mt19937 random{static_cast<unsigned>(child)};
      for (int step = 0; step < kSteps; ++step) {
        const std::uint32_t number = random() % kPages;
        if (step % 3 == 0) {
          WriteGuard guard = storage.pool.write_page(page_of(number));
          guard.mark_dirty();
          std::byte* at = guard.page().data() + 4008;
          store(at, load<std::uint64_t>(at) + 1);
        } else if (step % 3 == 1) {
          const ReadGuard guard = storage.pool.read_page(page_of(number));
          if (load<std::uint64_t>(guard.page().data() + 4000) != number) return false;
        } else if (const OptimisticRead read = storage.pool.optimistic_read(page_of(number))) {
          const auto seen = load<std::uint64_t>(read.page().data() + 4000);
          if (read.validate() && seen != number) return false;
        }
        if (step % 500 == 0 && child == 0) storage.pool.run_bgwriter_once();
        if (step % 1000 == 0 && child == 1) storage.pool.flush_all(true, nullptr);
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < kPages; ++i) {
    const ReadGuard guard = engine.storage->pool.read_page(page_of(i));
    sum += load<std::uint64_t>(guard.page().data() + 4008);
  }
  CHECK(sum == std::uint64_t{kProcesses} * ((kSteps + 2) / 3));
  // Nothing stays pinned or latched.
  for (std::uint32_t i = 0; i < 24; ++i) {
    const std::uint64_t state = engine.storage->pool.descriptor(BufferId{i}).state.load();
    CHECK((state & (buffer_state::kPinMask | buffer_state::kSharedMask | buffer_state::kExclusive |
                    buffer_state::kIoInProgress)) == 0);
  }
}

TEST_CASE("processes that extend one relation each get pages of their own", "[storage][buffer]") {
  TestDirectory directory;
  Engine engine{directory.path(), 32};
  engine.storage->files.create(kTable, Fork::kMain);
  std::vector<pid_t> children;
  for (std::uint64_t child = 1; child <= 3; ++child) {
    children.push_back(engine.spawn([child](Storage& storage) {
      for (int i = 0; i < 100; ++i) {
        WriteGuard guard = storage.pool.extend(kTable, Fork::kMain);
        guard.page().init(PageKind::kHeap);
        store(guard.page().data() + 4000, child);
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  REQUIRE(engine.storage->files.size(kTable, Fork::kMain).value == 300);
  std::map<std::uint64_t, int> pages;
  for (std::uint32_t i = 0; i < 300; ++i) {
    ++pages[load<std::uint64_t>(engine.storage->pool.read_page(page_of(i)).page().data() + 4000)];
  }
  CHECK(pages == std::map<std::uint64_t, int>{{1, 100}, {2, 100}, {3, 100}});
}

}  // namespace pinwheel::storage::test
