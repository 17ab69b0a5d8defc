#include <catch2/catch.hpp>
#include <random>

#include "storage/heap/check.h"
#include "storage/heap/heap_scan.h"
#include "storage/heap/vacuum.h"
#include "storage/redo.h"
#include "tests/storage/storage_fixture.h"
#include "wal/reader.h"
#include "wal/replay.h"

namespace pinwheel::storage::test {

namespace {

constexpr std::uint16_t kHints =
    kTupleXminCommitted | kTupleXminAborted | kTupleXmaxCommitted | kTupleXmaxInvalid;

/// What redo must reproduce of a page: everything but hints, commands and bytes that nothing points to.
std::string image_of(ConstPage page) {
  if (page.is_new()) return "new";
  std::string image;
  const PageHeader& header = page.header();
  image += std::to_string(header.lsn) + " " + std::to_string(header.lower) + " " +
           std::to_string(header.upper) + (page.has_flag(kPageAllVisible) ? " visible\n" : "\n");
  for (std::uint16_t slot = 1; slot <= page.slot_count(); ++slot) {
    const LinePointer line = page.line(slot);
    image += std::to_string(slot) + ": " + std::to_string(line.word) + " ";
    if (line.is_normal()) {
      std::string bytes(reinterpret_cast<const char*>(page.item(line)), line.length());
      auto& tuple = *reinterpret_cast<TupleHeader*>(bytes.data());
      tuple.cmin = tuple.cmax = 0;
      tuple.infomask &= static_cast<std::uint16_t>(~kHints);
      for (const char c : bytes) {
        image += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
        image += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
      }
    }
    image += '\n';
  }
  return image;
}

std::vector<std::string> images_of(Storage& storage, FileId file) {
  std::vector<std::string> images;
  const std::uint32_t pages = storage.files.size(file, Fork::kMain).value;
  for (std::uint32_t i = 0; i < pages; ++i) {
    images.push_back(image_of(storage.pool.read_page({file, Fork::kMain, PageNumber{i}}).page()));
  }
  while (!images.empty() && images.back() == "new") images.pop_back();
  return images;
}

/// Random transactions over one table: every kind of record comes up.
class Workload {
 public:
  Workload(Engine& engine, std::uint32_t seed)
      : engine_{engine}, heap_{*engine.storage, {kTable, Persistence::kPermanent, 80}}, random_{seed} {
    create_relation_logged(*engine.storage, kTable, Fork::kMain, Persistence::kPermanent, Xid{3});
  }

