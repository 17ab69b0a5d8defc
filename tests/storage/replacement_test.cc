#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "shm/statistics.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage {
/// The policy of docs/adding-a-policy.md (random_replacement.cc).
std::unique_ptr<ReplacementPolicy> make_random(const PolicyContext& context);
}  // namespace pinwheel::storage

namespace pinwheel::storage::test {

namespace {

constexpr Replacement kPolicies[] = {Replacement::kAtomicClock, Replacement::kLockedClock,
                                     Replacement::kBatchedClock, Replacement::kS3Fifo};

BufferPoolOptions options_for(Replacement replacement, bool refill = false) {
  BufferPoolOptions options;
  options.replacement = replacement;
  options.freelist_refill = refill;
  return options;
}

std::uint64_t reads() {
  return shm::process_stats->counters[static_cast<std::size_t>(shm::Counter::kBufferReads)].read();
}

/// Reads from disk of a trace in which a hot set is used at random while scans go once over everything else.
std::uint64_t reads_of_mixed_trace(Replacement replacement) {
  constexpr std::uint32_t kFrames = 100, kHot = 60, kPages = 2000;
  TestDirectory directory;
  Engine engine{directory.path(), kFrames, false, options_for(replacement)};
  Storage& storage = *engine.storage;
  fill(storage, kPages);
  std::mt19937 random{7};
  std::uint32_t scan = kHot;
  const auto step = [&] {
    touch(storage, static_cast<std::uint32_t>(random()) % kHot);
    for (int i = 0; i < 2; ++i) {
      touch(storage, scan);
      scan = scan + 1 < kPages ? scan + 1 : kHot;
    }
  };
  for (int i = 0; i < 2000; ++i) step();  // warm
  const std::uint64_t before = reads();
  for (int i = 0; i < 10'000; ++i) step();
  return reads() - before;
}

}  // namespace

TEST_CASE("a policy finds the one frame that is not pinned, and says so when there is none",
          "[storage][buffer][replacement]") {
  const Replacement replacement = GENERATE(from_range(std::begin(kPolicies), std::end(kPolicies)));
  TestDirectory directory;
  Engine engine{directory.path(), 16, false, options_for(replacement)};
  Storage& storage = *engine.storage;
  fill(storage, 40);
  std::vector<Pin> pins;
  for (std::uint32_t i = 0; i < 15; ++i) pins.push_back(storage.pool.pin(page_of(i)));
  for (std::uint32_t i = 15; i < 40; ++i) touch(storage, i);  // all through one frame
  for (std::uint32_t i = 0; i < 15; ++i) CHECK(storage.pool.is_cached(page_of(i)));
  pins.push_back(storage.pool.pin(page_of(20)));
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      touch(storage, 30);
      FAIL("there was a frame");
    } catch (const SqlError& error) {
      CHECK(error.state().view() == "53000");
      CHECK(error.message() == "no unpinned buffers available");
    }
  }
  pins.clear();
  for (std::uint32_t i = 0; i < 40; ++i) touch(storage, i);
}

TEST_CASE("a page that is used while it is being evicted stays, and its frame is found again",
          "[storage][buffer][replacement]") {
  const Replacement replacement = GENERATE(from_range(std::begin(kPolicies), std::end(kPolicies)));
  TestDirectory directory;
  Engine engine{directory.path(), 16, false, options_for(replacement)};
  Storage& storage = *engine.storage;
  fill(storage, 60);
  // A dirty page whose latch somebody holds cannot be written, so it is put back.
  for (std::uint32_t round = 0; round < 50; ++round) {
    const std::uint32_t kept = round % 60;
    WriteGuard guard = storage.pool.write_page(page_of(kept));
    guard.mark_dirty();
    for (std::uint32_t i = 1; i <= 20; ++i) touch(storage, (kept + i) % 60);
    REQUIRE(storage.pool.is_cached(page_of(kept)));
  }
  for (std::uint32_t i = 0; i < 60; ++i) touch(storage, i);
}

