#include "shm/interrupts.h"
#include "tests/storage_btree/btree_fixture.h"

namespace pinwheel::storage::test {

namespace {

/// Entries are never of dead rows, so equal keys conflict.
class AllLive final : public UniqueVisitor {
 public:
  UniqueCandidate examine(TupleId) override { return {UniqueCandidate::Fate::kLive, {}}; }
};

void insert_quietly(BTree& tree, std::int64_t key, std::uint64_t row) {
  const std::uint64_t values[] = {static_cast<std::uint64_t>(key)};
  const bool nulls[] = {false};
  tree.insert(values, nulls, id_of(row), Xid{5});
}

/// Whether a scan's rows rise (or fall) and include all rows below `always` that divide by 10.
bool scan_is_whole(const BTree& tree, bool backward, std::uint64_t always) {
  std::vector<std::uint64_t> rows;
  BTreeScan scan;
  BTreeScanOptions options;
  options.backward = backward;
  scan.open(tree, {}, options);
  TupleId id;
  std::uint64_t seen = 0;
  std::uint64_t last = 0;
  bool first = true;
  while (scan.next(id)) {
    const std::uint64_t row = number_of(id);
    if (!first && (backward ? row >= last : row <= last)) return false;
    first = false;
    last = row;
    if (row < always && row % 10 == 0) ++seen;
  }
  return seen == always / 10;
}

}  // namespace

TEST_CASE("Processes insert, remove and read at the same time, and the index stays whole",
          "[storage][btree][concurrency]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 600};
  const BTreeIndex index = int_index();
  create_index_file(*engine.storage, index);
  constexpr std::uint64_t kAlways = 6000;
  {
    // Keys and rows are equal, so that a scan's order can be checked by rows alone.
    BTree tree{*engine.storage, index};
    for (std::uint64_t row = 0; row < kAlways; row += 10)
      insert_int(tree, static_cast<std::int64_t>(row), row);
  }
  std::vector<pid_t> children;
  // Each inserter adds what no other does, in its own order.
  for (std::uint64_t worker = 1; worker <= 3; ++worker) {
    children.push_back(engine.spawn([&, worker](Storage& storage) {
      BTree tree{storage, index};
      for (std::uint64_t i = 0; i < 4000; ++i) {
        const std::uint64_t place = worker == 1 ? i : (i * 2741) % 4000;
        const std::uint64_t row = place * 10 + worker;
        insert_quietly(tree, static_cast<std::int64_t>(row), row);
      }
      return true;
    }));
  }
  // One removes the third inserter's rows, and makes pages go.
  children.push_back(engine.spawn([&](Storage& storage) {
    const BTree tree{storage, index};
    for (int round = 0; round < 30; ++round) {
      BTreeVacuumOptions options;
      options.is_dead = [](void*, TupleId id) { return number_of(id) % 10 != 0 && number_of(id) % 10 >= 2; };
      options.next_xid = Xid{50};
      options.horizon = Xid{40};  // nothing is reused: readers have no snapshots here
      vacuum_btree(tree, options);
    }
    return true;
  }));
  for (const bool backward : {false, true}) {
    children.push_back(engine.spawn([&, backward](Storage& storage) {
      const BTree tree{storage, index};
      for (int round = 0; round < 60; ++round) {
        if (!scan_is_whole(tree, backward, kAlways)) return false;
        for (std::uint64_t row = 0; row < kAlways; row += 50) {
          const std::uint64_t values[] = {row};
          std::array<TupleId, 2> ids;
          if (tree.find_equal(values, ids) != 1 || number_of(ids[0]) != row) return false;
        }
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  const BTree tree{*engine.storage, index};
  const std::vector<std::uint64_t> rows = verified_rows(tree);
  std::set<std::uint64_t> found{rows.begin(), rows.end()};
  CHECK(found.size() == rows.size());
  for (std::uint64_t row = 0; row < kAlways; row += 10) REQUIRE(found.contains(row));
  for (std::uint64_t i = 0; i < 4000; ++i) REQUIRE(found.contains(i * 10 + 1));
}

TEST_CASE("Of processes that insert equal keys into a unique index one wins each",
          "[storage][btree][concurrency]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 600};
  const BTreeIndex index = int_index(true);
  create_index_file(*engine.storage, index);
  std::vector<pid_t> children;
  for (std::uint64_t worker = 0; worker < 4; ++worker) {
    children.push_back(engine.spawn([&, worker](Storage& storage) {
      BTree tree{storage, index};
      AllLive heap;
      for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::uint64_t key = worker % 2 == 0 ? i : 4999 - i;
        const std::uint64_t values[] = {key};
        const bool nulls[] = {false};
        const InsertOutcome outcome =
            tree.insert(values, nulls, id_of(key * 4 + worker), Xid{5}, UniqueCheck::kImmediate, &heap);
        if (outcome.result == InsertResult::kMustWait) return false;
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  const std::vector<std::uint64_t> rows = verified_rows(BTree{*engine.storage, index});
  REQUIRE(rows.size() == 5000);
  for (std::uint64_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i] / 4 == i);
}

TEST_CASE("Processes insert long texts into a deep tree at the same time", "[storage][btree][concurrency]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 4000};
  const BTreeIndex index = make_index({kTextColumn}, {kTextKey});
  create_index_file(*engine.storage, index);
  std::vector<pid_t> children;
  for (std::uint64_t worker = 0; worker < 4; ++worker) {
    children.push_back(engine.spawn([&, worker](Storage& storage) {
      BTree tree{storage, index};
      std::mt19937 random{static_cast<std::uint32_t>(worker)};
      for (std::uint64_t i = 0; i < 1000; ++i) {
        const Text value{long_text(random() % 100'000, 1500)};
        const std::uint64_t values[] = {value.datum()};
        const bool nulls[] = {false};
        tree.insert(values, nulls, id_of(i * 4 + worker), Xid{5});
        std::array<TupleId, 64> ids;
        if (tree.find_equal(values, ids) == 0) return false;
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  const BTree tree{*engine.storage, index};
  CHECK(verified_rows(tree).size() == 4000);
  CHECK(tree.level() >= 3);
}

}  // namespace pinwheel::storage::test
