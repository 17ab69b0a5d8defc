#include "base/arena.h"

#include <catch2/catch.hpp>
#include <vector>

#include "tests/base/error_text.h"

namespace pinwheel {

TEST_CASE("memory of an arena is aligned as asked and does not overlap", "[base][arena]") {
  Arena arena{nullptr, 256};
  std::vector<std::pair<char*, std::size_t>> pieces;
  for (std::size_t size = 1; size < 2000; size = size * 3 / 2 + 1) {
    for (const std::size_t align : {1u, 8u, 64u}) {
      char* at = static_cast<char*>(arena.allocate(size, align));
      REQUIRE(reinterpret_cast<std::uintptr_t>(at) % align == 0);
      std::memset(at, static_cast<int>(pieces.size()), size);
      pieces.emplace_back(at, size);
    }
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CHECK(pieces[i].first[0] == static_cast<char>(i));
    CHECK(pieces[i].first[pieces[i].second - 1] == static_cast<char>(i));
  }
}

TEST_CASE("reset keeps one block and reuses it", "[base][arena]") {
  ArenaBudget budget;
  Arena arena{&budget, 1024};
  void* first = arena.allocate(100);
  for (int i = 0; i < 100; ++i) arena.allocate(1000);
  CHECK(arena.held_bytes() > 100'000);
  arena.reset();
  CHECK(arena.held_bytes() == 1024);
  CHECK(budget.used_bytes == 1024);
  CHECK(arena.allocate(100) == first);
}

TEST_CASE("an arena over its budget raises out of memory", "[base][arena]") {
  ArenaBudget budget{0, 10'000};
  Arena arena{&budget, 1024};
  arena.allocate(100);
  CHECK(test::error_of([&] { arena.allocate(20'000); }) == "53200 out of memory");
  arena.allocate(100);  // still usable
}

TEST_CASE("pmr containers live in an arena", "[base][arena]") {
  Arena arena;
  std::pmr::vector<int> numbers{arena.resource()};
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  CHECK(numbers[999] == 999);
  CHECK(arena.copy("text") == "text");
}

}  // namespace pinwheel
