#include "tests/storage_btree/btree_fixture.h"

namespace pinwheel::storage::test {

namespace {

/// What the index should hold: keys in its order, each with the row number. Null sorts as the index says.
struct ModelKey {
  std::vector<std::optional<std::string>> columns;
  std::uint64_t row;
};

/// Columns of a model: integers are kept as text with a fixed width, so that one order serves all.
struct Shape {
  BTreeIndex index;
  std::vector<bool> is_text;
  std::vector<int> distinct;  // values per column
  std::size_t text_length = 0;
};

std::string int_text(std::int64_t value) {
  std::string text = std::to_string(value + 1'000'000'000);
  return std::string(10 - text.size(), '0') + text;
}

class Model {
 public:
  explicit Model(Shape shape) : shape_{std::move(shape)}, rows_{Less{&shape_.index}} {}

  struct Less {
    const BTreeIndex* index;
    bool operator()(const ModelKey& a, const ModelKey& b) const {
      for (std::size_t i = 0; i < index->keys.size(); ++i) {
        const int order = compare(index->keys[i], a.columns[i], b.columns[i]);
        if (order != 0) return order < 0;
      }
      return a.row < b.row;
    }
    static int compare(const KeyColumn& column, const std::optional<std::string>& a,
                       const std::optional<std::string>& b) {
      if (!a || !b) {
        if (!a && !b) return 0;
        return !a == column.nulls_first ? -1 : 1;
      }
      const int order = a->compare(*b);
      return column.descending ? -order : order;
    }
  };

  ModelKey random_key(std::mt19937& random) const {
    ModelKey key;
    for (std::size_t i = 0; i < shape_.is_text.size(); ++i) {
      key.columns.push_back(random_value(random, i));
    }
    key.row = 0;
    return key;
  }
  std::optional<std::string> random_value(std::mt19937& random, std::size_t column) const {
    if (random() % 20 == 0) return std::nullopt;
    const auto number = static_cast<std::int64_t>(random() % static_cast<unsigned>(shape_.distinct[column]));
    if (!shape_.is_text[column]) return int_text(number - shape_.distinct[column] / 2);
    std::string text = "prefix-" + int_text(number);
    text.resize(shape_.text_length + static_cast<std::size_t>(number % 7),
                static_cast<char>('a' + number % 26));
    return text;
  }

  /// Datums of a key; texts live in `texts`.
  void datums(const ModelKey& key, std::vector<Text>& texts, std::uint64_t* values, bool* nulls) const {
    texts.reserve(kMaxIndexColumns);
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      values[i] = 0;
      nulls[i] = !key.columns[i].has_value();
      if (!nulls[i]) values[i] = datum(*key.columns[i], i, texts);
    }
  }
  std::uint64_t datum(const std::string& value, std::size_t column, std::vector<Text>& texts) const {
    if (!shape_.is_text[column]) return static_cast<std::uint64_t>(std::stoll(value) - 1'000'000'000);
    texts.emplace_back(value);
    return texts.back().datum();
  }

  bool satisfies(const ModelKey& key, std::size_t column, BTreeTest test, const std::string& value) const {
    const std::optional<std::string>& have = key.columns[column];
    if (test == BTreeTest::kIsNull) return !have;
    if (!have) return false;
    const int order = have->compare(value);
    switch (test) {
      case BTreeTest::kLess:
        return order < 0;
      case BTreeTest::kLessEqual:
        return order <= 0;
      case BTreeTest::kEqual:
        return order == 0;
      case BTreeTest::kGreaterEqual:
        return order >= 0;
      case BTreeTest::kGreater:
        return order > 0;
      default:
        return true;
    }
  }

  Shape shape_;
  std::set<ModelKey, Less> rows_;
};

std::vector<std::uint64_t> rows_of(const Model& model) {
  std::vector<std::uint64_t> rows;
  for (const ModelKey& key : model.rows_) rows.push_back(key.row);
  return rows;
}

/// A scan with random conditions, forward and backward, against the model.
void compare_scan(const Model& model, const BTree& tree, std::mt19937& random) {
  std::vector<BTreeScanKey> keys;
  std::vector<std::tuple<std::size_t, BTreeTest, std::string>> conditions;
  std::vector<Text> texts;
  texts.reserve(64);
  const std::size_t columns = model.shape_.index.keys.size();
  const std::size_t count = random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = random() % columns;
    const auto test = static_cast<BTreeTest>(random() % 7);
    const std::optional<std::string> value = model.random_value(random, column);
    if (!value) continue;
    BTreeScanKey key;
    key.column = static_cast<std::uint16_t>(column);
    key.test = test;
    key.value = model.datum(*value, column, texts);
    keys.push_back(key);
    conditions.emplace_back(column, test, *value);
  }
  std::vector<std::uint64_t> expected;
  for (const ModelKey& row : model.rows_) {
    const bool matches = std::all_of(conditions.begin(), conditions.end(), [&](const auto& c) {
      return model.satisfies(row, std::get<0>(c), std::get<1>(c), std::get<2>(c));
    });
    if (matches) expected.push_back(row.row);
  }
  for (const auto& [column, test, value] : conditions) {
    UNSCOPED_INFO("column " << column << " test " << static_cast<int>(test) << " value " << value);
  }
  REQUIRE(scan_rows(tree, keys) == expected);
  std::reverse(expected.begin(), expected.end());
  REQUIRE(scan_rows(tree, keys, true) == expected);
}

void run_model(Shape shape, std::uint32_t seed, int steps) {
  INFO("seed " << seed);
  std::mt19937 random{seed};
  const TestDirectory directory;
  Engine engine{directory.path(), 512};
  Model model{std::move(shape)};
  create_index_file(*engine.storage, model.shape_.index);
  BTree tree{*engine.storage, model.shape_.index};
  std::uint64_t next_row = 0;
  std::uint64_t xid = 10;
  for (int step = 0; step < steps; ++step) {
    const bool grow = (step / (steps / 4 + 1)) % 2 == 0;
    if (random() % 10 < (grow ? 9u : 3u) || model.rows_.empty()) {
      ModelKey key = model.random_key(random);
      key.row = next_row++;
      std::vector<Text> texts;
      std::uint64_t values[kMaxIndexColumns];
      bool nulls[kMaxIndexColumns];
      model.datums(key, texts, values, nulls);
      REQUIRE(tree.insert(values, nulls, id_of(key.row), Xid{5}).result == InsertResult::kInserted);
      model.rows_.insert(std::move(key));
    } else if (random() % 30 == 0) {
      // A stretch of the order dies, so that whole pages become empty.
      std::set<std::uint64_t> dead;
      auto at = model.rows_.lower_bound([&] {
        ModelKey key = model.random_key(random);
        key.row = random() % next_row;
        return key;
      }());
      const std::size_t limit = random() % (model.rows_.size() / 2 + 1);
      while (at != model.rows_.end() && dead.size() < limit) {
        dead.insert(at->row);
        at = model.rows_.erase(at);
      }
      ++xid;
      const BTreeVacuumResult result = vacuum_rows(tree, dead, xid, xid);
      CHECK(result.entries_removed == dead.size());
      CHECK(result.entries_left == model.rows_.size());
    }
    if (step % (steps / 8) == 0) {
      REQUIRE(verified_rows(tree) == rows_of(model));
      for (int i = 0; i < 10; ++i) compare_scan(model, tree, random);
    }
  }
  REQUIRE(verified_rows(tree) == rows_of(model));
  for (int i = 0; i < 100; ++i) compare_scan(model, tree, random);
}

KeyColumn with_order(KeyColumn column, bool descending, bool nulls_first) {
  column.descending = descending;
  column.nulls_first = nulls_first;
  return column;
}

}  // namespace

TEST_CASE("An index of integers holds what a sorted list holds", "[storage][btree][model]") {
  run_model({int_index(), {false}, {100'000}, 0}, GENERATE(1u, 2u), 12'000);
}

TEST_CASE("An index with many equal keys orders them by row", "[storage][btree][model]") {
  run_model({int_index(), {false}, {5}, 0}, GENERATE(3u, 4u), 12'000);
}

TEST_CASE("A descending index with nulls first holds what a sorted list holds", "[storage][btree][model]") {
  run_model({make_index({kInt8}, {with_order(kIntKey, true, true)}), {false}, {2000}, 0}, 5u, 8000);
}

TEST_CASE("A deep tree of long texts holds what a sorted list holds", "[storage][btree][model]") {
  run_model({make_index({kTextColumn}, {kTextKey}), {true}, {100'000}, 1200}, GENERATE(6u, 7u), 3000);
}

TEST_CASE("An index of several columns of either direction holds what a sorted list holds",
          "[storage][btree][model]") {
  run_model({make_index({kInt4, kTextColumn, kInt8},
                        {with_order(kIntKey, false, true), with_order(kTextKey, true, false), kIntKey}),
             {false, true, false},
             {20, 20, 20},
             100},
            GENERATE(8u, 9u), 6000);
}

TEST_CASE("Long equal texts are told apart by their rows", "[storage][btree][model]") {
  run_model({make_index({kTextColumn}, {kTextKey}), {true}, {2}, 2600}, 10u, 800);
}

}  // namespace pinwheel::storage::test
