#include <catch2/catch.hpp>

#include "clog/redo.h"
#include "tests/clog/clog_fixture.h"
#include "wal/replay.h"

namespace pinwheel::clog {
namespace {

using test::Barrier;
using test::Cluster;
using test::Member;

struct Claims {
  Barrier barrier;
  std::atomic<std::uint8_t> taken[30'000];
};

}  // namespace

TEST_CASE("no xid is given twice and none is left out", "[clog][xid][concurrency]") {
  Cluster cluster;
  Claims* claims = ::new (cluster.scratch<void>()) Claims;
  for (int me = 0; me < 3; ++me) {
    cluster.start([=](Member& member) {
      claims->barrier.wait(3);
      for (int i = 0; i < 5000; ++i) {
        const Xid xid = member.clog.xids.allocate([](Xid) {});
        if (claims->taken[xid.value].exchange(1) != 0) return false;
        if (member.clog.xids.next_xid() <= xid) return false;
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  CHECK(cluster.here->clog.xids.next_xid() == Xid{3 + 15'000});
}

TEST_CASE("the commit log grows before the first xid of a page is given, by one process",
          "[clog][xid][concurrency]") {
  Cluster cluster;
  Barrier* barrier = ::new (cluster.scratch<void>()) Barrier;
  const Xid last{2 * kXidsPerPage + 10};
  for (int me = 0; me < 3; ++me) {
    cluster.start([=](Member& member) {
      barrier->wait(3);
      for (;;) {
        const Xid xid = member.clog.xids.allocate([](Xid) {});
        if (xid > last) return true;
        if (xid.value % 1000 < 3) member.clog.status.set(xid, {}, XidStatus::kCommitted, kInvalidLsn);
      }
    });
  }
  CHECK(cluster.join() == 0);
  CHECK(cluster.here->clog.status.slru().stats().zeroed == 2);
  for (std::uint64_t xid = 3; xid <= last.value; ++xid) {
    const auto wanted = xid % 1000 < 3 ? XidStatus::kCommitted : XidStatus::kInProgress;
    REQUIRE(cluster.here->clog.status.status(Xid{xid}) == wanted);
  }
}

TEST_CASE("OIDs are logged ahead, so that none is given again after a crash", "[clog][oid]") {
  Cluster cluster;
  const Oid first = cluster.here->clog.xids.allocate_oid();
  CHECK(first == kFirstNormalOid);
  CHECK(cluster.here->clog.xids.allocate_oid() == Oid{first.value + 1});
  wal::CheckpointData checkpoint{};
  cluster.here->clog.describe_ids(checkpoint, /*shutdown=*/false);
  CHECK(checkpoint.next_oid == first.value + kOidPrefetch);
  cluster.here->clog.describe_ids(checkpoint, /*shutdown=*/true);
  CHECK(checkpoint.next_oid == first.value + 2);
  // What the record says, redo does.
  cluster.here->clog.xids.redo_next_oid(Oid{first.value + kOidPrefetch});
  CHECK(cluster.here->clog.xids.allocate_oid() == Oid{first.value + kOidPrefetch});
}

TEST_CASE("a subtransaction's parent and outermost parent are found", "[clog][subtrans]") {
  Cluster cluster;
  Subtransactions& subtransactions = cluster.here->clog.subtransactions;
  subtransactions.set_parent(Xid{20}, Xid{10});
  subtransactions.set_parent(Xid{5000}, Xid{20});
  CHECK(subtransactions.parent(Xid{5000}) == Xid{20});
  CHECK(subtransactions.parent(Xid{10}) == kInvalidXid);
  CHECK(subtransactions.top(Xid{5000}) == Xid{10});
  CHECK(subtransactions.top(Xid{5000}, Xid{15}) == Xid{20});
  subtransactions.reset();
  CHECK(subtransactions.parent(Xid{5000}) == kInvalidXid);
}

TEST_CASE("multixacts keep their members, across pages, processes and a crash", "[clog][multixact]") {
  Cluster cluster;
  std::vector<MultiXactMember> many;
  for (std::uint64_t i = 0; i < 1500; ++i) many.push_back({Xid{100 + i}, static_cast<MemberStatus>(i % 6)});
  const std::vector<MultiXactMember> two{{Xid{7}, MemberStatus::kForKeyShare},
                                         {Xid{8}, MemberStatus::kNoKeyUpdate}};

  Multixacts& multixacts = cluster.here->clog.multixacts;
  const MultiXactId first = multixacts.create(two, Xid{8});
  const MultiXactId second = multixacts.create(many, Xid{8});
  CHECK(first == kFirstMultiXact);
  CHECK(multixacts.create(two, Xid{9}) == first);

  struct Shared {
    std::uint64_t first, second;
  };
  cluster.start([=](Member& member) {
    std::vector<MultiXactMember> read;
    member.clog.multixacts.read(first, read);
    if (read != two) return false;
    member.clog.multixacts.read(second, read);
    return read == many;
  });
  CHECK(cluster.join() == 0);

  const Lsn end = cluster.here->log.insert_position();
  cluster.here->log.flush_to(end);
  cluster.crash();
  Clog& clog = cluster.here->clog;
  clog.begin_recovery(Cluster::first_checkpoint());
  wal::RmgrRegistry registry;
  registry.add({wal::RmgrId::kMultixact, "MultiXact", redo_multixact, describe_multixact, &clog});
  wal::replay(cluster.here->log.files(), cluster.log_start, registry);
  clog.finish_recovery();
  std::vector<MultiXactMember> read;
  clog.multixacts.read(second, read);
  CHECK(read == many);
  clog.multixacts.read(first, read);
  CHECK(read == two);
  CHECK(clog.multixacts.next_id().value == second.value + 1);
  CHECK(clog.multixacts.next_offset() == 1502);
  CHECK(clog.xids.next_xid() == Xid{1600});
}

TEST_CASE("an id that was never given is refused", "[clog][multixact]") {
  Cluster cluster;
  std::vector<MultiXactMember> read;
  CHECK_THROWS_WITH(cluster.here->clog.multixacts.read(MultiXactId{99}, read),
                    "MultiXactId 99 has not been created yet -- apparent wraparound");
}

}  // namespace pinwheel::clog
