#include <catch2/catch.hpp>

#include "sql/catalog/invalidation_log.h"
#include "sql/catalog/relation_cache.h"

namespace pinwheel::sql {
namespace {
constexpr Oid kDatabase{5};
constexpr Oid kTable{20000};

InvalidationMessage changed(Oid relation) { return {kDatabase, InvalidationKind::kRelation, relation}; }
}  // namespace

TEST_CASE("a reader gets each message once", "[sql_catalog][invalidation]") {
  InvalidationLog log;
  const InvalidationMessage messages[] = {changed(Oid{1}), changed(Oid{2})};
  log.append(messages);
  std::vector<InvalidationMessage> read;
  std::uint64_t next = 0;
  REQUIRE(log.read(0, read, &next));
  CHECK(read.size() == 2);
  CHECK(next == 2);
  read.clear();
  REQUIRE(log.read(next, read, &next));
  CHECK(read.empty());
}

TEST_CASE("a reader that fell behind the ring is told so", "[sql_catalog][invalidation]") {
  InvalidationLog log;
  for (int i = 0; i < 5000; ++i) {
    const InvalidationMessage message = changed(Oid{static_cast<std::uint32_t>(i)});
    log.append({&message, 1});
  }
  std::vector<InvalidationMessage> read;
  std::uint64_t next = 0;
  CHECK_FALSE(log.read(0, read, &next));
  CHECK(next == 5000);
}

TEST_CASE("the cache drops what a message names and all names, and says that something changed",
          "[sql_catalog][invalidation]") {
  InvalidationLog log;
  RelationCache cache{log};
  DatabaseEntries& entries = cache.database(kDatabase);
  auto* relation = new Relation;
  relation->oid = kTable;
  entries.relations.emplace(kTable, RelationRef{relation});
  entries.relation_names.emplace("2200/t", kInvalidOid);
  const std::uint64_t before = cache.generation();
  cache.catch_up();
  CHECK(cache.generation() == before);

  const InvalidationMessage message = changed(kTable);
  log.append({&message, 1});
  cache.catch_up();
  CHECK(cache.generation() != before);
  CHECK(entries.relations.empty());
  CHECK(entries.relation_names.empty());
}

TEST_CASE("a message of another database leaves entries alone", "[sql_catalog][invalidation]") {
  InvalidationLog log;
  RelationCache cache{log};
  auto* relation = new Relation;
  cache.database(kDatabase).relations.emplace(kTable, RelationRef{relation});
  const InvalidationMessage message{Oid{1}, InvalidationKind::kRelation, kTable};
  log.append({&message, 1});
  cache.catch_up();
  CHECK(cache.database(kDatabase).relations.size() == 1);
}

}  // namespace pinwheel::sql
