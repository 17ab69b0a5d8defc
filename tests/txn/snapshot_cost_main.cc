#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/clog/clog_fixture.h"
#include "txn/transaction.h"

// Does one thing COUNT times, for callgrind: what the difference of two counts costs is exact. Not a test.
//   snapshot_cost METHOD WHAT RUNNING COUNT
// METHOD  scan, cached, csn
// WHAT    take    a snapshot taken and released while nothing ends
//         renew   the same after another session's commit, which costs what `commit` says
//         commit  another session's transaction: begin, xid, commit without waiting for the disk
//         look    a visibility test of an xid that is committed and not below the snapshot's xmin
// RUNNING other sessions with a transaction that has an xid
namespace pinwheel::txn {
namespace {

int run(SnapshotMethod method, const char* what, int running, int count) {
  test::Cluster cluster{{.snapshot_method = method, .csn_slots = 262'144, .sessions = 200}};
  test::Member& here = *cluster.here;
  std::vector<std::unique_ptr<Transaction>> others;
  std::vector<shm::SessionIndex> sessions;
  for (int i = 0; i < running + 1; ++i) {
    const shm::SessionIndex session = cluster.sessions().acquire(shm::ProcessKind::kBackend);
    others.push_back(std::make_unique<Transaction>(here.transactions, here.locks, session, here.parker));
    others.back()->begin({});
    if (i < running) others.back()->assign_xid();
  }
  Transaction& committer = *others.back();
  committer.assign_xid();
  const Xid looked_at = committer.current_xid();
  committer.commit({.durable = false});
  Transaction mine{here.transactions, here.locks, here.session, here.parker};
  mine.begin({});
  const auto commit = [&] {
    committer.begin({});
    committer.assign_xid();
    committer.commit({.durable = false});
  };
  const bool take = std::strcmp(what, "take") == 0;
  const bool renew = std::strcmp(what, "renew") == 0;
  if (std::strcmp(what, "look") == 0) {
    const SnapshotHandle snapshot = mine.take_snapshot();
    int complete = 0;
    for (int i = 0; i < count; ++i) complete += here.transactions.is_complete(*snapshot, looked_at) ? 1 : 0;
    if (complete != count) return 1;
  } else {
    for (int i = 0; i < count; ++i) {
      if (!take) commit();
      if (take || renew) (void)mine.take_snapshot();
    }
  }
  mine.abort();
  for (int i = 0; i < running; ++i) others[static_cast<std::size_t>(i)]->abort();
  return 0;
}

}  // namespace
}  // namespace pinwheel::txn

int main(int argc, char** argv) {
  using pinwheel::SnapshotMethod;
  if (argc != 5) {
    std::fputs("usage: snapshot_cost scan|cached|csn take|renew|commit|look RUNNING COUNT\n", stderr);
    return 2;
  }
  const SnapshotMethod method = std::strcmp(argv[1], "scan") == 0     ? SnapshotMethod::kScan
                                : std::strcmp(argv[1], "cached") == 0 ? SnapshotMethod::kCached
                                                                      : SnapshotMethod::kCsn;
  return pinwheel::txn::run(method, argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
}
