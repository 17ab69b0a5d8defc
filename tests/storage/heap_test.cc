#include <catch2/catch.hpp>

#include "base/error.h"
#include "storage/heap/check.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"
#include "storage/heap/vacuum.h"
#include "storage/redo.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

namespace {

/// One table and transactions by hand. Every change is a command of its own.
struct HeapBench {
  explicit HeapBench(std::size_t frames = 64, Persistence persistence = Persistence::kPermanent)
      : engine{directory.path(), frames}, heap{*engine.storage, {kTable, persistence}} {
    create_relation_logged(*engine.storage, kTable, Fork::kMain, persistence, kInvalidXid);
  }

  WriteContext as(std::uint64_t xid) {
    if (!oracle.ended.contains(xid)) oracle.own = {xid};
    return {Xid{xid}, CommandId{++command}, oracle};
  }
  /// Another session's transaction: runs, but is not ours.
  void leave(std::uint64_t xid) { oracle.own.erase(xid); }

  TupleId insert(std::uint64_t xid, std::int32_t key, std::int32_t number = 0,
                 std::string_view text = "row") {
    return heap.insert(make_row(arena, key, number, text), as(xid), state);
  }
  UpdateOutcome update(std::uint64_t xid, TupleId id, std::int32_t key, std::int32_t number, bool hot = true,
                       std::string_view text = "row") {
    return heap.update(id, make_row(arena, key, number, text), as(xid), {hot, !hot}, state);
  }
  std::vector<std::int32_t> scan() {
    std::vector<std::int32_t> numbers;
    HeapScan scan{heap, LatestVisible{&oracle}};
    for (HeapTupleView tuple = scan.next(); tuple.valid(); tuple = scan.next()) {
      numbers.push_back(row_int(tuple, 1));
      if (numbers.size() > 100'000) break;
    }
    return numbers;
  }
  ChainResult fetch(TupleId root) {
    LatestVisible visible{&oracle};
    return fetch_visible(heap, root, visible, fetch_pin, &oracle);
  }

  TestDirectory directory;
  Engine engine;
  Heap heap;
  FakeOracle oracle;
  InsertState state;
  Arena arena;
  Pin fetch_pin;
  std::uint32_t command = 0;
};

}  // namespace

TEST_CASE("rows are seen once their inserter has committed", "[storage][heap]") {
  HeapBench bench;
  const TupleId first = bench.insert(10, 1, 100);
  bench.insert(10, 2, 200);
  bench.leave(10);
  CHECK(bench.scan().empty());
  bench.oracle.commit(10);
  CHECK(bench.scan() == std::vector<std::int32_t>{100, 200});
  CHECK(row_text(bench.fetch(first).tuple) == "row");
  bench.insert(11, 3, 300);
  bench.oracle.abort(11);
  CHECK(bench.scan() == std::vector<std::int32_t>{100, 200});
}

TEST_CASE("an update without index changes stays on the page and is found through the old id",
          "[storage][heap]") {
  HeapBench bench;
  const TupleId root = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  const UpdateOutcome hot = bench.update(11, root, 1, 101);
  REQUIRE(hot.result == ModifyResult::kOk);
  CHECK(hot.is_hot);
  CHECK(hot.new_id.page == root.page);
  bench.oracle.commit(11);
  CHECK(row_int(bench.fetch(root).tuple, 1) == 101);
  CHECK(bench.fetch(root).tuple.id() == hot.new_id);
  // A heap-only version is no chain of its own.
  CHECK_FALSE(bench.fetch(hot.new_id).tuple.valid());
  const UpdateOutcome cold = bench.update(12, hot.new_id, 2, 102, false);
  CHECK_FALSE(cold.is_hot);
  bench.oracle.commit(12);
  CHECK_FALSE(bench.fetch(root).tuple.valid());
  CHECK(row_int(bench.fetch(cold.new_id).tuple, 1) == 102);
  CHECK(bench.scan() == std::vector<std::int32_t>{102});
}

TEST_CASE("changes of others are reported, not made", "[storage][heap]") {
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.leave(10);
  CHECK(bench.heap.remove(id, bench.as(11)).result == ModifyResult::kInvisible);
  bench.oracle.commit(10);

  const UpdateOutcome by_12 = bench.update(12, id, 1, 101);
  REQUIRE(by_12.result == ModifyResult::kOk);
  CHECK(bench.heap.remove(id, {Xid{12}, CommandId{1}, bench.oracle}).result == ModifyResult::kSelfModified);
  CHECK(bench.heap.remove(id, bench.as(12)).result == ModifyResult::kInvisible);
  bench.leave(12);

  ModifyOutcome outcome = bench.heap.remove(id, bench.as(13));
  CHECK(outcome.result == ModifyResult::kBeingModified);
  CHECK(outcome.blocker == Xid{12});
  bench.oracle.commit(12);
  outcome = bench.update(13, id, 1, 105);
  CHECK(outcome.result == ModifyResult::kUpdated);
  CHECK(outcome.next == by_12.new_id);
  CHECK(outcome.xmax == Xid{12});
  REQUIRE(bench.heap.remove(by_12.new_id, bench.as(13)).result == ModifyResult::kOk);
  bench.oracle.commit(13);
  CHECK(bench.heap.remove(by_12.new_id, bench.as(14)).result == ModifyResult::kDeleted);
  CHECK(bench.scan().empty());
}

TEST_CASE("a change that was rolled back leaves the row free", "[storage][heap]") {
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  bench.update(11, id, 1, 101);
  bench.oracle.abort(11);
  CHECK(bench.scan() == std::vector<std::int32_t>{100});
  REQUIRE(bench.heap.remove(id, bench.as(12)).result == ModifyResult::kOk);
  bench.oracle.abort(12);
  CHECK(bench.update(13, id, 1, 103).result == ModifyResult::kOk);
  bench.oracle.commit(13);
  CHECK(bench.scan() == std::vector<std::int32_t>{103});
}

TEST_CASE("row locks conflict as PostgreSQL's table says", "[storage][heap]") {
  const auto held = GENERATE(RowLock::kKeyShare, RowLock::kShare, RowLock::kNoKeyUpdate, RowLock::kUpdate);
  const auto wanted = GENERATE(RowLock::kKeyShare, RowLock::kShare, RowLock::kNoKeyUpdate, RowLock::kUpdate);
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  REQUIRE(bench.heap.lock_row(id, held, bench.as(11)).result == ModifyResult::kOk);
  bench.leave(11);
  const ModifyOutcome outcome = bench.heap.lock_row(id, wanted, bench.as(12));
  const int h = static_cast<int>(held), w = static_cast<int>(wanted);
  const bool compatible = (h == 0 && w < 3) || (w == 0 && h < 3) || (h == 1 && w == 1);
  CHECK((outcome.result == ModifyResult::kOk) == compatible);
  if (!compatible) CHECK(outcome.blocker == Xid{11});
  CHECK(bench.scan() == std::vector<std::int32_t>{100});
  if (compatible) {
    // Both locks are in force.
    bench.leave(12);
    CHECK(bench.heap.check_modifiable(id, RowLock::kUpdate, bench.as(13)).result ==
          ModifyResult::kBeingModified);
    bench.oracle.commit(11);
    CHECK(bench.heap.check_modifiable(id, RowLock::kUpdate, bench.as(13)).blocker == Xid{12});
    bench.oracle.abort(12);
  } else {
    bench.oracle.commit(11);
  }
  CHECK(bench.heap.remove(id, bench.as(13)).result == ModifyResult::kOk);
}

TEST_CASE("a key share lock moves on to the version that an update makes", "[storage][heap]") {
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  bench.heap.lock_row(id, RowLock::kKeyShare, bench.as(11));
  bench.leave(11);
  const UpdateOutcome updated = bench.update(12, id, 1, 101);
  REQUIRE(updated.result == ModifyResult::kOk);
  bench.oracle.commit(12);
  CHECK(bench.scan() == std::vector<std::int32_t>{101});
  const ModifyOutcome outcome = bench.heap.remove(updated.new_id, bench.as(13));
  CHECK(outcome.result == ModifyResult::kBeingModified);
  CHECK(outcome.blocker == Xid{11});
  bench.oracle.commit(11);
  CHECK(bench.heap.remove(updated.new_id, bench.as(13)).result == ModifyResult::kOk);
}

TEST_CASE("a lock of the own transaction is strengthened, not repeated", "[storage][heap]") {
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  CHECK(bench.heap.lock_row(id, RowLock::kShare, bench.as(11)).result == ModifyResult::kOk);
  const Lsn before = bench.engine.log->insert_position();
  CHECK(bench.heap.lock_row(id, RowLock::kKeyShare, bench.as(11)).result == ModifyResult::kOk);
  CHECK(bench.engine.log->insert_position() == before);
  CHECK(bench.heap.lock_row(id, RowLock::kUpdate, bench.as(11)).result == ModifyResult::kOk);
  CHECK(bench.update(11, id, 1, 101).result == ModifyResult::kOk);
  bench.oracle.commit(11);
  CHECK(bench.scan() == std::vector<std::int32_t>{101});
}

TEST_CASE("many updates of one row stay on one page when pruning may", "[storage][heap]") {
  HeapBench bench;
  const TupleId root = bench.insert(10, 1, 0);
  bench.oracle.commit(10);
  std::uint64_t xid = 11;
  for (int i = 1; i <= 2000; ++i, ++xid) {
    bench.oracle.horizon = Xid{xid};
    const ChainResult found = bench.fetch(root);
    REQUIRE(found.tuple.valid());
    REQUIRE(row_int(found.tuple, 1) == i - 1);
    const TupleId id = found.tuple.id();
    const UpdateOutcome outcome = bench.update(xid, id, 1, i);
    REQUIRE(outcome.result == ModifyResult::kOk);
    REQUIRE(outcome.is_hot);
    bench.oracle.commit(xid);
  }
  CHECK(bench.heap.page_count().value == 1);
  CHECK(bench.scan() == std::vector<std::int32_t>{2000});
}

TEST_CASE("updates that find their page full move the row to another page", "[storage][heap]") {
  HeapBench bench;
  std::vector<TupleId> ids;
  const std::string text(500, 't');
  for (int i = 0; i < 60; ++i) ids.push_back(bench.insert(10, i, i, text));
  bench.oracle.commit(10);
  REQUIRE(bench.heap.page_count().value >= 4);
  for (int i = 59; i >= 0; --i) {
    const UpdateOutcome outcome = bench.update(11, ids[static_cast<std::size_t>(i)], i, i + 1000, true, text);
    REQUIRE(outcome.result == ModifyResult::kOk);
    if (outcome.new_id.page != ids[static_cast<std::size_t>(i)].page) CHECK_FALSE(outcome.is_hot);
  }
  bench.oracle.commit(11);
  std::vector<std::int32_t> numbers = bench.scan();
  std::sort(numbers.begin(), numbers.end());
  REQUIRE(numbers.size() == 60);
  for (int i = 0; i < 60; ++i) CHECK(numbers[static_cast<std::size_t>(i)] == i + 1000);
}

TEST_CASE("a multi-insert fills pages with one record each", "[storage][heap]") {
  HeapBench bench;
  std::vector<FormedTuple> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(make_row(bench.arena, i, i, "some text"));
  std::vector<TupleId> ids(rows.size());
  BufferRing ring{BufferRing::Kind::kBulkWrite, 64};
  bench.state.ring = &ring;
  const std::uint64_t records =
      shm::process_stats->counters[static_cast<int>(shm::Counter::kWalRecords)].read();
  bench.heap.multi_insert(rows, bench.as(10), bench.state, {true, false, false}, ids.data());
  const auto used =
      shm::process_stats->counters[static_cast<int>(shm::Counter::kWalRecords)].read() - records;
  CHECK(used == bench.heap.page_count().value);
  bench.oracle.commit(10);
  CHECK(bench.scan().size() == 1000);
  CHECK(row_int(bench.fetch(ids[777]).tuple, 0) == 777);
}

TEST_CASE("vacuum removes dead rows in two passes and sets the visibility map", "[storage][heap]") {
  HeapBench bench;
  std::vector<TupleId> ids;
  for (int i = 0; i < 500; ++i) ids.push_back(bench.insert(10, i, i));
  bench.oracle.commit(10);
  for (int i = 0; i < 500; i += 2) bench.heap.remove(ids[static_cast<std::size_t>(i)], bench.as(11));
  bench.oracle.commit(11);
  bench.fetch_pin.release();
  const Xid horizon{12};
  std::vector<TupleId> dead;
  Pin map_pin;
  std::uint32_t live = 0;
  const std::uint32_t pages = bench.heap.page_count().value;
  for (std::uint32_t i = 0; i < pages; ++i) {
    const auto result =
        vacuum_page(bench.heap, PageNumber{i}, bench.oracle, horizon, true, dead, nullptr, map_pin);
    live += result.live_tuples;
    CHECK_FALSE(result.all_visible);
  }
  CHECK(live == 250);
  REQUIRE(dead.size() == 250);
  CHECK(bench.scan().size() == 250);
  for (std::uint32_t i = 0; i < pages; ++i) {
    std::vector<TupleId> here;
    for (const TupleId& id : dead) {
      if (id.page.value == i) here.push_back(id);
    }
    vacuum_remove_dead_lines(bench.heap, PageNumber{i}, here, bench.oracle, horizon, nullptr, map_pin);
  }
  CHECK(bench.engine.storage->visibility.count(kTable) == pages);
  CHECK(bench.scan().size() == 250);
  // The space is used again, and the bit of the page that takes the row goes.
  bench.state = {};
  const TupleId again = bench.insert(13, 1000, 1000);
  CHECK(again.page.value < pages);
  CHECK(bench.heap.page_count().value == pages);
  CHECK(bench.engine.storage->visibility.count(kTable) == pages - 1);
  bench.oracle.commit(13);
  CHECK(bench.scan().size() == 251);
}

TEST_CASE("vacuum of an emptied table lets it be cut to nothing", "[storage][heap]") {
  HeapBench bench;
  std::vector<TupleId> ids;
  for (int i = 0; i < 500; ++i) ids.push_back(bench.insert(10, i, i));
  bench.oracle.commit(10);
  for (const TupleId& id : ids) bench.heap.remove(id, bench.as(11));
  bench.oracle.commit(11);
  std::vector<TupleId> dead;
  Pin map_pin;
  for (std::uint32_t i = 0; i < bench.heap.page_count().value; ++i) {
    vacuum_page(bench.heap, PageNumber{i}, bench.oracle, Xid{12}, false, dead, nullptr, map_pin);
  }
  CHECK(dead.empty());
  CHECK(vacuum_truncation_point(bench.heap, nullptr).value == 0);
  map_pin.release();
  truncate_relation(*bench.engine.storage, bench.heap.relation(), PageNumber{0});
  CHECK(bench.heap.page_count().value == 0);
  bench.state = {};
  bench.insert(12, 1, 1);
  bench.oracle.commit(12);
  CHECK(bench.scan() == std::vector<std::int32_t>{1});
}

TEST_CASE("a frozen insert is visible whatever becomes of its transaction's id", "[storage][heap]") {
  HeapBench bench;
  bench.heap.insert(make_row(bench.arena, 1, 7, "x"), bench.as(10), bench.state, {false, true, false});
  bench.leave(10);
  CHECK(bench.scan() == std::vector<std::int32_t>{7});
}

TEST_CASE("a speculative insert that is taken back is dead to everyone", "[storage][heap]") {
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 1);
  bench.heap.abort_speculative(id, bench.as(10));
  CHECK(bench.scan().empty());
  bench.oracle.commit(10);
  CHECK(bench.scan().empty());
  CHECK(bench.fetch(id).all_dead);
}

