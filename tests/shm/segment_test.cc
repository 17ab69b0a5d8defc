#include "shm/segment.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/base/error_text.h"

namespace pinwheel::shm {

TEST_CASE("regions are aligned, apart, zero-filled and created in order", "[shm][segment]") {
  const MemoryType type = GENERATE(MemoryType::kMmap, MemoryType::kSysV, MemoryType::kPosix);
  const HugePages huge = GENERATE(HugePages::kOff, HugePages::kTry);
  RegionBuilder builder;
  std::string order;
  builder.add_region("a", 10, 8, [&](std::byte* at) {
    order += "a";
    *at = std::byte{1};
  });
  builder.add_region("b", 5000, 4096, [&](std::byte*) { order += "b"; });
  builder.add_array<std::uint64_t>("c", 3);
  const Segment segment{std::move(builder), {type, huge}};
  CHECK(order == "ab");
  CHECK(segment.regions().size() == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(segment.find("b")) % 4096 == 0);
  CHECK(segment.find("a")[0] == std::byte{1});
  for (std::size_t i = 1; i < 10; ++i) CHECK(segment.find("a")[i] == std::byte{0});
  CHECK(segment.size_of("b") == 5000);
  CHECK(segment.find("c") - segment.find("b") >= 5000);
  CHECK(segment.find_or_null("d") == nullptr);
}

TEST_CASE("a forked child shares the segment at the same address", "[shm][segment]") {
  const MemoryType type = GENERATE(MemoryType::kMmap, MemoryType::kSysV, MemoryType::kPosix);
  RegionBuilder builder;
  builder.add_array<std::uint64_t>("word", 1);
  const Segment segment{std::move(builder), {type, HugePages::kOff}};
  std::uint64_t* word = segment.as<std::uint64_t>("word");
  const pid_t child = ::fork();
  if (child == 0) {
    *word = 42;
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(*word == 42);
}

TEST_CASE("memory that cannot be had is a clear error with the size", "[shm][segment]") {
  const auto map = [](HugePages huge) {
    RegionBuilder builder;
    builder.add_region("huge", std::size_t{1} << 56);
    const Segment segment{std::move(builder), {MemoryType::kMmap, huge}};
  };
  CHECK(test::error_of([&] { map(HugePages::kOff); }) ==
        "53200 could not map anonymous shared memory: Cannot allocate memory");
  CHECK(test::hint_of([&] { map(HugePages::kOff); }).find("72057594037927936 bytes") != std::string::npos);
  CHECK(test::error_of([&] {
          map(HugePages::kOn);
        }).starts_with("53200 could not map huge-page shared memory"));
}

}  // namespace pinwheel::shm
