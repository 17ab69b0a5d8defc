#include "sql/statistics/table_statistics.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "shm/segment.h"
#include "sql/statistics/activity_log.h"

namespace pinwheel::sql {
namespace {

constexpr Oid kDatabase{5};
TableKey key_of(std::uint32_t relation) { return {kDatabase, Oid{relation}}; }

/// A segment that holds nothing but statistics of up to `tables` tables.
class Fixture {
 public:
  explicit Fixture(std::size_t tables)
      : segment_{make_builder(tables), {shm::MemoryType::kMmap, shm::HugePages::kOff}} {}

 private:
  static shm::RegionBuilder make_builder(std::size_t tables) {
    shm::RegionBuilder builder;
    TableStatistics::declare(builder, tables);
    return builder;
  }
  shm::Segment segment_;

 public:
  TableStatistics statistics{segment_};
};

TableActivity inserted(std::int64_t rows) {
  TableActivity activity;
  activity.inserted = activity.live = activity.changed = activity.inserted_unvacuumed = rows;
  return activity;
}

}  // namespace

TEST_CASE("counts of one table add up, those of others stay apart", "[sql_statistics]") {
  Fixture f{64};
  CHECK_FALSE(f.statistics.find(key_of(1)));
  f.statistics.add(key_of(1), inserted(3));
  f.statistics.add(key_of(1), inserted(4));
  f.statistics.add(key_of(2), inserted(10));
  CHECK(f.statistics.find(key_of(1))->activity.inserted == 7);
  CHECK(f.statistics.find(key_of(2))->activity.live == 10);
  CHECK_FALSE(f.statistics.find({Oid{6}, Oid{1}}));
  CHECK(f.statistics.list(kDatabase).size() == 2);
}

TEST_CASE("vacuum and analyze set what they found and start counting anew", "[sql_statistics]") {
  Fixture f{64};
  TableActivity activity = inserted(100);
  activity.dead = 40;
  f.statistics.add(key_of(1), activity);
  f.statistics.note_vacuum(key_of(1), 90, 2, /*automatic=*/true, 1000);
  TableReport report = *f.statistics.find(key_of(1));
  CHECK(report.activity.live == 90);
  CHECK(report.activity.dead == 2);
  CHECK(report.activity.inserted_unvacuumed == 0);
  CHECK(report.activity.changed == 100);
  CHECK(report.last_autovacuum_us == 1000);
  CHECK(report.autovacuum_count == 1);
  CHECK(report.vacuum_count == 0);
  f.statistics.note_analyze(key_of(1), 91, 3, /*automatic=*/false, 2000);
  report = *f.statistics.find(key_of(1));
  CHECK(report.activity.changed == 0);
  CHECK(report.activity.live == 91);
  CHECK(report.last_analyze_us == 2000);
  CHECK(report.analyze_count == 1);
}

TEST_CASE("a forgotten table's place is used again", "[sql_statistics]") {
  Fixture f{8};
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t i = 1; i <= 8; ++i) f.statistics.add(key_of(round * 100 + i), inserted(1));
    CHECK(f.statistics.list(kDatabase).size() == 8);
    for (std::uint32_t i = 1; i <= 8; ++i) f.statistics.forget(key_of(round * 100 + i));
    CHECK(f.statistics.list(kDatabase).empty());
  }
}

TEST_CASE("a full table counts no new tables and keeps the old", "[sql_statistics]") {
  Fixture f{8};
  for (std::uint32_t i = 1; i <= 20; ++i) f.statistics.add(key_of(i), inserted(1));
  CHECK(f.statistics.list(kDatabase).size() == 8);
  CHECK(f.statistics.find(key_of(1))->activity.inserted == 1);
}

TEST_CASE("live rows are never shown below zero", "[sql_statistics]") {
  Fixture f{8};
  TableActivity activity;
  activity.live = -5;
  f.statistics.add(key_of(1), activity);
  CHECK(f.statistics.find(key_of(1))->activity.live == 0);
}

TEST_CASE("processes lose no counts to each other", "[sql_statistics]") {
  Fixture f{64};
  constexpr int kProcesses = 4, kRounds = 2000;
  pid_t children[kProcesses];
  for (pid_t& child : children) {
    f.statistics.add(key_of(7), {});
    child = ::fork();
    if (child == 0) {
      for (int i = 0; i < kRounds; ++i) f.statistics.add(key_of(7), inserted(1));
      ::_exit(0);
    }
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  CHECK(f.statistics.find(key_of(7))->activity.inserted == kProcesses * kRounds);
}

TEST_CASE("a process hands its counts over once a second, or when told", "[sql_statistics]") {
  Fixture f{64};
  ActivityLog log{f.statistics};
  log.flush(10'000'000);
  log.add(key_of(1), inserted(2));
  log.add(key_of(1), inserted(3));
  log.flush_if_due(10'500'000);
  CHECK_FALSE(f.statistics.find(key_of(1)));
  log.flush_if_due(11'000'000);
  CHECK(f.statistics.find(key_of(1))->activity.inserted == 5);
  log.add(key_of(1), inserted(1));
  log.flush(11'000'001);
  log.flush(11'000'002);
  CHECK(f.statistics.find(key_of(1))->activity.inserted == 6);
}

}  // namespace pinwheel::sql
