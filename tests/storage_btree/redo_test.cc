#include "storage/btree/redo.h"
#include "base/error.h"
#include "base/failpoints.h"
#include "base/file.h"
#include "tests/storage_btree/btree_fixture.h"
#include "wal/reader.h"
#include "wal/rmgr.h"

namespace pinwheel::storage::test {

namespace {

/// Applies records [0, count) of a log; returns how many there were.
std::size_t replay_records(Storage& storage, Engine& source, std::size_t count) {
  wal::RmgrRegistry registry;
  registry.add(file_resource_manager(&storage));
  registry.add(btree_resource_manager(&storage));
  wal::Reader reader{source.log->files(), source.redo};
  std::size_t applied = 0;
  for (; applied < count; ++applied) {
    const wal::RecordView* record = reader.next();
    if (record == nullptr) break;
    if (record->rmgr() == wal::RmgrId::kXlog) {
      if (record->is(wal::RmgrId::kXlog, wal::XlogKind::kFullPageImage))
        redo_full_page_images(storage, *record);
      continue;
    }
    const wal::ResourceManager* owner = registry.find(record->rmgr());
    REQUIRE(owner != nullptr);
    wal::RedoContext context{owner->owner};
    owner->redo(context, *record);
  }
  return applied;
}

std::vector<std::string> images_of(const BTree& tree) {
  std::vector<std::string> images;
  for (std::uint32_t i = 0; i < tree.page_count().value; ++i) {
    const ReadGuard guard = tree.storage().pool.read_page({tree.index().file, Fork::kMain, PageNumber{i}});
    const PageHeader& header = guard.header();
    std::string image = std::to_string(header.lsn) + " " + std::to_string(header.lower) + " " +
                        std::to_string(header.upper) + " " + std::to_string(header.prune_xid);
    image.append(reinterpret_cast<const char*>(guard.page().data()) + kPageHeaderSize,
                 header.lower - kPageHeaderSize);
    image.append(reinterpret_cast<const char*>(guard.page().data()) + header.upper, kPageSize - header.upper);
    images.push_back(std::move(image));
  }
  return images;
}

BTreeIndex text_index() { return make_index({kTextColumn}, {kTextKey}); }

void insert_text(BTree& tree, std::uint64_t row, int length) {
  const Text value{long_text(row * 7919 % 1000, length)};
  const std::uint64_t values[] = {value.datum()};
  const bool nulls[] = {false};
  REQUIRE(tree.insert(values, nulls, id_of(row), Xid{5}).result == InsertResult::kInserted);
}

/// Insertions and vacuums that bring up every kind of record.
void run_workload(Engine& engine, const BTreeIndex& index, int rounds) {
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  std::uint64_t row = 0;
  std::uint64_t xid = 10;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t first = row;
    for (int i = 0; i < 60; ++i) insert_text(tree, row++, 1200);
    std::set<std::uint64_t> dead;
    for (std::uint64_t i = first; i < row; ++i) {
      if (i % 10 != 0) dead.insert(i);
    }
    xid += 2;
    vacuum_rows(tree, dead, xid, xid);
    if (round % 2 == 1) engine.log->begin_checkpoint();
    if (round % 3 == 1) engine.storage->pool.flush_all(true, nullptr);
  }
  engine.log->flush_to(engine.log->insert_position());
}

/// Numbers of records after which a log may end: after each change of the structure, and some others.
std::vector<std::size_t> interesting_cuts(Engine& source) {
  std::vector<std::size_t> cuts;
  wal::Reader reader{source.log->files(), source.redo};
  std::size_t count = 0;
  while (const wal::RecordView* record = reader.next()) {
    ++count;
    if (record->rmgr() != wal::RmgrId::kBtree) continue;
    if (count % 10 == 0 || !btree_describe(*record).starts_with("INSERT_LEAF")) cuts.push_back(count);
  }
  return cuts;
}

constexpr std::size_t kAll = ~std::size_t{0};

}  // namespace

TEST_CASE("Replaying the log over nothing makes the same index", "[storage][btree][redo]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 128};
  const BTreeIndex index = text_index();
  run_workload(engine, index, 8);
  const BTree tree{*engine.storage, index};
  const std::vector<std::string> expected = images_of(tree);
  const std::vector<std::uint64_t> rows = verified_rows(tree);

  const TestDirectory other;
  Engine recovered{other.path(), 64, /*in_recovery=*/true};
  replay_records(*recovered.storage, engine, kAll);
  const BTree copy{*recovered.storage, index};
  CHECK(images_of(copy) == expected);
  CHECK(verified_rows(copy) == rows);

  SECTION("and again changes nothing") {
    replay_records(*recovered.storage, engine, kAll);
    CHECK(images_of(copy) == expected);
  }
}

TEST_CASE("Replaying the log over what a crash left on disk makes the same index", "[storage][btree][redo]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 24};
  const BTreeIndex index = text_index();
  run_workload(engine, index, 8);
  const std::vector<std::string> expected = images_of(BTree{*engine.storage, index});
  Engine recovered{directory.path(), 64, /*in_recovery=*/true};
  replay_records(*recovered.storage, engine, kAll);
  CHECK(images_of(BTree{*recovered.storage, index}) == expected);
}

