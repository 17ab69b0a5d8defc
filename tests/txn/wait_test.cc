#include <catch2/catch.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "tests/clog/clog_fixture.h"
#include "txn/transaction.h"

namespace pinwheel::txn {
namespace {

using test::Barrier;
using test::Cluster;
using test::Member;

constexpr Oid kDatabase{5};
LockTag table(std::uint32_t number) { return LockTag::relation(kDatabase, Oid{16384 + number}); }

struct Session {
  explicit Session(Member& member)
      : transaction{member.transactions, member.locks, member.session, member.parker},
        locks{transaction.locks()} {
    locks.set_database(kDatabase);
    transaction.begin({});
  }
  ~Session() { transaction.abort(); }
  Transaction transaction;
  SessionLocks& locks;
};

/// Sessions that wait in some queue now.
std::size_t waiters(Member& member) {
  const std::vector<LockRow> rows = member.locks.list();
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const LockRow& row) { return !row.granted; }));
}

/// Until `count` sessions wait; false if they do not for long.
bool await_waiters(Member& member, std::size_t count) {
  const Deadline deadline = Deadline::after_ms(20'000);
  while (waiters(member) != count) {
    if (deadline.passed()) return false;
    ::usleep(100);
  }
  return true;
}

struct Shared {
  Barrier barrier;
  std::atomic<std::uint32_t> order{0};
  std::atomic<std::uint32_t> place[8];
  std::atomic<std::uint64_t> xid[8];
  std::atomic<std::int32_t> pid[8];
  std::atomic<std::uint32_t> stage{0};
  std::atomic<std::uint32_t> session{0};
};

}  // namespace

TEST_CASE("waiters are served in the order they came", "[txn][lock][wait]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  Member& here = *cluster.here;
  const LockTag tag = GENERATE(table(1), LockTag::tuple(kDatabase, Oid{16384}, {PageNumber{3}, 7}));
  Session mine{here};
  mine.locks.lock(tag, LockMode::kExclusive);
  for (std::uint32_t me = 0; me < 4; ++me) {
    cluster.start([=](Member& member) {
      Session session{member};
      session.locks.lock(tag, LockMode::kExclusive);
      shared->place[me].store(shared->order.fetch_add(1));
      return true;
    });
    REQUIRE(await_waiters(here, me + 1));
  }
  mine.locks.release_all();
  CHECK(cluster.join() == 0);
  for (std::uint32_t me = 0; me < 4; ++me) CHECK(shared->place[me].load() == me);
}

TEST_CASE("a later compatible request does not overtake a waiting strong one", "[txn][lock][wait]") {
  Cluster cluster;
  Member& here = *cluster.here;
  Session mine{here};
  mine.locks.lock(table(1), LockMode::kAccessShare);
  cluster.start([](Member& member) {
    Session session{member};
    session.locks.lock(table(1), LockMode::kAccessExclusive);
    return true;
  });
  REQUIRE(await_waiters(here, 1));
  const std::unique_ptr<Member> other = cluster.attach();
  {
    Session theirs{*other};
    CHECK(theirs.locks.lock(table(1), LockMode::kAccessShare, LockWait::kTry) == LockResult::kNotAvailable);
    // But who holds the lock already gets more of it: the waiter waits for it anyway.
    CHECK(mine.locks.lock(table(1), LockMode::kRowShare, LockWait::kTry) == LockResult::kAcquired);
  }
  mine.locks.release_all();
  CHECK(cluster.join() == 0);
}

