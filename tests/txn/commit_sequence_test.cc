#include "txn/commit_sequence.h"

#include <catch2/catch.hpp>
#include <random>

#include "base/failpoints.h"
#include "tests/clog/clog_fixture.h"
#include "txn/transaction.h"

namespace pinwheel::txn {
namespace {

using test::Barrier;
using test::Cluster;
using test::Member;
using State = TransactionManager::State;

const CommitOptions kAsynchronous{.durable = false};
constexpr std::uint64_t kRing = 4096;  // the fixture's csn_slots

test::ClusterOptions csn_options() { return {.snapshot_method = SnapshotMethod::kCsn}; }

bool sees(Transaction& transaction, const Snapshot& snapshot, Xid xid) {
  if (transaction.is_own(xid)) return true;
  TransactionManager& manager = transaction.manager();
  return manager.is_complete(snapshot, xid) && manager.state(xid) == State::kCommitted;
}

/// Commits, or aborts, `count` transactions and returns their xids.
std::vector<Xid> run_many(Transaction& transaction, std::uint64_t count, bool commit = true) {
  std::vector<Xid> xids;
  for (std::uint64_t i = 0; i < count; ++i) {
    transaction.begin({});
    xids.push_back(transaction.assign_xid());
    if (commit) {
      transaction.commit(kAsynchronous);
    } else {
      transaction.abort();
    }
  }
  return xids;
}

std::uint64_t counted(const Cluster& cluster, shm::Counter counter) {
  return cluster.processes().sum(counter);
}

}  // namespace

TEST_CASE("a transaction that ran when a snapshot was taken stays out of it, however it ended",
          "[txn][csn]") {
  Cluster cluster{csn_options()};
  const std::unique_ptr<Member> other = cluster.attach();
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  Transaction theirs{other->transactions, other->locks, other->session, other->parker};
  mine.begin({.isolation = Isolation::kRepeatableRead});
  const SnapshotHandle old = mine.take_snapshot();
  const Xid committed = run_many(theirs, 1).front();
  const Xid aborted = run_many(theirs, 1, /*commit=*/false).front();
  CHECK_FALSE(sees(mine, *old, committed));
  CHECK_FALSE(sees(mine, *old, aborted));
  const SnapshotHandle latest = mine.take_latest_snapshot();
  CHECK(sees(mine, *latest, committed));
  CHECK_FALSE(sees(mine, *latest, aborted));
  CHECK(latest->csn.value == old->csn.value + 1);
  CHECK(here.transactions.state(committed) == State::kCommitted);
  CHECK(here.transactions.state(aborted) == State::kAborted);
  mine.commit(kAsynchronous);
}

TEST_CASE("subtransactions become visible with their top transaction, but not the rolled back ones",
          "[txn][csn][savepoint]") {
  Cluster cluster{csn_options()};
  const std::unique_ptr<Member> other = cluster.attach();
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  Transaction theirs{other->transactions, other->locks, other->session, other->parker};
  theirs.begin({});
  std::vector<Xid> kept, dropped;
  // More than a slot holds.
  for (std::uint32_t i = 0; i < kSubxidsPerSlot + 10; ++i) {
    theirs.begin_subtransaction();
    kept.push_back(theirs.assign_xid());
    theirs.commit_subtransaction();
    theirs.begin_subtransaction();
    dropped.push_back(theirs.assign_xid());
    theirs.abort_subtransaction();
  }
  mine.begin({});
  const SnapshotHandle before = mine.take_snapshot();
  for (const Xid xid : kept) REQUIRE_FALSE(sees(mine, *before, xid));
  theirs.commit(kAsynchronous);
  const SnapshotHandle after = mine.take_snapshot();
  for (const Xid xid : kept) {
    REQUIRE_FALSE(sees(mine, *before, xid));
    REQUIRE(sees(mine, *after, xid));
  }
  for (const Xid xid : dropped) REQUIRE_FALSE(sees(mine, *after, xid));
  mine.commit(kAsynchronous);
}

TEST_CASE("a snapshot stays right while ten times the ring commits", "[txn][csn]") {
  Cluster cluster{csn_options()};
  const std::unique_ptr<Member> other = cluster.attach();
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  Transaction theirs{other->transactions, other->locks, other->session, other->parker};

  // Complete before, some of them with numbers that only pg_csn will remember: a third transaction holds the
  // horizon back.
  const std::unique_ptr<Member> third = cluster.attach();
  Transaction holder{third->transactions, third->locks, third->session, third->parker};
  holder.begin({});
  const Xid held = holder.assign_xid();
  const std::vector<Xid> before = run_many(theirs, 3000);
  const std::vector<Xid> failed = run_many(theirs, 100, /*commit=*/false);
  mine.begin({.isolation = Isolation::kRepeatableRead});
  const SnapshotHandle old = mine.take_snapshot();
  const std::vector<Xid> after = run_many(theirs, 10 * kRing);
  CHECK(counted(cluster, shm::Counter::kCsnPagesSaved) > 0);

  for (const Xid xid : before) REQUIRE(sees(mine, *old, xid));
  for (const Xid xid : failed) REQUIRE_FALSE(sees(mine, *old, xid));
  for (const Xid xid : after) REQUIRE_FALSE(sees(mine, *old, xid));
  CHECK_FALSE(sees(mine, *old, held));
  CHECK(here.transactions.state(held) == State::kRunning);
  const SnapshotHandle latest = mine.take_latest_snapshot();
  for (const Xid xid : after) REQUIRE(sees(mine, *latest, xid));
  // Its place in the ring belongs to another by now.
  holder.commit(kAsynchronous);
  CHECK(here.transactions.state(held) == State::kCommitted);
  CHECK_FALSE(sees(mine, *old, held));
  CHECK_FALSE(sees(mine, *latest, held));
  CHECK(sees(mine, *mine.take_latest_snapshot(), held));
  for (const Xid xid : after) REQUIRE(sees(mine, *latest, xid));
  mine.commit(kAsynchronous);
}

TEST_CASE("nothing is saved while no snapshot is older than the ring, and files go with the last reader",
          "[txn][csn]") {
  Cluster cluster{csn_options()};
  const std::unique_ptr<Member> other = cluster.attach();
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  Transaction theirs{other->transactions, other->locks, other->session, other->parker};
  const Xid forgotten = run_many(theirs, 5 * kRing).front();
  CHECK(counted(cluster, shm::Counter::kCsnPagesSaved) == 0);
  // A snapshot whose xmin lags behind the horizon may still ask.
  CHECK(here.transactions.running().sequence()->is_complete(forgotten, Csn{forgotten.value}));
  mine.begin({.isolation = Isolation::kRepeatableRead});
  SnapshotHandle old = mine.take_snapshot();
  // More pages than pg_csn has buffers, so that some must be on disk.
  const std::vector<Xid> after = run_many(theirs, 20 * kRing);
  const std::string folder = cluster.path() + "/pg_csn";
  CHECK_FALSE(list_directory(folder).empty());
  for (const Xid xid : after) REQUIRE_FALSE(sees(mine, *old, xid));
  old.release();
  mine.commit(kAsynchronous);
  (void)run_many(theirs, 10 * kRing);
  CHECK(list_directory(folder).size() <= 1);
  mine.begin({});
  const SnapshotHandle latest = mine.take_snapshot();
  for (const Xid xid : after) REQUIRE(sees(mine, *latest, xid));
  mine.commit(kAsynchronous);
}

TEST_CASE("a transaction older than the ring commits with subtransactions on both sides of its end",
          "[txn][csn][savepoint]") {
  Cluster cluster{csn_options()};
  const std::unique_ptr<Member> other = cluster.attach();
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  Transaction theirs{other->transactions, other->locks, other->session, other->parker};
  theirs.begin({});
  std::vector<Xid> xids{theirs.assign_xid()};
  for (int i = 0; i < 12; ++i) {
    theirs.begin_subtransaction();
    xids.push_back(theirs.assign_xid());
    theirs.commit_subtransaction();
    (void)run_many(mine, kRing / 4);
  }
  mine.begin({.isolation = Isolation::kRepeatableRead});
  const SnapshotHandle old = mine.take_snapshot();
  theirs.commit(kAsynchronous);
  const SnapshotHandle latest = mine.take_latest_snapshot();
  for (const Xid xid : xids) {
    REQUIRE_FALSE(sees(mine, *old, xid));
    REQUIRE(sees(mine, *latest, xid));
  }
  CHECK(latest->xmin > xids.back());
  mine.commit(kAsynchronous);
}

TEST_CASE("a reader waits for a commit that is half published", "[txn][csn]") {
  // Marked without a number, and with a number that is not yet told.
  const std::string place = GENERATE("csn_marked", "csn_numbered");
  const bool numbered = place == "csn_numbered";
  struct Shared {
    std::atomic<std::uint64_t> xid{0};
    std::atomic<bool> looking{false};
  };
  Cluster cluster{csn_options()};
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  const std::string gate = cluster.path() + "/gate";
  const std::string go = cluster.path() + "/go";
  write_file_durably(gate, "");
  write_file_durably(go, "");
  Member& here = *cluster.here;
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  cluster.start([=](Member& member) {
    Transaction transaction{member.transactions, member.locks, member.session, member.parker};
    transaction.begin({});
    shared->xid = transaction.assign_xid().value;
    while (file_exists(go)) ::usleep(50);
    failpoint::arm(place + "=pause(" + gate + ")");
    transaction.commit(kAsynchronous);
    return true;
  });
  while (shared->xid == 0) ::usleep(50);
  const Xid xid{shared->xid};
  mine.begin({.isolation = Isolation::kRepeatableRead});
  const SnapshotHandle old = mine.take_snapshot();
  remove_file(go);
  // Nothing tells when it stands at the first place, but before the number is given the answer is the same.
  while (here.clog.status.status(xid) != clog::XidStatus::kCommitted) ::usleep(50);
  while (numbered && here.transactions.running().sequence()->last() == old->csn) ::usleep(50);
  cluster.start([=](Member& member) {
    Transaction transaction{member.transactions, member.locks, member.session, member.parker};
    transaction.begin({});
    const SnapshotHandle snapshot = transaction.take_snapshot();
    shared->looking = true;
    const bool first = sees(transaction, *snapshot, xid);
    const bool again = sees(transaction, *snapshot, xid);
    // The answer does not change, and who is told that it ended sees it from then on.
    const bool ended = member.transactions.state(xid) == State::kCommitted;
    const bool later = sees(transaction, *transaction.take_latest_snapshot(), xid);
    transaction.commit(kAsynchronous);
    return first == numbered && again == numbered && (!numbered || ended) && (!ended || later);
  });
  while (!shared->looking) ::usleep(50);
  ::usleep(1000);
  remove_file(gate);
  CHECK(cluster.join() == 0);
  CHECK_FALSE(sees(mine, *old, xid));
  CHECK(sees(mine, *mine.take_latest_snapshot(), xid));
  mine.commit(kAsynchronous);
}

// Accounts are version lists without pages: an xid per version. Each writer moves money between two of its
// own accounts and appends one version to each, so the sum of what a snapshot sees is the same for ever. The
// last writer is slow: the ring goes round while each of its transactions runs.
namespace {
constexpr std::uint32_t kFastWriters = 3;
constexpr std::uint32_t kWriters = kFastWriters + 1;
constexpr std::uint32_t kTransfers = 500;

struct Transfers {
  struct Version {
    std::atomic<std::uint64_t> xid;
    std::atomic<std::int32_t> amount;
  };
  Barrier barrier;
  std::atomic<std::uint32_t> fast_left{kFastWriters};
  std::atomic<std::uint32_t> writers_left{kWriters};
  std::atomic<std::uint32_t> counts[kWriters][2];
  Version versions[kWriters][2][kTransfers];