TEST_CASE("An index is sound wherever the log ends, and later changes finish what a crash cut short",
          "[storage][btree][redo][crash]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = text_index();
  run_workload(engine, index, 2);
  const std::vector<std::size_t> cuts = interesting_cuts(engine);
  set_sync_enabled(false);
  REQUIRE(cuts.size() > 60);
  for (const std::size_t count : cuts) {
    INFO("records " << count);
    const TestDirectory other;
    Engine recovered{other.path(), 128, /*in_recovery=*/true};
    replay_records(*recovered.storage, engine, count);
    recovered.log->start_new();
    BTree tree{*recovered.storage, index};
    if (tree.page_count().value == 0) continue;
    std::set<std::uint64_t> rows;
    for (const std::uint64_t row : verified_rows(tree)) rows.insert(row);
    for (std::uint64_t row = 100'000; row < 100'040; ++row) {
      insert_text(tree, row, 1500);
      rows.insert(row);
    }
    const std::vector<std::uint64_t> found = verified_rows(tree);
    REQUIRE(std::set<std::uint64_t>{found.begin(), found.end()} == rows);
    const BTreeVacuumResult vacuumed = vacuum_rows(tree, rows, 100, 100);
    REQUIRE(vacuumed.entries_left == 0);
    REQUIRE(verified_rows(tree).empty());
    REQUIRE(scan_rows(tree, {}, true).empty());
  }
  set_sync_enabled(true);
}

TEST_CASE("An error between a split and its downlink leaves an index that the next insertion completes",
          "[storage][btree][crash]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = text_index();
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  std::set<std::uint64_t> rows;
  for (std::uint64_t row = 0; row < 300; ++row) {
    if (row % 3 == 0) failpoint::arm("btree-split-done=1*error");
    const Text value{long_text(row * 7919 % 1000, 1500)};
    const std::uint64_t values[] = {value.datum()};
    const bool nulls[] = {false};
    try {
      tree.insert(values, nulls, id_of(row), Xid{5});
      failpoint::disarm_all();
    } catch (const SqlError&) {
      // The entry is in if the split was its own, not if it was one that had to be finished on the way.
      failpoint::disarm_all();
      const std::vector<std::uint64_t> found = verified_rows(tree);
      if (std::find(found.begin(), found.end(), row) == found.end()) insert_text(tree, row, 1500);
    }
    rows.insert(row);
    if (row % 20 == 0) verified_rows(tree);
  }
  const std::vector<std::uint64_t> found = verified_rows(tree);
  CHECK(std::set<std::uint64_t>{found.begin(), found.end()} == rows);
}

TEST_CASE("A vacuum that stops between the two steps of a deletion is finished by the next",
          "[storage][btree][crash]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = int_index();
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  std::set<std::uint64_t> dead;
  for (std::uint64_t row = 0; row < 5000; ++row) {
    insert_int(tree, static_cast<std::int64_t>(row), row);
    if (row < 4000) dead.insert(row);
  }
  failpoint::arm("btree-half-dead=1*error");
  CHECK_THROWS_AS(vacuum_rows(tree, dead), SqlError);
  failpoint::disarm_all();
  verified_rows(tree);
  const BTreeVacuumResult result = vacuum_rows(tree, dead);
  CHECK(result.pages_deleted > 5);
  CHECK(verified_rows(tree).size() == 1000);
}

TEST_CASE("Deleted pages are reused, but not while a snapshot is older", "[storage][btree][vacuum]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = int_index();
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  std::set<std::uint64_t> dead;
  for (std::uint64_t row = 0; row < 20'000; ++row) {
    insert_int(tree, static_cast<std::int64_t>(row), row);
    if (row < 15'000) dead.insert(row);
  }
  const BTreeVacuumResult first = vacuum_rows(tree, dead, 50, 50);
  CHECK(first.pages_deleted > 20);
  CHECK(first.pages_free == 0);
  const BTreeVacuumResult second = vacuum_rows(tree, {}, 60, 50);
  CHECK(second.pages_free == 0);
  const BTreeVacuumResult third = vacuum_rows(tree, {}, 60, 51);
  CHECK(third.pages_free == first.pages_deleted);
  const PageNumber pages = tree.page_count();
  for (std::uint64_t row = 20'000; row < 25'000; ++row) insert_int(tree, static_cast<std::int64_t>(row), row);
  CHECK(tree.page_count() == pages);
  CHECK(verified_rows(tree).size() == 10'000);
}

TEST_CASE("Every B-tree record can be described", "[storage][btree][redo]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 128};
  run_workload(engine, text_index(), 8);
  std::map<std::string, int> seen;
  wal::Reader reader{engine.log->files(), engine.redo};
  while (const wal::RecordView* record = reader.next()) {
    if (record->rmgr() != wal::RmgrId::kBtree) continue;
    const std::string text = btree_describe(*record);
    ++seen[text.substr(0, text.find(' '))];
  }
  for (const char* kind : {"INSERT_LEAF", "INSERT_UPPER", "SPLIT", "DELETE", "MARK_PAGE_HALFDEAD",
                           "UNLINK_PAGE", "NEWROOT", "META_CLEANUP", "RECYCLABLE"}) {
    INFO(kind);
    CHECK(seen[kind] > 0);
  }
  CHECK_FALSE(seen.contains("UNKNOWN"));
}

}  // namespace pinwheel::storage::test
