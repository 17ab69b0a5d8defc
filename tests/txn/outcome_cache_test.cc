#include "txn/outcome_cache.h"

#include <catch2/catch.hpp>

namespace pinwheel::txn {

TEST_CASE("an outcome is found until another xid takes its place", "[txn][outcome_cache]") {
  OutcomeCache cache{4};
  cache.remember({Xid{100}, Lsn{77}, true});
  cache.remember({Xid{101}, kInvalidLsn, false});

  REQUIRE(cache.find(Xid{100}) != nullptr);
  CHECK(cache.find(Xid{100})->committed);
  CHECK(cache.find(Xid{100})->commit_lsn == Lsn{77});
  REQUIRE(cache.find(Xid{101}) != nullptr);
  CHECK_FALSE(cache.find(Xid{101})->committed);
  CHECK(cache.find(Xid{102}) == nullptr);

  cache.remember({Xid{104}, kInvalidLsn, true});
  CHECK(cache.find(Xid{100}) == nullptr);
  CHECK(cache.find(Xid{104}) != nullptr);
}

TEST_CASE("the invalid xid is never found, not even in an empty cache", "[txn][outcome_cache]") {
  OutcomeCache cache{1};
  CHECK(cache.find(kInvalidXid) == nullptr);
  cache.remember({kInvalidXid, kInvalidLsn, true});
  CHECK(cache.find(kInvalidXid) == nullptr);
}

TEST_CASE("a size is rounded up to a power of two", "[txn][outcome_cache]") {
  OutcomeCache cache{3};
  for (std::uint64_t xid = 100; xid < 104; ++xid) cache.remember({Xid{xid}, kInvalidLsn, true});
  for (std::uint64_t xid = 100; xid < 104; ++xid) CHECK(cache.find(Xid{xid}) != nullptr);
}

}  // namespace pinwheel::txn
