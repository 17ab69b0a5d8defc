#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/clog/clog_fixture.h"
#include "txn/session_locks.h"

namespace pinwheel::txn {
namespace {

using test::Barrier;
using test::Cluster;
using test::ClusterOptions;
using test::Member;

constexpr Oid kDatabase{5};
const LockTag kTable = LockTag::relation(kDatabase, Oid{16384});

struct Session {
  explicit Session(Member& member) : locks{member.locks, member.session, member.parker} {
    locks.set_database(kDatabase);
  }
  SessionLocks locks;
};

std::vector<LockRow> rows_of(Member& member, const LockTag& tag) {
  std::vector<LockRow> rows = member.locks.list();
  std::erase_if(rows, [&](const LockRow& row) { return row.tag != tag; });
  return rows;
}

}  // namespace

TEST_CASE("the conflict table is PostgreSQL's", "[txn][lock]") {
  // The manual's Table 13.2, rows and columns from ACCESS SHARE to ACCESS EXCLUSIVE.
  static constexpr const char* kManual[] = {
      ".......X", "......XX", "....XXXX", "...XXXXX", "..XX.XXX", "..XXXXXX", ".XXXXXXX", "XXXXXXXX",
  };
  for (int held = 1; held < kLockModeCount; ++held) {
    for (int wanted = 1; wanted < kLockModeCount; ++wanted) {
      INFO(lock_mode_sql_name(static_cast<LockMode>(held))
           << " / " << lock_mode_sql_name(static_cast<LockMode>(wanted)));
      const bool conflict =
          (conflicts_of(static_cast<LockMode>(held)) & mask_of(static_cast<LockMode>(wanted))) != 0;
      CHECK(conflict == (kManual[held - 1][wanted - 1] == 'X'));
    }
  }
}

TEST_CASE("every pair of modes is granted or refused as the table says, fast path or not", "[txn][lock]") {
  Cluster cluster;
  const std::unique_ptr<Member> other = cluster.attach();
  Session mine{*cluster.here};
  Session theirs{*other};
  const LockTag tag = GENERATE(kTable, LockTag::object(kDatabase, Oid{2615}, Oid{2200}),
                               LockTag::advisory(kDatabase, std::int64_t{-7}));
  for (int held = 1; held < kLockModeCount; ++held) {
    for (int wanted = 1; wanted < kLockModeCount; ++wanted) {
      INFO("held " << held << ", wanted " << wanted);
      const auto held_mode = static_cast<LockMode>(held);
      const auto wanted_mode = static_cast<LockMode>(wanted);
      REQUIRE(mine.locks.lock(tag, held_mode) == LockResult::kAcquired);
      const LockResult result = theirs.locks.lock(tag, wanted_mode, LockWait::kTry);
      const bool conflict = (conflicts_of(held_mode) & mask_of(wanted_mode)) != 0;
      CHECK(result == (conflict ? LockResult::kNotAvailable : LockResult::kAcquired));
      theirs.locks.release_all();
      mine.locks.release_all();
      REQUIRE(rows_of(*cluster.here, tag).empty());
    }
  }
}

TEST_CASE("weak relation locks stay out of the shared table until a strong one comes", "[txn][lock]") {
  Cluster cluster;
  const std::unique_ptr<Member> other = cluster.attach();
  Session mine{*cluster.here};
  Session theirs{*other};
  mine.locks.lock(kTable, LockMode::kAccessShare);
  mine.locks.lock(kTable, LockMode::kRowExclusive);
  std::vector<LockRow> rows = rows_of(*cluster.here, kTable);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].fast_path);
  CHECK(rows[1].fast_path);
  CHECK(theirs.locks.lock(kTable, LockMode::kShare, LockWait::kTry) == LockResult::kNotAvailable);
  rows = rows_of(*cluster.here, kTable);
  REQUIRE(rows.size() == 2);
  CHECK_FALSE(rows[0].fast_path);
  CHECK_FALSE(rows[1].fast_path);
  // Held is held, wherever it is.
  CHECK(mine.locks.lock(kTable, LockMode::kRowExclusive) == LockResult::kAlreadyHeld);
  CHECK(mine.locks.unlock(kTable, LockMode::kRowExclusive));
  CHECK(mine.locks.unlock(kTable, LockMode::kRowExclusive));
  CHECK_FALSE(mine.locks.unlock(kTable, LockMode::kRowExclusive));
  CHECK(theirs.locks.lock(kTable, LockMode::kShare, LockWait::kTry) == LockResult::kAcquired);
  // While somebody holds a strong lock, weak ones go to the table; after it, to the slot again.
  CHECK(mine.locks.lock(kTable, LockMode::kRowShare) == LockResult::kAcquired);
  theirs.locks.release_all();
  mine.locks.release_all();
  mine.locks.lock(kTable, LockMode::kRowShare);
  rows = rows_of(*cluster.here, kTable);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].fast_path);
}

