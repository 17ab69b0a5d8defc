#include "txn/visibility.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/clog/clog_fixture.h"
#include "txn/heap_oracle.h"

namespace pinwheel::txn {
namespace {

using storage::HeapTupleView;
using storage::TupleHeader;
using test::Cluster;
using test::Member;

/// A tuple header in private memory.
struct Tuple {
  alignas(8) TupleHeader header{};
  Tuple(Xid xmin, Xid xmax, std::uint16_t infomask = 0) {
    header.xmin = xmin.value;
    header.xmax = xmax.value;
    header.infomask = infomask;
  }
  HeapTupleView view() const {
    return {reinterpret_cast<const std::byte*>(&header), sizeof header, TupleId{PageNumber{0}, 1}};
  }
};

/// Transactions of every kind, as one session with a snapshot sees them.
struct World {
  World()
      : other{cluster.attach()},
        third{cluster.attach()},
        mine{cluster.here->transactions, cluster.here->locks, cluster.here->session, cluster.here->parker},
        running_transaction{other->transactions, other->locks, other->session, other->parker},
        late_transaction{third->transactions, third->locks, third->session, third->parker} {
    committed = end(true);
    aborted = end(false);
    // 32 xids share the LSN that an asynchronous commit leaves: keep `late` away from `committed`.
    for (int i = 0; i < 32; ++i) end(false);
    running_transaction.begin({});
    running = running_transaction.assign_xid();
    late_transaction.begin({});
    late = late_transaction.assign_xid();
    mine.begin({});
    own = mine.assign_xid();
    mine.begin_subtransaction();
    own_rolled_back = mine.assign_xid();
    mine.abort_subtransaction();
    mine.use_command();
    mine.advance_command();  // statements from here on see command 0
    snapshot = mine.take_snapshot();
    late_transaction.commit({.durable = false});
  }
  ~World() {
    snapshot.release();
    mine.abort();
    running_transaction.abort();
  }
  Xid end(bool commit) {
    mine.begin({});
    const Xid xid = mine.assign_xid();
    if (commit) {
      mine.commit({.durable = true, .alone_in_process = true});
    } else {
      mine.abort();
    }
    return xid;
  }
  bool visible(const Tuple& tuple) { return MvccPredicate{mine, *snapshot}(tuple.view()); }