  void run(int transactions) {
    for (int i = 0; i < transactions; ++i) {
      transaction();
      arena_.reset();
      if (i % 40 == 39) vacuum();
      if (i % 60 == 59) engine_.log->begin_checkpoint();
      if (i % 25 == 24) engine_.storage->pool.flush_all(true, nullptr);
    }
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void transaction() {
    const std::uint64_t xid = ++xid_;
    oracle_.own = {xid};
    oracle_.horizon = Xid{xid - std::min<std::uint64_t>(xid - 3, below(20))};
    std::vector<TupleId> added;
    const std::uint32_t changes = 1 + below(12);
    for (std::uint32_t i = 0; i < changes; ++i) {
      const WriteContext context{Xid{xid}, CommandId{i + 1}, oracle_};
      const FormedTuple row =
          make_row(arena_, static_cast<std::int32_t>(i), static_cast<std::int32_t>(random_()),
                   std::string(below(200), static_cast<char>('a' + below(26))));
      const std::uint32_t kind = below(20);
      if (ids_.empty() || kind < 4) {
        added.push_back(heap_.insert(row, context, state_));
        if (kind == 0) {
          heap_.abort_speculative(added.back(), context);
          added.pop_back();
        }
        continue;
      }
      if (kind == 4) {
        const FormedTuple rows[] = {row, row, row};
        TupleId ids[3];
        heap_.multi_insert(rows, context, state_, {}, ids);
        added.insert(added.end(), ids, ids + 3);
        continue;
      }
      const TupleId id = ids_[below(static_cast<std::uint32_t>(ids_.size()))];
      Pin pin;
      if (!heap_.fetch_version(id, pin).valid()) continue;
      heap_.prune_if_worthwhile(pin, oracle_);
      pin.release();
      if (kind < 7) {
        heap_.remove(id, context);
      } else if (kind < 10) {
        heap_.lock_row(id, static_cast<RowLock>(below(4)), context);
      } else {
        const UpdateOutcome outcome = heap_.update(id, row, context, {below(2) == 0, below(3) == 0}, state_);
        if (outcome.result == ModifyResult::kOk) added.push_back(outcome.new_id);
      }
    }
    ids_.insert(ids_.end(), added.begin(), added.end());
    if (below(5) == 0) {
      oracle_.abort(xid);
    } else {
      oracle_.commit(xid);
    }
  }

  void vacuum() {
    std::vector<TupleId> dead;
    Pin map_pin;
    const Xid horizon{xid_ + 1};
    for (std::uint32_t i = 0; i < heap_.page_count().value; ++i) {
      dead.clear();
      vacuum_page(heap_, PageNumber{i}, oracle_, horizon, below(2) == 0, dead, nullptr, map_pin);
      if (!dead.empty()) {
        vacuum_remove_dead_lines(heap_, PageNumber{i}, dead, oracle_, horizon, nullptr, map_pin);
      }
    }
    map_pin.release();
    const PageNumber end = vacuum_truncation_point(heap_, nullptr);
    if (end < heap_.page_count()) truncate_relation(*engine_.storage, heap_.relation(), end);
    state_ = {};
    std::vector<TupleId> kept;
    HeapScan scan{heap_, LatestVisible{&oracle_}};
    while (true) {
      const HeapTupleView tuple = scan.next();
      if (!tuple.valid()) break;
      kept.push_back(tuple.id());
    }
    ids_ = kept;
  }

  Engine& engine_;
  Heap heap_;
  FakeOracle oracle_;
  InsertState state_;
  Arena arena_;
  std::mt19937 random_;
  std::uint64_t xid_ = 10;
  std::vector<TupleId> ids_;
};

struct NoDamage final : HeapCheckVisitor {
  void damage(const std::string& text) override { FAIL_CHECK(text); }
};

void replay_into(Storage& storage, Engine& source) {
  wal::RmgrRegistry registry;
  registry.add(file_resource_manager(&storage));
  registry.add(heap_resource_manager(&storage));
  wal::ReplayCallbacks callbacks;
  callbacks.quiet = true;
  wal::replay(source.log->files(), source.redo, registry, callbacks);
}

}  // namespace

TEST_CASE("replaying the log over nothing makes the same pages", "[storage][redo]") {
  const std::uint32_t seed = GENERATE(1u, 2u, 3u, 4u) * 7919 + std::random_device{}() % 1000;
  INFO("seed " << seed);
  TestDirectory directory;
  Engine engine{directory.path(), 48};
  Workload workload{engine, seed};
  workload.run(400);
  engine.log->flush_to(engine.log->insert_position());
  const std::vector<std::string> expected = images_of(*engine.storage, kTable);
  REQUIRE(expected.size() > 3);

  TestDirectory other;
  Engine recovered{other.path(), 32, /*in_recovery=*/true};
  replay_into(*recovered.storage, engine);
  CHECK(images_of(*recovered.storage, kTable) == expected);
  NoDamage damage;
  const Heap heap{*recovered.storage, {kTable}};
  CHECK(verify_heap(heap, &row_layout(), Xid{1000}, damage).tuples > 0);
  CHECK(recovered.storage->visibility.count(kTable) == engine.storage->visibility.count(kTable));

  SECTION("and doing it again changes nothing") {
    recovered.storage->pool.flush_all(true, nullptr);
    replay_into(*recovered.storage, engine);
    CHECK(images_of(*recovered.storage, kTable) == expected);
  }
}

TEST_CASE("replaying the log over what a crash left on disk makes the same pages", "[storage][redo]") {
  TestDirectory directory;
  std::vector<std::string> expected;
  const std::uint32_t seed = std::random_device{}() % 100'000;
  INFO("seed " << seed);
  auto engine = std::make_unique<Engine>(directory.path(), 24);
  Workload{*engine, seed}.run(300);
  engine->log->flush_to(engine->log->insert_position());
  expected = images_of(*engine->storage, kTable);
  // The pool is lost: on disk are the pages that were evicted or flushed, of any age.
  Engine recovered{directory.path(), 32, /*in_recovery=*/true};
  replay_into(*recovered.storage, *engine);
  CHECK(images_of(*recovered.storage, kTable) == expected);
}

TEST_CASE("every heap record can be described", "[storage][redo]") {
  TestDirectory directory;
  Engine engine{directory.path(), 48};
  Workload{engine, 5}.run(200);
  engine.log->flush_to(engine.log->insert_position());
  std::map<std::string, int> seen;
  wal::Reader reader{engine.log->files(), engine.redo};
  const wal::ResourceManager heap = heap_resource_manager(nullptr);
  while (const wal::RecordView* record = reader.next()) {
    if (record->rmgr() != wal::RmgrId::kHeap) continue;
    const std::string text = heap.describe(*record);
    ++seen[text.substr(0, text.find_first_of(" +"))];
  }
  for (const char* kind : {"INSERT", "MULTI_INSERT", "DELETE", "UPDATE", "HOT_UPDATE", "LOCK", "PRUNE",
                           "VACUUM", "VISIBLE", "ABORT_SPECULATIVE"}) {
    INFO(kind);
    CHECK(seen[kind] > 0);
  }
  CHECK_FALSE(seen.contains("UNKNOWN"));
}

}  // namespace pinwheel::storage::test
