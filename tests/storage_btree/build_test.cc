#include "storage/btree/build.h"
#include "base/error.h"
#include "tests/storage_btree/btree_fixture.h"

namespace pinwheel::storage::test {

namespace {

struct Row {
  std::int64_t key;
  bool is_null;
  std::string text;
};

/// Builds an index of (int4, text) from rows in the given order, with so little memory that large ones spill.
std::vector<std::uint64_t> build(const BTreeIndex& index,
                                 const std::vector<std::pair<std::uint64_t, Row>>& rows) {
  const TestDirectory directory;
  Engine engine{directory.path(), 1024};
  create_relation_logged(*engine.storage, index.file, Fork::kMain, index.persistence, Xid{3});
  BTreeBuildOptions options;
  options.memory_bytes = 1;
  options.temporary_directory = directory.path() + "/base/pgsql_tmp";
  BTreeBuild builder{*engine.storage, index, options};
  for (const auto& [number, row] : rows) {
    const Text text{row.text};
    const std::uint64_t values[] = {static_cast<std::uint64_t>(row.key), text.datum()};
    const bool nulls[] = {row.is_null, false};
    builder.add(values, nulls, id_of(number));
  }
  CHECK(builder.finish() == rows.size());
  BTree tree{*engine.storage, index};
  const std::vector<std::uint64_t> found = verified_rows(tree);
  CHECK(scan_rows(tree, {}) == found);
  CHECK(vacuum_rows(tree, {}).entries_left == rows.size());
  return found;
}

std::vector<std::pair<std::uint64_t, Row>> random_rows(std::size_t count, std::size_t text_length,
                                                       std::uint32_t seed) {
  std::mt19937 random{seed};
  std::vector<std::pair<std::uint64_t, Row>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::string text = "t" + std::to_string(random() % 50);
    text.resize(text_length + random() % 5, 'x');
    rows.push_back({i, {static_cast<std::int64_t>(random() % 1000) - 500, random() % 50 == 0, text}});
  }
  return rows;
}

std::vector<std::uint64_t> sorted_rows(std::vector<std::pair<std::uint64_t, Row>> rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::tuple{a.second.is_null, a.second.is_null ? 0 : a.second.key, a.second.text, a.first} <
           std::tuple{b.second.is_null, b.second.is_null ? 0 : b.second.key, b.second.text, b.first};
  });
  std::vector<std::uint64_t> numbers;
  for (const auto& row : rows) numbers.push_back(row.first);
  return numbers;
}

BTreeIndex two_columns() { return make_index({kInt4, kTextColumn}, {kIntKey, kTextKey}); }

struct DuplicateKey {
  std::int64_t key;
};

void throw_duplicate(void*, const std::uint64_t* values, const bool*) {
  throw DuplicateKey{static_cast<std::int64_t>(values[0])};
}

}  // namespace

TEST_CASE("A build sorts rows that come in any order", "[storage][btree][build]") {
  const auto rows = random_rows(30'000, 10, 1);
  REQUIRE(build(two_columns(), rows) == sorted_rows(rows));
}

TEST_CASE("A build merges runs that do not fit in memory", "[storage][btree][build]") {
  const auto rows = random_rows(6000, 1500, 2);
  REQUIRE(build(two_columns(), rows) == sorted_rows(rows));
}

TEST_CASE("A build takes rows in order as they come", "[storage][btree][build]") {
  std::vector<std::pair<std::uint64_t, Row>> rows;
  for (std::uint64_t i = 0; i < 40'000; ++i) rows.push_back({i, {static_cast<std::int64_t>(i), false, "x"}});
  REQUIRE(build(two_columns(), rows) == sorted_rows(rows));
}

TEST_CASE("A build that finds a row out of order late sorts what it has written, too",
          "[storage][btree][build]") {
  std::vector<std::pair<std::uint64_t, Row>> rows;
  for (std::uint64_t i = 0; i < 20'000; ++i)
    rows.push_back({i, {static_cast<std::int64_t>(2 * i), false, "x"}});
  rows.push_back({20'000, {7, false, "x"}});
  rows.push_back({20'001, {39'999, false, "x"}});
  REQUIRE(build(two_columns(), rows) == sorted_rows(rows));
}

TEST_CASE("A build of nothing makes an index that takes insertions", "[storage][btree][build]") {
  REQUIRE(build(two_columns(), {}).empty());
}

TEST_CASE("A built index takes insertions like a grown one", "[storage][btree][build]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 1024};
  const BTreeIndex index = int_index();
  create_relation_logged(*engine.storage, index.file, Fork::kMain, index.persistence, Xid{3});
  BTreeBuild builder{*engine.storage, index, {}};
  const bool nulls[] = {false};
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t values[] = {2 * i};
    builder.add(values, nulls, id_of(2 * i));
  }
  builder.finish();
  BTree tree{*engine.storage, index};
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    insert_int(tree, static_cast<std::int64_t>(2 * i + 1), 2 * i + 1);
  }
  std::vector<std::uint64_t> expected(40'000);
  for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = i;
  REQUIRE(verified_rows(tree) == expected);
}

TEST_CASE("A unique build reports a duplicate of live rows only", "[storage][btree][build][unique]") {
  const bool in_order = GENERATE(true, false);
  const TestDirectory directory;
  Engine engine{directory.path(), 256};
  const BTreeIndex index = int_index(true);
  create_relation_logged(*engine.storage, index.file, Fork::kMain, index.persistence, Xid{3});
  BTreeBuildOptions options;
  options.temporary_directory = directory.path() + "/base/pgsql_tmp";
  options.report_duplicate = throw_duplicate;
  BTreeBuild builder{*engine.storage, index, options};
  const auto add = [&](std::int64_t key, std::uint64_t row, bool is_live, bool is_null = false) {
    const std::uint64_t values[] = {static_cast<std::uint64_t>(key)};
    const bool nulls[] = {is_null};
    builder.add(values, nulls, id_of(row), is_live);
  };
  if (!in_order) add(100, 0, true);
  add(1, 1, true);
  add(2, 2, false);
  add(2, 3, true);
  add(2, 4, false);
  if (GENERATE(true, false)) {
    try {
      add(2, 5, true);
      builder.finish();
      FAIL("no duplicate was reported");
    } catch (const DuplicateKey& duplicate) {
      CHECK(duplicate.key == 2);
    }
  } else {
    add(0, 6, true, true);
    add(0, 7, true, true);
    CHECK(builder.finish() == (in_order ? 6u : 7u));
    CHECK(verified_rows(BTree{*engine.storage, index}).size() == (in_order ? 6u : 7u));
  }
}

TEST_CASE("A row too big for an index is refused in PostgreSQL's words", "[storage][btree][build]") {
  const TestDirectory directory;
  Engine engine{directory.path(), 64};
  const BTreeIndex index = make_index({kTextColumn}, {kTextKey});
  create_index_file(*engine.storage, index);
  BTree tree{*engine.storage, index};
  const Text text{std::string(2800, 'x')};
  const std::uint64_t values[] = {text.datum()};
  const bool nulls[] = {false};
  try {
    tree.insert(values, nulls, id_of(1), Xid{5});
    FAIL("it was taken");
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "54000");
    CHECK(error.message() == "index row size 2816 exceeds btree version 4 maximum 2704 for index \"i\"");
  }
}

}  // namespace pinwheel::storage::test