  Cluster cluster;
  std::unique_ptr<Member> other, third;
  Transaction mine, running_transaction, late_transaction;
  SnapshotHandle snapshot;
  /// `late` ran when the snapshot was taken and has committed since.
  Xid committed, aborted, running, late, own, own_rolled_back;
};

}  // namespace

TEST_CASE("the visibility matrix of inserters and deleters", "[txn][visibility]") {
  World world;
  struct Case {
    const char* name;
    Xid xid;
    bool complete_and_committed;
  };
  const Case kinds[] = {
      {"none", kInvalidXid, false},
      {"committed", world.committed, true},
      {"aborted", world.aborted, false},
      {"running", world.running, false},
      {"late", world.late, false},
      {"own", world.own, true},
      {"own rolled back", world.own_rolled_back, false},
  };
  for (const Case& inserter : kinds) {
    for (const Case& deleter : kinds) {
      INFO("inserted by " << inserter.name << ", deleted by " << deleter.name);
      Tuple tuple{inserter.xid, deleter.xid};
      const bool wanted = inserter.complete_and_committed && !deleter.complete_and_committed;
      CHECK(world.visible(tuple) == wanted);
      CHECK(world.visible(tuple) == wanted);  // and with the hints the first look left
    }
  }
}

TEST_CASE("own changes of the current command are not seen by it", "[txn][visibility]") {
  World world;
  Tuple inserted_before{world.own, kInvalidXid};
  inserted_before.header.cmin = 0;
  CHECK(world.visible(inserted_before));
  Tuple inserted_now{world.own, kInvalidXid};
  inserted_now.header.cmin = 1;
  CHECK_FALSE(world.visible(inserted_now));
  CHECK(SelfPredicate{world.mine}(inserted_now.view()));
  Tuple deleted_now{world.committed, world.own};
  deleted_now.header.cmax = 1;
  CHECK(world.visible(deleted_now));
  CHECK_FALSE(SelfPredicate{world.mine}(deleted_now.view()));
}

TEST_CASE("locks do not hide a row, alone or in a multixact with an updater that failed",
          "[txn][visibility]") {
  World world;
  CHECK(world.visible({world.committed, world.running, storage::kTupleXmaxLockOnly}));
  CHECK(world.visible({world.committed, world.committed, storage::kTupleXmaxLockOnly}));
  HeapOracle oracle{world.mine};
  const auto multi = [&](Xid updater) {
    const storage::MultixactMember members[] = {{world.running, storage::RowLock::kKeyShare, false},
                                                {updater, storage::RowLock::kNoKeyUpdate, true}};
    return oracle.make_multixact(members);
  };
  CHECK(world.visible({world.committed, multi(world.aborted), storage::kTupleXmaxIsMulti}));
  CHECK(world.visible({world.committed, multi(world.late), storage::kTupleXmaxIsMulti}));
  CHECK_FALSE(world.visible({world.committed, multi(world.committed), storage::kTupleXmaxIsMulti}));
  std::vector<storage::MultixactMember> members;
  oracle.multixact_members(multi(world.committed), members);
  REQUIRE(members.size() == 2);
  CHECK(members[0].xid == world.running);
  CHECK_FALSE(members[0].is_update);
  CHECK(members[1].strength == storage::RowLock::kNoKeyUpdate);
  CHECK(members[1].is_update);
}

TEST_CASE("hints say what is durable and nothing that a crash could undo", "[txn][visibility]") {
  World world;
  const auto hints_after = [&](Tuple tuple) {
    world.visible(tuple);
    return tuple.header.infomask;
  };
  CHECK(hints_after({world.committed, kInvalidXid}) == storage::kTupleXminCommitted);
  CHECK(hints_after({world.aborted, kInvalidXid}) == storage::kTupleXminAborted);
  CHECK(hints_after({world.running, kInvalidXid}) == 0);
  CHECK(hints_after({world.committed, world.aborted}) ==
        (storage::kTupleXminCommitted | storage::kTupleXmaxInvalid));
  // An asynchronous commit, complete for a new snapshot, not yet on disk.
  SnapshotHandle newer = world.mine.take_snapshot();
  Tuple tuple{world.late, kInvalidXid};
  CHECK(MvccPredicate{world.mine, *newer}(tuple.view()));
  CHECK(tuple.header.infomask == 0);
  world.cluster.here->log.flush_to(world.cluster.here->log.insert_position());
  CHECK(MvccPredicate{world.mine, *newer}(tuple.view()));
  CHECK(tuple.header.infomask == storage::kTupleXminCommitted);
}

TEST_CASE("a dirty look names whom to wait for", "[txn][visibility]") {
  World world;
  DirtyPredicate dirty{world.mine};
  CHECK(dirty(Tuple{world.running, kInvalidXid}.view()));
  CHECK(dirty.inserter() == world.running);
  CHECK(dirty(Tuple{world.committed, world.running}.view()));
  CHECK(dirty.inserter() == kInvalidXid);
  CHECK(dirty.deleter() == world.running);
  CHECK(dirty(Tuple{world.late, kInvalidXid}.view()));
  CHECK(dirty.inserter() == kInvalidXid);
  CHECK_FALSE(dirty(Tuple{world.committed, world.late}.view()));
  CHECK_FALSE(dirty(Tuple{world.aborted, kInvalidXid}.view()));
}

TEST_CASE("the heap's oracle tells own, running, committed and aborted apart", "[txn][visibility]") {
  World world;
  HeapOracle oracle{world.mine};
  CHECK(oracle.state(world.own) == storage::XidState::kSelf);
  CHECK(oracle.state(world.own_rolled_back) == storage::XidState::kAborted);
  CHECK(oracle.state(world.running) == storage::XidState::kRunning);
  CHECK(oracle.state(world.committed) == storage::XidState::kCommitted);
  CHECK(oracle.state(world.late) == storage::XidState::kCommitted);
  CHECK(oracle.state(world.aborted) == storage::XidState::kAborted);
  CHECK(oracle.state(kFrozenXid) == storage::XidState::kCommitted);
  CHECK(oracle.is_durable(world.committed));
  CHECK_FALSE(oracle.is_durable(world.late));
  CHECK(oracle.removal_horizon() <= world.running);
}

}  // namespace pinwheel::txn