TEST_CASE("dropped pages leave their frames to others under every policy", "[storage][buffer][replacement]") {
  const Replacement replacement = GENERATE(from_range(std::begin(kPolicies), std::end(kPolicies)));
  TestDirectory directory;
  Engine engine{directory.path(), 32, false, options_for(replacement, true)};
  Storage& storage = *engine.storage;
  fill(storage, 100);
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < 50; ++i) touch(storage, i);
    storage.pool.drop_pages(kTable, Fork::kMain, PageNumber{static_cast<std::uint32_t>(round)});
    storage.pool.run_bgwriter_once();
  }
  for (std::uint32_t i = 0; i < 100; ++i) touch(storage, i);
}

TEST_CASE("processes under every policy read the right pages and leave nothing pinned",
          "[storage][buffer][replacement]") {
  const Replacement replacement = GENERATE(from_range(std::begin(kPolicies), std::end(kPolicies)));
  const bool refill = GENERATE(false, true);
  constexpr std::uint32_t kPages = 80, kFrames = 24;
  constexpr int kProcesses = 4, kSteps = 3000;
  TestDirectory directory;
  Engine engine{directory.path(), kFrames, false, options_for(replacement, refill)};
  fill(*engine.storage, kPages);
  std::vector<pid_t> children;
  for (int child = 0; child < kProcesses; ++child) {
    children.push_back(engine.spawn([child](Storage& storage) {
      std::mt19937 random{static_cast<unsigned>(child)};
      for (int step = 0; step < kSteps; ++step) {
        const std::uint32_t number = static_cast<std::uint32_t>(random()) % kPages;
        if (step % 4 == 0) {
          WriteGuard guard = storage.pool.write_page(page_of(number));
          guard.mark_dirty();
          std::byte* at = guard.page().data() + 4008;
          store(at, load<std::uint64_t>(at) + 1);
        } else {
          const ReadGuard guard = storage.pool.read_page(page_of(number));
          if (load<std::uint64_t>(guard.page().data() + 4000) != number) return false;
        }
        if (step % 300 == 0 && child == 0) storage.pool.run_bgwriter_once();
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < kPages; ++i) {
    sum += load<std::uint64_t>(engine.storage->pool.read_page(page_of(i)).page().data() + 4008);
  }
  CHECK(sum == std::uint64_t{kProcesses} * kSteps / 4);
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const std::uint64_t state = engine.storage->pool.descriptor(BufferId{i}).state.load();
    CHECK((state & (buffer_state::kPinMask | buffer_state::kIoInProgress)) == 0);
  }
}

TEST_CASE("the policy of the walk-through claims what nobody has pinned", "[storage][buffer][replacement]") {
  TestDirectory directory;
  Engine engine{directory.path(), 16, false, options_for(Replacement::kAtomicClock)};
  Storage& storage = *engine.storage;
  fill(storage, 16);
  auto* const descriptors = const_cast<BufferDescriptor*>(&storage.pool.descriptor(BufferId{0}));
  const auto policy = make_random({*engine.segment, descriptors, 16});
  std::set<std::uint32_t> claimed;
  for (int i = 0; i < 16; ++i) {
    const BufferId buffer = policy->claim_victim();
    CHECK((descriptors[buffer.value].state.load() & buffer_state::kPinMask) == 1);
    claimed.insert(buffer.value);
  }
  CHECK(claimed.size() == 16);
  CHECK_THROWS_AS(policy->claim_victim(), SqlError);
  descriptors[5].state.fetch_sub(buffer_state::kPinOne);
  CHECK(policy->claim_victim() == BufferId{5});
  for (std::uint32_t i = 0; i < 16; ++i) descriptors[i].state.fetch_sub(buffer_state::kPinOne);
}

TEST_CASE("scans push the hot set out of a clock, and not out of s3fifo", "[storage][buffer][replacement]") {
  // One process, one seed: the counts are the same on every machine. 20,000 reads are the scan's own.
  const std::uint64_t clock = reads_of_mixed_trace(Replacement::kAtomicClock);
  const std::uint64_t s3_fifo = reads_of_mixed_trace(Replacement::kS3Fifo);
  CHECK(reads_of_mixed_trace(Replacement::kLockedClock) == clock);
  CAPTURE(clock, s3_fifo);
  CHECK(s3_fifo >= 20'000);
  CHECK(s3_fifo < 20'500);
  CHECK(clock > 22'000);
}

}  // namespace pinwheel::storage::test
