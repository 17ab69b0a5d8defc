#include <lz4.h>

#include <catch2/catch.hpp>
#include <random>

#include "base/error.h"
#include "storage/heap/toaster.h"
#include "storage/redo.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

namespace {

constexpr FileId kToastTable{Oid{5}, Oid{16390}};

class MapIndex final : public ToastIndex {
 public:
  void insert(std::uint32_t value_id, std::int32_t sequence, TupleId id) override {
    entries_.insert({{value_id, sequence}, id});
  }
  void find(std::uint32_t value_id, std::vector<TupleId>& ids) override {
    ids.clear();
    for (const auto& [key, id] : entries_) {
      if (key.first == value_id) ids.push_back(id);
    }
  }

 private:
  std::multimap<std::pair<std::uint32_t, std::int32_t>, TupleId> entries_;
};

class CountingIds final : public ToastIdSource {
 public:
  std::uint32_t next_value_id() override { return ++last; }
  std::uint32_t last = 0;
};

struct ToastBench {
  ToastBench() {
    create_relation_logged(*engine.storage, kToastTable, Fork::kMain, Persistence::kPermanent, Xid{3});
  }
  WriteContext context() {
    oracle.own = {10};
    return {Xid{10}, CommandId{1}, oracle};
  }
  TestDirectory directory;
  Engine engine{directory.path()};
  FakeOracle oracle;
  MapIndex index;
  CountingIds ids;
  ToastStore toast{Heap{*engine.storage, {kToastTable}}, Oid{16389}, index};
  Arena arena;
};

std::uint64_t varlena(Arena& arena, std::string_view text) {
  auto* at = static_cast<std::byte*>(arena.allocate(text.size() + 4, 4));
  store(at, static_cast<std::uint32_t>((text.size() + 4) << 2));
  std::memcpy(at + 4, text.data(), text.size());
  return reinterpret_cast<std::uintptr_t>(at);
}

std::string noise(std::size_t size) {
  std::mt19937 random{7};
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

}  // namespace

TEST_CASE("a row that does not compress goes out of line and comes back", "[storage][toast]") {
  ToastBench bench;
  const std::string text = noise(100'000);
  std::uint64_t values[] = {1, 2, varlena(bench.arena, text)};
  const bool nulls[] = {false, false, false};
  toast_values(row_layout(), values, nulls, &bench.toast, &bench.ids, bench.context(), bench.arena);
  CHECK(formed_size(row_layout(), values, nulls) < 100);
  const auto* value = reinterpret_cast<const std::byte*>(values[2]);
  REQUIRE(varlena_is_external(value));
  ToastPointer pointer;
  std::memcpy(static_cast<void*>(&pointer), value + 2, kToastPointerBytes);
  CHECK(pointer.raw_size == text.size());
  CHECK(pointer.compression == 0);
  std::string back(pointer.stored_size, '\0');
  bench.toast.fetch(pointer, reinterpret_cast<std::byte*>(back.data()), bench.oracle);
  CHECK(back == text);

  const FormedTuple row = form_tuple(row_layout(), values, nulls, bench.arena);
  remove_toasted(row_layout(), {row.bytes, static_cast<std::uint16_t>(row.length), {}}, nullptr, nullptr,
                 bench.toast, bench.context());
  bench.oracle.abort(10);
  CHECK_THROWS_WITH(bench.toast.fetch(pointer, reinterpret_cast<std::byte*>(back.data()), bench.oracle),
                    "missing chunk number 0 for toast value 1 in pg_toast_16389");
}

TEST_CASE("a row that compresses stays whole", "[storage][toast]") {
  ToastBench bench;
  const std::string text(50'000, 'a');
  std::uint64_t values[] = {1, 2, varlena(bench.arena, text)};
  const bool nulls[] = {false, false, false};
  toast_values(row_layout(), values, nulls, &bench.toast, &bench.ids, bench.context(), bench.arena);
  const auto* value = reinterpret_cast<const std::byte*>(values[2]);
  REQUIRE(varlena_is_compressed(value));
  CHECK(bench.ids.last == 0);
  std::string back(load<std::uint32_t>(value + 4), '\0');
  REQUIRE(LZ4_decompress_safe(reinterpret_cast<const char*>(value) + 8, back.data(),
                              static_cast<int>(varlena_size(value) - 8),
                              static_cast<int>(back.size())) == static_cast<int>(text.size()));
  CHECK(back == text);
}

TEST_CASE("short rows are left as they are", "[storage][toast]") {
  ToastBench bench;
  std::uint64_t values[] = {1, 2, varlena(bench.arena, std::string(1500, 'a'))};
  const std::uint64_t before = values[2];
  const bool nulls[] = {false, false, false};
  toast_values(row_layout(), values, nulls, &bench.toast, &bench.ids, bench.context(), bench.arena);
  CHECK(values[2] == before);
}

}  // namespace pinwheel::storage::test