  void add_version(std::uint32_t writer, std::uint32_t account, Xid xid, std::int32_t amount) {
    std::atomic<std::uint32_t>& count = counts[writer][account];
    Version& version = versions[writer][account][count.load()];
    version.xid = xid.value;
    version.amount = amount;
    count.fetch_add(1);
  }

  /// Of the writer's accounts, as far as the snapshot sees their versions.
  std::int64_t sum(Transaction& transaction, const Snapshot& snapshot, std::uint32_t writer) {
    std::int64_t total = 0;
    for (std::uint32_t account = 0; account < 2; ++account) {
      for (std::uint32_t i = counts[writer][account].load(); i-- > 0;) {
        const Version& version = versions[writer][account][i];
        if (!sees(transaction, snapshot, Xid{version.xid})) continue;
        total += version.amount;
        break;
      }
    }
    return total;
  }
};
static_assert(sizeof(Transfers) <= 65536);

/// Writes the second half in a subtransaction; `between` runs between the halves.
template <class Between>
void transfer(Transaction& transaction, Transfers& shared, std::uint32_t me, std::int32_t balance,
              Between between) {
  transaction.begin({});
  shared.add_version(me, 0, transaction.assign_xid(), balance);
  between(transaction.top_xid());
  transaction.begin_subtransaction();
  shared.add_version(me, 1, transaction.assign_xid(), -balance);
  transaction.commit_subtransaction();
  transaction.commit(kAsynchronous);
}
}  // namespace

TEST_CASE("the sum that each snapshot sees is constant while many processes transfer",
          "[txn][csn][concurrency]") {
  const SnapshotMethod method =
      GENERATE(SnapshotMethod::kScan, SnapshotMethod::kCached, SnapshotMethod::kCsn);
  Cluster cluster{{.snapshot_method = method}};
  Transfers* shared = ::new (cluster.scratch<void>()) Transfers{};
  constexpr std::uint32_t kReaders = 2;
  for (std::uint32_t me = 0; me < kFastWriters; ++me) {
    cluster.start([=](Member& member) {
      std::mt19937 random{me + 1};
      Transaction transaction{member.transactions, member.locks, member.session, member.parker};
      shared->barrier.wait(kWriters + kReaders);
      for (std::uint32_t i = 0; i < kTransfers; ++i) {
        transfer(transaction, *shared, me, static_cast<std::int32_t>(random() % 1000), [](Xid) {});
        // Xids that say nothing make the ring go round.
        for (int burn = 0; burn < 8; ++burn) (void)run_many(transaction, 1, burn % 2 == 0);
      }
      shared->fast_left.fetch_sub(1);
      shared->writers_left.fetch_sub(1);
      return true;
    });
  }
  cluster.start([=](Member& member) {
    Transaction transaction{member.transactions, member.locks, member.session, member.parker};
    shared->barrier.wait(kWriters + kReaders);
    for (std::int32_t i = 1; shared->fast_left.load() != 0; ++i) {
      transfer(transaction, *shared, kFastWriters, i, [&](Xid own) {
        const auto older_than_ring = [&] {
          return member.clog.xids.next_xid().value > own.value + kRing + 1024;
        };
        while (shared->fast_left.load() != 0 && !older_than_ring()) ::usleep(50);
      });
    }
    shared->writers_left.fetch_sub(1);
    return true;
  });
  for (std::uint32_t reader = 0; reader < kReaders; ++reader) {
    cluster.start([=](Member& member) {
      Transaction transaction{member.transactions, member.locks, member.session, member.parker};
      shared->barrier.wait(kWriters + kReaders);
      while (shared->writers_left.load() != 0) {
        transaction.begin({});
        const SnapshotHandle snapshot = transaction.take_snapshot();
        for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
          if (shared->sum(transaction, *snapshot, writer) != 0) return false;
        }
        transaction.commit(kAsynchronous);
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
}

TEST_CASE("who ends while another makes it the oldest is not left behind as the oldest", "[txn][csn]") {
  struct Shared {
    std::atomic<std::uint64_t> first{0};
  };
  Cluster cluster{csn_options()};
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  const std::string gate = cluster.path() + "/gate";
  const std::string go = cluster.path() + "/go";
  write_file_durably(gate, "");
  write_file_durably(go, "");
  Member& here = *cluster.here;
  Transaction second{here.transactions, here.locks, here.session, here.parker};
  cluster.start([=](Member& member) {
    Transaction transaction{member.transactions, member.locks, member.session, member.parker};
    transaction.begin({});
    shared->first = transaction.assign_xid().value;
    while (file_exists(go)) ::usleep(50);
    failpoint::arm("csn_oldest_found=pause(" + gate + ")");
    transaction.commit(kAsynchronous);
    return true;
  });
  while (shared->first == 0) ::usleep(50);
  second.begin({});
  const Xid later = second.assign_xid();
  remove_file(go);
  // Until the first has left; it then looks who is the oldest, and stops before it says so.
  RunningSet& running = here.transactions.running();
  while (running.oldest_running() != later) ::usleep(50);
  ::usleep(2000);
  CHECK(running.sequence()->oldest() == Xid{shared->first});
  second.commit(kAsynchronous);
  CHECK(running.sequence()->oldest() == Xid{shared->first});
  remove_file(gate);
  CHECK(cluster.join() == 0);
  CHECK(running.sequence()->oldest() == here.clog.xids.next_xid());
}

TEST_CASE("the oldest running transaction is never left behind", "[txn][csn][concurrency]") {
  constexpr std::uint32_t kProcesses = 4;
  struct Shared {
    Barrier barrier;
  };
  Cluster cluster{csn_options()};
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  for (std::uint32_t me = 0; me < kProcesses; ++me) {
    cluster.start([=](Member& member) {
      Transaction transaction{member.transactions, member.locks, member.session, member.parker};
      shared->barrier.wait(kProcesses);
      (void)run_many(transaction, 5000, me % 2 == 0);
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  Member& here = *cluster.here;
  CHECK(here.transactions.running().sequence()->oldest() == here.clog.xids.next_xid());
}

}  // namespace pinwheel::txn
