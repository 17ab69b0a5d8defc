#include "sql/statistics/statement_statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "shm/segment.h"
#include "sql/statistics/activity_log.h"

namespace pinwheel::sql {
namespace {

StatementKey statement_key(std::uint64_t id, std::uint32_t user = 10, std::uint32_t database = 5) {
  return {Oid{user}, Oid{database}, id};
}

/// Room for `statements` statements and a few databases.
class StatementFixture {
 public:
  explicit StatementFixture(std::size_t statements)
      : segment_{make_builder(statements), {shm::MemoryType::kMmap, shm::HugePages::kOff}} {}

  std::vector<StatementReport> list() const {
    auto reports = statistics.list();
    std::ranges::sort(reports, {}, [](const StatementReport& r) { return r.key.query_id; });
    return reports;
  }
  void run(StatementLog& log, std::uint64_t id, double ms, std::uint64_t rows = 1) {
    StatementUse once;
    once.rows = rows;
    once.pages_hit = 2;
    StatementTicket ticket;
    log.add(ticket, statement_key(id), "SELECT " + std::to_string(id), ms, once);
  }

 private:
  static shm::RegionBuilder make_builder(std::size_t statements) {
    shm::RegionBuilder builder;
    StatementStatistics::declare(builder, statements);
    DatabaseStatistics::declare(builder, 2);
    return builder;
  }
  shm::Segment segment_;

 public:
  StatementStatistics statistics{segment_};
  DatabaseStatistics databases{segment_};
};

}  // namespace

TEST_CASE("executions of several processes come together", "[sql_statistics]") {
  StatementFixture f{100};
  StatementLog here{&f.statistics}, there{&f.statistics};
  for (const double ms : {1.0, 3.0}) f.run(here, 7, ms);
  f.run(there, 7, 8.0, 10);
  CHECK(f.list().empty());  // not handed over yet
  CHECK(here.has_pending());
  here.flush();
  there.flush();
  CHECK_FALSE(here.has_pending());
  const auto reports = f.list();
  REQUIRE(reports.size() == 1);
  const StatementUse& use = reports[0].use;
  CHECK(reports[0].text == "SELECT 7");
  CHECK(use.calls == 3);
  CHECK(use.rows == 12);
  CHECK(use.pages_hit == 6);
  CHECK(use.total_ms == Approx(12));
  CHECK(use.min_ms == Approx(1));
  CHECK(use.max_ms == Approx(8));
  CHECK(use.mean_ms() == Approx(4));
  CHECK(use.deviation_ms() == Approx(std::sqrt((9.0 + 1 + 16) / 3)));
}

TEST_CASE("a ticket spares the search and is good for its own statement only", "[sql_statistics]") {
  StatementFixture f{100};
  StatementLog log{&f.statistics};
  StatementTicket ticket;
  const StatementUse once;
  log.add(ticket, statement_key(1), "one", 1, once);
  const StatementTicket kept = ticket;
  log.flush();
  log.add(ticket, statement_key(1), "one", 1, once);
  CHECK(ticket.index == kept.index);
  // The same plan run by another role.
  log.add(ticket, statement_key(1, 11), "one", 1, once);
  log.flush();
  const auto reports = f.list();
  REQUIRE(reports.size() == 2);
  CHECK(reports[0].use.calls + reports[1].use.calls == 3);
}

TEST_CASE("a process that has seen many statements goes on counting", "[sql_statistics]") {
  StatementFixture f{5000};
  StatementLog log{&f.statistics};
  StatementTicket first;
  log.add(first, statement_key(1), "first", 1, {});
  for (std::uint64_t id = 2; id <= 4500; ++id) f.run(log, id, 1);
  log.add(first, statement_key(1), "first", 1, {});
  log.flush();
  const auto reports = f.list();
  REQUIRE(reports.size() == 4500);
  CHECK(reports[0].use.calls == 2);
  CHECK(reports[4499].use.calls == 1);
}

TEST_CASE("a new statement takes the place of the one least used of late", "[sql_statistics]") {
  StatementFixture f{3};
  StatementLog log{&f.statistics};
  for (const std::uint64_t id : {1, 2, 3}) {
    f.run(log, id, 1);
    log.flush();
  }
  f.run(log, 1, 1);
  log.flush();
  f.run(log, 4, 1);
  log.flush();
  const auto reports = f.list();
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].key.query_id == 1);
  CHECK(reports[1].key.query_id == 3);
  CHECK(reports[2].key.query_id == 4);
  CHECK(f.statistics.evictions() == 1);
}

TEST_CASE("a reset forgets what matches, and its places are used again", "[sql_statistics]") {
  StatementFixture f{3};
  StatementLog log{&f.statistics};
  for (const std::uint64_t id : {1, 2, 3}) f.run(log, id, 1);
  log.flush();
  f.statistics.reset({}, {}, 2, 100);
  CHECK(f.list().size() == 2);
  CHECK(f.statistics.reset_at_us() == 0);
  f.statistics.reset(Oid{99}, {}, 0, 100);
  CHECK(f.list().size() == 2);
  f.run(log, 5, 1);
  log.flush();
  CHECK(f.list().size() == 3);
  CHECK(f.statistics.evictions() == 0);
  f.statistics.reset({}, {}, 0, 200);
  CHECK(f.list().empty());
  CHECK(f.statistics.reset_at_us() == 200);
  for (const std::uint64_t id : {1, 2, 3}) f.run(log, id, 1);
  log.flush();
  CHECK(f.list().size() == 3);
}

TEST_CASE("a long text is cut between characters", "[sql_statistics]") {
  StatementFixture f{3};
  StatementLog log{&f.statistics};
  StatementTicket ticket;
  const std::string text = std::string(StatementStatistics::kTextBytes - 1, 'x') + "é";
  log.add(ticket, statement_key(1), text, 1, {});
  log.flush();
  CHECK(f.list().at(0).text == std::string(StatementStatistics::kTextBytes - 1, 'x'));
}

TEST_CASE("databases are counted apart until the table is full", "[sql_statistics]") {
  StatementFixture f{3};
  DatabaseActivity delta;
  delta[DatabaseCounter::kCommits] = 2;
  for (const std::uint32_t database : {5, 6, 7, 5}) f.databases.add(Oid{database}, delta);
  CHECK(f.databases.find(Oid{5})[DatabaseCounter::kCommits] == 4);
  CHECK(f.databases.find(Oid{6})[DatabaseCounter::kCommits] == 2);
  CHECK(f.databases.find(Oid{7})[DatabaseCounter::kCommits] == 0);
  f.databases.reset(Oid{5}, 77);
  CHECK(f.databases.find(Oid{5})[DatabaseCounter::kCommits] == 0);
  CHECK(f.databases.reset_at_us(Oid{5}) == 77);
  f.databases.forget(Oid{5});
  f.databases.add(Oid{7}, delta);
  CHECK(f.databases.find(Oid{7})[DatabaseCounter::kCommits] == 2);
  CHECK(f.databases.reset_at_us(Oid{7}) == 0);
}

}  // namespace pinwheel::sql
