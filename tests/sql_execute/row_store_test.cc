#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>

#include "sql/execute/row_compare.h"
#include "sql/execute/row_file.h"
#include "sql/types/type_info.h"
#include "sql/types/varlena.h"

namespace pinwheel::sql {
namespace {

struct Directory {
  std::string path;
  Directory() {
    char name[] = "/tmp/pinwheel_rows_XXXXXX";
    path = mkdtemp(name);
    std::filesystem::create_directories(path + "/base");
  }
  ~Directory() { std::filesystem::remove_all(path); }
};

RowFormat int_and_text() {
  const ExprType types[] = {{kInt4Type, -1, {}}, {kTextType, -1, {}}};
  return RowFormat{std::span<const ExprType>(types)};
}

}  // namespace

TEST_CASE("rows come back from memory and from disk as they went in", "[sql_execute][rows]") {
  Directory directory;
  const RowFormat format = int_and_text();
  const std::int64_t limit = GENERATE(std::int64_t{1} << 30, std::int64_t{4096});
  TupleStore store{format, directory.path, limit, nullptr};
  Arena arena;
  constexpr int kRows = 3000;
  for (int i = 0; i < kRows; ++i) {
    const Datum values[] = {Datum::from_int32(i),
                            make_text(arena, std::string(static_cast<std::size_t>(i % 200), 'x'))};
    const bool nulls[] = {i % 7 == 0, i % 11 == 0};
    store.append(values, nulls);
  }
  CHECK((store.disk_bytes() > 0) == (limit == 4096));
  TupleStore::Reader reader;
  for (int pass = 0; pass < 2; ++pass) {
    reader.rewind();
    int i = 0;
    while (const PackedRow* row = store.next(reader)) {
      REQUIRE(row->nulls()[0] == (i % 7 == 0));
      REQUIRE(row->nulls()[1] == (i % 11 == 0));
      if (!row->nulls()[0]) REQUIRE(row->values()[0].as_int32() == i);
      if (!row->nulls()[1]) REQUIRE(var_view(row->values()[1]).size() == static_cast<std::size_t>(i % 200));
      ++i;
    }
    CHECK(i == kRows);
  }
  const PackedRow* row = store.row(1234, reader);
  CHECK(row->values()[0].as_int32() == 1234);
}

TEST_CASE("temporary files leave no name behind", "[sql_execute][rows]") {
  Directory directory;
  const RowFormat format = int_and_text();
  RowFile file{directory.path, format};
  CHECK(std::filesystem::is_empty(directory.path + "/base/pgsql_tmp"));
}

TEST_CASE("rows compare by direction and by where nulls go", "[sql_execute][rows]") {
  Arena scratch;
  const bool descending = GENERATE(false, true);
  const bool nulls_first = GENERATE(false, true);
  const SortKey key{0, kInt4Type, {}, descending, nulls_first};
  const RowComparer comparer{std::span<const SortKey>(&key, 1), &scratch};
  const Datum one = Datum::from_int32(1);
  const Datum two = Datum::from_int32(2);
  const bool no = false;
  const bool yes = true;
  CHECK((comparer.compare(&one, &no, &two, &no) < 0) == !descending);
  CHECK((comparer.compare(&one, &yes, &two, &no) < 0) == nulls_first);
  CHECK(comparer.compare(&one, &yes, &two, &yes) == 0);
  CHECK(comparer.equal(&one, &yes, &two, &yes));
  CHECK_FALSE(comparer.equal(&one, &yes, &one, &no));
  CHECK(comparer.hash(&one, &no) == comparer.hash(&one, &no));
  CHECK(comparer.hash(&one, &no) != comparer.hash(&two, &no));
}

}  // namespace pinwheel::sql