TEST_CASE("a wait for a transaction ends with its commit, abort or rolled back savepoint", "[txn][wait]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  Member& here = *cluster.here;
  Session mine{here};
  const Xid top = mine.transaction.assign_xid();
  mine.transaction.define_savepoint("s");
  const Xid sub = mine.transaction.assign_xid();
  for (const Xid xid : {top, sub}) {
    cluster.start([=](Member& member) {
      Session session{member};
      if (session.locks.wait_for_transaction(xid, LockWait::kTry) != LockResult::kNotAvailable) return false;
      session.locks.wait_for_transaction(xid);
      shared->place[xid == top ? 0 : 1].store(shared->order.fetch_add(1) + 1);
      return member.transactions.state(xid) == TransactionManager::State::kAborted || xid == top;
    });
  }
  REQUIRE(await_waiters(here, 2));
  mine.transaction.rollback_to_savepoint("s");
  const Deadline deadline = Deadline::after_ms(20'000);
  while (shared->place[1].load() == 0 && !deadline.passed()) ::usleep(100);
  CHECK(shared->place[1].load() == 1);
  CHECK(shared->place[0].load() == 0);
  REQUIRE(await_waiters(here, 1));
  mine.transaction.commit({.durable = false});
  CHECK(cluster.join() == 0);
  mine.transaction.begin({});
}

TEST_CASE("many waiters of one transaction all wake", "[txn][wait][concurrency]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  constexpr std::uint32_t kProcesses = 4;
  for (std::uint32_t me = 0; me < kProcesses; ++me) {
    cluster.start([=](Member& member) {
      Session session{member};
      for (std::uint32_t round = 0; round < 400; ++round) {
        shared->barrier.wait(kProcesses);
        // A different one each round holds; the rest wait for it, having seen it in time or not.
        if (round % kProcesses == me) shared->xid[0].store(session.transaction.assign_xid().value);
        shared->barrier.wait(kProcesses);
        const Xid xid{shared->xid[0].load()};
        if (round % kProcesses == me) {
          session.transaction.commit({.durable = false});
          session.transaction.begin({});
        } else {
          session.locks.wait_for_transaction(xid);
          if (member.transactions.state(xid) != TransactionManager::State::kCommitted) return false;
        }
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
}

TEST_CASE("lock_timeout ends a wait with 55P03 and leaves the queue", "[txn][lock][wait]") {
  Cluster cluster;
  const std::unique_ptr<Member> other = cluster.attach();
  Session mine{*cluster.here};
  Session theirs{*other};
  shm::set_current_session(&cluster.sessions().slot(other->session), &other->parker, other->session);
  const Xid xid = mine.transaction.assign_xid();
  mine.locks.lock(table(1), LockMode::kExclusive);
  theirs.locks.settings.lock_timeout_ms = 5;
  for (const bool for_transaction : {false, true}) {
    try {
      if (for_transaction) {
        theirs.locks.wait_for_transaction(xid);
      } else {
        theirs.locks.lock(table(1), LockMode::kShare);
      }
      FAIL("no error");
    } catch (const SqlError& error) {
      CHECK(error.state().view() == "55P03");
      CHECK(error.message() == "canceling statement due to lock timeout");
    }
    CHECK(waiters(*cluster.here) == 0);
  }
  CHECK(theirs.locks.held_count() == 0);
}

TEST_CASE("a cancelled wait leaves the queue and lets those behind pass", "[txn][lock][wait]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  Member& here = *cluster.here;
  Session mine{here};
  mine.locks.lock(table(1), LockMode::kAccessShare);
  cluster.start([=](Member& member) {
    Session session{member};
    shared->session.store(member.session.value + 1);
    try {
      session.locks.lock(table(1), LockMode::kAccessExclusive);
    } catch (const SqlError& error) {
      return error.state().view() == "57014";
    }
    return false;
  });
  REQUIRE(await_waiters(here, 1));
  cluster.start([=](Member& member) {
    Session session{member};
    session.locks.lock(table(1), LockMode::kAccessShare);
    return true;
  });
  REQUIRE(await_waiters(here, 2));
  shm::interrupt(cluster.processes(), cluster.sessions(), shm::SessionIndex{shared->session.load() - 1},
                 shm::kInterruptCancel);
  CHECK(cluster.join() == 0);
  CHECK(waiters(here) == 0);
}

TEST_CASE("exactly one of two sessions that wait for each other is told of the deadlock", "[txn][deadlock]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  // Over two tables, over two transactions, and over one of each.
  const int kind = GENERATE(0, 1, 2);
  for (std::uint32_t me = 0; me < 2; ++me) {
    cluster.start([=](Member& member) {
      Session session{member};
      session.locks.settings.deadlock_timeout_ms = 20;
      shared->pid[me].store(member.sessions_table.slot(member.session).backend_pid.load());
      session.locks.lock(table(me), LockMode::kExclusive);
      shared->xid[me].store(session.transaction.assign_xid().value);
      shared->barrier.wait(2);
      try {
        if (kind == 1 || (kind == 2 && me == 0)) {
          session.locks.wait_for_transaction(Xid{shared->xid[1 - me].load()});
        } else {
          session.locks.lock(table(1 - me), LockMode::kShare);
        }
      } catch (const SqlError& error) {
        shared->order.fetch_add(1);
        const std::string me_waits =
            "Process " + std::to_string(shared->pid[me].load()) + " waits for ShareLock on ";
        const std::string by = "; blocked by process " + std::to_string(shared->pid[1 - me].load()) + ".\n";
        return error.state().view() == "40P01" && error.message() == "deadlock detected" &&
               error.fields().detail.starts_with(me_waits) &&
               error.fields().detail.find(by) != std::string::npos &&
               error.fields().hint == "See server log for query details.";
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  // Both look at about the same moment; the second finds the first gone.
  CHECK(shared->order.load() == 1);
}

TEST_CASE("a chain of waits without a cycle is no deadlock", "[txn][deadlock]") {
  Cluster cluster;
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  Member& here = *cluster.here;
  Session mine{here};
  mine.locks.lock(table(0), LockMode::kExclusive);
  for (std::uint32_t me = 1; me < 4; ++me) {
    cluster.start([=](Member& member) {
      Session session{member};
      session.locks.settings.deadlock_timeout_ms = 1;
      session.locks.lock(table(me), LockMode::kExclusive);
      session.locks.lock(table(me - 1), LockMode::kExclusive);
      shared->order.fetch_add(1);
      return true;
    });
    REQUIRE(await_waiters(here, me));
  }
  const std::vector<LockRow> rows = here.locks.list();
  const auto waiter = std::ranges::find_if(rows, [](const LockRow& row) { return !row.granted; });
  REQUIRE(waiter != rows.end());
  CHECK(here.locks.blocking_pids(waiter->session).size() == 1);
  // Long enough for every detector to have looked: their timeouts have passed many times over.
  ::usleep(30'000);
  CHECK(waiters(here) == 3);
  mine.locks.release_all();
  CHECK(cluster.join() == 0);
  CHECK(shared->order.load() == 3);
}

}  // namespace pinwheel::txn