TEST_CASE("rows beyond the page size are refused in PostgreSQL's words", "[storage][heap]") {
  HeapBench bench;
  try {
    bench.insert(10, 1, 1, std::string(9000, 'x'));
    FAIL("the row was taken");
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "54000");
    CHECK(error.message() == "row is too big: size 9052, maximum size 8152");
  }
}

TEST_CASE("damage to tuples is found by the checker", "[storage][heap][check]") {
  struct Listener final : HeapCheckVisitor {
    void damage(const std::string& text) override { texts.push_back(text); }
    std::vector<std::string> texts;
  };
  HeapBench bench;
  const TupleId id = bench.insert(10, 1, 100);
  bench.oracle.commit(10);
  const UpdateOutcome updated = bench.update(11, id, 1, 101);
  bench.insert(11, 2, 200);
  Listener sound;
  const HeapCheckResult result = verify_heap(bench.heap, &row_layout(), Xid{12}, sound);
  CHECK(sound.texts.empty());
  CHECK(result.tuples == 3);

  const auto [field, value, message] = GENERATE(table<std::size_t, std::uint16_t, std::string>({
      {offsetof(TupleHeader, xmin), 500, "xmin 500 is in the future"},
      {offsetof(TupleHeader, data_offset), 48, "tuple data begins at byte 48, not 40"},
      {offsetof(TupleHeader, infomask2), 4, "number of attributes 4 exceeds maximum 3"},
      {offsetof(TupleHeader, data_offset), 0xFF, "tuple is shorter than its header"},
  }));
  {
    const WriteGuard guard = bench.engine.storage->pool.write_page({kTable, Fork::kMain, id.page});
    std::byte* at = guard.page().item(updated.new_id.slot) + field;
    if (field == offsetof(TupleHeader, data_offset)) {
      *at = static_cast<std::byte>(value);
    } else {
      store(at, value);
    }
  }
  Listener listener;
  verify_heap(bench.heap, &row_layout(), Xid{12}, listener);
  REQUIRE_FALSE(listener.texts.empty());
  CHECK(listener.texts.back().find("relation base/5/16384, block 0, offset 2: ") == 0);
  INFO(listener.texts.back());
  CHECK(listener.texts.back().find(message) != std::string::npos);
}

TEST_CASE("unlogged tables write no log", "[storage][heap]") {
  HeapBench bench{64, Persistence::kUnlogged};
  const Lsn before = bench.engine.log->insert_position();
  const TupleId id = bench.insert(10, 1, 1);
  bench.update(10, id, 1, 2);
  CHECK(bench.engine.log->insert_position() == before);
  CHECK(bench.scan() == std::vector<std::int32_t>{2});
}

}  // namespace pinwheel::storage::test