TEST_CASE("more relations than the slot has room for are locked in the table", "[txn][lock]") {
  Cluster cluster;
  Session mine{*cluster.here};
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(mine.locks.lock_relation(kDatabase, Oid{20000 + i}, LockMode::kAccessShare) ==
            LockResult::kAcquired);
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    REQUIRE(mine.locks.holds(LockTag::relation(kDatabase, Oid{20000 + i}), LockMode::kAccessShare));
    REQUIRE(mine.locks.lock_relation(kDatabase, Oid{20000 + i}, LockMode::kAccessShare) ==
            LockResult::kAlreadyHeld);
  }
  const std::vector<LockRow> rows = cluster.here->locks.list();
  CHECK(rows.size() == 100);
  CHECK(std::ranges::count_if(rows, [](const LockRow& row) { return row.fast_path; }) == 16);
  for (std::uint32_t i = 0; i < 100; i += 2) {
    REQUIRE(mine.locks.unlock(LockTag::relation(kDatabase, Oid{20000 + i}), LockMode::kAccessShare));
    REQUIRE(mine.locks.unlock(LockTag::relation(kDatabase, Oid{20000 + i}), LockMode::kAccessShare));
    REQUIRE_FALSE(mine.locks.holds(LockTag::relation(kDatabase, Oid{20000 + i}), LockMode::kAccessShare));
  }
  CHECK(cluster.here->locks.list().size() == 50);
  mine.locks.release_all();
  CHECK(cluster.here->locks.list().empty());
}

TEST_CASE("a level's locks go with it, or to the level below", "[txn][lock][savepoint]") {
  Cluster cluster;
  Session mine{*cluster.here};
  const auto tag = [](std::uint32_t i) { return LockTag::relation(kDatabase, Oid{30000 + i}); };
  mine.locks.lock(tag(1), LockMode::kExclusive);
  mine.locks.begin_level(2);
  mine.locks.lock(tag(1), LockMode::kExclusive);
  mine.locks.lock(tag(2), LockMode::kAccessShare);
  mine.locks.begin_level(3);
  mine.locks.lock(tag(3), LockMode::kShare);
  mine.locks.merge_level(3);
  mine.locks.begin_level(2);
  CHECK(mine.locks.holds(tag(3), LockMode::kShare));
  mine.locks.release_level(2);
  mine.locks.begin_level(1);
  CHECK(mine.locks.holds(tag(1), LockMode::kExclusive));
  CHECK_FALSE(mine.locks.holds(tag(2), LockMode::kAccessShare));
  CHECK_FALSE(mine.locks.holds(tag(3), LockMode::kShare));
}

TEST_CASE("session locks outlive transactions", "[txn][lock][advisory]") {
  Cluster cluster;
  Session mine{*cluster.here};
  const LockTag key = LockTag::advisory(kDatabase, 1, 2);
  mine.locks.lock(key, LockMode::kExclusive, LockWait::kBlock, LockOwner::kSession);
  mine.locks.lock(key, LockMode::kExclusive);
  mine.locks.release_all();
  CHECK(mine.locks.holds(key, LockMode::kExclusive));
  CHECK_FALSE(mine.locks.unlock(key, LockMode::kExclusive));
  CHECK(mine.locks.unlock(key, LockMode::kExclusive, LockOwner::kSession));
  CHECK_FALSE(mine.locks.holds(key, LockMode::kExclusive));
  mine.locks.lock(key, LockMode::kShare, LockWait::kBlock, LockOwner::kSession);
  mine.locks.release_session_advisory();
  CHECK(cluster.here->locks.list().empty());
}

TEST_CASE("a full table is an error with a hint, and leaves nothing behind", "[txn][lock]") {
  Cluster cluster{{.max_locks_per_transaction = 2, .sessions = 4}};
  Session mine{*cluster.here};
  const auto tag = [](std::uint32_t i) { return LockTag::object(kDatabase, Oid{1259}, Oid{i}); };
  std::uint32_t taken = 0;
  try {
    for (;; ++taken) mine.locks.lock(tag(taken), LockMode::kShare);
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "53200");
    CHECK(error.message() == "out of shared memory");
    CHECK(error.fields().hint == "You might need to increase max_locks_per_transaction.");
  }
  CHECK(taken == 12);
  mine.locks.release_all();
  CHECK(cluster.here->locks.list().empty());
  for (std::uint32_t i = 0; i < taken; ++i) mine.locks.lock(tag(100 + i), LockMode::kShare);
  mine.locks.release_all();
}

// Weak lockers count themselves in while they hold the lock; a strong locker must never see one.
TEST_CASE("strong and weak lockers exclude each other across processes", "[txn][lock][concurrency]") {
  struct Shared {
    Barrier barrier;
    std::atomic<std::int64_t> weak{0};
    std::atomic<std::int64_t> strong{0};
    std::atomic<std::uint32_t> broken{0};
  };
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  constexpr std::uint32_t kProcesses = 4;
  for (std::uint32_t me = 0; me < kProcesses; ++me) {
    cluster.start([=](Member& member) {
      Session session{member};
      shared->barrier.wait(kProcesses);
      for (int round = 0; round < 3000; ++round) {
        if (me == 0 && round % 4 == 0) {
          session.locks.lock(kTable, LockMode::kAccessExclusive);
          if (shared->strong.fetch_add(1) != 0 || shared->weak.load() != 0) shared->broken.fetch_add(1);
          shared->strong.fetch_sub(1);
        } else {
          session.locks.lock(kTable, round % 2 == 0 ? LockMode::kAccessShare : LockMode::kRowExclusive);
          shared->weak.fetch_add(1);
          if (shared->strong.load() != 0) shared->broken.fetch_add(1);
          shared->weak.fetch_sub(1);
        }
        session.locks.release_all();
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  CHECK(shared->broken.load() == 0);
  CHECK(cluster.here->locks.list().empty());
}

}  // namespace pinwheel::txn
