#include <sched.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <random>

#include "storage/heap/check.h"
#include "storage/heap/heap_fetch.h"
#include "storage/heap/heap_scan.h"
#include "storage/redo.h"
#include "tests/storage/storage_fixture.h"

namespace pinwheel::storage::test {

namespace {

constexpr std::size_t kMaxXids = 200'000;
constexpr std::size_t kWorkers = 4;

/// Transaction states that processes share.
struct SharedTransactions {
  std::atomic<std::uint64_t> next{10};
  std::atomic<std::uint64_t> active[kWorkers];  // lower bound of a worker's xid; 0 = none
  std::atomic<std::int64_t> committed_sum;
  std::atomic<std::uint64_t> next_multi;
  std::atomic<std::uint8_t> state[kMaxXids];  // 0 runs, 1 committed, 2 aborted
};
static_assert(sizeof(SharedTransactions) < (1u << 20));

class SharedOracle final : public TransactionOracle {
 public:
  SharedOracle(SharedTransactions& shared, std::size_t worker) : shared_{shared}, worker_{worker} {}

  Xid begin() {
    // A lower bound first: a horizon computed in between must not pass us.
    shared_.active[worker_].store(shared_.next.load());
    own_ = shared_.next.fetch_add(1);
    shared_.active[worker_].store(own_);
    return Xid{own_};
  }
  void end(bool commit) {
    shared_.state[own_].store(commit ? 1 : 2);
    shared_.active[worker_].store(0);
    own_ = 0;
  }

  XidState state(Xid xid) override {
    if (xid.value < 10) return XidState::kCommitted;
    if (xid.value == own_) return XidState::kSelf;
    const std::uint8_t state = shared_.state[xid.value].load();
    return state == 0 ? XidState::kRunning : state == 1 ? XidState::kCommitted : XidState::kAborted;
  }
  bool is_durable(Xid) override { return true; }
  void multixact_members(Xid, std::vector<MultixactMember>& members) override { members.clear(); }
  Xid make_multixact(std::span<const MultixactMember>) override { std::abort(); }
  Xid removal_horizon() override {
    std::uint64_t horizon = shared_.next.load();
    for (const auto& active : shared_.active) {
      const std::uint64_t xid = active.load();
      if (xid != 0) horizon = std::min(horizon, xid);
    }
    return Xid{horizon};
  }

 private:
  SharedTransactions& shared_;
  std::size_t worker_;
  std::uint64_t own_ = 0;
};

struct SharedVisible {
  SharedOracle* oracle;
  bool counts(Xid xid) const {
    const XidState state = oracle->state(xid);
    return state == XidState::kCommitted || state == XidState::kSelf;
  }
  bool operator()(const HeapTupleView& tuple) const {
    if (!counts(tuple.xmin())) return false;
    const std::uint16_t infomask = tuple.infomask();
    const Xid xmax = tuple.xmax();
    return !is_valid(xmax) || (infomask & (kTupleXmaxInvalid | kTupleXmaxLockOnly)) != 0 || !counts(xmax);
  }
};

TupleId find_row(Heap& heap, SharedOracle& oracle, std::int32_t key) {
  while (true) {
    HeapScan scan{heap, SharedVisible{&oracle}, &oracle};
    for (HeapTupleView tuple = scan.next(); tuple.valid(); tuple = scan.next()) {
      if (row_int(tuple, 0) == key) return tuple.id();
    }
    // Missed while it moved: without snapshots that is to be expected.
  }
}

/// One transaction: adds `amount` to a row, whatever others do to it meanwhile.
void add_to_row(Heap& heap, SharedOracle& oracle, std::int32_t key, std::int32_t amount,
                std::string_view text, InsertState& state) {
  Arena arena;
  const WriteContext context{oracle.begin(), CommandId{1}, oracle};
  TupleId id = find_row(heap, oracle, key);
  while (true) {
    Pin pin;
    const HeapTupleView old = heap.fetch_version(id, pin);
    if (!old.valid() || row_int(old, 0) != key) {
      id = find_row(heap, oracle, key);
      continue;
    }
    const FormedTuple row = make_row(arena, key, row_int(old, 1) + amount, text);
    const Xid version = old.xmin();
    pin.release();
    const UpdateOutcome outcome = heap.update(id, row, context, {true, false}, state);
    switch (outcome.result) {
      case ModifyResult::kOk:
        // The version that was replaced is the one whose value was read: slots are reused only for other
        // xmins.
        if (version != heap.fetch_version(id, pin).xmin()) std::abort();
        return;
      case ModifyResult::kBeingModified:
        while (oracle.state(outcome.blocker) == XidState::kRunning) sched_yield();
        break;
      case ModifyResult::kUpdated:
        id = outcome.next;
        break;
      default:
        id = find_row(heap, oracle, key);
        break;
    }
  }
}

}  // namespace

TEST_CASE("processes that update the same rows lose no update and never block each other for good",
          "[storage][heap][concurrency]") {
  constexpr int kRows = 30;
  constexpr int kSteps = 400;
  TestDirectory directory;
  Engine engine{directory.path(), 40};
  auto& shared = *engine.segment->as<SharedTransactions>("Test Scratch");
  shared.next.store(10);
  create_relation_logged(*engine.storage, kTable, Fork::kMain, Persistence::kPermanent, Xid{3});
  Heap heap{*engine.storage, {kTable}};
  {
    SharedOracle oracle{shared, 0};
    Arena arena;
    InsertState state;
    const WriteContext context{oracle.begin(), CommandId{1}, oracle};
    for (int i = 0; i < kRows; ++i) heap.insert(make_row(arena, i, 0, std::string(600, 'x')), context, state);
    oracle.end(true);
  }
  std::vector<pid_t> children;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    children.push_back(engine.spawn([&shared, worker](Storage& storage) {
      std::mt19937 random{static_cast<unsigned>(worker)};
      SharedOracle oracle{shared, worker};
      Heap own{storage, {kTable}};
      InsertState state;
      state.spread_hint = static_cast<std::uint32_t>(worker);
      for (int step = 0; step < kSteps; ++step) {
        const auto amount = static_cast<std::int32_t>(random() % 100);
        // Long and short rows, so that some updates find their page full and go elsewhere.
        const std::string text(random() % 3 == 0 ? 900 : 100, 'y');
        add_to_row(own, oracle, static_cast<std::int32_t>(random() % kRows), amount, text, state);
        const bool commit = random() % 8 != 0;
        if (commit) shared.committed_sum.fetch_add(amount);
        oracle.end(commit);
      }
      return true;
    }));
  }
  for (const pid_t child : children) CHECK(ended_well(child));
  SharedOracle oracle{shared, 0};
  std::int64_t sum = 0;
  int rows = 0;
  HeapScan scan{heap, SharedVisible{&oracle}};
  for (HeapTupleView tuple = scan.next(); tuple.valid(); tuple = scan.next()) {
    sum += row_int(tuple, 1);
    ++rows;
  }
  CHECK(rows == kRows);
  CHECK(sum == shared.committed_sum.load());
  struct NoDamage final : HeapCheckVisitor {
    void damage(const std::string& text) override { FAIL_CHECK(text); }
  } damage;
  CHECK(verify_heap(heap, &row_layout(), Xid{shared.next.load()}, damage).problems == 0);
}

}  // namespace pinwheel::storage::test
