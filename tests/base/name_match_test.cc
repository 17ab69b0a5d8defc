#include "base/name_match.h"

#include <catch2/catch.hpp>
#include <string_view>

namespace pinwheel {

TEST_CASE("the edit distance counts bytes put in, left out and replaced, up to its limit",
          "[base][name_match]") {
  CHECK(edit_distance("", "", 3) == 0);
  CHECK(edit_distance("kitten", "sitting", 5) == 3);
  CHECK(edit_distance("kitten", "sitting", 2) == 3);
  CHECK(edit_distance("a", "abcdefgh", 3) == 4);
}

TEST_CASE("the nearest name is one that may have been meant, or none", "[base][name_match]") {
  constexpr std::string_view kNames[] = {"pg93", "pg96", "s1-head", "default"};
  CHECK(nearest_name("pg94", kNames) == "pg93");
  CHECK(nearest_name("DEFALT", kNames) == "default");
  CHECK(nearest_name("s1_head", kNames) == "s1-head");
  CHECK(nearest_name("something", kNames).empty());
  CHECK(nearest_name("", {}).empty());
}

}  // namespace pinwheel
