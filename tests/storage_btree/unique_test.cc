#include "tests/storage_btree/btree_fixture.h"

namespace pinwheel::storage::test {

namespace {

using Fate = UniqueCandidate::Fate;

/// Fates of rows, as a test says.
class FakeHeap final : public UniqueVisitor {
 public:
  UniqueCandidate examine(TupleId id) override {
    asked.push_back(number_of(id));
    const auto found = fates.find(number_of(id));
    return found == fates.end() ? UniqueCandidate{Fate::kLive, {}} : found->second;
  }
  std::map<std::uint64_t, UniqueCandidate> fates;
  std::vector<std::uint64_t> asked;
};

struct UniqueFixture {
  explicit UniqueFixture(BTreeIndex i = int_index(true))
      : engine{directory.path(), 256}, index{std::move(i)} {
    create_index_file(*engine.storage, index);
  }
  InsertOutcome insert(std::int64_t key, std::uint64_t row, UniqueCheck check = UniqueCheck::kImmediate,
                       bool is_null = false) {
    const std::uint64_t values[] = {static_cast<std::uint64_t>(key)};
    const bool nulls[] = {is_null};
    return tree.insert(values, nulls, id_of(row), Xid{5}, check, &heap);
  }
  TestDirectory directory;
  Engine engine;
  BTreeIndex index;
  FakeHeap heap;
  BTree tree{*engine.storage, index};
};

}  // namespace

TEST_CASE("A live row with the key forbids another", "[storage][btree][unique]") {
  UniqueFixture f;
  CHECK(f.insert(1, 1).result == InsertResult::kInserted);
  const InsertOutcome outcome = f.insert(1, 2);
  CHECK(outcome.result == InsertResult::kDuplicate);
  CHECK(number_of(outcome.conflict) == 1);
  CHECK(f.insert(2, 3).result == InsertResult::kInserted);
  CHECK(verified_rows(f.tree) == std::vector<std::uint64_t>{1, 3});
}

TEST_CASE("A running inserter or deleter of the key must be waited for", "[storage][btree][unique]") {
  UniqueFixture f;
  f.insert(1, 1);
  f.heap.fates[1] = {Fate::kRunning, Xid{77}};
  const InsertOutcome outcome = f.insert(1, 2);
  CHECK(outcome.result == InsertResult::kMustWait);
  CHECK(outcome.blocker == Xid{77});
  f.heap.fates[1] = {Fate::kNoConflict, {}};
  CHECK(f.insert(1, 2).result == InsertResult::kInserted);
}

TEST_CASE("Entries of rows dead for good are marked and asked about once", "[storage][btree][unique]") {
  UniqueFixture f;
  f.insert(1, 1);
  f.heap.fates[1] = {Fate::kDead, {}};
  CHECK(f.insert(1, 2).result == InsertResult::kInserted);
  f.heap.asked.clear();
  CHECK(f.insert(1, 3).result == InsertResult::kDuplicate);
  CHECK(f.heap.asked == std::vector<std::uint64_t>{2});
  CHECK(scan_rows(f.tree, {}) == std::vector<std::uint64_t>{2});
}

TEST_CASE("Nulls conflict only when they are said to", "[storage][btree][unique]") {
  BTreeIndex index = int_index(true);
  index.nulls_not_distinct = GENERATE(false, true);
  const bool conflict = index.nulls_not_distinct;
  UniqueFixture f{std::move(index)};
  CHECK(f.insert(0, 1, UniqueCheck::kImmediate, true).result == InsertResult::kInserted);
  CHECK(f.insert(0, 2, UniqueCheck::kImmediate, true).result ==
        (conflict ? InsertResult::kDuplicate : InsertResult::kInserted));
}

TEST_CASE("A deferred check inserts and asks for another look", "[storage][btree][unique]") {
  UniqueFixture f;
  f.insert(1, 1);
  const InsertOutcome outcome = f.insert(1, 2, UniqueCheck::kDeferred);
  CHECK(outcome.result == InsertResult::kInserted);
  CHECK(outcome.recheck);
  const std::uint64_t values[] = {1};
  const bool nulls[] = {false};
  CHECK(number_of(f.tree.check_unique(values, nulls, f.heap, id_of(2)).conflict) == 1);
  f.heap.fates[1] = {Fate::kNoConflict, {}};
  CHECK(f.tree.check_unique(values, nulls, f.heap, id_of(2)).result == InsertResult::kInserted);
}

TEST_CASE("A unique check sees equal entries on all pages they reach", "[storage][btree][unique]") {
  UniqueFixture f;
  // Versions of one row fill several leaves; only the last is live, and it may be anywhere.
  const std::uint64_t live = GENERATE(0u, 600u, 1999u);
  for (std::uint64_t row = 0; row < 2000; ++row) {
    f.heap.fates[row] = {Fate::kNoConflict, {}};
    REQUIRE(f.insert(7, row).result == InsertResult::kInserted);
  }
  f.insert(6, 2001);
  f.insert(8, 2002);
  f.heap.fates[live] = {Fate::kLive, {}};
  const InsertOutcome outcome = f.insert(7, 5000);
  CHECK(outcome.result == InsertResult::kDuplicate);
  CHECK(number_of(outcome.conflict) == live);
  const std::uint64_t values[] = {7};
  std::array<TupleId, 4> ids;
  CHECK(f.tree.find_equal(values, ids) == 5);
  std::vector<TupleId> all(3000);
  CHECK(f.tree.find_equal(values, all) == 2000);
}

TEST_CASE("A point lookup finds each key and no other", "[storage][btree][lookup]") {
  UniqueFixture f;
  for (std::int64_t key = 0; key < 20'000; ++key)
    f.insert((key * 7919) % 20'000 * 2, static_cast<std::uint64_t>(key));
  std::array<TupleId, 2> ids;
  for (std::int64_t key = 0; key < 20'000; ++key) {
    const std::uint64_t values[] = {static_cast<std::uint64_t>((key * 7919) % 20'000 * 2)};
    REQUIRE(f.tree.find_equal(values, ids) == 1);
    REQUIRE(number_of(ids[0]) == static_cast<std::uint64_t>(key));
  }
  for (const std::int64_t key : {-1, 1, 39'999, 50'000}) {
    const std::uint64_t values[] = {static_cast<std::uint64_t>(key)};
    CHECK(f.tree.find_equal(values, ids) == 0);
  }
}

TEST_CASE("A point lookup compares texts and several columns, too", "[storage][btree][lookup]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = make_index({kTextColumn, kInt8}, {kTextKey, kIntKey}, true);
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  const bool nulls[] = {false, false};
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Text text{"key-" + std::to_string(i / 5)};
    const std::uint64_t values[] = {text.datum(), i % 5};
    REQUIRE(tree.insert(values, nulls, id_of(i), Xid{5}).result == InsertResult::kInserted);
  }
  std::array<TupleId, 2> ids;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Text text{"key-" + std::to_string(i / 5)};
    const std::uint64_t values[] = {text.datum(), i % 5};
    REQUIRE(tree.find_equal(values, ids) == 1);
    REQUIRE(number_of(ids[0]) == i);
  }
  CHECK(tree.level() >= 1);
}

TEST_CASE("Entries that a scan found dead make room for insertions", "[storage][btree][scan]") {
  UniqueFixture f{int_index(false)};
  for (int key = 0; key < 300; ++key) f.insert(key, static_cast<std::uint64_t>(key), UniqueCheck::kNone);
  const PageNumber pages = f.tree.page_count();
  BTreeScan scan;
  scan.open(f.tree, {});
  TupleId id;
  while (scan.next(id)) {
    if (number_of(id) % 2 == 0) scan.kill_current();
  }
  scan.close();
  CHECK(scan_rows(f.tree, {}).size() == 150);
  CHECK(verified_rows(f.tree).size() == 300);
  for (int key = 0; key < 150; ++key)
    f.insert(2 * key, 1000u + static_cast<unsigned>(key), UniqueCheck::kNone);
  CHECK(verified_rows(f.tree).size() == 300);
  CHECK(f.tree.page_count() == pages);
}

TEST_CASE("Nothing is marked dead on a page that changed since it was read", "[storage][btree][scan]") {
  UniqueFixture f{int_index(false)};
  for (int key = 0; key < 10; ++key) f.insert(key, static_cast<std::uint64_t>(key), UniqueCheck::kNone);
  BTreeScan scan;
  scan.open(f.tree, {});
  TupleId id;
  while (scan.next(id) && number_of(id) != 9) scan.kill_current();
  f.insert(-1, 100, UniqueCheck::kNone);
  scan.close();
  CHECK(scan_rows(f.tree, {}).size() == 11);
}

TEST_CASE("A scan gives all columns of its entries", "[storage][btree][scan]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = make_index({kInt4, kTextColumn}, {kIntKey});  // the text is an INCLUDE column
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Text text{"value-" + std::to_string(i)};
    const std::uint64_t values[] = {i, text.datum()};
    const bool nulls[] = {false, i % 3 == 0};
    REQUIRE(tree.insert(values, nulls, id_of(i), Xid{5}).result == InsertResult::kInserted);
  }
  BTreeScan scan;
  BTreeScanOptions options;
  options.want_values = true;
  options.backward = GENERATE(false, true);
  BTreeScanKey key;
  key.test = BTreeTest::kGreaterEqual;
  key.value = 100;
  scan.open(tree, {&key, 1}, options);
  TupleId id;
  std::uint64_t count = 0;
  while (scan.next(id)) {
    const std::uint64_t expected = options.backward ? 1999 - count : 100 + count;
    std::uint64_t values[2];
    bool nulls[2];
    scan.values(values, nulls);
    REQUIRE(values[0] == expected);
    REQUIRE(nulls[1] == (expected % 3 == 0));
    if (!nulls[1]) REQUIRE(text_of(values[1]) == "value-" + std::to_string(expected));
    ++count;
  }
  CHECK(count == 1900);
}

TEST_CASE("Comparing with null finds nothing", "[storage][btree][scan]") {
  UniqueFixture f;
  f.insert(1, 1);
  BTreeScanKey key;
  key.test = BTreeTest::kGreater;
  key.is_null = true;
  CHECK(scan_rows(f.tree, {key}).empty());
}

}  // namespace pinwheel::storage::test
