#include "txn/transaction.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "base/bytes.h"
#include "base/error.h"
#include "clog/redo.h"
#include "tests/clog/clog_fixture.h"
#include "txn/transaction_record.h"
#include "wal/reader.h"
#include "wal/replay.h"

namespace pinwheel::txn {
namespace {

using test::Cluster;
using test::Member;
using State = TransactionManager::State;

class RememberingDropper final : public FileDropper {
 public:
  void drop_files(std::span<const FileId> files) noexcept override {
    dropped.insert(dropped.end(), files.begin(), files.end());
  }
  std::vector<FileId> dropped;
};

class RememberingHooks final : public TransactionHooks {
 public:
  std::span<const std::byte> commit_payload() override { return as_byte_span(payload); }
  void after_commit() noexcept override { said += "commit "; }
  void after_abort() noexcept override { said += "abort "; }
  void begin_subtransaction(int level) override { said += "begin" + std::to_string(level) + " "; }
  void commit_subtransaction(int level) noexcept override { said += "merge" + std::to_string(level) + " "; }
  void abort_subtransaction(int level) noexcept override { said += "undo" + std::to_string(level) + " "; }
  std::string payload, said;
};

struct Session {
  explicit Session(Member& member)
      : transaction{member.transactions, member.locks, member.session, member.parker} {}
  Transaction transaction;
};

FileId file(std::uint32_t number) { return {Oid{5}, Oid{number}}; }

}  // namespace

TEST_CASE("a transaction that changes nothing gets no xid and writes no record", "[txn][transaction]") {
  Cluster cluster;
  Session session{*cluster.here};
  const Lsn before = cluster.here->log.insert_position();
  session.transaction.begin({});
  CHECK(session.transaction.current_xid() == kInvalidXid);
  CHECK(session.transaction.virtual_xid().local == 1);
  session.transaction.commit({});
  CHECK(cluster.here->log.insert_position() == before);
  CHECK_FALSE(session.transaction.active());
}

TEST_CASE("commit is durable when asked, and the status follows", "[txn][transaction]") {
  Cluster cluster;
  Member& here = *cluster.here;
  Session session{here};
  session.transaction.begin({});
  const Xid xid = session.transaction.assign_xid();
  CHECK(here.transactions.state(xid) == State::kRunning);
  // Nobody flushes for us here.
  session.transaction.commit({.durable = true, .alone_in_process = true});
  CHECK(here.transactions.state(xid) == State::kCommitted);
  CHECK(here.log.flushed_position() == here.log.insert_position());

  session.transaction.begin({});
  const Xid later = session.transaction.assign_xid();
  session.transaction.commit({.durable = false});
  bool durable = true;
  CHECK(here.transactions.outcome(later, durable) == State::kCommitted);
  CHECK_FALSE(durable);
  here.log.flush_to(here.log.insert_position());
  here.transactions.outcome(later, durable);
  CHECK(durable);
}

TEST_CASE("a rolled back savepoint takes its subtransactions with it and nothing else", "[txn][savepoint]") {
  Cluster cluster;
  Member& here = *cluster.here;
  Session session{here};
  Transaction& transaction = session.transaction;
  RememberingHooks hooks;
  transaction.add_hooks(hooks);
  transaction.begin({});
  transaction.define_savepoint("a");
  const Xid a = transaction.assign_xid();
  transaction.define_savepoint("b");
  transaction.define_savepoint("c");
  const Xid c = transaction.assign_xid();
  const Xid top = transaction.top_xid();
  CHECK(top < a);
  CHECK(a < c);
  CHECK(transaction.is_own(c));
  CHECK(cluster.here->clog.subtransactions.top(c) == top);
  transaction.release_savepoint("c");
  transaction.rollback_to_savepoint("b");
  CHECK_FALSE(transaction.is_own(c));
  CHECK(transaction.is_own(a));
  CHECK(here.transactions.state(c) == State::kAborted);
  CHECK(here.transactions.state(a) == State::kRunning);
  CHECK(transaction.nest_level() == 3);
  const Xid again = transaction.assign_xid();
  CHECK(again > c);
  CHECK_THROWS_WITH(transaction.release_savepoint("c"), "savepoint \"c\" does not exist");
  transaction.release_savepoint("a");
  CHECK(transaction.nest_level() == 1);
  transaction.commit({.durable = false});
  CHECK(here.transactions.state(top) == State::kCommitted);
  CHECK(here.transactions.state(a) == State::kCommitted);
  CHECK(here.transactions.state(again) == State::kCommitted);
  CHECK(here.transactions.state(c) == State::kAborted);
  CHECK(hooks.said == "begin2 begin3 begin4 merge4 undo3 begin3 merge3 merge2 commit ");
}

TEST_CASE("a failed savepoint is undone once, and can be rolled back to", "[txn][savepoint]") {
  Cluster cluster;
  Session session{*cluster.here};
  Transaction& transaction = session.transaction;
  RememberingHooks hooks;
  transaction.add_hooks(hooks);
  transaction.begin({});
  transaction.define_savepoint("s");
  const Xid xid = transaction.assign_xid();
  transaction.fail_subtransaction();
  transaction.fail_subtransaction();
  CHECK(cluster.here->transactions.state(xid) == State::kAborted);
  transaction.rollback_to_savepoint("s");
  transaction.assign_xid();
  transaction.abort();
  CHECK(hooks.said == "begin2 undo2 begin2 undo2 abort ");
}

TEST_CASE("files go with the transaction that dropped them, or with the one that failed to make them",
          "[txn][transaction]") {
  Cluster cluster;
  RememberingDropper dropper;
  cluster.here->transactions.set_file_dropper(&dropper);
  Session session{*cluster.here};
  Transaction& transaction = session.transaction;
  transaction.begin({});
  transaction.drop_file_at_commit(file(1));
  transaction.drop_file_at_abort(file(2));
  transaction.define_savepoint("s");
  transaction.drop_file_at_commit(file(3));
  transaction.drop_file_at_abort(file(4));
  transaction.rollback_to_savepoint("s");
  CHECK(dropper.dropped == std::vector{file(4)});
  transaction.commit({.durable = false, .alone_in_process = true});
  CHECK(dropper.dropped == std::vector{file(4), file(1)});
  dropper.dropped.clear();
  transaction.begin({});
  transaction.define_savepoint("s");
  transaction.drop_file_at_abort(file(5));
  transaction.release_savepoint("s");
  transaction.drop_file_at_commit(file(6));
  transaction.abort();
  CHECK(dropper.dropped == std::vector{file(5)});
}

TEST_CASE("redo brings back commits and aborts, and drops files", "[txn][recovery]") {
  Cluster cluster;
  Xid committed, subxid, rolled_back, aborted, cut_off;
  {
    Session session{*cluster.here};
    Transaction& transaction = session.transaction;
    transaction.begin({});
    committed = transaction.assign_xid();
    transaction.begin_subtransaction();
    subxid = transaction.assign_xid();
    transaction.commit_subtransaction();
    transaction.begin_subtransaction();
    rolled_back = transaction.assign_xid();
    transaction.abort_subtransaction();
    transaction.drop_file_at_commit(file(7));
    transaction.commit({.durable = false, .alone_in_process = true});
    transaction.begin({});
    aborted = transaction.assign_xid();
    transaction.abort();
    cluster.here->log.flush_to(cluster.here->log.insert_position());
    // Asynchronous and not flushed: a crash loses it.
    transaction.begin({});
    cut_off = transaction.assign_xid();
    transaction.commit({.durable = false});
  }
  for (int recoveries = 0; recoveries < 2; ++recoveries) {
    cluster.crash();
    Member& here = *cluster.here;
    RememberingDropper dropper;
    here.transactions.set_file_dropper(&dropper);
    here.clog.begin_recovery(Cluster::first_checkpoint());
    wal::RmgrRegistry registry;
    registry.add({wal::RmgrId::kTransaction, "Transaction", redo_transaction, describe_transaction,
                  &here.transactions});
    const wal::ReplayResult result = wal::replay(here.log.files(), cluster.log_start, registry);
    CHECK(result.record_count == 4);  // the redo marker, and three of ours
    here.clog.finish_recovery();
    CHECK(here.transactions.state(committed) == State::kCommitted);
    CHECK(here.transactions.state(subxid) == State::kCommitted);
    CHECK(here.transactions.state(rolled_back) == State::kAborted);
    CHECK(here.transactions.state(aborted) == State::kAborted);
    CHECK(here.transactions.state(cut_off) == State::kAborted);
    CHECK(here.clog.xids.next_xid() == cut_off);
    CHECK(dropper.dropped == std::vector{file(7)});
  }
}

TEST_CASE("a commit record has the documented bytes", "[txn][format]") {
  Cluster cluster;
  Session session{*cluster.here};
  Transaction& transaction = session.transaction;
  RememberingHooks hooks;
  hooks.payload = "hey";
  transaction.add_hooks(hooks);
  transaction.begin({});
  transaction.begin_subtransaction();
  transaction.assign_xid();  // 3, then 4
  transaction.commit_subtransaction();
  transaction.drop_file_at_commit(file(0x1234));
  transaction.commit({.durable = true, .alone_in_process = true});
  wal::Reader reader{cluster.here->log.files(), cluster.log_start};
  REQUIRE(reader.next() != nullptr);  // the redo marker
  const wal::RecordView* record = reader.next();
  REQUIRE(record != nullptr);
  CHECK(record->rmgr() == wal::RmgrId::kTransaction);
  CHECK(record->kind() == 0x00);
  CHECK(record->xid() == Xid{3});
  const std::string_view bytes = as_text(record->data());
  REQUIRE(bytes.size() == 24 + 8 + 8 + 3);
  CHECK(bytes.substr(8, 16) == std::string_view("\x01\0\0\0\x01\0\0\0\x03\0\0\0\0\0\0\0", 16));
  CHECK(bytes.substr(24) == std::string_view("\x04\0\0\0\0\0\0\0\x05\0\0\0\x34\x12\0\0hey", 19));
  CHECK(describe_transaction(*record).ends_with("; rels: base/5/4660; subxacts: 4; inval bytes: 3"));
}

TEST_CASE("command numbers move only past a command that changed something", "[txn][transaction]") {
  Cluster cluster;
  Session session{*cluster.here};
  session.transaction.begin({});
  session.transaction.advance_command();
  CHECK(session.transaction.command() == CommandId{0});
  CHECK(session.transaction.use_command() == CommandId{0});
  session.transaction.advance_command();
  CHECK(session.transaction.command() == CommandId{1});
  session.transaction.abort();
}

TEST_CASE("a checkpoint waits for commits between their record and their status", "[txn][checkpoint]") {
  Cluster cluster;
  struct Shared {
    std::atomic<int> stage{0};
  };
  Shared* shared = ::new (cluster.scratch<void>()) Shared;
  cluster.start([=](Member& member) {
    RunningSet& running = member.transactions.running();
    running.open_slot(member.session);
    running.begin_commit(member.session);
    shared->stage = 1;
    while (shared->stage != 2) ::usleep(50);
    ::usleep(2000);
    shared->stage = 3;
    running.end_commit(member.session);
    return true;
  });
  while (shared->stage != 1) ::usleep(50);
  shared->stage = 2;
  cluster.here->transactions.running().wait_for_commits(cluster.here->parker);
  CHECK(shared->stage == 3);
  CHECK(cluster.join() == 0);
}

}  // namespace pinwheel::txn
