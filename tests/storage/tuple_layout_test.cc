#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "storage/heap/tuple_layout.h"

namespace pinwheel::storage {

namespace {

std::uint64_t varlena(Arena& arena, std::string_view text) {
  auto* at = static_cast<std::byte*>(arena.allocate(text.size() + 4, 4));
  store(at, static_cast<std::uint32_t>((text.size() + 4) << 2));
  std::memcpy(at + 4, text.data(), text.size());
  return reinterpret_cast<std::uintptr_t>(at);
}
std::string text_of(std::uint64_t value) {
  const auto* at = reinterpret_cast<const std::byte*>(value);
  const std::size_t header = (static_cast<std::uint8_t>(*at) & 1) != 0 ? 1 : 4;
  return {reinterpret_cast<const char*>(at) + header, varlena_size(at) - header};
}
HeapTupleView view(const FormedTuple& tuple) {
  return {tuple.bytes, static_cast<std::uint16_t>(tuple.length), {PageNumber{0}, 1}};
}

}  // namespace

TEST_CASE("a tuple has the documented bytes", "[storage][heap][format]") {
  const AttributeLayout attributes[] = {{4, 4, true, false, 'p'},
                                        {-1, 4, false, false, 'x'},
                                        {2, 2, true, false, 'p'},
                                        {8, 8, true, false, 'p'}};
  const TupleLayout layout{attributes};
  Arena arena;
  const std::uint64_t values[] = {7, varlena(arena, "ab"), static_cast<std::uint64_t>(-2), 0};
  const bool nulls[] = {false, false, false, true};
  const FormedTuple tuple = form_tuple(layout, values, nulls, arena);
  REQUIRE(tuple.length == 50);
  CHECK(formed_size(layout, values, nulls) == 50);
  const unsigned char expected[50] = {0, 0, 0, 0, 0,  0,   0,   0,  // xmin
                                      0, 0, 0, 0, 0,  0,   0,   0,  // xmax
                                      0, 0, 0, 0, 0,  0,   0,   0,  // cmin, cmax
                                      0, 0, 0, 0, 0,  0,            // next
                                      3, 0, 4, 0, 40, 0,            // infomasks, data offset
                                      7, 0, 0, 0,                   // null bitmap
                                      7, 0, 0, 0, 7,  'a', 'b', 0, 0xFE, 0xFF};
  CHECK(std::memcmp(tuple.bytes, expected, sizeof expected) == 0);
}

TEST_CASE("values of any mix of types come back as they went in", "[storage][heap]") {
  const std::uint32_t seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random{seed};
  constexpr AttributeLayout kKinds[] = {{1, 1, true, false, 'p'},   {2, 2, true, false, 'p'},
                                        {4, 4, true, false, 'p'},   {8, 8, true, false, 'p'},
                                        {-1, 4, false, false, 'x'}, {-1, 8, false, false, 'p'},
                                        {-2, 1, false, false, 'p'}, {16, 8, false, false, 'p'}};
  for (int round = 0; round < 300; ++round) {
    Arena arena;
    std::vector<AttributeLayout> attributes;
    std::vector<std::uint64_t> values;
    std::vector<std::string> texts;
    std::vector<std::uint8_t> null_bytes;
    const std::size_t count = 1 + random() % 40;
    for (std::size_t i = 0; i < count; ++i) {
      AttributeLayout kind = kKinds[random() % std::size(kKinds)];
      kind.not_null = random() % 2 == 0;
      const bool is_null = !kind.not_null && round % 3 != 0 && random() % 4 == 0;
      std::string text(random() % 3 == 0 ? random() % 400 : random() % 10,
                       static_cast<char>('a' + random() % 26));
      if (kind.length == 16) text.assign(16, 'q');
      std::uint64_t value = random();
      if (kind.by_value) {
        const int shift = 64 - 8 * kind.length;
        value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
      } else if (kind.length == -1) {
        value = varlena(arena, text);
      } else {
        value = reinterpret_cast<std::uintptr_t>(arena.copy(text).data());
      }
      attributes.push_back(kind);
      values.push_back(value);
      texts.push_back(text);
      null_bytes.push_back(is_null);
    }
    const TupleLayout layout{attributes};
    const auto* nulls = reinterpret_cast<const bool*>(null_bytes.data());
    const FormedTuple tuple = form_tuple(layout, values.data(), nulls, arena);
    CHECK(tuple.length == formed_size(layout, values.data(), nulls));
    std::vector<std::uint64_t> got(count);
    std::vector<std::uint8_t> got_nulls(count);
    auto* got_null_flags = reinterpret_cast<bool*>(got_nulls.data());
    // Read in two steps, as a scan does that needs more columns later.
    DeformState state;
    deform_more(view(tuple), layout, count / 2, state, got.data(), got_null_flags);
    deform_more(view(tuple), layout, count, state, got.data(), got_null_flags);
    for (std::size_t i = 0; i < count; ++i) {
      bool is_null = false;
      const std::uint64_t single = fetch_attribute(view(tuple), layout, i, is_null);
      REQUIRE(is_null == nulls[i]);
      REQUIRE(got_null_flags[i] == nulls[i]);
      if (is_null) continue;
      REQUIRE(single == got[i]);
      if (attributes[i].by_value) {
        REQUIRE(got[i] == values[i]);
      } else if (attributes[i].length == -1) {
        REQUIRE(text_of(got[i]) == texts[i]);
      } else if (attributes[i].length == -2) {
        REQUIRE(reinterpret_cast<const char*>(got[i]) == texts[i]);
      } else {
        REQUIRE(std::string(reinterpret_cast<const char*>(got[i]), 16) == texts[i]);
      }
    }
  }
}

TEST_CASE("attributes that a tuple lacks get their missing values", "[storage][heap]") {
  const AttributeLayout attributes[] = {
      {4, 4, true, true, 'p'}, {4, 4, true, false, 'p'}, {4, 4, true, false, 'p'}};
  const TupleLayout old_layout{std::span{attributes}.first(1)};
  const std::uint64_t missing[] = {0, 99, 0};
  const std::uint8_t missing_null[] = {1, 0, 1};
  const TupleLayout layout{attributes, missing, missing_null};
  Arena arena;
  const std::uint64_t values[] = {5};
  const bool no_nulls[] = {false};
  const FormedTuple tuple = form_tuple(old_layout, values, no_nulls, arena);
  std::uint64_t got[3];
  bool nulls[3];
  deform(view(tuple), layout, 3, got, nulls);
  CHECK(got[0] == 5);
  CHECK(got[1] == 99);
  CHECK_FALSE(nulls[1]);
  CHECK(nulls[2]);
}

}  // namespace pinwheel::storage
