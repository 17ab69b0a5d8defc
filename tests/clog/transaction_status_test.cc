#include "clog/transaction_status.h"

#include <catch2/catch.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "tests/clog/clog_fixture.h"

namespace pinwheel::clog {
namespace {

using test::Barrier;
using test::Cluster;
using test::Member;

/// Gives xids until `next` is the next one.
void advance_to(Clog& clog, Xid next) {
  while (clog.xids.next_xid() < next) clog.xids.allocate([](Xid) {});
}

constexpr ClogUpdate kMethods[] = {ClogUpdate::kLocked, ClogUpdate::kGroup, ClogUpdate::kAtomic};

}  // namespace

TEST_CASE("a status is what was set last, and special xids are committed", "[clog][status]") {
  Cluster cluster{{.clog_update = GENERATE(from_range(std::begin(kMethods), std::end(kMethods)))}};
  TransactionStatus& status = cluster.here->clog.status;
  advance_to(cluster.here->clog, Xid{200});

  status.set(Xid{10}, {}, XidStatus::kCommitted, kInvalidLsn);
  status.set(Xid{11}, {}, XidStatus::kAborted, kInvalidLsn);
  const Xid subxids[] = {Xid{13}, Xid{14}};
  status.set(Xid{12}, subxids, XidStatus::kCommitted, kInvalidLsn);

  CHECK(status.status(Xid{10}) == XidStatus::kCommitted);
  CHECK(status.status(Xid{11}) == XidStatus::kAborted);
  for (const std::uint64_t xid : {12u, 13u, 14u}) CHECK(status.status(Xid{xid}) == XidStatus::kCommitted);
  CHECK(status.status(Xid{15}) == XidStatus::kInProgress);
  CHECK(status.status(kBootstrapXid) == XidStatus::kCommitted);
  CHECK(status.status(kFrozenXid) == XidStatus::kCommitted);
  CHECK(status.status(kInvalidXid) == XidStatus::kAborted);

  status.set(Xid{11}, {}, XidStatus::kCommitted, kInvalidLsn);  // as redo over an older page may
  CHECK(status.status(Xid{11}) == XidStatus::kCommitted);
}

TEST_CASE("statuses of processes that set neighbours at the same time all arrive",
          "[clog][status][concurrency]") {
  Cluster cluster{{.clog_update = GENERATE(from_range(std::begin(kMethods), std::end(kMethods)))}};
  constexpr std::uint32_t kProcesses = 4;
  constexpr std::uint64_t kXids = 40'000;  // more than a page
  Barrier* barrier = ::new (cluster.scratch<void>()) Barrier;
  advance_to(cluster.here->clog, Xid{3 + kXids});
  for (std::uint32_t me = 0; me < kProcesses; ++me) {
    cluster.start([=](Member& member) {
      barrier->wait(kProcesses);
      for (std::uint64_t i = me; i < kXids; i += kProcesses) {
        const XidStatus wanted = i % 3 == 0 ? XidStatus::kAborted : XidStatus::kCommitted;
        member.clog.status.set(Xid{3 + i}, {}, wanted, kInvalidLsn);
        if (member.clog.status.status(Xid{3 + i}) != wanted) return false;
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < kXids; ++i) {
    const XidStatus wanted = i % 3 == 0 ? XidStatus::kAborted : XidStatus::kCommitted;
    if (cluster.here->clog.status.status(Xid{3 + i}) != wanted) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("pages that do not fit into the cache come back from disk as they were left",
          "[clog][status][concurrency]") {
  // Two buffers for four pages: every other access reads and writes.
  Cluster cluster{{.clog_buffers = 2,
                   .clog_banks = 1,
                   .clog_update = GENERATE(from_range(std::begin(kMethods), std::end(kMethods)))}};
  constexpr std::uint32_t kProcesses = 3;
  constexpr std::uint64_t kPages = 4;
  constexpr std::uint64_t kRounds = 300;
  Barrier* barrier = ::new (cluster.scratch<void>()) Barrier;
  advance_to(cluster.here->clog, Xid{kPages * kXidsPerPage});
  const auto xid_of = [](std::uint64_t me, std::uint64_t round) {
    return Xid{(round % kPages) * kXidsPerPage + 100 + round * kProcesses + me};
  };
  for (std::uint32_t me = 0; me < kProcesses; ++me) {
    cluster.start([=](Member& member) {
      barrier->wait(kProcesses);
      for (std::uint64_t round = 0; round < kRounds; ++round) {
        member.clog.status.set(xid_of(me, round), {}, XidStatus::kCommitted, kInvalidLsn);
        if (member.clog.status.status(xid_of(me, round / 2)) != XidStatus::kCommitted) return false;
      }
      return true;
    });
  }
  CHECK(cluster.join() == 0);
  for (std::uint64_t me = 0; me < kProcesses; ++me) {
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      REQUIRE(cluster.here->clog.status.status(xid_of(me, round)) == XidStatus::kCommitted);
    }
  }
  CHECK(cluster.here->clog.status.slru().stats().written > 0);
}

TEST_CASE("the LSN of an asynchronous commit stays with its status until it is durable", "[clog][status]") {
  Cluster cluster;
  TransactionStatus& status = cluster.here->clog.status;
  advance_to(cluster.here->clog, Xid{500});
  status.set(Xid{100}, {}, XidStatus::kCommitted, Lsn{4096});
  status.set(Xid{300}, {}, XidStatus::kCommitted, kInvalidLsn);
  Lsn lsn;
  CHECK(status.status(Xid{100}, lsn) == XidStatus::kCommitted);
  CHECK(lsn == Lsn{4096});
  CHECK(status.status(Xid{300}, lsn) == XidStatus::kCommitted);
  CHECK(lsn == kInvalidLsn);
}

TEST_CASE("a status page has the documented bytes", "[clog][format]") {
  Cluster cluster;
  Clog& clog = cluster.here->clog;
  advance_to(clog, Xid{12});
  clog.status.set(Xid{3}, {}, XidStatus::kCommitted, kInvalidLsn);
  clog.status.set(Xid{4}, {}, XidStatus::kAborted, kInvalidLsn);
  clog.status.set(Xid{9}, {}, XidStatus::kCommitted, kInvalidLsn);
  clog.flush();
  const std::string bytes = read_file(cluster.path() + "/pg_xact/0000");
  REQUIRE(bytes.size() == kPageSize);
  // Two bits each, lowest first: xid 3 in bits 6..7 of byte 0, xid 4 in bits 0..1 of byte 1, xid 9 in byte 2.
  CHECK(bytes.substr(0, 4) == std::string("\x40\x02\x04\x00", 4));
  CHECK(bytes.find_first_not_of('\0', 4) == std::string::npos);
}

TEST_CASE("a status page that should exist and does not is an error in PostgreSQL's words", "[clog][slru]") {
  Cluster cluster;
  Clog& clog = cluster.here->clog;
  advance_to(clog, Xid{40 * kXidsPerPage});
  clog.flush();
  cluster.crash();
  wal::CheckpointData checkpoint = Cluster::first_checkpoint();
  checkpoint.next_xid = 40 * kXidsPerPage + 5;
  cluster.here->clog.begin_recovery(checkpoint);
  remove_file(cluster.path() + "/pg_xact/0000");
  try {
    cluster.here->clog.status.status(Xid{77});
    FAIL("no error");
  } catch (const SqlError& error) {
    CHECK(error.state().view() == "58P01");
    CHECK(error.message() == "could not access status of transaction 77");
    CHECK(error.fields().detail ==
          "Could not open file \"" + cluster.path() + "/pg_xact/0000\": No such file or directory.");
  }
}

TEST_CASE("recovery's end erases what unlogged aborts left beyond the next xid", "[clog][recovery]") {
  Cluster cluster;
  {
    Clog& clog = cluster.here->clog;
    advance_to(clog, Xid{100});
    clog.status.set(Xid{50}, {}, XidStatus::kCommitted, kInvalidLsn);
    clog.status.set(Xid{60}, {}, XidStatus::kAborted, kInvalidLsn);
    clog.flush();
  }
  cluster.crash();
  Clog& clog = cluster.here->clog;
  clog.begin_recovery(Cluster::first_checkpoint());
  clog.xids.observe(Xid{50});
  clog.finish_recovery();
  CHECK(clog.xids.next_xid() == Xid{51});
  CHECK(clog.status.status(Xid{50}) == XidStatus::kCommitted);
  CHECK(clog.status.status(Xid{60}) == XidStatus::kInProgress);
}

TEST_CASE("truncation removes whole segments only", "[clog][slru]") {
  Cluster cluster;
  Clog& clog = cluster.here->clog;
  advance_to(clog, Xid{40 * kXidsPerPage});
  clog.status.set(Xid{39 * kXidsPerPage}, {}, XidStatus::kCommitted, kInvalidLsn);
  clog.flush();
  clog.status.truncate(Xid{10 * kXidsPerPage});
  CHECK(list_directory(cluster.path() + "/pg_xact") == std::vector<std::string>{"0000", "0001"});
  clog.status.truncate(Xid{33 * kXidsPerPage});
  CHECK(list_directory(cluster.path() + "/pg_xact") == std::vector<std::string>{"0001"});
  CHECK(clog.status.status(Xid{39 * kXidsPerPage}) == XidStatus::kCommitted);
}

}  // namespace pinwheel::clog
